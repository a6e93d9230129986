/**
 * Questions of one process that another process of the same user answers, through files in a folder that only this user can enter.
 *
 * A process that waits writes its questions into a file of its own, and touches it while it waits: a question of a process that has
 * ended grows old and is not shown. An answer is a file that is created once, so that the first answer counts. Any error
 * leaves the question open: only a readable answer of this user allows a call.
 */

import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { GateResponse } from '../approval/gate-options'
import { isQuestion, type PendingRequest } from '../approval/gate-state'
import { SpillwayError } from '../errors'
import type { SuggestedRule } from '../permission/types'
import { randomUUID, sha256 } from '../util/crypto'
import { jsonRecord } from '../util/json'
import { makeFolder } from '../util/make-folder'
import { messageOf } from '../util/message-of'
import { warn } from '../util/warn'
import { type Check, checkOptions } from '../validation/options'
import { wrong } from '../validation/validate'
import { approvalSource } from './source-checks'
import type { ApprovalSource } from './sources'

/** Options of {@link shareApprovals} and {@link createSharedApprovals}. */
export interface SharedApprovalsOptions {
  /** The folder of the questions: the same in both processes, such as one below that of a storage. Other users cannot enter it. */
  dir: string
}

/** Questions that are shared until it is closed. */
export interface SharedApprovals {
  /** Withdraws the questions. They stay open in their source. */
  close(): void
}

interface Answer {
  id: string
  response: GateResponse
  rule?: SuggestedRule
}

const OPTIONS: Readonly<Record<string, Check>> = {
  dir: ['the path of a folder', (value) => typeof value === 'string' && value !== '' && !value.includes('\0')],
}

/** Milliseconds between two looks. */
const LOOK_MS = 200
/** Milliseconds between two touches of a file, and after which the process that wrote it counts as ended. */
const TOUCH_MS = 2000
const STALE_MS = 10_000
/** Milliseconds within which an answer takes effect. */
const ANSWER_MS = 5000
/** Questions with long arguments are large; a larger file was not written by Spillway. */
const MAX_BYTES = 2 ** 22
const NAMED = /^[0-9a-f-]{36}\.json$/

/**
 * Shares the questions of a gate with other processes of this user, such as `spillway view`, until `close` is called. It does not
 * keep the process alive.
 *
 * @example
 * const gate = new PermissionGate(policy)
 * const shared = shareApprovals(gate, { dir: join(storage.getStorageDir(), 'approvals') })
 * @throws SpillwayError `INVALID_ARGUMENT` for a wrong argument; `STORAGE_WRITE` if other users can access the folder, or it
 * cannot be created
 */
export function shareApprovals(source: ApprovalSource, options: SharedApprovalsOptions): SharedApprovals {
  if (!approvalSource[1](source)) throw wrong('source', source, approvalSource[0])
  const dir = dirOf(options)
  makePrivate(dir)
  const name = randomUUID()
  const file = join(dir, `${name}.json`)
  let [written, touchedAt] = ['', 0]
  const look = async () => {
    let open = await source.pending()
    for (const { id } of open) if (!isClosed) await takeAnswer(source, dir, name, id)
    if (open.length > 0) open = await source.pending()
    if (isClosed) return
    const text = open.length === 0 ? '' : JSON.stringify({ version: 1, pending: open })
    if (text === '' && written !== '') rmSync(file, { force: true })
    else if (text !== written) writeWhole(file, text)
    else if (text !== '' && Date.now() - touchedAt > TOUCH_MS) utimesSync(file, new Date(), new Date())
    else return
    ;[written, touchedAt] = [text, Date.now()]
  }
  let [isLooking, isClosed] = [false, false]
  const timer = setInterval(() => {
    if (isLooking) return
    isLooking = true
    look()
      .catch((error) => warn('approvals', error))
      .finally(() => {
        isLooking = false
      })
  }, LOOK_MS).unref()
  return {
    close() {
      isClosed = true
      clearInterval(timer)
      rmSync(file, { force: true })
    },
  }
}

/**
 * Returns the questions that other processes of this user share in a folder: for `createOutputHandler`, or your own page.
 *
 * @throws SpillwayError `INVALID_ARGUMENT` for a wrong option
 */
export function createSharedApprovals(options: SharedApprovalsOptions): ApprovalSource {
  const dir = dirOf(options)
  return {
    pending: () => questionsIn(dir).map(({ request }) => request),
    async respond(id, response, rule) {
      const found = questionsIn(dir).find(({ request }) => request.id === id)
      if (found === undefined) throw wrong('id', id, 'the id of a question that waits')
      const answer: Answer = { id, response, ...(rule !== undefined && { rule }) }
      createOnce(answerFile(dir, found.name, id), JSON.stringify(answer))
      await isGone(dir, id)
    },
  }
}

async function isGone(dir: string, id: string): Promise<void> {
  const end = Date.now() + ANSWER_MS
  while (questionsIn(dir).some(({ request }) => request.id === id)) {
    if (Date.now() > end) throw new SpillwayError('CALLBACK', 'the session did not take the answer', { field: 'id' })
    await pause(LOOK_MS / 4)
  }
}

function dirOf(options: SharedApprovalsOptions): string {
  checkOptions('options', options, OPTIONS)
  if (options.dir === undefined) throw wrong('options.dir', options.dir, OPTIONS.dir![0])
  return options.dir
}

/** Answers a question with the file for it, if there is one. A file that is not a valid answer is removed, and the question stays open. */
async function takeAnswer(source: ApprovalSource, dir: string, name: string, id: string): Promise<void> {
  const file = answerFile(dir, name, id)
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return
  const { id: of, response, rule } = (readOwn(file) ?? {}) as Partial<Answer>
  rmSync(file, { force: true })
  if (of === id) await source.respond(id, response as GateResponse, rule)
}

const answerFile = (dir: string, name: string, id: string) => join(dir, `${name}.${sha256(id).slice(0, 32)}.answer`)

function questionsIn(dir: string): { name: string; request: PendingRequest }[] {
  if (!isPrivate(dir)) return []
  const found = readdirSync(dir).flatMap((entry) => {
    const file = join(dir, entry)
    const { mtimeMs = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {}
    if (!NAMED.test(entry)) return []
    if (Date.now() - mtimeMs > STALE_MS) {
      rmSync(file, { force: true })
      return []
    }
    const { pending } = (readOwn(file) ?? {}) as { pending?: unknown }
    const requests: unknown[] = Array.isArray(pending) ? pending : []
    return requests.filter(isQuestion).map((request) => ({ name: entry.slice(0, 36), request }))
  })
  return found.sort((one, other) => one.request.askedAt - other.request.askedAt)
}

/** The JSON in a file of this user; nothing for a link, a file of others, or what cannot be read. */
function readOwn(file: string): object | undefined {
  let handle: number | undefined
  try {
    handle = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
    const state = fstatSync(handle)
    if (!state.isFile() || !isOwn(state) || state.size > MAX_BYTES) return undefined
    return jsonRecord(readFileSync(handle, 'utf8'))
  } catch {
    return undefined
  } finally {
    if (handle !== undefined) closeSync(handle)
  }
}

/** A reader finds the old text or the new one. */
function writeWhole(file: string, text: string): void {
  const draft = `${file}.draft`
  writeFileSync(draft, text, { mode: 0o600 })
  renameSync(draft, file)
}

/** The name appears with the whole text, and only if nothing has it. */
function createOnce(file: string, text: string): void {
  const draft = `${file}.${randomUUID()}`
  writeFileSync(draft, text, { mode: 0o600 })
  try {
    linkSync(draft, file)
  } catch (cause) {
    const problem = `the question has an answer already: ${messageOf(cause)}`
    throw new SpillwayError('INVALID_ARGUMENT', problem, { field: 'id', cause })
  } finally {
    rmSync(draft, { force: true })
  }
}

function makePrivate(dir: string): void {
  try {
    makeFolder(dir)
  } catch (cause) {
    throw new SpillwayError('STORAGE_WRITE', `${dir}: ${messageOf(cause)}`, { field: 'dir', cause })
  }
  if (!isPrivate(dir))
    throw new SpillwayError('STORAGE_WRITE', `${dir}: others can enter this folder`, { field: 'dir' })
}

function isPrivate(dir: string): boolean {
  const state = lstatSync(dir, { throwIfNoEntry: false })
  return state?.isDirectory() === true && isOwn(state) && (process.platform === 'win32' || (state.mode & 0o077) === 0)
}

/** Windows has no such owner; folders of a user's profile are closed to others there. */
function isOwn({ uid }: { uid: number }): boolean {
  return process.getuid === undefined || uid === process.getuid()
}
