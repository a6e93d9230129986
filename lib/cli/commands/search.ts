/** `spillway search`: prints the matching lines of a saved output. */

import type { SearchMatch, SearchOptions } from 'spillway'
import { type Command, type Parsed, typed, UsageError } from '../command'
import type { OutputStorage } from '../output-storage'
import { askedOutput } from '../outputs'
import { text, whole } from '../parse-values'
import { STORE_OR_BUCKET } from '../store-options'
import { EXIT, green, note, print, printJson, red } from '../terminal'

const command: Command = {
  name: 'search',
  summary: 'Prints the lines of a saved output that match a regular expression.',
  usage: '[options] <output> <pattern>',
  about: `An output is a path, or -1 for the newest, -2 for the one before. The search takes linear time, so the pattern cannot use
look-around or back-references.`,
  options: {
    literal: { type: 'boolean', short: 'F', help: 'Take the pattern as plain text.' },
    'ignore-case': { type: 'boolean', short: 'i', help: 'Ignore case.' },
    context: { type: 'string', short: 'C', value: 'N', help: 'Lines to show around each match, up to 100.' },
    'before-context': { type: 'string', short: 'B', value: 'N', help: 'Lines to show before each match.' },
    'after-context': { type: 'string', short: 'A', value: 'N', help: 'Lines to show after each match.' },
    count: { type: 'boolean', short: 'c', help: 'Print how many lines match.' },
    'files-with-matches': { type: 'boolean', short: 'l', help: 'Print the path if a line matches.' },
    'max-matches': { type: 'string', short: 'm', value: 'N', help: 'Stop after N matches. Default: 100.' },
    after: { type: 'string', value: 'CURSOR', help: 'Continue where an earlier search stopped.' },
    session: { type: 'string', value: 'ID', help: 'Only an output of this session.' },
    ...STORE_OR_BUCKET,
  },
  positionals: [2, 2],
  takesText: true,
  takesOutputs: true,
  exits: [
    ['0', 'something was found'],
    ['1', 'nothing was found'],
    ['2', 'wrong usage'],
    ['3', 'the operation failed'],
  ],
  examples: [
    ['spillway search "$path" "error|warning"', 'like grep -n'],
    ['spillway search -F -C 3 "$path" "panic at"', 'a text, with three lines around it'],
  ],
  run,
}

export default command

async function run({ values, positionals, json }: Parsed): Promise<number> {
  const [given = '', pattern = ''] = positionals
  const { storage, path, access } = await askedOutput(values, given)
  const options: SearchOptions = {
    literal: values.literal === true,
    ignoreCase: values['ignore-case'] === true,
    context: contextOf(values),
    maxMatches: whole(values, 'max-matches'),
    after: text(values, 'after'),
    ...access,
  }
  if (values.count === true) return printCount(storage, path, pattern, options, json)
  const found = await asked(storage.search(path, pattern, options))
  if (values['files-with-matches'] === true) {
    if (json) await printJson(found.matches.length > 0 ? [path] : [])
    else if (found.matches.length > 0) await print(`${path}\n`)
    return found.matches.length > 0 ? EXIT.ok : EXIT.no
  }
  if (json) {
    await printJson(found)
  } else {
    await print(shown(found.matches, highlighter(pattern, options)))
    if (found.next !== undefined) note(`more matches: run the same command with --after ${found.next}`)
  }
  return found.matches.length > 0 ? EXIT.ok : EXIT.no
}

/** Names the argument instead of an option, and the option for plain text if the pattern is invalid. */
async function asked<T>(answer: Promise<T>): Promise<T> {
  try {
    return await typed(answer)
  } catch (error) {
    const [, problem] = /^Invalid option "pattern": ([\s\S]*)/.exec((error as Error).message) ?? []
    throw problem === undefined
      ? error
      : new UsageError(`Invalid <pattern>: ${problem}; for the text itself: --literal`)
  }
}

/** As grep: `-A` and `-B` go before `-C`. */
function contextOf(values: Parsed['values']): SearchOptions['context'] {
  const around = whole(values, 'context', 0)
  const [before, after] = [whole(values, 'before-context', 0), whole(values, 'after-context', 0)]
  return before === undefined && after === undefined ? around : { before: before ?? around, after: after ?? around }
}

/** Counts all lines that match, or up to `--max-matches`, in as many calls as that takes. */
async function printCount(
  storage: OutputStorage,
  path: string,
  pattern: string,
  options: SearchOptions,
  json: boolean,
): Promise<number> {
  const { maxMatches: limit = Number.POSITIVE_INFINITY } = options
  let { after } = options
  let count = 0
  do {
    const maxMatches = Math.min(limit - count, 10_000)
    const found = await asked(
      storage.search(path, pattern, { ...options, context: 0, maxMatches, maxBytes: 2 ** 22, after }),
    )
    count += found.matches.length
    after = found.next
  } while (after !== undefined && count < limit)
  if (json) await printJson({ count })
  else await print(`${count}\n`)
  return count > 0 ? EXIT.ok : EXIT.no
}

/** Patterns without groups and with one repetition at most mean about the same to JavaScript, and cannot take long there. */
function isSimple(pattern: string): boolean {
  return !/[(){}]/.test(pattern) && (pattern.match(/[*+?]/g) ?? []).length <= 1
}

/** Shows where a line matches, on a terminal, for texts and simple patterns. */
function highlighter(pattern: string, { literal, ignoreCase }: SearchOptions): (line: string) => string {
  if (!literal && !isSimple(pattern)) return (line) => line
  const source = literal ? pattern.replace(/[.*+?^${}()|[\]\\]/g, '\\$&') : pattern
  let hit: RegExp
  try {
    hit = new RegExp(source, ignoreCase ? 'giu' : 'gu')
  } catch {
    return (line) => line
  }
  return (line) => line.replace(hit, (found) => (found === '' ? '' : red(found)))
}

/** As grep prints them: `12:` for a match, `11-` for a neighbour, each line once, and two dashes where lines are left out. */
function shown(matches: readonly SearchMatch[], highlight: (line: string) => string): string {
  const lines = new Map<number, string>()
  const beside = (line: number, each: string) => lines.set(line, `${line}-${each}`)
  for (const { line, before, after } of matches) {
    for (const [at, each] of before.entries()) beside(line - before.length + at, each)
    for (const [at, each] of after.entries()) beside(line + 1 + at, each)
  }
  const hasContext = lines.size > 0
  // A neighbour can be a match as well.
  for (const { line, text: match } of matches) lines.set(line, `${green(String(line))}:${highlight(match)}`)
  let last = Number.POSITIVE_INFINITY
  let told = ''
  for (const [line, each] of [...lines].sort(([a], [b]) => a - b)) {
    told += `${hasContext && line > last + 1 ? '--\n' : ''}${each}\n`
    last = line
  }
  return told
}
