import assert from 'node:assert/strict'
import { test } from 'node:test'
import { convertToModelMessages, generateText, stepCountIs, streamText, tool, type UIMessage } from 'ai'
import { MemoryStorage, PermissionPolicy, SpillwayError, ToolResultLedger, TruncationService } from 'spillway'
import { guardTools, outputTools } from 'spillway/ai-sdk'
import { z } from 'zod'
import { mocked, resultsOf, VERSION } from './mock.ts'
import { type Any, longText, smallService } from './support.ts'

const LONG = longText(300)
const call = (id: string, name: string, input: object = { path: 'a' }) => ({ calls: [{ id, name, input }] })
const reading = (execute: (input: { path: string }, options: Any) => Any, more: object = {}) =>
  tool({ description: 'reads', inputSchema: z.object({ path: z.string() }), execute, ...more })

test('the model reads a preview, the application has everything', async () => {
  const { service, files } = smallService()
  const ledger = new ToolResultLedger()
  const { model, prompts } = mocked(call('c1', 'look'), { text: 'done' })
  const tools = guardTools({ look: reading(async () => LONG) }, { truncation: service, ledger })
  const result = await generateText({ model, tools, prompt: 'go', stopWhen: stepCountIs(3) })
  assert.equal(result.text, 'done')
  assert.equal((result.steps[0]!.toolResults[0] as Any).output, LONG)
  const [shown] = resultsOf(prompts[1])
  assert.equal(shown.output.type, 'text')
  assert.ok(shown.output.value.length < 3000, shown.output.value)
  assert.ok(shown.output.value.startsWith('line 1 of some length'))
  assert.deepEqual(files(), [LONG])
  assert.ok(shown.output.value.includes(ledger.get('c1')?.outputPath ?? 'no path'))
  assert.equal(ledger.get('c1')?.isError, false)
})

test('outputTools read the saved output back', async () => {
  const { service } = smallService()
  const saved = await service.output(LONG, { toolName: 'look' })
  assert.ok(saved.truncated)
  const input = { path: saved.outputPath, from_line: 150, line_count: 2 }
  const { model, prompts } = mocked(call('c1', 'read_output', input), { text: 'done' })
  const tools = { look: reading(async () => LONG), ...outputTools(service) }
  assert.deepEqual(Object.keys(tools), ['look', 'read_output', 'search_output'])
  await generateText({ model, tools, prompt: 'go', stopWhen: stepCountIs(3) })
  const [shown] = resultsOf(prompts[1])
  assert.match(shown.output.value, /\nline 150 of some length\nline 151 of some length\n/)
  assert.throws(() => outputTools({} as Any), SpillwayError)
})

test('leaves short results as they are, text or not', async () => {
  const { service, files } = smallService()
  const { model, prompts } = mocked(
    {
      calls: [
        { id: 'c1', name: 'text', input: { path: 'a' } },
        { id: 'c2', name: 'json', input: { path: 'a' } },
        { id: 'c3', name: 'none', input: { path: 'a' } },
      ],
    },
    { text: 'done' },
  )
  const tools = guardTools(
    {
      text: reading(async () => 'short'),
      json: reading(async () => ({ a: [1, 2] })),
      none: reading(async () => undefined),
    },
    { truncation: service },
  )
  await generateText({ model, tools, prompt: 'go', stopWhen: stepCountIs(3) })
  const outputs = resultsOf(prompts[1]).map(({ output }) => output)
  assert.deepEqual(outputs, [
    { type: 'text', value: 'short' },
    { type: 'json', value: { a: [1, 2] } },
    { type: 'json', value: null },
  ])
  assert.deepEqual(files(), [])
})

test('a long object is shown as the beginning of its JSON, and is an object for the application', async () => {
  const { service } = smallService()
  const value = { rows: Array.from({ length: 500 }, (_, id) => ({ id, name: `row ${id}` })) }
  const { model, prompts } = mocked(call('c1', 'query'), { text: 'done' })
  const tools = guardTools({ query: reading(async () => value) }, { truncation: service })
  const result = await generateText({ model, tools, prompt: 'go', stopWhen: stepCountIs(3) })
  assert.deepEqual((result.steps[0]!.toolResults[0] as Any).output, value)
  const [shown] = resultsOf(prompts[1])
  assert.equal(shown.output.type, 'text')
  assert.ok(shown.output.value.length < 3000)
})

test('a message of an error is bounded, and its end is kept', async () => {
  const { service, files } = smallService()
  const { model, prompts } = mocked(call('c1', 'look'), { text: 'done' })
  const error = new TypeError(LONG)
  const tools = guardTools({ look: reading(async () => Promise.reject(error)) }, { truncation: service })
  const result = await generateText({ model, tools, prompt: 'go', stopWhen: stepCountIs(3) })
  const [shown] = resultsOf(prompts[1])
  assert.equal(shown.output.type, 'error-text')
  assert.ok(shown.output.value.length < 3000)
  assert.ok(shown.output.value.includes('line 300 of some length'))
  assert.deepEqual(files(), [LONG])
  const thrown = (result.steps[0]!.content as Any[]).find(({ type }) => type === 'tool-error').error
  assert.equal(thrown.name, 'TypeError')
  assert.equal(thrown.cause, error)
})

test('a short error is thrown as it is', async () => {
  const error = new RangeError('no such file')
  const { model } = mocked(call('c1', 'look'), { text: 'done' })
  const tools = guardTools(
    {
      look: reading(() => {
        throw error
      }),
    },
    { truncation: smallService().service },
  )
  const result = await generateText({ model, tools, prompt: 'go', stopWhen: stepCountIs(3) })
  assert.equal((result.steps[0]!.content as Any[]).find(({ type }) => type === 'tool-error').error, error)
})

test('a tool that streams: every step at once, a preview of the last', async () => {
  const { service, files } = smallService()
  const { model, prompts } = mocked(call('c1', 'watch'), { text: 'done' })
  const tools = guardTools(
    {
      watch: reading(async function* () {
        yield 'starting'
        yield 'half'
        yield LONG
      }),
    },
    { truncation: service },
  )
  const result = streamText({ model, tools, prompt: 'go', stopWhen: stepCountIs(3) })
  const seen: Any[] = []
  for await (const part of result.fullStream) if (part.type === 'tool-result') seen.push(part)
  assert.deepEqual(
    seen.map(({ output, preliminary = false }) => [output, preliminary]),
    [
      ['starting', true],
      ['half', true],
      [LONG, true],
      [LONG, false],
    ],
  )
  assert.ok(resultsOf(prompts[1])[0].output.value.length < 3000)
  assert.deepEqual(files(), [LONG])
})

test('a tool that streams and throws', async () => {
  const { service } = smallService()
  const { model, prompts } = mocked(call('c1', 'watch'), { text: 'done' })
  const tools = guardTools(
    {
      watch: reading(async function* () {
        yield 'starting'
        throw new Error(LONG)
      }),
    },
    { truncation: service },
  )
  await generateText({ model, tools, prompt: 'go', stopWhen: stepCountIs(3) })
  const [shown] = resultsOf(prompts[1])
  assert.equal(shown.output.type, 'error-text')
  assert.ok(shown.output.value.length < 3000)
})

test('a function that answers a stream is read to its end', async () => {
  const { model, prompts } = mocked(call('c1', 'watch'), { text: 'done' })
  const steps = async function* () {
    yield 1
    yield 'last'
  }
  const tools = guardTools({ watch: reading(() => steps()) }, {})
  await generateText({ model, tools, prompt: 'go', stopWhen: stepCountIs(3) })
  assert.deepEqual(resultsOf(prompts[1])[0].output, { type: 'text', value: 'last' })
})

test('bounds the output that a tool makes for the model, and keeps its media', {
  skip: VERSION === 5 && 'version 5 does not wait for toModelOutput',
}, async () => {
  const { service, files } = smallService()
  const image = { type: 'image-data', data: 'aGk=', mediaType: 'image/png' }
  const { model, prompts } = mocked(call('c1', 'shoot'), { text: 'done' })
  const tools = guardTools(
    {
      shoot: reading(async () => ({ raw: 'value' }), {
        toModelOutput: () => ({ type: 'content', value: [{ type: 'text', text: LONG }, image] }),
      }),
    },
    { truncation: service },
  )
  const result = await generateText({ model, tools, prompt: 'go', stopWhen: stepCountIs(3) })
  assert.deepEqual((result.steps[0]!.toolResults[0] as Any).output, { raw: 'value' })
  const [shown] = resultsOf(prompts[1])
  assert.equal(shown.output.type, 'content')
  const [text, media] = shown.output.value
  assert.ok(text.text.length < 3000)
  // The SDK itself renames it in version 7.
  assert.ok(['image-data', 'file'].includes(media.type))
  assert.deepEqual(files(), [LONG])
})

test('a history of the user interface becomes messages twice, and there is one file', async () => {
  const { service, files } = smallService()
  const tools = guardTools({ look: reading(async () => LONG) }, { truncation: service })
  const output = await (tools.look as Any).execute({ path: 'a' }, { toolCallId: 'c1', messages: [] })
  assert.equal(output, LONG)
  const ui: UIMessage[] = [
    { id: '1', role: 'user', parts: [{ type: 'text', text: 'go' }] },
    {
      id: '2',
      role: 'assistant',
      parts: [
        { type: 'tool-look', toolCallId: 'c1', state: 'output-available', input: { path: 'a' }, output: LONG } as Any,
      ],
    },
  ]
  const before = JSON.stringify(ui)
  const first = await convertToModelMessages(ui, { tools })
  const second = await convertToModelMessages(ui, { tools })
  assert.deepEqual(first, second)
  assert.ok(resultsOf(first)[0].output.value.length < 3000)
  assert.equal(files().length, 1)
  assert.equal(JSON.stringify(ui), before)
  // A process that never ran the tool has only the history.
  const later = guardTools({ look: reading(async () => LONG) }, { truncation: smallService().service })
  assert.ok(resultsOf(await convertToModelMessages(ui, { tools: later }))[0].output.value.length < 60_000)
})

test('a call that is denied does not run, and the model learns why', async () => {
  const permission = new PermissionPolicy({ rules: [{ domain: 'read', pattern: '**', decision: 'deny' }] })
  const { model, prompts } = mocked(call('c1', 'read_file', { path: '/etc/passwd' }), { text: 'done' })
  let ran = 0
  const tools = guardTools({ read_file: reading(async () => ran++) }, { permission })
  const result = await generateText({ model, tools, prompt: 'go', stopWhen: stepCountIs(3) })
  assert.equal(ran, 0)
  const [shown] = resultsOf(prompts[1])
  assert.equal(shown.output.type, 'error-text')
  assert.match(shown.output.value, /denied and did not run/)
  const { error } = (result.steps[0]!.content as Any[]).find(({ type }) => type === 'tool-error')
  assert.ok(error instanceof SpillwayError)
  assert.equal(error.code, 'REFUSED')
})

test('hooks change what is called and what is read', async () => {
  const { model, prompts } = mocked(call('c1', 'look'), { text: 'done' })
  const tools = guardTools(
    { look: reading(async ({ path }) => `content of ${path}`) },
    {
      hooks: {
        'tool.before': () => ({ input: { path: 'b' } }),
        'tool.after': () => ({ append: ', checked' }),
        'tool.final': () => ({ prepend: 'Note: ' }),
      },
    },
  )
  const result = await generateText({ model, tools, prompt: 'go', stopWhen: stepCountIs(3) })
  assert.equal((result.steps[0]!.toolResults[0] as Any).output, 'content of b, checked')
  assert.equal(resultsOf(prompts[1])[0].output.value, 'Note: content of b, checked')
})

test('a storage that fails costs no result', async () => {
  const storage = new MemoryStorage()
  storage.save = () => Promise.reject(new Error('full'))
  const service = new TruncationService({ global: { maxLines: 5 }, storage })
  const { model, prompts } = mocked(call('c1', 'look'), { text: 'done' })
  const tools = guardTools({ look: reading(async () => LONG) }, { truncation: service })
  await generateText({ model, tools, prompt: 'go', stopWhen: stepCountIs(3) })
  assert.ok(resultsOf(prompts[1])[0].output.value.length < 3000)
})

test('wrong controls are an error at once', () => {
  assert.throws(() => guardTools({}, { truncatoin: 1 } as Any), {
    code: 'INVALID_ARGUMENT',
    field: 'controls.truncatoin',
  })
  assert.throws(() => guardTools({}, { truncation: 1 } as Any), { field: 'controls.truncation' })
  assert.throws(() => guardTools({ a: 1 } as Any, {}), { field: 'tools.a' })
})
