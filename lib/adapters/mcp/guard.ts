/** Controls around the tools of a client, and around a tool of a server. */

import { type GuardedTool, guardTool, type Tool, type ToolControls } from 'spillway'
import { checkToolControls } from '../../guard/controls'
import { messageOf } from '../../util/message-of'
import { type Check, checkOptions, folder, isNonEmptyString } from '../../validation/options'
import { isRecord, wrong } from '../../validation/validate'
import { mcpToolName } from '../shared/mcp-names'
import { overlay } from '../shared/override-methods'
import { Blocks } from './content-blocks'
import {
  jsonOf,
  longFields,
  STRUCTURED_CONTENT,
  type StructuredContent,
  stillSaid,
  textBlock,
  without,
} from './truncate-result'
import type { McpCallParams, McpClientLike } from './types'

/** Controls of an MCP tool: those of `guardTool`, and MCP's own. */
export interface McpControls extends Omit<ToolControls, 'refusal'> {
  /**
   * Name of the server: permissions, files and records know its tools as `mcp__name__tool`. Needed around a client with
   * `permission`.
   * @default what a client says of its server; of a tool, nothing: it has its own name
   */
  server?: string
  /** The folder that a tool with a name of its own works in: permission judges relative paths there. @default the `vault` of the policy */
  workingDirectory?: string
  /**
   * Handling of `structuredContent` when the texts are truncated. `drop`: it is removed, and what it says besides them is
   * bounded and kept with them. `keep`: it stays as it is, however long; needed where a tool declares an `outputSchema`.
   * @default 'drop' around a client, 'keep' around a tool
   */
  structuredContent?: StructuredContent
}

/**
 * Returns the client with controls around `callTool`: texts in results are truncated, `isError` and media stay, and the path
 * of the saved output is in `_meta['spillway/truncation']`. A call that is not allowed is a result with `isError`. Errors of
 * `callTool` are rethrown with a bounded message, which includes long fields of the error.
 *
 * @param client a client of version 1 or 2 of the TypeScript SDK, or anything with a `callTool` like theirs
 * @example
 * const client = guardMcpClient(rawClient, { truncation: new TruncationService(), server: 'git', permission: gate })
 * const { content } = await client.callTool({ name: 'query', arguments: { sql } })
 * @throws SpillwayError `INVALID_ARGUMENT` for an invalid client or control
 */
export function guardMcpClient<C extends McpClientLike>(client: C, controls: McpControls = {}): C {
  const given: unknown = client
  if (!(isRecord(given) && typeof given.callTool === 'function'))
    throw wrong('client', client, 'an object with callTool')
  check(controls)
  const { server, structuredContent = 'drop', ...others } = controls
  if (others.permission !== undefined && server === undefined) {
    // The name that a server reports cannot be trusted.
    throw wrong('controls.server', server, 'the name of the server, with permission')
  }
  const callTool = async (params: McpCallParams, ...rest: unknown[]): Promise<unknown> => {
    const { name, arguments: own } = Object(params) as McpCallParams
    if (typeof name !== 'string') throw wrong('params.name', name, 'the name of a tool')
    let thrown: { error: unknown } | undefined
    const answer = await guarded(
      mcpToolName(server ?? serverOf(client), name),
      async (args) => {
        try {
          const isSame = own === undefined && isRecord(args) && Object.keys(args).length === 0
          return (await client.callTool(isSame ? params : { ...params, arguments: args }, ...rest)) as unknown
        } catch (error) {
          thrown = { error }
          const told = wholeOf(error)
          throw told === messageOf(error) ? error : new Error(told)
        }
      },
      others,
      structuredContent,
    )(own ?? {}, { signal: signalIn(rest) })
    if (thrown) throw boundedError(thrown.error, answer)
    return answer
  }
  return overlay(client, { callTool })
}

/**
 * Returns the handler of a tool with controls around it: for `registerTool` of the TypeScript SDK, or any server. An error
 * becomes a result with `isError` and a bounded message, as the SDK would have it.
 *
 * @example
 * server.registerTool('query', { inputSchema }, guardMcpTool('query', handler, { truncation: service }))
 * @throws SpillwayError `INVALID_ARGUMENT` for an invalid handler or control
 */
// biome-ignore lint/suspicious/noExplicitAny: a handler takes what the SDK gives it
export function guardMcpTool<H extends (...args: any[]) => any>(
  name: string,
  handler: H,
  controls: McpControls = {},
): (...args: Parameters<H>) => Promise<Awaited<ReturnType<H>>> {
  if (typeof name !== 'string' || name === '') throw wrong('name', name, 'the name of a tool')
  if (typeof handler !== 'function') throw wrong('handler', handler, 'a function')
  check(controls)
  const { server, structuredContent = 'keep', ...others } = controls
  return async (...given) => {
    // A tool without arguments is given only what is known of the request.
    const hasArguments = given.length > 1
    const more = hasArguments ? given.slice(1) : given
    const run = guarded(
      server === undefined ? name : mcpToolName(server, name),
      async (args) => (await handler(...(hasArguments ? [args, ...more] : more))) as unknown,
      others,
      structuredContent,
    )
    return (await run(hasArguments ? given[0] : {}, { signal: signalIn(more) })) as never
  }
}

function guarded(
  name: string,
  execute: (args: unknown) => Promise<unknown>,
  controls: Omit<McpControls, 'server' | 'structuredContent'>,
  structured: StructuredContent,
): (args: unknown, context: { signal: AbortSignal | undefined }) => Promise<unknown> {
  const { workingDirectory, ...around } = controls
  const blocks = new Blocks(controls.truncation, structured)
  let given: unknown
  const tool: Tool = {
    name,
    ...(workingDirectory !== undefined && { workingDirectory }),
    execute: async (args) => {
      given = blocks.heard(await execute(args))
      return given as never
    },
  }
  const safe: GuardedTool<Tool> = guardTool(tool, { ...around, truncation: blocks.truncation, refusal: 'mcp' })
  return async (args, { signal }) => {
    const answer: unknown = await safe.execute(args as never, (signal === undefined ? {} : { signal }) as never)
    // A result without blocks gets its preview as the only block.
    if (typeof answer === 'string' && isRecord(given)) {
      return { content: [textBlock(answer)], ...(given.isError === true && { isError: true }) }
    }
    return blocks.shown(answer)
  }
}

/** The message of what was thrown, and what is long beside it. */
function wholeOf(error: unknown): string {
  const long = longBeside(error)
  return Object.keys(long).length === 0 ? messageOf(error) : `${messageOf(error)}\n${jsonOf(long)}`
}

function longBeside(error: unknown): Record<string, unknown> {
  try {
    return isRecord(error) ? longFields(error) : {}
  } catch {
    // Anything may be thrown, also what cannot be read.
    return {}
  }
}

/** Returns the error; a long one is truncated, with the original as its cause. */
function boundedError(error: unknown, answer: unknown): unknown {
  const [block] = isRecord(answer) && Array.isArray(answer.content) ? answer.content : []
  const shown: unknown = isRecord(block) ? block.text : undefined
  if (typeof shown !== 'string' || shown === wholeOf(error)) return error
  const text = stillSaid(messageOf(error), shown)
  if (typeof error === 'string') return text
  const short = without(Object(error), longBeside(error))
  const { name = 'Error', message } = Object(error) as Partial<Error>
  if (!(error instanceof Error) && typeof message === 'string') return { ...short, message: text }
  const { code } = short
  return Object.assign(new Error(text, { cause: error }), { name }, code === undefined ? {} : { code })
}

function serverOf(client: McpClientLike): string {
  const { getServerVersion } = client as { getServerVersion?: () => { name?: unknown } | undefined }
  const name = typeof getServerVersion === 'function' ? getServerVersion.call(client)?.name : undefined
  return typeof name === 'string' ? name : 'server'
}

/** The signal of a request, wherever a version of the SDK has it. */
function signalIn(values: readonly unknown[]): AbortSignal | undefined {
  for (const value of values) {
    if (!isRecord(value)) continue
    const request = isRecord(value.mcpReq) ? value.mcpReq : value
    const { signal } = request as { signal?: AbortSignal }
    if (typeof signal?.addEventListener === 'function') return signal
  }
  return undefined
}

const serverName: Check = ['the name of a server', isNonEmptyString]

function check(controls: McpControls): void {
  if (!isRecord(controls)) throw wrong('controls', controls, 'an object')
  const { server, structuredContent, workingDirectory, ...others } = controls as McpControls
  const own = { server: serverName, structuredContent: STRUCTURED_CONTENT, workingDirectory: folder }
  checkOptions('controls', { server, structuredContent, workingDirectory }, own)
  if ('refusal' in others) throw wrong('controls.refusal', others.refusal, 'nothing: a refusal is a result of MCP')
  checkToolControls(others)
}
