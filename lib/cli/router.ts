/** Finds the subcommand, and turns what becomes of it into an exit code. */

import { type Command, helpOf, nearest, overview, parse, UsageError } from './command'
import { EXIT, exitQuietlyOnClosedPipe, reportError } from './terminal'

/** Each in a file of its own that is loaded when it is asked for: most of the time of a short run is loading. */
const COMMANDS: Readonly<Record<string, () => Promise<{ default: Command }>>> = {
  run: () => import('./commands/run'),
  clip: () => import('./commands/clip'),
  read: () => import('./commands/read'),
  search: () => import('./commands/search'),
  sweep: () => import('./commands/sweep'),
  usage: () => import('./commands/usage'),
  prune: () => import('./commands/prune'),
  classify: () => import('./commands/classify'),
  permit: () => import('./commands/permit'),
  audit: () => import('./commands/audit'),
  config: () => import('./commands/config'),
  mcp: () => import('./commands/mcp'),
}

const version = (): string => (require('../../package.json') as { version: string }).version

async function answer(args: readonly string[]): Promise<number> {
  const [first, ...rest] = args
  if (first === '--version' || first === '-v' || first === '-V') {
    process.stdout.write(`${version()}\n`)
    return EXIT.ok
  }
  const asked = first === 'help' ? rest[0] : first
  const wantsHelp = first === 'help' || first === '--help' || first === '-h'
  if (asked === undefined || asked === '--help' || asked === '-h') {
    const commands = await Promise.all(Object.values(COMMANDS).map((load) => load()))
    const text = overview(commands.map((command) => command.default))
    ;(wantsHelp ? process.stdout : process.stderr).write(text)
    return wantsHelp ? EXIT.ok : EXIT.usage
  }
  const load = Object.hasOwn(COMMANDS, asked) ? COMMANDS[asked] : undefined
  if (load === undefined) {
    throw new UsageError(
      `unknown command ${JSON.stringify(asked)}; ${nearest(asked, Object.keys(COMMANDS), 'commands are')}`,
    )
  }
  const { default: command } = await load()
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

let asJson = false

/** Runs what was typed behind `spillway`. */
export async function runTyped(given: readonly string[]): Promise<void> {
  exitQuietlyOnClosedPipe()
  // Until the words are understood: what stands behind `--` belongs to another program.
  const end = given.indexOf('--')
  asJson = given.slice(0, end < 0 ? undefined : end).includes('--json')
  try {
    process.exitCode = await answer(given)
  } catch (error) {
    process.exitCode = reportError(error, asJson)
  }
}
