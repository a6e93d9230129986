/** Types that the parts of the example share. Messages are those of the AI SDK. */

import type { Hooks, ModelParameters } from 'spillway/extensions'
import type { FoldEvent } from 'spillway/fold'
import type { AgentTool } from './tools'

export interface TextPart {
  type: 'text'
  text: string
}
export interface CallPart {
  type: 'tool-call'
  toolCallId: string
  toolName: string
  input: unknown
}
export interface ResultPart {
  type: 'tool-result'
  toolCallId: string
  toolName: string
  output: { type: 'text' | 'error-text'; value: string }
}
export type Message =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: (TextPart | CallPart)[] }
  | { role: 'tool'; content: ResultPart[] }

/** A request to the model and its answer. */
export interface ModelRequest {
  system: string
  messages: Message[]
  tools: AgentTool[]
  settings: ModelParameters
}
export type Model = (request: ModelRequest) => Promise<(TextPart | CallPart)[]>

/** A question to the user, and what can be answered. */
export interface Question {
  about: 'permission' | 'loop'
  tool: string
  /** The targets of the call, or the reason why it looks like a loop. */
  why: string
}
export type Answer = 'once' | 'always' | 'no'

export interface AgentOptions {
  model: Model
  /** Writes a summary of what is handed to it. */
  summarize(prompt: string): Promise<string>
  /** In tokens. */
  contextWindow: number
  /** The folder that the agent works in. */
  workspace: string
  /** Where outputs, the audit log, the user's configuration and agents are. */
  dataDir: string
  /** The user's messages, in turn. */
  prompts: readonly string[]
  askUser(question: Question): Promise<Answer>
  hooks?: Hooks
}

/** One request: its size in tokens, and what it would have been without any of this. */
export interface RequestRecord {
  tokens: number
  unmanaged: number
  /** How many of each the request before had at its beginning, too, so that a provider's cache holds them. */
  cached: number
  cachedUnmanaged: number
  /** The changes to the history before it was sent. */
  did: string[]
}

export interface AgentRun {
  messages: Message[]
  requests: RequestRecord[]
  asked: (Question & { answer: Answer })[]
  /** Calls that did not run, and why. */
  refused: { tool: string; kind: string; message: string }[]
  /** Results of tools that left the history: pruned, replaced by a line, or summed up. */
  left: { request: number; how: 'pruned' | 'outputs' | 'summary'; tool: string; outputs: number }[]
  /** Outputs that were too long for the model, and where they are. */
  saved: { tool: string; path: string }[]
  /** Results of which lines became a pointer to an earlier result, each with the request that asked for it. */
  folded: (FoldEvent & { request: number })[]
  compactions: number
  audit: { path: string; records: number; ok: boolean }
}
