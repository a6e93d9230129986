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

const unreadable = {
  get success(): boolean {
    throw new Error('gone')
  },
}

test.each<[string, unknown, string | undefined]>([
  ['says that it succeeded', { success: true, output: 'done' }, undefined],
  ['says that it failed', { success: false, error: 'no' }, 'tool_error'],
  ['names the kind of its refusal', { success: false, kind: 'permission_denied' }, 'permission_denied'],
  ['has an exit code that is not 0', { output: 'no such file', metadata: { exitCode: 1 } }, 'tool_error'],
  ['has the exit code 0', { output: 'done', metadata: { exitCode: 0 } }, undefined],
  ['is that of a command that a signal ended', { stdout: '', exitCode: null, signal: 'SIGKILL' }, 'tool_error'],
  ['is a text', 'done', undefined],
  ['cannot be read', unreadable, undefined],
])('the span of a call whose result %s', async (_what, result, kind) => {
  const attributes: object[] = []
  const api = apiWith(() => {})
  const span = { setAttributes: (set: object) => attributes.push(set), setStatus: () => {}, end: () => {} }
  const tracer = {
    startActiveSpan: (_name: string, _about: object, run: (given: never) => unknown) => run(span as never),
  }
  const telemetry = createTelemetry({ ...api, trace: { ...api.trace, getTracer: () => tracer as never } })
  const tool = telemetry.tool({ name: 'bash', execute: async () => result })
  expect(await tool.execute()).toBe(result)
  expect(attributes).toEqual(kind === undefined ? [] : [{ 'error.type': kind }])
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
