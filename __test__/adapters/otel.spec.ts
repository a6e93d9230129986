/** Telemetry without OpenTelemetry: arguments that are wrong, and an exporter that fails. The rest is in `otel/`. */

import { ContextManager } from 'spillway'
import { FoldSession } from 'spillway/fold'
import { createTelemetry, type TelemetryApi } from 'spillway/otel'

const span = { setAttributes: () => {}, setStatus: () => {}, end: () => {} }

function apiWith(add: () => void): TelemetryApi {
  const instrument = { add, record: add }
  return {
    trace: {
      getTracer: () => ({ startActiveSpan: (_, __, run) => run(span) }),
      getActiveSpan: () => span,
    },
    metrics: {
      getMeter: () => ({
        createCounter: () => instrument,
        createUpDownCounter: () => instrument,
        createHistogram: () => instrument,
      }),
    },
  }
}

test.each([
  ['api', () => createTelemetry(undefined as never)],
  ['api', () => createTelemetry({ trace: {} } as never)],
  [
    'options.conversationId',
    () =>
      createTelemetry(
        apiWith(() => {}),
        { conversationId: 1 } as never,
      ),
  ],
  [
    'options.nope',
    () =>
      createTelemetry(
        apiWith(() => {}),
        { nope: 1 } as never,
      ),
  ],
])('names a wrong argument: %s', (field, call) => {
  expect(call).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field }))
})

test('an exporter that fails changes nothing for the agent', async () => {
  const telemetry = createTelemetry(
    apiWith(() => {
      throw new Error('no collector')
    }),
  )
  const event = { type: 'truncated', toolName: 'bash', originalSize: 9, truncatedSize: 3, timestamp: 0 } as const
  expect(() => telemetry.onEvent(event)).not.toThrow()
  expect(() => telemetry.request({} as never)).not.toThrow()
  const tool = telemetry.tool({ name: 'bash', execute: async () => 'done' })
  await expect(tool.execute()).resolves.toBe('done')
})

test('a session that is traced keeps its other methods, so that a manager can tell it what has left', () => {
  const telemetry = createTelemetry(apiWith(() => {}))
  const session = new FoldSession()
  const traced: FoldSession = telemetry.fold(session)
  const text = Array.from({ length: 60 }, (_, at) => `line ${at} of a file`).join('\n')
  const call = (toolCallId: string) => ({ toolName: 'read', toolCallId })
  traced.fold(text, call('a'))
  expect(traced.fold(text, call('b')).record).toBeDefined()
  expect(() => new ContextManager({ fold: traced })).not.toThrow()
  traced.forget(['a', 'b'])
  expect(traced.fold(text, call('c')).record).toBeUndefined()
  expect(traced.report()).toEqual(session.report())
})
