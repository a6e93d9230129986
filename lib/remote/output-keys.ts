/**
 * Keys of outputs: `o/<session>/<tool>_<milliseconds>_<random>.txt`, without the session for outputs of none. A bucket is shared
 * by people who choose their session ids, so the hash of a session and the random part have 128 bits each.
 */

import { SpillwayError } from '../errors'
import { call, native } from '../native/native'
import { now } from '../util/clock'
import { randomBytes, sha256 } from '../util/crypto'

/** All outputs are below it. */
export const OUTPUTS = 'o/'

/** The end of the key of an output's line index. */
export const INDEX_SUFFIX = '.idx'

/** The end of the key of the last bytes of an output that was still coming in. */
const SNAPSHOT = /\.(\d{1,16})-(\d{1,16})\.snapshot$/

/** The end of the key of an output that is a part of one. */
export const PARTIAL_SUFFIX = '.partial.txt'

const HASH_DIGITS = 32
const OUTPUT =
  /^o\/(?:([A-Za-z0-9_-]{1,48}-[0-9a-f]{32})\/)?([A-Za-z0-9_-]{1,48}_\d{1,16}_[0-9a-f]{32}(?:\.partial)?\.txt)$/

/** The parts of a key. */
export interface OutputKey {
  key: string
  /** The folder of the session, if it is of one. */
  session?: string
  /** The last part, which ends like that of an output on a disk. */
  name: string
}

/** Returns the name of the folder of a session. */
export function sessionFolder(sessionId: string): string {
  const slug = native.sessionFolder(sessionId).replace(/-[^-]*$/, '')
  // By units, as on a disk: two ids that differ in a lone surrogate are two.
  const units = Array.from({ length: sessionId.length }, (_, index) => sessionId.charCodeAt(index))
  return `${slug}-${sha256(units.join()).slice(0, HASH_DIGITS)}`
}

/** Returns the prefix of all outputs, or of those of a session. */
export function prefixOf(sessionId?: string): string {
  return sessionId === undefined ? OUTPUTS : `${OUTPUTS}${sessionFolder(sessionId)}/`
}

/** Returns a key that no other output has. */
export function newKey({ toolName, sessionId }: { toolName: string; sessionId?: string }, isPartial = false): string {
  const name = call(() => native.outputName(toolName.toWellFormed(), now(), false))
  const stem = name.slice(0, name.lastIndexOf('_'))
  const random = randomBytes(HASH_DIGITS / 2).toString('hex')
  return `${prefixOf(sessionId)}${stem}_${random}${isPartial ? PARTIAL_SUFFIX : '.txt'}`
}

/** Returns the parts of a key, or nothing if it is not that of an output. */
export function parseKey(key: string): OutputKey | undefined {
  const found = OUTPUT.exec(key)
  if (found === null) return undefined
  const [, session, name] = found
  return { key, name: name!, ...(session !== undefined && { session }) }
}

/** The last bytes of an output, saved while it came in. */
export interface Snapshot {
  /** The key of the object. */
  key: string
  /** The key of the output. */
  output: string
  /** Where the bytes begin in the output. */
  from: number
  /** Where they end. */
  to: number
}

/** Returns the key of a snapshot. */
export function snapshotKey(output: string, from: number, to: number): string {
  return `${output}.${from}-${to}.snapshot`
}

/** Returns the parts of the key of a snapshot, or nothing for any other. */
export function parseSnapshotKey(key: string): Snapshot | undefined {
  const found = SNAPSHOT.exec(key)
  if (found === null) return undefined
  const output = key.slice(0, found.index)
  return parseKey(output) && { key, output, from: Number(found[1]), to: Number(found[2]) }
}

/** Returns the name of the tool in the name of an output. */
export function toolOf(name: string): string {
  return name.split('_').slice(0, -2).join('_')
}

/** Returns the key in a path, or nothing if the path is not one of an output below `url`. */
export function keyOfPath(url: string, path: string): OutputKey | undefined {
  return path.startsWith(`${url}/`) ? parseKey(path.slice(url.length + 1)) : undefined
}

/**
 * Returns the key of an output that may be read.
 * @throws SpillwayError `STORAGE_NOT_OWNED` for any other path, and for that of another session if one is given
 */
export function ownedKey(url: string, path: string, sessionId?: string): OutputKey {
  const known = keyOfPath(url, path)
  if (known === undefined) throw notOwned(path, 'is not an output that this storage saved')
  if (sessionId !== undefined && known.session !== sessionFolder(sessionId)) {
    throw notOwned(path, 'is not an output of this session')
  }
  return known
}

function notOwned(path: string, problem: string): SpillwayError {
  return new SpillwayError('STORAGE_NOT_OWNED', `${JSON.stringify(path)} ${problem}`, { field: 'path' })
}
