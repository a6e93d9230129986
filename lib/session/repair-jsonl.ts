/** Reads and repairs the lines of a session. */

import { asText } from '../util/guards'
import { jsonRecord } from '../util/json'
import type { SessionEntry } from './types'

/** Content of a log. */
export interface ReadLog {
  entries: SessionEntry[]
  /** The lines as they should be. */
  lines: string[]
  damage: SessionDamage
  /** True for a text that is not a session, not even the beginning of one. */
  isForeign: boolean
}

/** Faults found in a session file. All 0 means a sound file. */
export interface SessionDamage {
  /** True if the last line is incomplete, as after an interrupted write. */
  tornLine: boolean
  /** Lines that are not entries. Complete entries inside such a line, as after an interrupted write, are read. */
  unreadable: number
  /** Entries that had the id of another entry; they have new ids. */
  duplicateIds: number
  /** Identical duplicate lines; one of each is kept. */
  repeated: number
  /** Entries whose parent is missing, or that are their own ancestors; they follow the entry before them now. */
  lostParents: number
}

/** True if a log has to be rewritten. */
export function isDamaged({ tornLine, ...counts }: SessionDamage): boolean {
  return tornLine || Object.values(counts).some((count) => count > 0)
}

/** A byte order mark, or the zero bytes that a power cut leaves before the next append; neither belongs to the line. */
const BESIDE = /^[\ufeff\0]+/

/** Reads a log. Nothing readable is lost; `newId` makes ids that are not in it. */
export function readLog(text: string, newId: () => string): ReadLog {
  const damage: SessionDamage = { tornLine: false, unreadable: 0, duplicateIds: 0, repeated: 0, lostParents: 0 }
  const pieces = text.split('\n')
  damage.tornLine = pieces.pop() !== ''
  if (damage.tornLine) pieces.push(text.slice(text.lastIndexOf('\n') + 1))
  const headers: string[] = []
  const entries: SessionEntry[] = []
  const known = new Map<string, string>()
  /** The id that an id stands for from here on. */
  const renamed = new Map<string, string>()
  let hasEntry = false
  const read = (line: string, value: Record<string, unknown>) => {
    // Some agents begin a log with a line about the session.
    if (value.type === 'session' && value.parentId === undefined) {
      headers.push(line)
      return
    }
    const id = typeof value.id === 'string' && value.id !== '' ? value.id : undefined
    hasEntry ||= id !== undefined && typeof value.type === 'string'
    if (id !== undefined && known.get(id) === line) {
      damage.repeated++
      return
    }
    if (id === undefined || known.has(id)) damage.duplicateIds++
    const own = id === undefined || known.has(id) ? unused(newId, known) : id
    if (id !== undefined && own !== id) renamed.set(id, own)
    known.set(own, line)
    const parent = typeof value.parentId === 'string' ? value.parentId : null
    const entry = { ...value, type: asText(value.type) || 'unknown', id: own, parentId: parent } as SessionEntry
    // Its parent is the nearest entry of that name before it; the entry itself took the name only now.
    const last = parent === null ? undefined : renamed.get(parent)
    if (last !== undefined && last !== own) entry.parentId = last
    entries.push(entry)
  }
  for (const piece of pieces) {
    const line = piece.replace(BESIDE, '')
    if (piece.trim() === '') continue
    const value = jsonRecord(line)
    if (value !== undefined) {
      read(line, value)
      continue
    }
    damage.unreadable++
    for (const inner of entriesWithin(line)) read(JSON.stringify(inner), inner)
  }
  damage.lostParents = mendParents(entries)
  const lines = [...headers, ...entries.map((entry) => JSON.stringify(entry))]
  // A log of something else has objects as well, such as an audit log or a transcript of another agent.
  const isOtherLog = entries.length > 0 && headers.length === 0 && !hasEntry
  return { entries, lines, damage, isForeign: isOtherLog || (lines.length === 0 && pieces.some(isOther)) }
}

/** True for a line that no write of an entry leaves, however it was cut off. */
function isOther(piece: string): boolean {
  const line = piece.replace(BESIDE, '')
  return line.trim() !== '' && !(line.startsWith('{"') || line === '{')
}

/** Maximum number of positions tried in an unreadable line. */
const MAX_TRIED = 256

/** The entries in a line of which a process that was killed wrote the beginning, or not the end of the line. */
function entriesWithin(line: string): Record<string, unknown>[] {
  const found: Record<string, unknown>[] = []
  let at = line.indexOf('{"')
  for (let tried = 0; at >= 0 && tried < MAX_TRIED; tried++) {
    const end = endOfObject(line, at)
    const value = end === undefined ? undefined : jsonRecord(line.slice(at, end))
    // Parts of a message have a type and an id too, but no parent.
    const isEntry = typeof value?.type === 'string' && typeof value.id === 'string' && Object.hasOwn(value, 'parentId')
    if (value !== undefined && isEntry) found.push(value)
    at = line.indexOf('{"', isEntry ? end : at + 1)
  }
  return found
}

/** Where an object that begins here ends. */
function endOfObject(line: string, start: number): number | undefined {
  const marks = /["\\{}]/g
  marks.lastIndex = start
  let [depth, inText] = [0, false]
  for (let mark = marks.exec(line); mark !== null; mark = marks.exec(line)) {
    if (mark[0] === '\\') marks.lastIndex++
    else if (mark[0] === '"') inText = !inText
    else if (!inText && mark[0] === '{') depth++
    else if (!inText && --depth === 0) return marks.lastIndex
  }
  return undefined
}

function unused(newId: () => string, known: ReadonlyMap<string, unknown>): string {
  for (;;) {
    const id = newId()
    if (!known.has(id)) return id
  }
}

/** An entry whose parent is missing follows the one before it: that is where a chain with a lost link continues. */
function mendParents(entries: SessionEntry[]): number {
  const places = new Map(entries.map(({ id }, at) => [id, at]))
  let lost = 0
  const mend = (at: number) => {
    lost++
    const entry = entries[at] as SessionEntry
    entry.parentId = entries[at - 1]?.id ?? null
  }
  entries.forEach(({ parentId }, at) => {
    if (parentId !== null && !places.has(parentId)) mend(at)
  })
  // Parents come first in every sound log, so only links to later entries can close a circle.
  entries.forEach(({ parentId }, at) => {
    if (parentId === null || (places.get(parentId) as number) < at) return
    const seen = new Set<number>([at])
    for (let up = places.get(parentId); up !== undefined; ) {
      if (seen.has(up)) {
        mend(at)
        return
      }
      seen.add(up)
      const next = entries[up]?.parentId ?? null
      up = next === null ? undefined : places.get(next)
    }
  })
  return lost
}
