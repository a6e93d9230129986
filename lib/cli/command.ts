/** Definition of a subcommand, and the parser of its options. */

import { type ParseArgsConfig, parseArgs } from 'node:util'
import { SpillwayError } from '../errors'
import { listed, suggestion, wrongName } from '../validation/validate'
import { bold } from './terminal'

/** One option of a subcommand. */
export interface Option {
  type: 'string' | 'boolean'
  short?: string
  multiple?: boolean
  /** Placeholder of its value in the help, such as `N` or `FILE`. */
  value?: string
  help: string
  /** Returns what is wrong with a value by its form. */
  problem?: (value: string) => string | undefined
}

/** Arguments after the name of a subcommand. */
export interface Parsed {
  values: { readonly [name: string]: string | boolean | readonly (string | boolean)[] | undefined }
  positionals: readonly string[]
  /** Print JSON. */
  json: boolean
}

/** A subcommand. */
export interface Command {
  name: string
  /** One line. */
  summary: string
  /** Usage after the name, such as `[options] -- <command> [arguments]`. */
  usage: string
  /** More about it, in paragraphs. */
  about?: string
  options: Readonly<Record<string, Option>>
  /** How many positional arguments there may be. */
  positionals: readonly [min: number, max: number]
  /** A positional argument is a text, which may be empty, and not the name of something. */
  takesText?: boolean
  /** Positional arguments are saved outputs, which `-1` and the like count from the newest. */
  takesOutputs?: boolean
  /** Names that the first positional argument can be, where they are few. */
  names?: readonly string[]
  /** It speaks a protocol: there is nothing to print as JSON. */
  speaks?: boolean
  /** The first positional argument, and everything after it, belongs to another program. */
  passesOn?: boolean
  /** Exit codes, where they say more than success. */
  exits?: readonly (readonly [code: string, meaning: string])[]
  examples: readonly (readonly [line: string, meaning: string])[]
  /** Answers the exit code. @param all loads every subcommand */
  run(parsed: Parsed, all: () => Promise<readonly Command[]>): Promise<number>
}

/** The command was typed in a way that it does not understand. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** @throws UsageError for what the library refuses: everything that can be a wrong argument was typed */
export async function typed<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    const isWrong = error instanceof SpillwayError && ['INVALID_ARGUMENT', 'INVALID_CONFIG'].includes(error.code)
    throw isWrong ? new UsageError(error.message) : error
  }
}

const COMMON: Readonly<Record<string, Option>> = {
  json: { type: 'boolean', help: 'Print JSON, for programs.' },
  help: { type: 'boolean', short: 'h', help: 'Print this help.' },
}

/** @throws UsageError that names the option or the argument */
export function parse(command: Command, args: readonly string[]): Parsed | 'help' {
  const described = { ...command.options, ...COMMON }
  const options: NonNullable<ParseArgsConfig['options']> = Object.fromEntries(
    Object.entries(described).map(([name, { type, short, multiple }]) => [
      name,
      { type, ...(short !== undefined && { short }), ...(multiple !== undefined && { multiple }) },
    ]),
  )
  const [own, foreign] = command.passesOn ? split(args, options) : [asPositionals(command, args, options), []]
  let parsed: ReturnType<typeof parseArgs>
  try {
    parsed = parseArgs({ args: own, options, allowPositionals: true, strict: true })
  } catch (error) {
    throw usageError(command, error, Object.keys(described))
  }
  const { values } = parsed
  if (values.help === true) return 'help'
  const positionals = [...parsed.positionals.map(asTyped), ...foreign]
  const [min, max] = command.positionals
  if (positionals.length < min || positionals.length > max) {
    const problem =
      positionals.length < min
        ? `missing argument ${missing(command, positionals.length)}`
        : `unexpected argument ${JSON.stringify(positionals[max])}${command.takesText ? ' (a text of several words is one argument, in quotes)' : ''}`
    throw new UsageError(`${problem}; usage: spillway ${command.name} ${command.usage}`)
  }
  for (const [name, value] of Object.entries(values)) {
    // Most often a variable of the shell that is not set. Without the option, more would be read or kept elsewhere than was asked.
    if ([value].flat().includes('')) {
      throw wrongOption(name, `expected ${described[name]?.value ?? 'a value'}, received ""`)
    }
    const problem = typeof value === 'string' ? described[name]?.problem?.(value) : undefined
    if (problem !== undefined) throw wrongOption(name, problem)
  }
  const names = command.passesOn ? positionals.slice(0, 1) : positionals
  if (command.takesText !== true && names.includes('')) {
    throw new UsageError(`an argument is empty; usage: spillway ${command.name} ${command.usage}`)
  }
  return { values: values as Parsed['values'], positionals, json: values.json === true }
}

const [COUNTED, AS_OPTION] = [/^-\d+$/, '\0']

/** Keeps `-1` from being read as an option, by a prefix character that no argument of a process can have. */
function asPositionals(
  { takesOutputs }: Command,
  args: readonly string[],
  options: NonNullable<ParseArgsConfig['options']>,
): string[] {
  if (takesOutputs !== true) return [...args]
  const takesValue = (arg = '') =>
    Object.entries(options).some(
      ([name, { type, short }]) => type === 'string' && [`--${name}`, `-${short}`].includes(arg),
    )
  return args.map((arg, at) => (COUNTED.test(arg) && !takesValue(args[at - 1]) ? AS_OPTION + arg : arg))
}

function asTyped(arg: string): string {
  return arg.startsWith(AS_OPTION) ? arg.slice(1) : arg
}

/** Splits the arguments at the first positional one or at `--`: our own options, and the rest, which is not parsed. */
function split(args: readonly string[], options: ParseArgsConfig['options']): [own: string[], foreign: string[]] {
  const { tokens } = parseArgs({ args: [...args], options, allowPositionals: true, strict: false, tokens: true })
  const first = tokens.find(({ kind }) => kind === 'positional' || kind === 'option-terminator')
  if (first === undefined) return [[...args], []]
  const isTerminator = first.kind === 'option-terminator'
  return [args.slice(0, first.index), args.slice(first.index + (isTerminator ? 1 : 0))]
}

function usageError(command: Command, error: unknown, known: readonly string[]): UsageError {
  const { code, message } = error as { code?: string; message: string }
  const see = `; see spillway ${command.name} --help`
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const name = /'(-[^'\s]*)/.exec(message)?.[1] ?? 'this'
    const names = known.filter((each) => !(command.speaks && each === 'json')).map((each) => `--${each}`)
    return new UsageError(`Unknown option ${name}: ${suggestion(name, names)} (spillway ${command.name} --help)`)
  }
  const [, name] = /'--([\w-]+)=-XYZ'/.exec(message) ?? []
  if (name !== undefined) {
    return wrongOption(name, `expected a value; one that begins with a dash is typed --${name}=-1${see}`)
  }
  return new UsageError(`${message.split('\n', 1)[0]?.replace(/\.$/, '')}${see}`)
}

/** The name in the usage of a command of the argument at a place. */
function missing({ usage }: Command, place: number): string {
  const names = usage.match(/<[^>]+>/g) ?? []
  return names[Math.min(place, names.length - 1)] ?? ''
}

/** Makes the error for a wrong option, with the problem in words. */
export function wrongOption(name: string, problem: string): UsageError {
  return new UsageError(`Invalid option --${name}: ${problem}`)
}

/** Makes the error for a wrong value of an option; `names` are those that it may have. */
export function badValue(name: string, value: string, expected: string, names: readonly string[] = []): UsageError {
  return wrongOption(name, wrongName(value, expected, names))
}

/** Makes the error for an argument that is not among `names`; `what` is the argument as the usage of the command names it. */
export function wrongArgument(what: string, given: string, names: readonly string[]): UsageError {
  return new UsageError(`Invalid argument <${what}>: ${wrongName(given, listed(names), names)}`)
}

/** All options of a subcommand, with those that every one has. */
export function optionsOf(command: Command): [string, Option][] {
  return Object.entries({ ...command.options, ...COMMON }).filter(([name]) => !(command.speaks && name === 'json'))
}

/** The exit codes of a subcommand. */
export function exitsOf({ exits = EXITS }: Command): readonly (readonly [string, string])[] {
  return exits
}

/** The help of a subcommand. */
export function helpOf(command: Command): string {
  const all = optionsOf(command)
  const left = ([name, { short, value }]: [string, Option]) =>
    `${short ? `-${short}, ` : '    '}--${name}${value ? ` ${value}` : ''}`
  const sections = [
    `${usageLines(`spillway ${command.name} ${command.usage}`)}\n\n${paragraphs(command.summary)}`,
    command.about === undefined ? undefined : paragraphs(command.about),
    `${bold('Options:')}\n${table(all.map((entry) => [left(entry), entry[1].help]))}`,
    `${bold('Exit codes:')}\n${table([...exitsOf(command)])}`,
    `${bold('Examples:')}\n${command.examples.map(exampleLines).join('\n')}`,
  ]
  return `${sections.filter((section) => section !== undefined).join('\n\n')}\n`
}

/** Default exit codes of a subcommand. */
const EXITS: readonly (readonly [string, string])[] = [
  ['0', 'done'],
  ['2', 'wrong usage'],
  ['3', 'the operation failed'],
]

/** The help of the whole. */
export function overview(commands: readonly Command[]): string {
  const rows = commands.map(({ name, summary }) => [name, summary] as const)
  return `${usageLines('spillway <command> [options]')}

${paragraphs('Truncates tool output of any size to a preview, and saves all of it where it can be read and searched.')}

${bold('Commands:')}
${table(rows)}

${paragraphs('Each command has --help with examples, and all but browse and mcp have --json. spillway --version prints the version.')}
`
}

/** Columns of a help: those of the terminal, or of `COLUMNS`, within what can be read. A terminal without a size says 0. */
function columns(): number {
  const asked = Number(process.env.COLUMNS)
  const given = Number.isSafeInteger(asked) && asked > 0 ? asked : process.stdout.columns
  return Math.max(30, Math.min(given || 100, 120))
}

/** The usage; what does not fit continues below its first word. */
function usageLines(usage: string): string {
  const name = 'Usage:'
  const [first, ...more] = wrapped(usage, columns() - name.length - 1)
  return [`${bold(name)} ${first}`, ...more.map((line) => `${' '.repeat(name.length + 1)}${line}`)].join('\n')
}

/** An example with its meaning; a command that does not fit continues behind a backslash, so that it can still be copied. */
function exampleLines([line, meaning]: readonly [string, string]): string {
  const words = line.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? []
  const commands =
    line.length + 2 <= columns()
      ? [line]
      : joined(words, columns() - 6).map((part, at) => (at === 0 ? part : `  ${part}`))
  return [...wrapped(meaning, columns() - 4).map((part) => `  # ${part}`), `  ${commands.join(' \\\n  ')}`].join('\n')
}

/** Wraps the paragraphs of a text at the width of the terminal. Lines that are indented stay as they are. */
function paragraphs(text: string): string {
  const joined = text.replaceAll(/(?<=\S)\n(?=\S)/g, ' ')
  return joined
    .split('\n')
    .map((line) => (line.startsWith(' ') ? line : wrapped(line, columns()).join('\n')))
    .join('\n')
}

/** Narrowest right column beside a left one; below that, it has lines of its own. */
const LEAST_ROOM = 30

/** Formats two columns; the right one is wrapped at the width of the terminal. */
function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length))
  const longest = Math.max(LEAST_ROOM, ...rows.flatMap(([, right]) => right.split(' ').map((word) => word.length)))
  const isBeside = columns() - width - 4 >= longest
  const start = isBeside ? width + 4 : 6
  const indent = `\n${' '.repeat(start)}`
  const between = isBeside ? '  ' : indent
  const lines = (right: string) => wrapped(right, columns() - start).join(indent)
  return rows.map(([left, right]) => `  ${isBeside ? left.padEnd(width) : left}${between}${lines(right)}`).join('\n')
}

function wrapped(text: string, room: number): string[] {
  return joined(text.split(' '), room)
}

/** Joins words to lines that fit. */
function joined(words: readonly string[], room: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of words) {
    if (line !== '' && line.length + 1 + word.length > room) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
