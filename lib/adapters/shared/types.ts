/** Options and events shared by all adapters. */

import type { OverflowClass, OverflowReport, RecoverOptions, SpillwayError, ToolControls } from 'spillway'
import type { DropThinkingOptions, Recipient } from 'spillway/history'

/** Interface of a pruner or a context manager: returns the messages to send. */
export interface PrepareOptions {
  /** Milliseconds since the epoch. */
  now: number
}

/** Result of the call. */
export interface PreparedMessages {
  messages: readonly unknown[]
  /** Handed on to `onEvent`. */
  report?: unknown
  /** Fields that the request needs, where the host's provider has them. */
  requestOptions?: DropThinkingOptions
}

/**
 * An object that makes a history fit for a request: a `HistoryPruner`, a context manager, or an object of your own. It must not
 * change the messages that it is given.
 */
export type HistoryControl = (
  | { prune(messages: readonly unknown[], options: PrepareOptions): PreparedMessages | Promise<PreparedMessages> }
  | {
      prepare(
        messages: readonly unknown[],
        options: PrepareOptions & Recipient,
      ): PreparedMessages | Promise<PreparedMessages>
    }
) & {
  /** Receives the usage of each response, where the framework gives it. */
  observe?(usage: unknown): unknown
  /** Receives what each response says beside its answer, where the framework gives it: what the provider left out by itself. */
  accept?(response: unknown): unknown
}

/** How a request that was too long is shortened: the options of `recoverFromOverflow` that are not known from the request. */
export interface RecoveryOptions
  extends Omit<
    RecoverOptions<unknown>,
    'messages' | 'contextWindowTokens' | 'overflow' | 'state' | 'signal' | 'duringCompaction' | keyof Recipient
  > {
  /**
   * The model's window in tokens. A limit that the provider's error names counts if it is less.
   * @default what the error names, else 200000
   */
  contextWindowTokens?: number
  /**
   * Maximum number of retries. A whole number of at least 0.
   * @default 3
   */
  retries?: number
}

/** Event of an adapter. */
export type AdapterEvent =
  /** A request was prepared; `report` is the pruner's. */
  | { type: 'prepared'; sessionId?: string; report: unknown }
  /** A request was too long, and is retried, shortened. */
  | { type: 'recovered'; sessionId?: string; overflow: OverflowClass; report: OverflowReport }
  /** Something failed. The request or the result went on without it. */
  | { type: 'error'; sessionId?: string; error: SpillwayError }

/** Request handling of an adapter. */
export interface RequestControls {
  /**
   * Prunes each request. One pruner belongs to one session: give a function, and it is asked
   * once for each session, with the model and the provider of its first request as far as the host names them: `prices` of a
   * `HistoryPruner` takes the model. The answers for the 1,000 sessions used last are kept. `observe` receives the usage of responses.
   */
  history?:
    | HistoryControl
    | ((sessionId: string | undefined, recipient: { [Fact in keyof Recipient]?: string }) => HistoryControl | undefined)
  /**
   * Retries a request that was too long, shortened. With `false` the error is passed on.
   * @default {}
   */
  recovery?: RecoveryOptions | false
  /** Receives what was done and what failed. Without it, failures become warnings of the process. */
  onEvent?: (event: AdapterEvent) => void
  /** Milliseconds since the epoch. @default Date.now */
  now?: () => number
}

/** Everything that an adapter does: around tools, and with requests. */
export interface AdapterControls extends Omit<ToolControls, 'refusal'>, RequestControls {
  /**
   * The folder that tools work in where neither the host nor the tool's own `workingDirectory` names one: permission judges relative
   * paths there.
   * @default the `vault` of the policy
   */
  workingDirectory?: string
}
