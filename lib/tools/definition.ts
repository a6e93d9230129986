/** The definition of ready-made tools, for any framework, and the parsing of arguments from a model. */

import { resolve } from 'node:path'
import type { ToolTruncationConfig } from '../types'
import { definedOf } from '../util/defined'
import { messageOf } from '../util/message-of'
import { type Check, checkOptions, folder } from '../validation/options'
import { invalid, isRecord, unknownOption, wrong } from '../validation/validate'
import { type CallScope, callScope } from './call-scope'

/** Context of a call, as `guardTool` and `ToolRegistry` give it. */
export interface ToolCallContext {
  sessionId?: string | undefined
  toolCallId?: string | undefined
  signal?: AbortSignal | undefined
  /** The folder that relative paths are in. @default the tool's `cwd` */
  workingDirectory?: string
}

/** Context of the work of a ready-made tool. */
export type WorkContext = ToolCallContext & CallScope & { workingDirectory: string }

/** Result of a ready-made tool. Errors are results, too. */
export interface ReadyToolResult {
  success: boolean
  /** The text for the model. */
  output: string
  error?: string
  /** `truncated` tells middleware that the text needs no truncation. */
  metadata: { truncated: boolean } & Record<string, unknown>
}

/** A ready-made tool: `guardTool` accepts it directly, and `hostTools` of each adapter converts it to a tool of the framework. */
export interface ReadyTool {
  name: string
  description: string
  /** JSON Schema of the arguments. */
  inputSchema: Record<string, unknown>
  /** The tool truncates its results itself. */
  truncation: { enabled: false }
  /** The tool's `cwd`, absolute: `guardTool` and the adapters let permission judge relative paths there. */
  readonly workingDirectory: string
  execute(args: unknown, context?: ToolCallContext): Promise<ReadyToolResult>
}

/** A tool that the adapters can give a framework's shape: a {@link ReadyTool}, one of `createOutputTools`, or one of your own. */
export interface HostableTool extends Pick<ReadyTool, 'name' | 'description' | 'inputSchema'> {
  truncation?: ToolTruncationConfig
  /** The folder that the tool works in: permission judges relative paths there. */
  readonly workingDirectory?: string
  execute(
    args: unknown,
    context?: ToolCallContext,
  ): Promise<{ success: boolean; output: string; error?: string | undefined }>
}

/** An argument of a tool: its schema, and the check that names it in an error. */
export interface Argument {
  schema: Record<string, unknown>
  check: Check
  isRequired?: true
  /** Other names that models know from other agents' tools. */
  aliases?: readonly string[]
}

/** Arguments that were checked. */
export type Given = Readonly<Record<string, unknown>>

/** An error whose message is for the model. */
export class ToolError extends Error {}

/** Makes a tool of its work: checks arguments, and turns what is thrown into a result. */
export function readyTool(
  { name, description, cwd }: Pick<ReadyTool, 'name' | 'description'> & FolderOptions,
  parameters: Readonly<Record<string, Argument>>,
  work: (args: Given, context: WorkContext) => Promise<ReadyToolResult>,
): ReadyTool {
  const ownFolder = () => resolve(cwd ?? process.cwd())
  const entries = Object.entries(parameters)
  return {
    name,
    description,
    truncation: { enabled: false },
    // The process may change its folder.
    get workingDirectory() {
      return ownFolder()
    },
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(entries.map(([key, { schema }]) => [key, schema])),
      required: entries.filter(([, { isRequired }]) => isRequired).map(([key]) => key),
      additionalProperties: false,
    },
    async execute(args, context = {}) {
      try {
        context.signal?.throwIfAborted()
        const { workingDirectory = ownFolder() } = context
        const known = { ...definedOf(callScope()), ...definedOf(context) }
        return await work(argumentsOf(args, parameters), { ...known, workingDirectory })
      } catch (thrown) {
        return failedResult(context.signal?.aborted ? 'The call was cancelled.' : messageOf(thrown))
      }
    },
  }
}

/** The result of a call that did not do what it should. */
export function failedResult(error: string): ReadyToolResult {
  const output = `Error: ${error}`.toWellFormed()
  return { success: false, output, error, metadata: { truncated: false } }
}

/** Models that must name every argument say `null` for one that they leave out. */
function argumentsOf(args: unknown, parameters: Readonly<Record<string, Argument>>): Given {
  if (!isRecord(args)) throw wrong('arguments', args, 'an object')
  const given: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(args)) {
    if (value === null || value === undefined) continue
    const name = Object.hasOwn(parameters, key)
      ? key
      : Object.keys(parameters).find((one) => parameters[one]?.aliases?.includes(key))
    if (name === undefined) throw unknownOption('', key, Object.keys(parameters))
    if (name in given) throw invalid(key, `expected "${name}" under only one of its names`)
    given[name] = value
  }
  for (const [name, { check, isRequired }] of Object.entries(parameters)) {
    const value = given[name]
    if (value === undefined ? isRequired : !check[1](value)) throw wrong(name, value, check[0])
  }
  return given
}

/** Options of all file tools. */
export interface FolderOptions {
  /**
   * The folder that relative paths start from, and in which permission judges them.
   * @default that of this process
   */
  cwd?: string
}

/** @throws SpillwayError `INVALID_ARGUMENT` for an invalid option of a tool */
export function checkToolOptions(options: unknown, checks: Readonly<Record<string, Check>>): void {
  checkOptions('options', options, { cwd: folder, ...checks })
}

/** The path that a model wrote, absolute. */
export function pathIn({ workingDirectory }: { workingDirectory: string }, path: string): string {
  return resolve(workingDirectory, path)
}

export const PATH: Argument = {
  schema: { type: 'string', description: 'The path of the file, absolute or in the working folder.' },
  check: [
    'a path that is not empty and has no NUL',
    (value) => typeof value === 'string' && value !== '' && !value.includes('\0'),
  ],
  isRequired: true,
  aliases: ['file_path', 'filePath', 'file'],
}
