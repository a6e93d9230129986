#!/usr/bin/env node
/** The command `spillway`: finds the subcommand, and turns what becomes of it into an exit code. */

import nodeModule from 'node:module'
import { type Command, helpOf, overview, parse, UsageError } from './command'
import { EXIT, exitQuietlyOnClosedPipe, reportError } from './terminal'

// What is compiled once is not compiled again, where Node knows how (22.8 and later).
;(nodeModule as { enableCompileCache?: () => unknown }).enableCompileCache?.()

/** Each in a file of its own that is loaded when it is asked for: most of the time of a short run is loading. */
const COMMANDS: Readonly<Record<string, () => { default: Command }>> = {
  run: () => require('./commands/run'),
  clip: () => require('./commands/clip'),
  read: () => require('./commands/read'),
  search: () => require('./commands/search'),
  sweep: () => require('./commands/sweep'),
  usage: () => require('./commands/usage'),
  prune: () => require('./commands/prune'),
  classify: () => require('./commands/classify'),
  permit: () => require('./commands/permit'),
  audit: () => require('./commands/audit'),
  config: () => require('./commands/config'),
  mcp: () => require('./commands/mcp'),
}

const version = (): string => (require('../../package.json') as { version: string }).version

async function main(args: readonly string[]): Promise<number> {
  const [first, ...rest] = args
  if (first === '--version' || first === '-v') {
    process.stdout.write(`${version()}\n`)
    return EXIT.ok
  }
  const asked = first === 'help' ? rest[0] : first
  const wantsHelp = first === 'help' || first === '--help' || first === '-h'
  if (asked === undefined || asked === '--help' || asked === '-h') {
    const text = overview(Object.values(COMMANDS).map((load) => load().default))
    ;(wantsHelp ? process.stdout : process.stderr).write(text)
    return wantsHelp ? EXIT.ok : EXIT.usage
  }
  const load = Object.hasOwn(COMMANDS, asked) ? COMMANDS[asked] : undefined
  if (load === undefined) {
    throw new UsageError(`${JSON.stringify(asked)} is no command; commands are ${Object.keys(COMMANDS).join(', ')}`)
  }
  const command = load().default
  if (wantsHelp) {
    process.stdout.write(helpOf(command))
    return EXIT.ok
  }
  const parsed = parse(command, rest)
  if (parsed === 'help') {
    process.stdout.write(helpOf(command))
    return EXIT.ok
  }
  asJson = parsed.json
  return command.run(parsed)
}

exitQuietlyOnClosedPipe()
const given = process.argv.slice(2)
// Until the words are understood: what stands behind `--` belongs to another program.
const end = given.indexOf('--')
let asJson = given.slice(0, end < 0 ? undefined : end).includes('--json')
main(given).then(
  (code) => {
    process.exitCode = code
  },
  (error: unknown) => {
    process.exitCode = reportError(error, asJson)
  },
)
