/**
 * Keys of the files of audit logs: `audit/<session>/<log>/<number>.jsonl`. A log is the files in one folder, so that each worker has one;
 * the file that is still appended to is saved as `<number>.<bytes>.open.jsonl`.
 */

import { sessionFolder } from '../remote/output-keys'

const FILE = /^([0-9a-f]{32})\/(\d{6,15})(?:\.(\d{1,15})\.open)?\.jsonl$/

/** One file of a log. */
export interface AuditFileKey {
  key: string
  /** The id of the log. */
  log: string
  /** The place of the file in its log, from 1. */
  number: number
  /** Bytes of a file that was still appended to; nothing for one that was full. */
  open?: number
}

/** Returns the number of a file as its name has it, on a disk and in a store. */
export function fileNumber(number: number): string {
  return String(number).padStart(6, '0')
}

/** Returns the prefix of the files of a session. */
export function auditPrefix(sessionId: string): string {
  return `audit/${sessionFolder(sessionId)}/`
}

/** Returns the key of a file. */
export function auditKey(sessionId: string, log: string, number: number, open?: number): string {
  const end = open === undefined ? '' : `.${open}.open`
  return `${auditPrefix(sessionId)}${log}/${fileNumber(number)}${end}.jsonl`
}

/** Returns the parts of a key below a prefix, or nothing for any other. */
export function parseAuditKey(prefix: string, key: string): AuditFileKey | undefined {
  const found = key.startsWith(prefix) ? FILE.exec(key.slice(prefix.length)) : null
  if (found === null) return undefined
  const [, log, number, open] = found
  return { key, log: log!, number: Number(number), ...(open !== undefined && { open: Number(open) }) }
}
