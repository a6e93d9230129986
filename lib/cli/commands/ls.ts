/** `spillway ls`: lists the saved outputs. */

import { sizeText } from '../../util/format'
import { isStoreUrl } from '../../util/store-url'
import { type Command, type Parsed, UsageError } from '../command'
import { openOutputs } from '../output-storage'
import { nothingIn, type RecordedOutput, recordedOutputs } from '../outputs'
import { ageText, quoted, text, whole } from '../parse-values'
import { STORE_OR_BUCKET } from '../store-options'
import { EXIT, note, print, printable, printJson, red } from '../terminal'

const SHOWN = 20

const command: Command = {
  name: 'ls',
  summary: 'Lists saved outputs, the newest first: age, size, exit code and command.',
  usage: '[options] [store]',
  about: `The number at the start of a line refers to the output in other commands: -1 is the newest. Outputs of spillway run have
a command and an exit code; other outputs have the name of the tool. A store is a folder or a bucket, as for --store.`,
  options: {
    lines: { type: 'string', short: 'n', value: 'N', help: `Number of outputs. Default: ${SHOWN}.` },
    all: { type: 'boolean', short: 'a', help: 'List all outputs.' },
    paths: { type: 'boolean', help: 'Print paths only.' },
    session: { type: 'string', value: 'ID', help: 'Only outputs of this session.' },
    ...STORE_OR_BUCKET,
  },
  positionals: [0, 1],
  examples: [
    ['spillway ls', 'the last twenty'],
    ['spillway ls s3://agent-outputs/prod', 'those in a bucket'],
    ['spillway read -1', 'the newest of them'],
    ['spillway ls --all --paths | xargs grep -l ERROR', 'paths for other programs'],
  ],
  run,
}

export default command

async function run({ values: given, positionals: [store], json }: Parsed): Promise<number> {
  if (store !== undefined && given.store !== undefined)
    throw new UsageError(`${quoted(store)} and --store both name a store; leave out one of them`)
  const values = store === undefined ? given : { ...given, store: await storeIn(store) }
  const [storage, sessionId] = [await openOutputs(values), text(values, 'session')]
  const all = await recordedOutputs(storage, sessionId)
  const shown = values.all === true ? all : all.slice(0, whole(values, 'lines') ?? SHOWN)
  if (json) {
    await printJson(shown)
    return EXIT.ok
  }
  const now = Date.now()
  const rows = shown.map((output, at) => rowOf(output, at + 1, now))
  await print(values.paths === true ? shown.map(({ path }) => `${path}\n`).join('') : tableOf(rows))
  if (all.length === 0) note(nothingIn(storage, sessionId))
  if (shown.length < all.length) note(`${all.length - shown.length} more; --all lists them`)
  return EXIT.ok
}

/** A bucket by its URL, or by that of an output in it. */
async function storeIn(store: string): Promise<string> {
  if (!isStoreUrl(store)) return store
  const { storeOfPath } = await import('spillway/remote')
  return storeOfPath(store) ?? store
}

type Row = readonly [number: string, age: string, size: string, code: string, command: string]

function rowOf({ savedAt, bytes, exitCode, command, toolName }: RecordedOutput, number: number, now: number): Row {
  const code = exitCode === undefined ? '' : String(exitCode)
  return [`-${number}`, ageText(now - savedAt), sizeText(bytes), code, printable(command ?? `(${toolName})`)]
}

/** Columns as wide as they must be; a command is cut where the terminal ends. */
function tableOf(rows: readonly Row[]): string {
  const widths = [0, 1, 2, 3].map((column) => Math.max(0, ...rows.map((row) => row[column]!.length)))
  const width = process.stdout.isTTY === true ? (process.stdout.columns ?? 80) : Number.POSITIVE_INFINITY
  const lines = rows.map(([number, age, size, code, command]) => {
    const left = [number, age, size, code].map((cell, column) => cell.padStart(widths[column]!))
    const failed = code !== '' && code !== '0'
    const before = left.join('  ')
    const room = Math.max(20, width - before.length - 2)
    const line = command.replace(/\s+/g, ' ')
    const shown = line.length > room ? `${line.slice(0, room - 1)}…` : line
    return `${[...left.slice(0, 3), failed ? red(left[3]!) : left[3]].join('  ')}  ${shown}\n`
  })
  return lines.join('')
}
