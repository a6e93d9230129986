import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import * as api from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import * as traces from '@opentelemetry/sdk-trace-base'
import {
  ContextManager,
  guardTool,
  HistoryPruner,
  PermissionPolicy,
  type PruneReport,
  TruncationService,
} from 'spillway'
import { FoldSession } from 'spillway/fold'
import { createTelemetry, type Telemetry } from 'spillway/otel'
import { type Any, longText, tempDir } from './support.ts'

// Version 3 of the SDK has a name of its own for the package and the provider, and takes the exporter as an option.
const { BasicTracerProvider, TracerProvider = BasicTracerProvider, SimpleSpanProcessor } = traces as Any
const spans = new traces.InMemorySpanExporter()
const processor = new SimpleSpanProcessor(BasicTracerProvider === undefined ? { exporter: spans } : spans)
api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
api.trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [processor] }))
const exporter = new InMemoryMetricExporter(AggregationTemporality.DELTA)
const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 30 })
const meters = new MeterProvider({ readers: [reader] })
api.metrics.setGlobalMeterProvider(meters)

afterEach(() => {
  spans.reset()
  exporter.reset()
})

/** Sums by the names of metrics, since the last time. */
async function metrics(): Promise<Record<string, Any>> {
  await meters.forceFlush()
  const all = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
  return Object.fromEntries(all.map(({ descriptor, dataPoints }) => [descriptor.name, { descriptor, dataPoints }]))
}

const LONG = longText(300)

const serviceFor = ({ onEvent }: Telemetry) =>
  new TruncationService({ global: { maxLines: 10, maxBytes: 2000, storageDir: tempDir() }, onEvent })

test('a call of a tool is a span with the names of the conventions, and what is shown of its output', async () => {
  const telemetry = createTelemetry(api, { conversationId: 'session-1' })
  const service = serviceFor(telemetry)
  const tool = telemetry.tool(guardTool({ name: 'bash', execute: async () => LONG }, { truncation: service }))
  const result: Any = await tool.execute({} as never, { toolCallId: 'c1' })
  const [span] = spans.getFinishedSpans()
  assert.equal(span?.name, 'execute_tool bash')
  assert.equal(span?.kind, api.SpanKind.INTERNAL)
  const shown = Buffer.byteLength(result.output ?? result)
  assert.deepEqual(span?.attributes, {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'bash',
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.id': 'c1',
    'gen_ai.conversation.id': 'session-1',
    'spillway.output.bytes': LONG.length,
    'spillway.output.shown_bytes': shown,
    'spillway.output.saved_bytes': LONG.length - shown,
    'spillway.output.truncated': true,
  })
  const measured = await metrics()
  assert.equal(measured['gen_ai.execute_tool.duration'].descriptor.unit, 's')
  assert.equal(measured['gen_ai.execute_tool.duration'].dataPoints[0].value.count, 1)
  assert.deepEqual(measured['spillway.output.bytes'].dataPoints[0].value, LONG.length)
  assert.deepEqual(measured['spillway.output.shown_bytes'].dataPoints[0].value, shown)
})

test('a refusal and an exception are errors of their kind', async () => {
  const telemetry = createTelemetry(api)
  const permission = new PermissionPolicy({ rules: [{ domain: 'bash', pattern: '*', decision: 'deny' }] })
  const refused = telemetry.tool(guardTool({ name: 'bash', execute: async () => 'never' }, { permission }))
  await refused.execute({ command: 'ls' } as never, {})
  const thrown = telemetry.tool({
    name: 'broken',
    execute: async () => {
      throw new TypeError('no')
    },
  })
  await assert.rejects(async () => thrown.execute())
  const [first, second] = spans.getFinishedSpans()
  assert.equal(first?.attributes['error.type'], 'permission_denied')
  assert.equal(second?.attributes['error.type'], 'TypeError')
  assert.equal(second?.status.code, api.SpanStatusCode.ERROR)
})

test('calls at the same time do not mix', async () => {
  const telemetry = createTelemetry(api)
  const service = serviceFor(telemetry)
  const tool = (name: string, text: string) =>
    telemetry.tool(guardTool({ name, execute: async () => text }, { truncation: service }))
  await Promise.all([tool('a', 'x'.repeat(10)).execute({} as never, {}), tool('b', LONG).execute({} as never, {})])
  const bytes = spans
    .getFinishedSpans()
    .map(({ attributes }) => [attributes['gen_ai.tool.name'], attributes['spillway.output.bytes']])
  assert.deepEqual(Object.fromEntries(bytes), { a: 10, b: LONG.length })
})

test('folded bytes are counted', async () => {
  const telemetry = createTelemetry(api)
  const fold = telemetry.fold(new FoldSession())
  const text = Array.from({ length: 60 }, (_, at) => `a line that is there once, number ${at}`).join('\n')
  const tracer = api.trace.getTracer('test')
  const folded = tracer.startActiveSpan('call', (span) => {
    fold.fold(text, { toolName: 'read', toolCallId: 'a', args: { path: 'a.ts' } })
    const second = fold.fold(text, { toolName: 'read', toolCallId: 'b', args: { path: 'a.ts' } })
    span.end()
    return second
  })
  const bytes = text.length - Buffer.byteLength(folded.content)
  assert.ok(bytes > 1000)
  assert.equal(spans.getFinishedSpans()[0]?.attributes['spillway.output.folded_bytes'], bytes)
  assert.equal((await metrics())['spillway.output.folded_bytes'].dataPoints[0].value, bytes)
})

test('a request has the tokens that were sent and left out, and the metrics add up to the savings', async () => {
  const telemetry = createTelemetry(api)
  const pruner = new HistoryPruner({ schedule: 'always', keepRecent: 1 })
  const messages: Any[] = [{ role: 'user', content: 'go' }]
  let report: PruneReport | undefined
  for (let at = 0; at < 6; at++) {
    const call = { id: `c${at}`, type: 'function', function: { name: 'read', arguments: '{}' } }
    messages.push({ role: 'assistant', content: null, tool_calls: [call] })
    messages.push({ role: 'tool', tool_call_id: `c${at}`, content: `${at}${LONG}` })
    api.trace.getTracer('test').startActiveSpan('chat', (span) => {
      report = pruner.prune(messages).report
      telemetry.request(report)
      span.end()
    })
  }
  const { cost, tokensBefore, tokensAfter, total } = report as PruneReport
  const attributes = spans.getFinishedSpans().at(-1)?.attributes
  assert.equal(attributes?.['spillway.request.tokens'], Math.round(tokensAfter))
  assert.equal(attributes?.['spillway.request.pruned_tokens'], Math.round(tokensBefore - tokensAfter))
  assert.equal(attributes?.['spillway.request.pruned_items'], total)
  const saved = (await metrics())['spillway.request.saved_priced_tokens'].dataPoints[0].value
  assert.ok(Math.abs(saved - (cost.unpruned - cost.paid)) < 1e-6)
})

test('a compaction is marked, and only where there was one', async () => {
  const telemetry = createTelemetry(api)
  const manager = new ContextManager({ contextWindow: 3000, compaction: { summarize: async () => 'A summary.' } })
  const messages = Array.from({ length: 40 }, (_, at) => ({
    role: at % 2 === 0 ? 'user' : 'assistant',
    content: `${at} ${'word '.repeat(100)}`,
  }))
  for (const given of [messages.slice(0, 2), messages]) {
    const { report } = await manager.prepare(given)
    api.trace.getTracer('test').startActiveSpan('chat', (span) => {
      telemetry.request(report)
      span.end()
    })
  }
  const marks = spans.getFinishedSpans().map(({ attributes }) => attributes['gen_ai.conversation.compacted'])
  assert.deepEqual(marks, [undefined, true])
})
