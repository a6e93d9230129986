/** A small executor for tools, for hosts without one. */

import { SpillwayError } from '../errors'
import type { BegunCall } from '../fold/fold-session'
import { Settings } from '../settings/settings'
import { toJson } from '../truncation/content'
import { observe, observeStart } from '../truncation/record-result'
import type {
  ToolResultLike,
  ToolResultRecorder,
  ToolTruncationConfig,
  TruncationContext,
  TruncationMiddleware,
} from '../types'
import { randomUUID } from '../util/crypto'
import { deepClone } from '../util/deep-clone'
import { asText, isArray } from '../util/guards'
import { argumentsText, jsonRecord } from '../util/json'
import { messageOf } from '../util/message-of'
import { nearest } from '../util/suggest'
import { warn } from '../util/warn'
import { checkKeys, hasFunctions, invalid, isRecord, readable, wrong } from '../validation/validate'
import { checkTool } from './check-tool'
import { withCommand } from './command-of'
import { foldResult, type ResultFolder, runFolded } from './fold-result'
import { CANCELLED, toolResultOf } from './tool-result'
import { folderFor } from './working-folder'

/** Context of the call. */
export interface ExecutionContext {
  sessionId?: string | undefined
  messageId?: string | undefined
  signal?: AbortSignal | undefined
  /** The folder that a tool works in. */
  workingDirectory?: string
  /**
   * Names the answer of the model that the call is in, for a `DoomLoopDetector`: equal calls of one answer are no loop.
   * `ToolRegistry` names that of several calls that are executed together.
   */
  turn?: string | number | undefined
}

/** Result of a tool; a plain return value becomes `output`. */
export interface ToolResult extends ToolResultLike {
  success: boolean
  output: unknown
  error?: string
}

/** A tool. */
export interface Tool {
  name: string
  description?: string
  /** Limits for this tool's output; the user's entry for the tool overrides them. */
  truncation?: ToolTruncationConfig
  /** The folder that the tool works in unless its call names one: permission judges relative paths there. */
  workingDirectory?: string
  execute(args: unknown, context: ExecutionContext & { toolCallId: string }): unknown
}

/**
 * A call by the model, as a provider or a framework gives it. Its arguments are JSON text or a value; the `input` of a
 * custom call is a text that the tool gets as `{ input }`. A call without an id gets one.
 */
export type ToolCall =
  /** OpenAI's chat API. */
  | { id: string; type?: string; function: { name: string; arguments?: unknown } }
  | { id: string; type: 'custom'; custom: { name: string; input?: unknown } }
  /** OpenAI's Responses API: a call is answered by its `call_id`. Anthropic: `input`. LangChain: `args`. */
  | { id: string; call_id?: string; type?: string; name: string; arguments?: unknown; input?: unknown; args?: unknown }
  | { id?: string; call_id: string; type?: string; name: string; arguments?: unknown; input?: unknown }
  /** The AI SDK. */
  | { toolCallId: string; toolName: string; type?: string; input?: unknown; args?: unknown }
  /** Gemini, which gives ids only to some calls. */
  | { functionCall: { id?: string; name?: string; args?: unknown } }
  /** Bedrock. */
  | { toolUse: { toolUseId?: string; name?: string; input?: unknown } }

/** One executed call. */
export interface ToolExecutionResult {
  tool_call_id: string
  name: string
  /** The arguments as JSON text. */
  arguments: string
  result: ToolResult
}

/** Options of {@link ToolRegistry}. */
export interface ToolRegistryConfig {
  /** The folder that tools work in, unless the call says otherwise. */
  workingDirectory?: string
  /** Records every executed call with its arguments: a `ToolResultLedger`. */
  ledger?: ToolResultRecorder
  /** The `FoldSession` of the session: lines of an earlier result are not repeated. */
  fold?: ResultFolder
}

const OPTIONS: readonly (keyof ToolRegistryConfig)[] = ['workingDirectory', 'ledger', 'fold']

/** Tools that are named, and their characters together, where a model calls one that is not there. */
const MAX_NAMED = 30
const MAX_NAMED_CHARS = 1000

/** Executes tools by name and passes their results through truncation. A tool that throws gives a failed result. */
export class ToolRegistry {
  /** @internal */
  readonly tools: Map<string, Tool>
  /** @internal */
  readonly config: ToolRegistryConfig
  /** @internal */
  middleware: TruncationMiddleware | undefined

  /** @throws SpillwayError `INVALID_CONFIG` for an option that is unknown or not allowed */
  constructor(config: ToolRegistryConfig = {}) {
    const given: unknown = config
    if (!isRecord(given)) throw wrong('config', given, 'an object', 'INVALID_CONFIG')
    const copy = readable('config', () => ({ ...config }), 'INVALID_CONFIG')
    const { ledger, fold, workingDirectory } = copy
    // A host that gives its limits here must not believe that they hold.
    if ('truncation' in copy) {
      const problem = 'is no option of ToolRegistry; pass the middleware of createTruncation to setTruncationMiddleware'
      throw invalid('config.truncation', problem, { code: 'INVALID_CONFIG' })
    }
    checkKeys('config', copy, OPTIONS, 'INVALID_CONFIG')
    if (workingDirectory !== undefined && typeof workingDirectory !== 'string') {
      throw wrong('config.workingDirectory', workingDirectory, 'the path of a folder', 'INVALID_CONFIG')
    }
    if (ledger !== undefined && !hasFunctions('config.ledger', ledger, ['record'], 'INVALID_CONFIG')) {
      throw wrong('config.ledger', ledger, 'a ToolResultLedger', 'INVALID_CONFIG')
    }
    if (fold !== undefined && !hasFunctions('config.fold', fold, ['fold'], 'INVALID_CONFIG')) {
      throw wrong('config.fold', fold, 'a FoldSession', 'INVALID_CONFIG')
    }
    this.tools = new Map()
    this.config = copy
    this.middleware = undefined
  }

  /**
   * Adds tools; a later one of the same name replaces the earlier.
   * @throws SpillwayError `INVALID_ARGUMENT` for a value that is not a tool, `INVALID_CONFIG` for an invalid `truncation`
   */
  register(tools: Tool | readonly Tool[]): void {
    for (const [index, tool] of (isArray(tools) ? tools : [tools]).entries()) {
      checkTool(`tools[${index}]`, tool)
      if (tool.truncation !== undefined) new Settings({}).setTool(tool.name, tool.truncation)
      this.tools.set(tool.name, tool)
    }
  }

  /** Truncates results from now on. */
  setTruncationMiddleware(middleware: TruncationMiddleware): void {
    if (typeof middleware !== 'function') throw wrong('middleware', middleware, 'a function')
    this.middleware = middleware
  }

  /**
   * Executes the calls of one answer of the model in parallel and returns the results in their order. If the signal is aborted, no
   * further tool is started; the results that are there are returned and saved as usual.
   */
  async execute(toolCalls: readonly ToolCall[], context: ExecutionContext = {}): Promise<ToolExecutionResult[]> {
    if (!isArray(toolCalls)) throw wrong('toolCalls', toolCalls, 'an array of tool calls')
    const given: unknown = context
    if (!isRecord(given)) throw wrong('context', given, 'an object')
    const { turn = toolCalls.length > 1 ? randomUUID() : undefined } = context
    const inTurn = turn === undefined ? context : { ...context, turn }
    return Promise.all(toolCalls.map((toolCall) => this.executeOne(toolCall, inTurn)))
  }

  /** @internal */
  async executeOne(toolCall: ToolCall, context: ExecutionContext): Promise<ToolExecutionResult> {
    const { id, name, given, problem } = readCall(toolCall)
    // An invalid call of a model must not disturb the others.
    if (problem !== undefined) return { tool_call_id: id, name, arguments: '{}', result: failure(problem) }
    const tool = this.tools.get(name)
    const { fold, ledger } = this.config
    const args = argumentsOf(given, fold !== undefined || ledger !== undefined)
    const { recorded } = args
    const about = { toolName: name, toolCallId: id, ...(recorded && { args: recorded }) }
    return runFolded(fold, about, () => callTool(this, about, args, tool, context))
  }
}

/** Runs a tool of a registry, and truncates, folds and records its result. */
async function callTool(
  registry: ToolRegistry,
  about: BegunCall & { toolCallId: string },
  args: CallArguments,
  tool: Tool | undefined,
  context: ExecutionContext,
): Promise<ToolExecutionResult> {
  const { ledger, fold } = registry.config
  const { toolName: name, toolCallId: id } = about
  observeStart(ledger, id)
  const called = tool ?? missingTool(name, [...registry.tools.keys()])
  const folder = folderFor(context, registry.config, tool)
  const inFolder = { ...context, ...(folder !== undefined && { workingDirectory: folder }) }
  const result = await run(called, args, { ...inFolder, toolCallId: id })
  const { sessionId, messageId, signal } = context
  const answer = {
    toolName: name,
    sessionId,
    messageId,
    toolCallId: id,
    signal,
    declared: tool?.truncation,
  }
  const whole = await bound(registry.middleware, result, withCommand(answer, args.value))
  const outputPath = whole?.metadata?.truncationPath
  const { text, recorded } = args
  const { result: shown, folds } = foldResult(fold, whole, {
    ...about,
    args: recorded,
    workingDirectory: folder,
    outputPath,
  })
  const bounded = shown as ToolResult
  if (ledger !== undefined) {
    observe(ledger, { toolCallId: id, toolName: name, result, bounded, args: recorded, folds })
  }
  return { tool_call_id: id, name, arguments: text, result: bounded }
}

/** Says that there is no tool with a name, and which tools there are. */
function missingTool(name: string, names: readonly string[]): string {
  const near = nearest(name, names)
  const all = names.join(', ')
  const isShort = names.length > 0 && names.length <= MAX_NAMED && all.length <= MAX_NAMED_CHARS
  const advice = near === undefined ? (isShort ? ` The tools are ${all}.` : '') : ` Did you mean ${near}?`
  return `There is no tool called ${JSON.stringify(name.slice(0, 100))}.${advice}`
}

interface ReadCall {
  id: string
  name: string
  given?: unknown
  problem?: string
}

/** The parts of a call, each read once, and what is wrong with it. */
function readCall(toolCall: unknown): ReadCall {
  let [id, name]: unknown[] = []
  try {
    const call = Object(toolCall) as Record<string, unknown>
    const inner = call.function ?? call.custom ?? call.functionCall ?? call.toolUse ?? call
    const asked = Object(inner) as Record<string, unknown>
    // An item of OpenAI's Responses API has an id of its own besides that of its call.
    id = call.call_id ?? asked.toolCallId ?? asked.toolUseId ?? asked.id ?? call.id
    name = asked.toolName ?? asked.name
    const isText = call.type === 'custom_tool_call' || call.type === 'custom'
    const args = [asked.arguments, asked.input, asked.args].find((value) => value !== undefined)
    const given = isText ? { input: args } : args
    if (typeof name === 'string' && (id === undefined || typeof id === 'string'))
      return { id: id || randomUUID(), name, given }
  } catch {
    // A getter or a proxy can throw: then it has no name.
  }
  const problem = `This is not a call of a tool: ${typeof name === 'string' ? 'its id is not a string' : 'it has no name'}.`
  return { id: asText(id), name: asText(name), problem }
}

/** Returns the result of the middleware. If it throws, the result and those of other calls are kept. */
async function bound(
  middleware: TruncationMiddleware | undefined,
  result: ToolResult,
  context: TruncationContext,
): Promise<ToolResult> {
  try {
    return ((await middleware?.(context.toolName, result, context)) as ToolResult | undefined) ?? result
  } catch (error) {
    // The caller's own mistake, such as an id that is not text.
    if (error instanceof SpillwayError) throw error
    warn('middleware', error)
    return result
  }
}

/** The arguments of a call, parsed once. */
interface CallArguments {
  /** As JSON. */
  text: string
  /** For the tool, which may change it. */
  value?: unknown
  /** A copy for records: an object, if they are one. */
  recorded?: Record<string, unknown> | undefined
  /** The reason why they are not JSON. */
  problem?: string
}

function argumentsOf(given: unknown, isRecorded: boolean): CallArguments {
  if (typeof given !== 'string') {
    const text = given === undefined ? '{}' : toJson(given, 2)
    return { text, value: given ?? {}, recorded: isRecorded ? jsonRecord(text) : undefined }
  }
  try {
    const value: unknown = JSON.parse(argumentsText(given))
    const recorded = isRecorded && isRecord(value) ? (deepClone(value) as typeof value) : undefined
    return { text: given, value, recorded }
  } catch (error) {
    return { text: given, problem: `The arguments are not JSON: ${messageOf(error)}` }
  }
}

async function run(
  tool: Tool | string,
  { value, problem }: CallArguments,
  context: ExecutionContext & { toolCallId: string },
): Promise<ToolResult> {
  if (typeof tool === 'string') return failure(tool)
  if (problem !== undefined) return failure(problem)
  if (context.signal?.aborted) return failure(CANCELLED)
  try {
    return toolResultOf(await tool.execute(value, context)) as ToolResult
  } catch (error) {
    return failure(messageOf(error))
  }
}

function failure(message: string): ToolResult {
  return { success: false, output: message, error: message }
}
