/** A tool that searches files: with ripgrep where it is installed, else with the search of the core. */

import type { Stats } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { runCommand } from '../../command/run-command'
import { SpillwayError } from '../../errors'
import { TruncationService } from '../../service/service'
import { search } from '../../storage/read'
import { type Check, flag, isNonEmptyString, nonEmptyString, wholeBetween } from '../../validation/options'
import {
  type Argument,
  checkToolOptions,
  type FolderOptions,
  PATH,
  pathIn,
  type ReadyTool,
  type ReadyToolResult,
  readyTool,
  type ToolCallContext,
  ToolError,
  type WorkContext,
} from '../definition'
import { boundedResult, outputContext, SERVICE } from '../shell-tool'
import { MAX_PATTERN, pathMatcher } from './path-pattern'
import { checkText, openFile, reasonOf } from './text-file'

/** Options of {@link createGrepTool}. */
export interface GrepToolOptions extends FolderOptions {
  /** @default 'grep' */
  name?: string
  /** Truncates and saves the matches. @default that of the controls around the tool, else one with default settings */
  service?: TruncationService
  /** The program `rg`, by its name or path; `false` searches without it. @default 'rg', if it is installed */
  ripgrep?: string | false
}

const CHECKS: { readonly [K in Exclude<keyof GrepToolOptions, 'cwd'>]-?: Check } = {
  name: nonEmptyString,
  service: SERVICE,
  ripgrep: ['the path of a program, or false', (value) => value === false || isNonEmptyString(value)],
}

const choice = (description: string): Argument => ({
  schema: { type: 'boolean', description },
  check: flag,
})
const MAX_CONTEXT = 20
const PARAMETERS = {
  pattern: {
    schema: { type: 'string', description: 'The regular expression (no look-around, no back-references).' },
    check: nonEmptyString,
    isRequired: true as const,
  },
  path: {
    ...PATH,
    schema: { type: 'string', description: 'A file or a folder; the working folder without it.' },
    isRequired: undefined,
  },
  glob: {
    schema: {
      type: 'string',
      description: 'Only files with such a path below the folder, such as *.ts or src/**/*.test.ts.',
    },
    check: [
      `a pattern of paths such as *.ts, of at most ${MAX_PATTERN} characters`,
      (value: unknown) =>
        isNonEmptyString(value) && !/^!|\0/.test(value as string) && (value as string).length <= MAX_PATTERN,
    ] as Check,
    aliases: ['include'],
  },
  literal: choice('The pattern is the text itself.'),
  ignore_case: choice('Upper and lower case are the same.'),
  context: {
    schema: { type: 'integer', minimum: 0, maximum: MAX_CONTEXT, description: 'Lines to show around each match.' },
    check: wholeBetween(0, MAX_CONTEXT),
  },
}

/** A search that was asked for. */
interface Query {
  pattern: string
  path: string
  glob: string | undefined
  literal: boolean
  ignoreCase: boolean
  context: number
}

/**
 * Makes the tool `grep`: lines of files that match, as `path:line:text`. If ripgrep is installed, it searches and leaves out files
 * that `.gitignore` excludes; otherwise files and folders that begin with a dot, and `node_modules`, are left out. Binary files
 * never match.
 *
 * @example
 * const grep = createGrepTool({ service, cwd })
 * @throws SpillwayError `INVALID_ARGUMENT` that names the option, its value and what is allowed
 */
export function createGrepTool(options: GrepToolOptions = {}): ReadyTool {
  checkToolOptions(options, CHECKS)
  const { name = 'grep', service: own, ripgrep = 'rg' } = options
  let usual: TruncationService | undefined
  const serviceOf = ({ service }: WorkContext): TruncationService => {
    const given = own ?? service
    if (given !== undefined) return given
    usual ??= new TruncationService()
    return usual
  }
  let program = ripgrep
  const description = 'Searches files below a path, and returns the lines that match as path:line:text.'
  return readyTool({ ...options, name, description }, PARAMETERS, async (args, context) => {
    const service = serviceOf(context)
    const { pattern, path = '.', glob, literal = false, ignore_case = false, context: around = 0 } = args
    const query = {
      pattern: pattern as string,
      path: pathIn(context, path as string),
      glob: glob as string,
      literal: literal as boolean,
      ignoreCase: ignore_case as boolean,
      context: around as number,
    }
    const folder = (await statOf(query.path)).isDirectory() ? query.path : dirname(query.path)
    if (program !== false) {
      const found = await byRipgrep(program, query, folder, service, name, context)
      if (found !== undefined) return found
      program = false
    }
    const lines = await byCore(query, context.signal)
    const text = lines.length === 0 ? NOTHING : lines.join('\n')
    // A call that is cancelled now keeps what was found.
    const call = { ...outputContext(context), toolName: name, signal: undefined }
    return boundedResult(await service.output(text, call), true)
  })
}

const NOTHING = '[No match]'

async function statOf(path: string): Promise<Stats> {
  try {
    return await stat(path)
  } catch (error) {
    throw new ToolError(`${path} ${reasonOf(error)}`)
  }
}

/** Returns `undefined` if there is no such program. */
async function byRipgrep(
  program: string,
  { pattern, path, glob, literal, ignoreCase, context }: Query,
  folder: string,
  service: TruncationService,
  toolName: string,
  call: ToolCallContext,
): Promise<ReadyToolResult | undefined> {
  const shape = ['--no-config', '--line-number', '--no-heading', '--with-filename', '--color=never', '--sort=path']
  const long = ['--max-columns=1000', '--max-columns-preview']
  const asked = [
    literal && '--fixed-strings',
    ignoreCase && '--ignore-case',
    context > 0 && `--context=${context}`,
    glob !== undefined && `--glob=${glob}`,
  ]
  const args = [...shape, ...long, ...asked.filter((one) => one !== false), '--regexp', pattern, '--', path]
  try {
    const { exitCode, output, note } = await runCommand(program, args, {
      // Patterns of paths are relative to the folder that ripgrep runs in.
      service,
      toolName,
      cwd: folder,
      ...outputContext(call),
    })
    if (note !== undefined) return boundedResult(output, false)
    if (exitCode === 1) return boundedResult({ ...output, content: NOTHING }, true)
    // With some files that cannot be read it has found what is in the others.
    return boundedResult(output, exitCode === 0)
  } catch (error) {
    if (error instanceof SpillwayError && error.code === 'COMMAND') return undefined
    throw error
  }
}

/** Longer files are not held in memory. */
const MAX_BYTES = 32 * 1024 * 1024
const MAX_MATCHES = 2000

async function byCore(query: Query, signal: AbortSignal | undefined): Promise<string[]> {
  const lines: string[] = []
  let left = MAX_MATCHES
  const matches = query.glob === undefined ? () => true : pathMatcher(query.glob)
  for await (const path of filesBelow(query.path)) {
    signal?.throwIfAborted()
    if (path !== query.path && !matches(relative(query.path, path).replaceAll(sep, '/'))) continue
    const bytes = await bytesOf(path, path === query.path)
    if (bytes === undefined) continue
    if (typeof bytes === 'string') lines.push(bytes)
    if (typeof bytes === 'string') continue
    const { literal, ignoreCase, context } = query
    const limits = { maxMatches: left, maxBytes: 4_194_304, ...(signal && { signal }) }
    const { matches: found } = await search({ find: () => bytes, path }, query.pattern, {
      literal,
      ignoreCase,
      context,
      ...limits,
    })
    for (const { line, text, before, after } of found) {
      if (context > 0 && lines.length > 0) lines.push('--')
      lines.push(...before.map((each, at) => `${path}-${line - before.length + at}-${each}`))
      lines.push(`${path}:${line}:${text}`, ...after.map((each, at) => `${path}-${line + 1 + at}-${each}`))
    }
    left -= found.length
    if (left <= 0) return [...lines, `[Stopped after ${MAX_MATCHES} matches]`]
  }
  return lines
}

/** The bytes of a text file, or a line that says that it is too long; nothing for other files. */
async function bytesOf(path: string, isNamed: boolean): Promise<Uint8Array | string | undefined> {
  try {
    const { file, state } = await openFile(path)
    try {
      if (state.bytes > MAX_BYTES) return `[${path} has ${state.bytes} bytes and was not searched]`
      await checkText(file, path, state.bytes)
      return await file.readFile()
    } finally {
      await file.close()
    }
  } catch (error) {
    if (isNamed) throw error
    return undefined
  }
}

/** Files in the order of their paths. Links to folders are not followed: they may lead in circles. */
async function* filesBelow(path: string): AsyncGenerator<string> {
  if (!(await stat(path)).isDirectory()) {
    yield path
    return
  }
  const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
    const below = join(path, entry.name)
    if (entry.isDirectory()) yield* filesBelow(below)
    else if (entry.isFile()) yield below
  }
}
