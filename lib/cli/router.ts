/** Finds the subcommand, and turns its outcome into an exit code. */

import { join } from 'node:path'
import { nearest } from '../util/suggest'
import { suggestion } from '../validation/validate'
import { helpOf, overview, parse, UsageError } from './command'
import { all, COMMANDS } from './commands'
import { EXIT, exitQuietlyOnClosedPipe, reportError } from './terminal'

/** By a path that is computed, so that the bundler leaves it as it is. */
const PACKAGE = join(__dirname, '..', '..', 'package.json')
const version = (): string => (require(PACKAGE) as { version: string }).version

/** The sentence about a first word that is neither a command nor an option of the whole. */
function unknown(word: string): string {
  if (!word.startsWith('-'))
    return `Unknown command ${JSON.stringify(word)}: ${suggestion(word, Object.keys(COMMANDS))}`
  const meant = nearest(word, ['--help', '--version'])
  const more =
    meant === undefined ? 'options follow the command: spillway <command> [options]' : `did you mean ${meant}?`
  return `Unknown option ${word}: ${more}`
}

async function answer(args: readonly string[]): Promise<number> {
  const [first, ...rest] = args
  if (first === '--version' || first === '-v' || first === '-V') {
    process.stdout.write(`${version()}\n`)
    return EXIT.ok
  }
  if (first === 'help' && rest[0] === '--man') {
    const { manPage } = await import('./man-page')
    process.stdout.write(manPage(await all(), version()))
    return EXIT.ok
  }
  const asked = first === 'help' ? rest[0] : first
  const wantsHelp = first === 'help' || first === '--help' || first === '-h'
  if (asked === undefined || asked === '--help' || asked === '-h') {
    const text = overview(await all())
    ;(wantsHelp ? process.stdout : process.stderr).write(text)
    return wantsHelp ? EXIT.ok : EXIT.usage
  }
  const load = Object.hasOwn(COMMANDS, asked) ? COMMANDS[asked] : undefined
  if (load === undefined) {
    throw new UsageError(unknown(asked))
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
  return command.run(parsed, all)
}

let asJson = false

/** Runs what was typed after `spillway`. */
export async function runTyped(given: readonly string[]): Promise<void> {
  // A hook has nothing to print most times, and watches its pipes then as it prints.
  if (given[0] !== 'hook') exitQuietlyOnClosedPipe()
  // Before the words are parsed: everything after `--` belongs to another program.
  const end = given.indexOf('--')
  asJson = given.slice(0, end < 0 ? undefined : end).includes('--json')
  try {
    process.exitCode = await answer(given)
  } catch (error) {
    const code = reportError(error, asJson)
    // An agent whose hook ends with 2 refuses the call: a wrong option in its settings must not stop all its work.
    process.exitCode = given[0] === 'hook' ? EXIT.no : code
  }
}
