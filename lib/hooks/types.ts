/** The shapes of hooks. Types only: nothing here runs. */

import type { CompactionHooks } from '../compaction/hooks'
import type { ModelParameterChange } from './parameters'

/** Return value of a hook: a change, or nothing. */
export type HookAnswer<T> = T | null | undefined | Promise<T | null | undefined>

/** Read-only context of the hooks of a request. */
export interface ChatHookContext {
  sessionId?: string | undefined
  /** The id of the agent that asks. */
  agent?: string | undefined
  /** The id of the model that is asked. */
  model?: string | undefined
}

/** Input of a `chat.params` hook. */
export interface ChatParamsCall extends ChatHookContext {
  /** A copy, with the changes of earlier hooks. */
  params: Readonly<Record<string, unknown>>
}

/** Changes parameters of a request. */
export type ChatParamsHook = (call: ChatParamsCall) => HookAnswer<ModelParameterChange>

/** Input of a `chat.system` hook. */
export interface ChatSystemCall extends ChatHookContext {
  /** The system prompt, with the changes of earlier hooks. */
  system: string
}

/** A text and its place. With `append` and `prepend` a blank line separates the two. A blank text changes nothing. */
export interface PromptEdit {
  text: string
  /** @default 'append' */
  mode?: 'append' | 'prepend' | 'replace'
}

/** Changes the system prompt of a request; a plain text is appended. */
export type ChatSystemHook = (call: ChatSystemCall) => HookAnswer<PromptEdit | string>

/** Input of a `tool.before` hook. */
export interface ToolHookCall {
  tool: string
  toolCallId: string
  sessionId?: string
  /** A copy of the arguments, with the changes of earlier hooks. */
  args: unknown
}

/** Input of a `tool.after` hook. */
export interface ToolHookResult extends ToolHookCall {
  /** A copy of the result; if the tool threw, of the text that the model will read. */
  result: unknown
  isError: boolean
}

/** Changes to the arguments, which may be an object or JSON text. */
export interface ToolInputEdit {
  /** Default values: arguments of the model take precedence. */
  mergeInput?: object
  /** Values that override the arguments of the model. */
  overrideInput?: object
  /** Replaces all arguments. */
  input?: unknown
}

/** Changes arguments, before permission is checked. */
export type ToolBeforeHook = (call: ToolHookCall) => HookAnswer<ToolInputEdit>

/** Changes to a result. */
export interface ToolHookEdit {
  /**
   * Replaces its text, or a plain value. Images of an MCP result stay; its `structuredContent`, which repeats the
   * text, is dropped.
   */
  output?: unknown
  /** Texts added before and after the result. */
  prepend?: string
  append?: string
}

/** Changes a result. */
export type ToolAfterHook = (call: ToolHookResult) => HookAnswer<ToolHookEdit>

/** Input of `HookRunner.compactionBefore`; other fields are passed to the hooks as well. */
export interface CompactionBeforeCall {
  /** Instructions of the summariser, with the changes of earlier hooks. */
  instructions: string
  /** All that it will read. */
  prompt?: string
  /**
   * Builds the prompt from other instructions. Without it, `prompt` is `undefined` once a hook changed them. Hooks are not notified of
   * it.
   */
  promptOf?: (instructions: string) => string
}

/** Hooks around a tool. */
export interface ToolHooks {
  'tool.before'?: ToolBeforeHook | readonly ToolBeforeHook[]
  /** Sees the full result. */
  'tool.after'?: ToolAfterHook | readonly ToolAfterHook[]
  /** Receives the result as the model will read it; its changes are not truncated again. */
  'tool.final'?: ToolAfterHook | readonly ToolAfterHook[]
}

/** Hooks, by name. */
export interface Hooks extends ToolHooks, CompactionHooks {
  'chat.params'?: ChatParamsHook | readonly ChatParamsHook[]
  'chat.system'?: ChatSystemHook | readonly ChatSystemHook[]
}

/** The name of a hook. */
export type HookName = keyof Hooks

/** A hook that threw, took too long, or returned an invalid answer. Its subject stays unchanged. */
export interface HookProblem {
  hook: HookName
  source: 'builtIn' | 'user'
  /** A sentence. */
  message: string
  /** Thrown value. */
  error?: unknown
}

/** Options of {@link HookRunner}. */
export interface HookRunnerOptions {
  /** Run first, in this order. */
  builtIn?: Hooks | readonly Hooks[] | undefined
  /** Run after all built-in ones, in this order. */
  user?: Hooks | readonly Hooks[] | undefined
  /**
   * Milliseconds that a hook may take. A synchronous endless loop cannot be interrupted.
   * @default 5000
   */
  timeoutMs?: number
  /** Receives each problem. @default `process.emitWarning` */
  onProblem?: (problem: HookProblem) => void
}
