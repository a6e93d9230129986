/**
 * Spillway for OpenTelemetry (`@opentelemetry/api` from 1.3): spans and metrics of tools and requests, under the names of the
 * semantic conventions for generative AI, as far as they exist. The caller passes the package, which is never loaded here, and no
 * content, argument or path is recorded.
 */

import type { ContextReport, PruneReport, TruncationEvent } from 'spillway'
import type { FoldCall, FoldedText } from 'spillway/fold'
import { boundMembers } from '../tools/bind-members'
import { hasFailed } from '../tools/tool-result'
import { warn } from '../util/warn'
import { type Check, checkOptions, string } from '../validation/options'
import { isRecord, wrong } from '../validation/validate'

/** Attributes of a span or a measurement. */
export type TelemetryAttributes = Record<string, string | number | boolean>

/** The part of a span that is used. */
export interface TelemetrySpan {
  setAttributes(attributes: TelemetryAttributes): unknown
  setStatus(status: { code: number; message?: string }): unknown
  end(): void
}

/** The part of `@opentelemetry/api` that is used: `import * as api from '@opentelemetry/api'`. */
export interface TelemetryApi {
  trace: {
    getTracer(name: string): {
      startActiveSpan<T>(
        name: string,
        options: { kind: number; attributes: TelemetryAttributes },
        run: (span: TelemetrySpan) => T,
      ): T
    }
    getActiveSpan(): TelemetrySpan | undefined
  }
  metrics: {
    getMeter(name: string): {
      createCounter(name: string, options: InstrumentOptions): Counter
      createUpDownCounter(name: string, options: InstrumentOptions): Counter
      createHistogram(name: string, options: InstrumentOptions): Histogram
    }
  }
}

interface InstrumentOptions {
  description: string
  unit: string
}

interface Counter {
  add(value: number, attributes?: TelemetryAttributes): void
}

interface Histogram {
  record(value: number, attributes?: TelemetryAttributes): void
}

/** Options of {@link createTelemetry}. */
export interface TelemetryOptions {
  /** The session, as `gen_ai.conversation.id` of every span. */
  conversationId?: string
}

/** A tool that can be called. */
interface CallableTool {
  name: string
  execute(args: never, context?: never): unknown
}

/** A `FoldSession`, or something like it. */
interface Folder {
  fold(text: string, call: FoldCall): FoldedText
}

/** Spans and metrics of one agent. Nothing here throws into the agent. */
export interface Telemetry {
  /** The `onEvent` of a `TruncationService`: records bytes of outputs and of their previews. */
  readonly onEvent: (event: TruncationEvent) => void
  /** Returns a tool whose calls are recorded as spans `execute_tool`. Wrap it around `guardTool`, so that refusals are recorded. */
  tool<T extends CallableTool>(tool: T): T
  /** Returns the same folder, with all its methods, which also counts the bytes that were folded. */
  fold<F extends Folder>(session: F): F
  /** Records the report of a `ContextManager` or a `HistoryPruner` of a request, on the active span. */
  request(report: ContextReport | PruneReport): void
}

const NAME = 'spillway'
/** As `SpanKind.INTERNAL` and `SpanStatusCode.ERROR`. */
const [INTERNAL, ERROR] = [0, 2]

const CHECKS: Readonly<Record<keyof TelemetryOptions, Check>> = {
  conversationId: string,
}

/**
 * Records spans and metrics of Spillway, with the tracer and the meter that the program has set up.
 *
 * @example
 * const telemetry = createTelemetry(api, { conversationId })
 * const service = new TruncationService({ onEvent: telemetry.onEvent })
 * @throws SpillwayError `INVALID_ARGUMENT` if `api` is not the package, or an option is not allowed
 */
export function createTelemetry(api: TelemetryApi, options: TelemetryOptions = {}): Telemetry {
  if (typeof api?.trace?.getTracer !== 'function' || typeof api.metrics?.getMeter !== 'function') {
    throw wrong('api', api, 'the package @opentelemetry/api')
  }
  checkOptions('options', options, CHECKS)
  const { conversationId } = options
  return new Recorder(api, conversationId === undefined ? {} : { 'gen_ai.conversation.id': conversationId })
}

class Recorder implements Telemetry {
  readonly onEvent = (event: TruncationEvent): void => this.guarded(() => this.recordOutput(event))
  private readonly instruments: ReturnType<typeof instrumentsOf>
  /** Priced tokens that were saved up to the last request. */
  private saved = 0

  constructor(
    private readonly api: TelemetryApi,
    private readonly common: TelemetryAttributes,
  ) {
    this.instruments = instrumentsOf(api)
  }

  tool<T extends CallableTool>(tool: T): T {
    const { name } = tool
    const execute = tool.execute as (...given: unknown[]) => unknown
    const traced = async (...given: unknown[]) => {
      const { toolCallId } = (isRecord(given[1]) ? given[1] : {}) as { toolCallId?: unknown }
      const attributes = {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': name,
        'gen_ai.tool.type': 'function',
        ...(typeof toolCallId === 'string' && { 'gen_ai.tool.call.id': toolCallId }),
        ...this.common,
      }
      const tracer = this.api.trace.getTracer(NAME)
      return tracer.startActiveSpan(`execute_tool ${name}`, { kind: INTERNAL, attributes }, (span) =>
        this.traced(name, span, () => execute.apply(tool, given)),
      )
    }
    return { ...tool, execute: traced }
  }

  private async traced(tool: string, span: TelemetrySpan, run: () => unknown): Promise<unknown> {
    const start = performance.now()
    let failure: string | undefined
    try {
      const result = await run()
      this.guarded(() => {
        failure = kindOfFailure(result)
      })
      return result
    } catch (error) {
      failure = error instanceof Error ? error.name : 'Error'
      throw error
    } finally {
      const seconds = (performance.now() - start) / 1000
      this.guarded(() => this.endTool(tool, span, seconds, failure))
    }
  }

  private endTool(tool: string, span: TelemetrySpan, seconds: number, failure: string | undefined): void {
    const failed: TelemetryAttributes = failure === undefined ? {} : { 'error.type': failure }
    if (failure !== undefined) {
      span.setAttributes(failed)
      span.setStatus({ code: ERROR, message: failure })
    }
    span.end()
    const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': tool, ...failed }
    this.instruments.duration.record(seconds, attributes)
  }

  fold<F extends Folder>(session: F): F {
    const fold = (text: string, call: FoldCall): FoldedText => {
      const folded = session.fold(text, call)
      this.guarded(() => this.recordFold(text, folded, call.toolName))
      return folded
    }
    // With the other methods: a `ContextManager` tells the session by `forget` which results have left.
    return { ...boundMembers(session), fold }
  }

  private recordFold(text: string, { content, record }: FoldedText, tool: string): void {
    if (record === undefined) return
    const bytes = Buffer.byteLength(text) - Buffer.byteLength(content)
    this.instruments.folded.add(bytes, { 'gen_ai.tool.name': tool })
    this.api.trace.getActiveSpan()?.setAttributes({ 'spillway.output.folded_bytes': bytes })
  }

  private recordOutput({ type, toolName, originalSize, truncatedSize, errorCode }: TruncationEvent): void {
    const tool = { 'gen_ai.tool.name': toolName }
    if (type === 'error') {
      this.instruments.errors.add(1, { ...tool, 'error.type': errorCode ?? '_OTHER' })
      return
    }
    this.instruments.bytes.add(originalSize, tool)
    this.instruments.shown.add(truncatedSize, tool)
    this.api.trace.getActiveSpan()?.setAttributes({
      'spillway.output.bytes': originalSize,
      'spillway.output.shown_bytes': truncatedSize,
      'spillway.output.saved_bytes': originalSize - truncatedSize,
      'spillway.output.truncated': type === 'truncated',
    })
  }

  request(report: ContextReport | PruneReport): void {
    this.guarded(() => {
      const pruning = 'pruning' in report ? report.pruning : report
      const { tokensBefore, tokensAfter } = report
      const { sent, pruned, saved } = this.instruments
      sent.record(Math.round(tokensAfter))
      pruned.record(Math.round(tokensBefore - tokensAfter))
      const total = pruning.cost.unpruned - pruning.cost.paid
      saved.add(total - this.saved)
      this.saved = total
      const compacted = 'compaction' in report && report.compaction !== undefined && report.compaction.action !== 'none'
      this.api.trace.getActiveSpan()?.setAttributes({
        'spillway.request.tokens': Math.round(tokensAfter),
        'spillway.request.pruned_tokens': Math.round(tokensBefore - tokensAfter),
        'spillway.request.pruned_items': pruning.total,
        ...(compacted && { 'gen_ai.conversation.compacted': true }),
        ...this.common,
      })
    })
  }

  /** Telemetry that fails is only a warning. */
  private guarded(record: () => void): void {
    try {
      record()
    } catch (error) {
      warn('telemetry', error)
    }
  }
}

/** The kind of a refusal, or that the call failed by what its result says. */
function kindOfFailure(result: unknown): string | undefined {
  if (!hasFailed(result)) return undefined
  const { kind } = Object(result) as { kind?: unknown }
  return typeof kind === 'string' ? kind : 'tool_error'
}

function instrumentsOf({ metrics }: TelemetryApi) {
  const meter = metrics.getMeter(NAME)
  const counter = (name: string, unit: string, description: string) => meter.createCounter(name, { unit, description })
  const histogram = (name: string, unit: string, description: string) =>
    meter.createHistogram(name, { unit, description })
  return {
    duration: histogram('gen_ai.execute_tool.duration', 's', 'Duration of the execution of a tool.'),
    bytes: counter('spillway.output.bytes', 'By', 'Bytes of outputs of tools.'),
    shown: counter('spillway.output.shown_bytes', 'By', 'Bytes of outputs that the model was shown.'),
    folded: counter(
      'spillway.output.folded_bytes',
      'By',
      'Bytes of outputs that pointers to earlier results replaced.',
    ),
    errors: counter('spillway.output.errors', '{error}', 'Failures on the way of an output.'),
    sent: histogram('spillway.request.tokens', '{token}', 'Tokens of a request, estimated.'),
    pruned: histogram(
      'spillway.request.pruned_tokens',
      '{token}',
      'Tokens that were left out of a request, estimated.',
    ),
    saved: meter.createUpDownCounter('spillway.request.saved_priced_tokens', {
      unit: '{token}',
      description: 'Priced tokens that pruning saved; less than 0 while a change is not paid off.',
    }),
  }
}
