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
import { CHECK } from '../overflow/limits'
import { randomBytes } from '../util/crypto'
import { messageOf } from '../util/message-of'
import { checkOptions } from '../validation/options'
import { invalid, wrong } from '../validation/validate'
import { Tree } from './entry-tree'
import { isDamaged, readLog, type SessionDamage } from './repair-jsonl'
import type { NewSessionEntry, Session, SessionEntry } from './types'

/** Options of {@link JsonlSession.open}. */
export interface JsonlSessionOptions {
  /**
   * True if an entry is on the disk when {@link JsonlSession.append} is back, and survives a power cut. Without it, a
   * killed process loses nothing.
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
}

const states = new WeakMap<JsonlSession, State>()
const OPENING = Symbol('opening')

/**
 * A session in a file: one entry per line, in the order in which they were added, and never changed. Only its owner can
 * read the file (mode 0600).
 *
 * A damaged file is repaired when it is opened: a torn last line, lines that are no entries, ids that came twice, parents
 * that are missing. Everything that can be read is kept, and the damaged file beside the repaired one, under
 * {@link JsonlSession.keptOriginal}. The repair takes the place of the file in one step.
 *
 * Each line is written by one system call at the end of the file, so several processes may add to one file without tearing
 * each other's lines. Each has its own leaf and sees what the others wrote only when it opens the file again; a file must
 * not be opened for the first time after a crash while another process adds to it, because then it may be repaired.
 * The leaf of a file that is opened is its last entry.
 */
export class JsonlSession implements Session {
  /** Use {@link JsonlSession.open}. */
  constructor(opening: symbol, state: object) {
    if (opening !== OPENING) throw new SpillwayError('INVALID_ARGUMENT', 'use JsonlSession.open(file)')
    states.set(this, state as State)
  }

  /**
   * Opens a session; the file is made if there is none, its folder is not.
   * @throws SpillwayError `STORAGE_READ` or `STORAGE_WRITE` with what the system said, `INVALID_ARGUMENT`, also for a file that is
   * no session: it stays as it is
   */
  static open(file: string, options: JsonlSessionOptions = {}): JsonlSession {
    if (typeof file !== 'string' || file === '' || file.includes('\0')) throw wrong('file', file, 'a path')
    checkOptions('options', options, { sync: CHECK.flag })
    const tree = new Tree()
    const text = attempt('STORAGE_READ', file, () => (existsSync(file) ? readFileSync(file, 'utf8') : ''))
    const { entries, lines, damage, isForeign } = readLog(text, () => tree.newId())
    // A repair would leave nothing of it.
    if (isForeign) throw invalid('file', `expected a session, received ${file}, in which no line is an entry`)
    const damaged = isDamaged(damage)
    const keptOriginal = damaged ? attempt('STORAGE_WRITE', file, () => repair(file, lines)) : undefined
    for (const entry of entries) tree.add(entry)
    const handle = attempt('STORAGE_WRITE', file, () => openSync(file, 'a', 0o600))
    closeToOthers(handle)
    return new JsonlSession(OPENING, { file, sync: options.sync ?? false, tree, damage, keptOriginal, handle })
  }

  /** The path of the file. */
  get file(): string {
    return stateOf(this).file
  }

  /** Faults found when the file was opened. */
  get damage(): SessionDamage {
    return { ...stateOf(this).damage }
  }

  /** Where the file is as it was before it was repaired; `undefined` if it was sound. */
  get keptOriginal(): string | undefined {
    return stateOf(this).keptOriginal
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
   * @throws SpillwayError `STORAGE_WRITE` if it could not be written: then it was not added; or, with `sync`, if the disk
   * did not confirm it: then it was, and the message says so. `INVALID_ARGUMENT` if it has no `type` or no JSON, `CLOSED`
   */
  append(entry: NewSessionEntry): string {
    const { tree, file, handle, sync } = stateOf(this)
    if (handle === undefined) throw new SpillwayError('CLOSED', `${file}: the session was closed`)
    const added = tree.next(entry)
    const line = lineOf(added)
    const kept = JSON.parse(line)
    // A `toJSON` may make anything of it, and what is not an entry would be lost when the file is opened again.
    if (kept?.id !== added.id || kept.parentId !== added.parentId || typeof kept.type !== 'string') {
      throw wrong('entry', kept, 'an object that is an entry in JSON, too')
    }
    attempt('STORAGE_WRITE', file, () => writeLine(handle, line))
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

  /** Closes the file. Nothing can be added any more. */
  close(): void {
    const state = stateOf(this)
    if (state.handle !== undefined) closeSync(state.handle)
    state.handle = undefined
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

function lineOf(entry: SessionEntry): string {
  try {
    return `${JSON.stringify(entry)}\n`
  } catch (cause) {
    throw new SpillwayError('INVALID_ARGUMENT', `entry: got one that has no JSON (${messageOf(cause)})`, {
      field: 'entry',
      cause,
    })
  }
}

/** The whole line, or an end of line behind the part that was written: the next line must be whole. */
function writeLine(handle: number, line: string): void {
  const bytes = Buffer.from(line)
  const written = writeSync(handle, bytes)
  if (written === bytes.length) return
  try {
    const rest = writeSync(handle, bytes, written)
    if (written + rest === bytes.length) return
  } catch (error) {
    writeSync(handle, '\n')
    throw error
  }
  writeSync(handle, '\n')
  throw new Error(`only ${written} of ${bytes.length} bytes were written`)
}

/** Puts the mended lines in the place of the file, and keeps the file as it was. */
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
    rmSync(draft, { force: true })
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

function attempt<T>(code: 'STORAGE_READ' | 'STORAGE_WRITE', file: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    throw new SpillwayError(code, `${file}: ${messageOf(cause)}`, { cause })
  }
}
