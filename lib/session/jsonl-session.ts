/** A session in a file of JSON Lines. */

import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { SpillwayError } from '../errors'
import { randomBytes } from '../util/crypto'
import { messageOf } from '../util/message-of'
import { checkOptions, flag } from '../validation/options'
import { invalid, wrong } from '../validation/validate'
import { Tree } from './entry-tree'
import { isDamaged, readLog, type SessionDamage } from './repair-jsonl'
import { storedEntry } from './stored-entry'
import type { NewSessionEntry, Session, SessionEntry } from './types'

/** Options of {@link JsonlSession.open}. */
export interface JsonlSessionOptions {
  /**
   * True if {@link JsonlSession.append} waits until the entry is on the disk, so that it survives a power cut. Without it, an
   * entry survives the end of the process.
   * @default false
   */
  sync?: boolean
}

interface State {
  readonly file: string
  readonly sync: boolean
  readonly tree: Tree
  readonly damage: SessionDamage
  readonly keptOriginal: string | undefined
  handle: number | undefined
  /** Why nothing can be added to a file that can be read; `undefined` once it is closed. */
  refusal: unknown
  /** True if the file ends inside a line: the next entry begins a new one. */
  torn: boolean
}

const states = new WeakMap<JsonlSession, State>()
const OPENING = Symbol('opening')

/**
 * A session in a file: one entry per line, in the order in which they were added, and never changed. Only its owner can
 * read the file (mode 0600).
 *
 * A damaged file is repaired when it is opened: a torn last line, lines that are no entries, ids that came twice, missing parents.
 * Everything that can be read is kept, and the damaged file is kept next to the repaired one, at
 * {@link JsonlSession.keptOriginal}. The repaired file replaces the damaged one atomically. If the disk is full, the file stays as
 * it is until it is opened again: new entries follow a torn line, but none can be added where ids came twice or parents are missing.
 *
 * A file that can be read and not written, as in a read-only folder, is opened as well; `append` then fails, and
 * {@link JsonlSession.isWritable} is false.
 *
 * Each line is written by one system call at the end of the file, so several processes may append to one file without tearing each
 * other's lines. Each has its own leaf and sees the lines of the others only when it opens the file again. After a crash, do not
 * open a file for the first time while another process appends to it, because it may be repaired then.
 * The leaf of a file that is opened is its last entry.
 */
export class JsonlSession implements Session {
  /** Use {@link JsonlSession.open}. */
  constructor(opening: symbol, state: object) {
    if (opening !== OPENING) throw new SpillwayError('INVALID_ARGUMENT', 'use JsonlSession.open(file)')
    states.set(this, state as State)
  }

  /**
   * Opens a session. A missing file is created, a missing folder is not.
   * @throws SpillwayError `STORAGE_READ` or `STORAGE_WRITE` with the system's error, `INVALID_ARGUMENT`, also for a file that is
   * not a session; such a file is not changed
   */
  static open(file: string, options: JsonlSessionOptions = {}): JsonlSession {
    if (typeof file !== 'string' || file === '' || file.includes('\0')) throw wrong('file', file, 'a path')
    checkOptions('options', options, { sync: flag })
    const tree = new Tree()
    const text = attempt('STORAGE_READ', file, () => (existsSync(file) ? readFileSync(file, 'utf8') : ''))
    const { entries, lines, damage, isForeign } = readLog(text, () => tree.newId())
    // A repair would leave nothing of it.
    if (isForeign) throw invalid('file', `expected a session, received ${file}, in which no line is an entry`)
    const mended = isDamaged(damage) ? tryToWrite(file, () => repair(file, lines)) : {}
    // A new id or parent that is only here cannot be referred to by an entry in the file.
    const isOnlyHere = mended.refusal !== undefined && damage.duplicateIds + damage.lostParents > 0
    const opened = isOnlyHere ? { refusal: mended.refusal } : tryToWrite(file, () => openSync(file, 'a', 0o600))
    for (const entry of entries) tree.add(entry)
    const { done: handle, refusal } = opened as Attempt<number>
    if (handle !== undefined) closeToOthers(handle)
    const keptOriginal = mended.done
    const torn = damage.tornLine && keptOriginal === undefined
    const { sync = false } = options
    return new JsonlSession(OPENING, { file, sync, tree, damage, keptOriginal, handle, refusal, torn })
  }

  /** The path of the file. */
  get file(): string {
    return stateOf(this).file
  }

  /** Faults found when the file was opened. */
  get damage(): SessionDamage {
    return { ...stateOf(this).damage }
  }

  /** Path of the damaged original if the file was repaired; `undefined` if it was intact or could not be repaired. */
  get keptOriginal(): string | undefined {
    return stateOf(this).keptOriginal
  }

  /** False if entries cannot be added: the session was closed, or the file can only be read until it is opened again. */
  get isWritable(): boolean {
    return stateOf(this).handle !== undefined
  }

  /** All entries of all branches, in the order in which they were added. */
  entries(): readonly SessionEntry[] {
    return stateOf(this).tree.entries.slice()
  }

  leaf(): string | null {
    return stateOf(this).tree.leaf
  }

  /**
   * Adds an entry to the file.
   * @throws SpillwayError `STORAGE_WRITE` if the entry could not be written, and so was not added. With `sync`, also if the disk
   * did not confirm it; then it was added, and the message says so. `INVALID_ARGUMENT` if it has no `type` or cannot be converted
   * to JSON, `CLOSED`
   */
  append(entry: NewSessionEntry): string {
    const state = stateOf(this)
    const { tree, file, handle, sync, refusal } = state
    if (refusal !== undefined) throw cannotWrite(file, refusal)
    if (handle === undefined) throw new SpillwayError('CLOSED', `${file}: the session was closed`)
    const added = tree.next(entry)
    const { json, kept } = storedEntry(added)
    attempt('STORAGE_WRITE', file, () => writeLine(state, handle, `${json}\n`))
    tree.add(kept)
    // The entry is in the file by then; a second write would repeat it.
    if (sync)
      attempt('STORAGE_WRITE', `${file}: ${added.id} was added, but a power cut may lose it`, () => fsyncSync(handle))
    return added.id
  }

  /** @throws SpillwayError `INVALID_ARGUMENT` if there is no such entry */
  branch(id: string | null): void {
    stateOf(this).tree.branch(id)
  }

  /** Closes the file. No more entries can be added. */
  close(): void {
    const state = stateOf(this)
    if (state.handle !== undefined) closeSync(state.handle)
    state.handle = undefined
    state.refusal = undefined
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

/** A file that was there may be open to others. */
function closeToOthers(handle: number): void {
  try {
    if (process.platform !== 'win32' && (fstatSync(handle).mode & 0o077) !== 0) fchmodSync(handle, 0o600)
  } catch {
    // Only the owner of the file can, and the file of another user stays as it is.
  }
}

function stateOf(session: JsonlSession): State {
  return states.get(session) as State
}

/** The whole line, or an end of line after the part that was written: the next line must be whole. */
function writeLine(state: State, handle: number, line: string): void {
  const bytes = Buffer.from(state.torn ? `\n${line}` : line)
  let written = 0
  try {
    written = writeSync(handle, bytes)
    if (written < bytes.length) written += writeSync(handle, bytes, written)
    if (written < bytes.length) throw new Error(`only ${written} of ${bytes.length} bytes were written`)
    state.torn = false
  } catch (error) {
    if (written > 0) state.torn = !endsLine(handle)
    throw error
  }
}

/** A full disk may not even take the end of a line. */
function endsLine(handle: number): boolean {
  try {
    return writeSync(handle, '\n') === 1
  } catch {
    return false
  }
}

/** Puts the mended lines in place of the file, and keeps the file as it was. */
function repair(file: string, lines: readonly string[]): string {
  const mark = randomBytes(4).toString('hex')
  // A link stays one, and leads to the repaired file.
  const real = realpathSync(file)
  const kept = `${real}.damaged-${mark}`
  const draft = join(dirname(real), `.${basename(real)}.${mark}`)
  try {
    const handle = openSync(draft, 'wx', 0o600)
    try {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''))
      for (let at = 0; at < bytes.length; ) at += writeSync(handle, bytes, at)
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    // A second name for the file, which then gives up its first: at no time is there no file.
    keep(real, kept)
    renameSync(draft, real)
    return kept
  } catch (error) {
    for (const path of [draft, kept]) rmSync(path, { force: true })
    throw error
  }
}

function keep(file: string, kept: string): void {
  try {
    linkSync(file, kept)
  } catch {
    // Not every file system can give a file two names.
    copyFileSync(file, kept, constants.COPYFILE_EXCL)
  }
  chmodSync(kept, 0o600)
}

/** Why a file that can be read cannot be written. */
const REFUSALS: ReadonlySet<unknown> = new Set(['EROFS', 'EACCES', 'EPERM', 'ENOSPC', 'EDQUOT'])

interface Attempt<T> {
  readonly done?: T
  /** The system's error if it refuses to write a file that is there. */
  readonly refusal?: unknown
}

function tryToWrite<T>(file: string, work: () => T): Attempt<T> {
  try {
    return { done: work() }
  } catch (cause) {
    if (REFUSALS.has((cause as NodeJS.ErrnoException).code) && existsSync(file)) return { refusal: cause }
    throw cannotWrite(file, cause)
  }
}

function cannotWrite(file: string, cause: unknown): SpillwayError {
  return new SpillwayError('STORAGE_WRITE', `${file}: ${messageOf(cause)}`, { cause })
}

function attempt<T>(code: 'STORAGE_READ' | 'STORAGE_WRITE', file: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    throw new SpillwayError(code, `${file}: ${messageOf(cause)}`, { cause })
  }
}
