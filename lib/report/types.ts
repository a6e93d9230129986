/** The content of a session log of any agent. */

/** Agents whose session logs can be read; `messages`: session files of `JsonlSession`, or one message a line in any format. */
export type SessionFormat = 'claude-code' | 'codex' | 'opencode' | 'pi' | 'gemini' | 'messages'

/** A call of a tool, as the model wrote it. */
export interface LoggedCall {
  id: string
  name: string
  args: unknown
}

/** One message, as it entered the context. */
export interface LoggedMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string
  toolCalls?: LoggedCall[]
  toolCallId?: string
  toolName?: string
  isError?: boolean
  /** Milliseconds since the epoch. */
  timestamp?: number
  /** The message replaces everything before it except the last `kept` messages, which follow it. */
  boundary?: 'compaction'
  kept?: number
}

/** Tokens of requests and their answers, as the provider counted them. */
export interface SessionUsage {
  /** Requests that were counted. */
  requests: number
  /** Input that was neither read from the cache nor written to it. */
  input: number
  cacheRead: number
  cacheWrite: number
  output: number
}

/** A line that could not be read. */
export interface LogProblem {
  /** From 1. */
  line: number
  problem: string
}

/** A session, as read from its log. */
export interface SessionLog {
  path: string
  format: SessionFormat
  /** The version of the agent or of its format, where the log names it. */
  version?: string
  /** The model of most answers. */
  model?: string
  messages: LoggedMessage[]
  /** Missing if the log has no counts of the provider. */
  usage?: SessionUsage
  /** Number of lines that could not be read. */
  unreadLines: number
  /** The first of them. */
  problems: LogProblem[]
}
