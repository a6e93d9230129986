/** The record of files that were read: which lines, and whether these have changed since. */

import { readFile, realpath, stat } from 'node:fs/promises'
import { isAbsolute, relative, resolve } from 'node:path'
import type { ResultText } from '../history/message-cache'
import type { SummaryWords } from '../history/summary'
import { PermissionPolicy } from '../permission/policy'
import { fileAccess } from '../pruning/file-access'
import type { OutputAt, ReadHistory } from './history-reader'
import { type ReadStateOptions, redactorOf } from './read-state-options'

const MAX_TOKENS = 600
const RESTORE_TOKENS = 4000
/** The newest files whose state is looked up. */
const MAX_FILES = 100
/** Larger files are judged by their date alone, and not given again. */
const MAX_BYTES = 1 << 20

/** Fewer lines, of a read without an end, are all that the file had: pages of tools are longer. */
const MIN_PAGE = 100

/** The number of a line, as tools that read files print it. */
const LINE_NUMBER = /^ *\d{1,9}(?:\t|→| ?\| ?|: ?)/

type Range = [from: number, to: number]

interface FileRead {
  path: string
  /** The reads, without those that a newer one covers. */
  reads: ReadLines[]
}

interface ReadLines {
  range: Range
  text: ResultText
  /** When it ended: milliseconds. */
  time: number | undefined
}

/** The files that were read in messages that a summary replaces, the newest last. Reads that stay in view are left out. */
function readsOf<M>({ outputs }: ReadHistory<M>, isDropped: (index: number) => boolean): FileRead[] {
  const files = new Map<string, FileRead>()
  for (const { index, view, call, learnt } of outputs) {
    const read = readIn(call)
    if (read === undefined || (learnt?.isError ?? view.isError) === true) continue
    const [path, from, to] = read
    if (!isDropped(index)) {
      if (from === 1 && to === null) files.delete(path)
      continue
    }
    const range: Range = [from, to ?? Number.POSITIVE_INFINITY]
    const before = files.get(path)?.reads ?? []
    const others = before.filter((read) => read.range[0] < range[0] || read.range[1] > range[1])
    files.delete(path)
    files.set(path, { path, reads: [...others, { range, text: view.text, time: learnt?.endedAt ?? view.time }] })
  }
  return [...files.values()]
}

function readIn(call: OutputAt['call']): ReturnType<typeof fileAccess>['read'] {
  return call?.name === undefined ? undefined : fileAccess(call.name.toWellFormed(), call).read
}

function merged(ranges: readonly Range[]): Range[] {
  const all: Range[] = []
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = all.at(-1)
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else all.push([from, to])
  }
  return all
}

/** The part of a summary about files that were read, no longer than it may be. */
export interface ReadState {
  /** Lines of the record, the newest last. */
  reads: string[]
  /** Texts of files as they are now. */
  files: string[]
}

/** Looks up the files that were read. `known` are the lines of the record in an earlier summary. Never throws. */
export async function lookUpReads<M>(
  options: ReadStateOptions,
  known: readonly string[],
  from: { history: ReadHistory<M>; isDropped: (index: number) => boolean },
  words: SummaryWords,
  tokensOf: (text: string) => number,
): Promise<ReadState> {
  const { maxTokens = MAX_TOKENS, restoreFiles = 0, restoreTokens = RESTORE_TOKENS } = options
  const newest = readsOf(from.history, from.isDropped).slice(-MAX_FILES)
  const found = await Promise.all(newest.map(async (read) => ({ read, ...(await stateOf(options.root, read, words)) })))
  const isAgain = (line: string) => newest.some(({ path }) => line === `- ${path}` || line.startsWith(`- ${path}: `))
  const before = known.map((line) => `- ${pathIn(line, words)}: ${words.earlier}`).filter((line) => !isAgain(line))
  const lines = [...new Set([...before, ...found.map(({ read, state }) => lineOf(read, state, words))])]
  const reads = fitting(lines.toReversed(), lines.length, maxTokens, tokensOf).toReversed()
  const now = restoreFiles === 0 ? [] : await textsNow(options, found).catch(() => [])
  const texts = now.map(({ path, text }) => `<file path=${JSON.stringify(path)}>\n${inert(text)}\n</file>`)
  return { reads, files: fitting(texts, restoreFiles, restoreTokens, tokensOf) }
}

interface FoundRead extends FileState {
  read: FileRead
}

/** The texts of files to give again, the newest first and without secrets. */
async function textsNow(
  options: ReadStateOptions,
  found: readonly FoundRead[],
): Promise<{ path: string; text: string }[]> {
  const { root, restoreFiles } = options
  // A file that a person would be asked about is not read again without a question.
  const policy = new PermissionPolicy({ vault: await realpath(root), allowWideVault: true })
  const mayBeRead = (path: string) => policy.evaluate({ tool: 'read', args: { path } }).decision === 'allow'
  const chosen = found
    .toReversed()
    .filter(({ real, text }) => text !== undefined && real !== undefined && mayBeRead(real))
    .slice(0, restoreFiles)
  const storage = redactorOf(options)
  return Promise.all(
    chosen.map(async ({ read: { path }, text = '' }) => {
      const saved = text === '' ? undefined : await storage.save(text, { toolName: 'read' })
      return { path, text: saved === undefined ? '' : await storage.read(saved) }
    }),
  )
}

/** The first `maxFiles` texts of those that have no more tokens together. */
function fitting(
  texts: readonly string[],
  maxFiles: number,
  tokens: number,
  tokensOf: (text: string) => number,
): string[] {
  const chosen: string[] = []
  let left = tokens
  for (const text of texts.slice(0, maxFiles)) {
    const size = tokensOf(`${text}\n`)
    if (size > left) continue
    left -= size
    chosen.push(text)
  }
  return chosen
}

function lineOf({ path, reads }: FileRead, state: string | undefined, { lines }: SummaryWords): string {
  const ranges = merged(reads.map(({ range }) => range))
  const isWhole = ranges.some(([from, to]) => from === 1 && to === Number.POSITIVE_INFINITY)
  const named = ranges
    .map(([from, to]) => (from === to ? from : Number.isFinite(to) ? `${from}-${to}` : `${from}-`))
    .join(', ')
  const about = [isWhole ? '' : `${lines} ${named}`, state ?? ''].filter((part) => part !== '').join(', ')
  const shown = path.replace(/[\r\n]/g, ' ')
  return about === '' ? `- ${shown}` : `- ${shown}: ${about}`
}

function pathIn(line: string, { lines, ...words }: SummaryWords): string {
  const states = [words.unchanged, words.changed, words.deleted, words.unknown, words.earlier]
  const end = [lines, ...states].map((word) => line.indexOf(`: ${word}`)).filter((at) => at >= 0)
  return line.slice(2, Math.min(line.length, ...end))
}

/** A text that cannot close the tag around it. */
function inert(text: string): string {
  return text
    .replace(/<(\/?)file/g, '<\u200b$1file')
    .toWellFormed()
    .trimEnd()
}

/** A file as it is now. */
interface FileState {
  state: string | undefined
  text: string | undefined
  /** Where it is, links followed. */
  real?: string
}

/** Looks whether a file still has the lines that were read, and returns its text. Nothing is known of a file outside of the root. */
async function stateOf(root: string, { path, reads }: FileRead, words: SummaryWords): Promise<FileState> {
  const unknown = { state: undefined, text: undefined }
  try {
    const home = await realpath(root)
    const asked = resolve(home, path)
    const real = await realpath(asked).catch((error: NodeJS.ErrnoException) => error)
    if (typeof real !== 'string') {
      const isGone = real.code === 'ENOENT' || real.code === 'ENOTDIR'
      return { state: isGone && isInside(home, asked) ? words.deleted : undefined, text: undefined }
    }
    if (!isInside(home, real)) return unknown
    const { mtimeMs, size, isFile } = await about(real)
    if (!isFile) return { state: words.deleted, text: undefined }
    const now = size > MAX_BYTES ? undefined : await readFile(real, 'utf8')
    const lines = now?.split(/\r?\n/)
    const isSame = (read: ReadLines) => lines !== undefined && standsIn(lines, read)
    const others = reads.filter((read) => !(read.time !== undefined && mtimeMs <= read.time) && !isSame(read))
    if (others.length === 0) return { state: words.unchanged, text: now, real }
    const isChanged = others.some(({ time }) => time !== undefined)
    return { state: isChanged ? words.changed : words.unknown, text: now, real }
  } catch {
    return unknown
  }
}

async function about(path: string): Promise<{ mtimeMs: number; size: number; isFile: boolean }> {
  const found = await stat(path)
  return { mtimeMs: found.mtimeMs, size: found.size, isFile: found.isFile() }
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path)
  return way === '' || !(way === '..' || /^\.\.[\\/]/.test(way) || isAbsolute(way))
}

/** True if a file still has the lines that a tool showed of it, and where it showed them. */
function standsIn(file: readonly string[], { range, text }: ReadLines): boolean {
  const joined = typeof text === 'string' ? text : text.join('\n')
  const shown = joined.split(/\r?\n/)
  const bare = shown.map((line) => line.replace(LINE_NUMBER, ''))
  const isText = (line: string) => line.trim() !== ''
  const first = bare.findIndex(isText)
  if (first === -1) return !file.some(isText)
  const last = bare.findLastIndex(isText)
  const number = LINE_NUMBER.test(shown[first] as string) ? Number.parseInt(shown[first] as string, 10) : undefined
  const at = (number ?? range[0] + first) - 1
  const count = last + 1 - first
  // Texts are trimmed on their way.
  const whole = bare
    .slice(first, last + 1)
    .join('\n')
    .trim()
  const isToEnd = range[1] === Number.POSITIVE_INFINITY && count < MIN_PAGE
  const there = file
    .slice(at, at + count)
    .join('\n')
    .trim()
  return there === whole && !(isToEnd && file.slice(at + count).some(isText))
}
