/** `spillway audit`: verifies a log, and prints its records. */

import { readFileSync } from 'node:fs'
import { verifyAudit } from 'spillway'
import { isHash } from '../../audit/audit-log'
import { countText } from '../../util/format'
import { jsonRecord } from '../../util/json'
import { keyFile, keyFromFile } from '../audit-key'
import { badValue, type Command, type Parsed, wrongArgument } from '../command'
import { texts, whole } from '../parse-values'
import { EXIT, green, note, print, printable, printJson, red, yellow } from '../terminal'

const SHOWN = 20

const command: Command = {
  name: 'audit',
  summary: 'verify: checks that audit logs were not changed; show: prints their records.',
  usage: '<verify|show> [options] <file>...',
  about: `verify: earlier files of the same session are read first. Without a key, only accidents and careless changes are detected; records
removed from the end are detected only with a stored --head. show: prints the last records of each file, one per line, unchecked.`,
  options: {
    ...keyFile('verify'),
    head: {
      type: 'string',
      multiple: true,
      value: 'HASH',
      help: 'verify: a record that must be in the log. Can be repeated.',
    },
    lines: { type: 'string', short: 'n', value: 'N', help: `show: number of records. Default: ${SHOWN}.` },
    all: { type: 'boolean', short: 'a', help: 'show: all records.' },
  },
  positionals: [2, Number.POSITIVE_INFINITY],
  exits: [
    ['0', 'no record was changed'],
    ['1', 'something was changed'],
    ['2', 'wrong usage'],
    ['3', 'the operation failed'],
  ],
  examples: [
    ['spillway audit verify audit/session.jsonl', 'a log'],
    ['spillway audit verify --key-file key --head "$hash" log.jsonl', 'a log with a key, up to its last record'],
    ['spillway audit show log.jsonl', 'the last decisions and calls'],
  ],
  run,
}

export default command

const ACTIONS = { verify, show } as const

async function run({ values, positionals, json }: Parsed): Promise<number> {
  const [action = '', ...files] = positionals
  if (action !== 'verify' && action !== 'show') throw wrongArgument('action', action, Object.keys(ACTIONS))
  return ACTIONS[action](files, values, json)
}

async function verify(files: readonly string[], values: Parsed['values'], json: boolean): Promise<number> {
  const key = keyFromFile(values)
  const heads = texts(values, 'head')
  const wrong = heads?.find((head) => !isHash(head))
  if (wrong !== undefined) throw badValue('head', wrong, 'a hash of 64 hexadecimal digits')
  const reports: Awaited<ReturnType<typeof verifyAudit>>[] = []
  for (const file of files) {
    const report = await verifyAudit(file, {
      ...key,
      ...(heads !== undefined && { head: heads }),
    })
    reports.push(report)
    if (json) continue
    const { ok, records, firstBad, torn, head, writers, dropped } = report
    const named = files.length > 1 ? `${file}: ` : ''
    await print(
      `${named}${ok ? green('ok') : red('changed')}: ${countText(records, 'record')}, ${countText(writers, 'writer')}\n`,
    )
    if (firstBad) {
      await print(`  ${firstBad.file}:${firstBad.line} (byte ${firstBad.offset}): ${printable(firstBad.reason)}\n`)
    }
    if (torn) await print(`  ${torn.file}:${torn.line}: ${torn.bytes} bytes of a record that was not finished\n`)
    if (dropped > 0) await print(`  ${countText(dropped, 'event')} could not be written, by its own account\n`)
    if (head !== undefined) await print(`  head: ${head}\n`)
  }
  if (json) await printJson(files.length > 1 ? reports : reports[0])
  return reports.every(({ ok }) => ok) ? EXIT.ok : EXIT.no
}

async function show(files: readonly string[], values: Parsed['values'], json: boolean): Promise<number> {
  const limit = values.all === true ? Number.POSITIVE_INFINITY : (whole(values, 'lines') ?? SHOWN)
  const all: Record<string, unknown>[] = []
  for (const file of files) {
    const lines = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
    const shown = lines.slice(Math.max(0, lines.length - limit))
    for (const line of shown) {
      const record = jsonRecord(line)
      if (record === undefined) note(`spillway: ${file}: this line is not a record: ${printable(line.slice(0, 80))}`)
      else if (json) all.push(record)
      else await print(`${shownRecord(record)}\n`)
    }
    if (!json && shown.length < lines.length)
      note(`${countText(lines.length - shown.length, 'earlier record')} in ${file}; --all shows them`)
  }
  if (json) await printJson(all)
  return EXIT.ok
}

const COLORS: Readonly<Record<string, (text: string) => string>> = { allow: green, ok: green, deny: red, ask: yellow }

/** A record in a line: when, what it is about, how it was decided or ended, and why. */
function shownRecord(record: Record<string, unknown>): string {
  const { timestamp, type, tool, decision, outcome, approver, targets, reason, rulePattern, durationMs, outputPath } =
    record
  const time = typeof timestamp === 'number' && Math.abs(timestamp) < 8.64e15 ? new Date(timestamp).toISOString() : ''
  const word = decision ?? outcome
  const ended = typeof word === 'string' ? (COLORS[word] ?? ((each: string) => each))(printable(word)) : undefined
  const parts = [
    [time, type, tool].map(plain).join('  '),
    ended,
    Array.isArray(targets) ? targets.map(plain).join(' ') : undefined,
    approver === undefined ? undefined : `by ${plain(approver)}`,
    durationMs === undefined ? undefined : `${plain(toTenth(durationMs))} ms`,
    reason === undefined ? plain(rulePattern) : plain(reason),
    plain(outputPath),
  ]
  return parts.filter((part) => part !== undefined && part !== '').join('  ')
}

/** A tenth of a millisecond is as much as a person reads. */
function toTenth(value: unknown): unknown {
  return typeof value === 'number' ? Math.round(10 * value) / 10 : value
}

/** A value of a record in one line of a terminal. */
function plain(value: unknown): string {
  if (value === undefined) return ''
  return printable(typeof value === 'string' ? value : JSON.stringify(value)).replace(/\s+/g, ' ')
}
