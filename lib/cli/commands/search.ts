/** `spillway search`: the lines of a saved output that match. */

import type { SearchMatch } from 'spillway'
import { type Command, type Parsed, typed } from '../command'
import { text, whole } from '../parse-values'
import { STORE, storageOf } from '../shared-options'
import { EXIT, green, note, print, printJson } from '../terminal'

const command: Command = {
  name: 'search',
  summary: 'Prints the lines of a saved output that match a regular expression.',
  usage: '[options] <path> <pattern>',
  about: 'The time grows with the text and never explodes: no look-around, no back-references.',
  options: {
    literal: { type: 'boolean', short: 'F', help: 'The pattern is the text itself.' },
    'ignore-case': { type: 'boolean', short: 'i', help: 'Upper and lower case are the same.' },
    context: { type: 'string', short: 'C', value: 'N', help: 'Lines to show around each match, up to 100.' },
    'max-matches': { type: 'string', short: 'm', value: 'N', help: 'Stop after so many. Default: 100.' },
    after: { type: 'string', value: 'CURSOR', help: 'Go on where an earlier search stopped.' },
    session: { type: 'string', value: 'ID', help: 'Only an output of this session.' },
    ...STORE,
  },
  positionals: [2, 2],
  takesText: true,
  exits: [
    ['0', 'something was found'],
    ['1', 'nothing was found'],
    ['2', 'wrong usage'],
    ['3', 'it could not be done'],
  ],
  examples: [
    ['spillway search "$path" "error|warning"', 'as grep -n does'],
    ['spillway search -F -C 3 "$path" "panic at"', 'a text, with three lines around it'],
  ],
  run,
}

export default command

async function run({ values, positionals, json }: Parsed): Promise<number> {
  const [path = '', pattern = ''] = positionals
  const found = await typed(
    storageOf(values).search(path, pattern, {
      literal: values.literal === true,
      ignoreCase: values['ignore-case'] === true,
      context: whole(values, 'context', 0),
      maxMatches: whole(values, 'max-matches'),
      after: text(values, 'after'),
      sessionId: text(values, 'session'),
    }),
  )
  if (json) {
    await printJson(found)
  } else {
    await print(shown(found.matches))
    if (found.next !== undefined) note(`more: the same with --after ${found.next}`)
  }
  return found.matches.length > 0 ? EXIT.ok : EXIT.no
}

/** As grep prints them: `12:` for a match, `11-` for a neighbour, each line once, and two dashes where lines are left out. */
function shown(matches: readonly SearchMatch[]): string {
  const lines = new Map<number, string>()
  const beside = (line: number, each: string) => lines.set(line, `${line}-${each}`)
  for (const { line, before, after } of matches) {
    for (const [at, each] of before.entries()) beside(line - before.length + at, each)
    for (const [at, each] of after.entries()) beside(line + 1 + at, each)
  }
  const hasContext = lines.size > 0
  // A neighbour can be a match as well.
  for (const { line, text: match } of matches) lines.set(line, `${green(String(line))}:${match}`)
  let last = Number.POSITIVE_INFINITY
  let told = ''
  for (const [line, each] of [...lines].sort(([a], [b]) => a - b)) {
    told += `${hasContext && line > last + 1 ? '--\n' : ''}${each}\n`
    last = line
  }
  return told
}
