import {
  HistoryPruner,
  MemoryStorage,
  PermissionGate,
  PermissionPolicy,
  SpillwayError,
  ToolResultLedger,
  TruncationService,
} from 'spillway'
import { type AdapterEvent, approvalPolicy, contextMiddleware, guardTools } from 'spillway/ai-sdk'
import { FoldSession } from 'spillway/fold'
import { type Any, eagerPruner, frozen, LONG, overflowError, smallService } from './shapes'

const call = { toolCallId: 'c1', messages: [] }

describe('guarded tools', () => {
  test('the application has everything, the model a preview, however it asks', async () => {
    const { service, files } = smallService()
    const ledger = new ToolResultLedger()
    const { look } = guardTools({ look: { execute: async () => LONG } as Any }, { truncation: service, ledger })
    expect(await look.execute({}, call)).toBe(LONG)
    // Version 6 and 7, then version 5, which hands over the output alone and does not wait.
    const shown = await look.toModelOutput({ toolCallId: 'c1', input: {}, output: LONG })
    expect(shown.type).toBe('text')
    expect(shown.value.length).toBeLessThan(3000)
    expect(shown.value).toContain(ledger.get('c1')?.outputPath)
    expect(look.toModelOutput(LONG)).toEqual(shown)
    expect(files()).toEqual([LONG])
  })

  test('images in a result of MCP are described, and the application keeps them', async () => {
    const data = Buffer.alloc(3000, 1).toString('base64')
    const content = [
      { type: 'text', text: 'a page' },
      { type: 'image', data, mimeType: 'image/png' },
    ]
    const { shot } = guardTools(
      { shot: { execute: async () => ({ content }) } as Any },
      { truncation: smallService().service },
    )
    const output = await shot.execute({}, call)
    expect(output).toEqual({ content })
    for (const given of [{ toolCallId: 'c1', input: {}, output }, output]) {
      const { type, value } = await shot.toModelOutput(given)
      expect(type).toBe('json')
      expect(value.content[0]).toEqual(content[0])
      expect(value.content[1]).toEqual({ type: 'image', data: '[image/png, 3.0 kB]', mimeType: 'image/png' })
    }
  })

  test('an error of a tool shows the host no more than the model may read', async () => {
    class Verbose extends Error {
      override toString() {
        return `Verbose ${LONG}`
      }
    }
    const thrown = [
      new Verbose('short'),
      { message: 'short', stdout: LONG },
      { n: 1n, stdout: LONG },
      { toJSON: () => LONG },
    ]
    for (const own of [false, true]) {
      for (const value of thrown) {
        const tool = {
          execute: () => Promise.reject(value),
          ...(own && { toModelOutput: (output: unknown) => output }),
        }
        const { broken } = guardTools({ broken: tool as Any }, { truncation: smallService().service })
        const error: Any = await broken.execute({}, call).catch((reason: unknown) => reason)
        expect(error).toBeInstanceOf(Error)
        expect(String(error).length).toBeLessThan(3000)
        expect(error.cause).toBe(value)
      }
      const error = new Error('as it is')
      const tool = { execute: () => Promise.reject(error) }
      const { broken } = guardTools({ broken: tool as Any }, { truncation: smallService().service })
      await expect(broken.execute({}, call)).rejects.toBe(error)
    }
  })

  test('a result is never shown as the pointer that an equal result of another call became', async () => {
    const text = Array.from({ length: 60 }, (_, at) => `export const value${at} = compute(${at})`).join('\n')
    const { look } = guardTools({ look: { execute: async () => text } as Any }, { fold: new FoldSession() })
    const ids = ['c1', 'c2']
    for (const toolCallId of ids) expect(await look.execute({}, { toolCallId, messages: [] })).toBe(text)
    const shown = await Promise.all(
      ids.map((toolCallId) => look.toModelOutput({ toolCallId, input: {}, output: text })),
    )
    expect(shown[0].value).toBe(text)
    expect(shown[1].value).toMatch(/same as lines/)
    // Version 5 does not say whose the output is.
    expect(look.toModelOutput(text)).toEqual({ type: 'text', value: text })
  })

  test('a long result that several calls have is bounded in version 5, and has no pointer', async () => {
    const text = Array.from({ length: 3000 }, (_, at) => `export const value${at} = compute(${at})`).join('\n')
    const truncation = new TruncationService({ storage: new MemoryStorage(), maxLines: 200 })
    const { look } = guardTools({ look: { execute: async () => text } as Any }, { fold: new FoldSession(), truncation })
    for (const toolCallId of ['c1', 'c2']) await look.execute({}, { toolCallId, messages: [] })
    expect(look.toModelOutput({ toolCallId: 'c2', input: {}, output: text }).value).toMatch(/same as lines/)
    const { value } = look.toModelOutput(text)
    expect(value).not.toMatch(/same as lines/)
    expect(value).toMatch(/export const value199 =/)
    expect(value.length).toBeLessThan(text.length / 2)
  })

  test('a result that no other call has is shown folded in version 5 as well', async () => {
    const lines = Array.from({ length: 60 }, (_, at) => `export const value${at} = compute(${at})`)
    const results = [lines.join('\n'), [...lines, 'export {}'].join('\n')]
    const left = [...results]
    const { look } = guardTools({ look: { execute: async () => left.shift() } as Any }, { fold: new FoldSession() })
    for (const toolCallId of ['c1', 'c2']) await look.execute({}, { toolCallId, messages: [] })
    expect(look.toModelOutput(results[0])).toEqual({ type: 'text', value: results[0] })
    expect(look.toModelOutput(results[1]).value).toMatch(/same as lines/)
  })

  test('a result of another process is bounded when it is asked for', async () => {
    const { service, files } = smallService()
    const { look } = guardTools({ look: {} as Any }, { truncation: service })
    const given = { toolCallId: 'c1', input: {}, output: LONG }
    expect(await look.toModelOutput(given)).toEqual(await look.toModelOutput(given))
    expect(files()).toEqual([LONG])
    expect(look.toModelOutput('short')).toEqual({ type: 'text', value: 'short' })
    expect(look.toModelOutput(undefined)).toEqual({ type: 'json', value: null })
  })

  test('a file that holds a text is bounded, media and denials are left alone', async () => {
    const { service } = smallService()
    const file = { type: 'file', mediaType: 'text/plain', data: { type: 'text', text: LONG } }
    const image = { type: 'image-data', data: 'aGk=', mediaType: 'image/png' }
    const outputs = [
      { type: 'content', value: frozen([file, image]) },
      { type: 'execution-denied', reason: LONG },
    ]
    const { look } = guardTools(
      { look: { toModelOutput: async () => outputs.shift() } as Any },
      { truncation: service },
    )
    const given = { toolCallId: 'c1', input: {}, output: 1 }
    const shown = await look.toModelOutput(given)
    expect(shown.value[0].data.text.length).toBeLessThan(3000)
    expect(shown.value[0].mediaType).toBe('text/plain')
    expect(shown.value[1]).toEqual(image)
    expect(await look.toModelOutput(given)).toEqual({ type: 'execution-denied', reason: LONG })
  })

  test('a raw result of MCP is bounded with its structure', async () => {
    const { service, files } = smallService()
    const structuredContent = { rows: LONG.split('\n') }
    const raw = { content: [{ type: 'text', text: 'see the rows' }], structuredContent }
    const { look } = guardTools({ look: { execute: async () => raw } as Any }, { truncation: service })
    expect(await look.execute({}, call)).toBe(raw)
    const shown = await look.toModelOutput({ toolCallId: 'c1', input: {}, output: raw })
    expect(JSON.stringify(shown).length).toBeLessThan(4000)
    expect(files()[0]).toContain(structuredContent.rows.at(-1))
  })

  test('a value without JSON does not end a request', async () => {
    const cyclic: Any = {}
    cyclic.self = cyclic
    const { look } = guardTools({ look: { execute: async () => cyclic } as Any }, {})
    expect(await look.execute({}, call)).toBe(cyclic)
    const shown = await look.toModelOutput({ toolCallId: 'c1', input: {}, output: cyclic })
    expect(JSON.stringify(shown)).toContain('the value')
  })

  test('who stops reading a stream ends the tool', async () => {
    let ended = false
    const execute = async function* () {
      try {
        yield 1
        yield 2
        yield 3
      } finally {
        ended = true
      }
    }
    const { look } = guardTools({ look: { execute } as Any }, {})
    for await (const step of look.execute({}, call)) {
      expect(step).toBe(1)
      break
    }
    await new Promise(setImmediate)
    expect(ended).toBe(true)
  })

  test('tools that the provider runs are left alone, and so is what is not enumerable', () => {
    const provider = { type: 'provider-defined', id: 'x' }
    const hidden = Object.defineProperty({ execute: () => 1 }, 'caller', { value: 7 })
    const guarded: Any = guardTools({ provider, hidden }, {})
    expect(guarded.provider).toBe(provider)
    expect(guarded.hidden.caller).toBe(7)
  })

  test('a tool that is frozen is guarded like any other', async () => {
    const { service } = smallService()
    const tools: Any = frozen({ look: { description: 'looks', execute: async () => LONG, toModelOutput: undefined } })
    const { look } = guardTools(tools, { truncation: service })
    expect(look.description).toBe('looks')
    expect(await look.execute({}, call)).toBe(LONG)
    expect((await look.toModelOutput({ toolCallId: 'c1', input: {}, output: LONG })).value.length).toBeLessThan(3000)
  })
})

describe('the middleware', () => {
  const prompt = frozen([
    { role: 'user', content: [{ type: 'text', text: 'go' }] },
    ...Array.from({ length: 40 }, (_, at) => [
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: `h${at}`, toolName: 'look', input: {} }] },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: `h${at}`, toolName: 'look', output: { type: 'text', value: LONG } },
        ],
      },
    ]).flat(),
    { role: 'assistant', content: [{ type: 'text', text: 'seen' }] },
  ])
  const wholes = (messages: Any[]) => JSON.stringify(messages).split('line 150 of').length - 1

  test('prunes a copy', async () => {
    const middleware = contextMiddleware({ history: eagerPruner(1) })
    const params = frozen({ prompt, temperature: 1 })
    const made: Any = await middleware.transformParams({ params })
    expect(made.temperature).toBe(1)
    expect([wholes(made.prompt), wholes(prompt)]).toEqual([1, 40])
  })

  test('retries a request that was too long, shortened, and shortens the next one at once', async () => {
    const sent: number[] = []
    const events: AdapterEvent[] = []
    const middleware = contextMiddleware({ onEvent: (event) => events.push(event) })
    const send = async () => {
      const params: Any = await middleware.transformParams({ params: { prompt } })
      const answer = async (messages: Any[]) => {
        sent.push(JSON.stringify(messages).length)
        if (sent.length === 1) throw overflowError()
        return { content: [], finishReason: 'stop' }
      }
      return middleware.wrapGenerate({
        params,
        doGenerate: () => answer(params.prompt),
        model: { doGenerate: (given: Any) => answer(given.prompt) },
      })
    }
    await send()
    await send()
    expect(sent[1]).toBeLessThan((sent[0] as number) * 0.97)
    expect(sent[2]).toBe(sent[1])
    expect(events.map(({ type }) => type)).toEqual(['recovered'])
  })

  test('a request that is refused again is sent shorter each time, and then the prefix stays', async () => {
    const sent: Any[][] = []
    const middleware = contextMiddleware({
      history: () => new HistoryPruner({ keepRecent: 5 }),
      recovery: { contextWindowTokens: 200_000 },
      onEvent: () => {},
    })
    const send = async (prompt: Any[]) => {
      const params: Any = await middleware.transformParams({ params: { prompt } })
      const answer = async (messages: Any[]) => {
        sent.push(messages)
        if (sent.length <= 2) throw overflowError()
        return { content: [], finishReason: 'stop' }
      }
      await middleware.wrapGenerate({
        params,
        doGenerate: () => answer(params.prompt),
        model: { doGenerate: (given: Any) => answer(given.prompt) },
      })
    }
    const step = (id: string) => [
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: id, toolName: 'bash', input: {} }] },
      {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: id, toolName: 'bash', output: { type: 'text', value: LONG } }],
      },
    ]
    let history: Any[] = [...prompt]
    for (let turn = 0; turn < 4; turn++) {
      await send(structuredClone(history))
      history = [...history, ...step(`later${turn}`)]
    }
    const sizes = sent.map((messages) => JSON.stringify(messages).length)
    expect(sizes[1]).toBeLessThan((sizes[0] as number) * 0.97)
    expect(sizes[2]).toBeLessThan((sizes[1] as number) * 0.97)
    for (const [at, messages] of sent.entries()) {
      if (at < 3) continue
      const before = sent[at - 1] as Any[]
      expect(messages.slice(0, before.length)).toEqual(before)
    }
  })

  test('a stream is begun again as long as nothing of its answer has come, and never after', async () => {
    const error = overflowError()
    const own = [{ type: 'stream-start' }, { type: 'custom', kind: 'anthropic.message_start' }, { type: 'ping' }]
    const begun = [
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: '' },
    ]
    const letter = { type: 'text-delta', id: '0', delta: 'a' }
    const end = { type: 'finish', finishReason: 'stop' }
    const read = async (first: Any[]) => {
      const streams = [first, [...own, ...begun, letter, end]]
      const middleware = contextMiddleware({ onEvent: () => {} })
      const doStream = async (): Promise<Any> => ({ stream: ReadableStream.from(streams.shift() as Any[]) })
      const { stream }: Any = await middleware.wrapStream({ params: { prompt }, doStream, model: { doStream } })
      const parts: Any[] = []
      for await (const part of stream) parts.push(part)
      return parts
    }
    const whole = [...own, ...begun, letter, end]
    for (const silent of [[], own, [...own, ...begun], begun]) {
      expect(await read([...silent, { type: 'error', error }])).toEqual(whole)
    }
    const late = [...own, ...begun, letter, { type: 'error', error }]
    expect(await read(late)).toEqual(late)
    expect(await read(whole)).toEqual(whole)
  })

  test('an invalid prompt and a listener that throws change nothing', async () => {
    const onEvent = () => {
      throw new Error('broken')
    }
    const middleware = contextMiddleware({ history: () => ({}) as Any, onEvent })
    const params = { prompt: 'text' }
    expect(await middleware.transformParams({ params })).toBe(params)
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const made: Any = await middleware.transformParams({ params: { prompt } })
    expect(made.prompt).toBe(prompt)
    expect(warned).toHaveBeenCalled()
    warned.mockRestore()
  })
})

describe('approvals', () => {
  const toolCall = { toolCallId: 'c1', toolName: 'bash', input: { command: 'make' } }

  test('one question for each call, and what a broken gate cannot judge is denied', async () => {
    const gate = new PermissionGate(new PermissionPolicy())
    const policy = approvalPolicy({ permission: gate })
    expect((await policy({ toolCall })).type).toBe('user-approval')
    expect((await policy({ toolCall })).type).toBe('user-approval')
    expect(gate.pending()).toHaveLength(1)
    const { bash } = guardTools({ bash: { execute: async () => 'ran' } as Any }, { permission: gate })
    expect(await bash.execute(toolCall.input, call)).toBe('ran')
    expect(gate.pending()).toHaveLength(0)
    const broken = { request: () => Promise.reject(new Error('broken')) }
    const errors: AdapterEvent[] = []
    const denied = await approvalPolicy({ permission: broken, onEvent: (event) => errors.push(event) })({ toolCall })
    expect(denied.type).toBe('denied')
    expect(errors).toHaveLength(1)
    expect(await approvalPolicy({})({ toolCall })).toEqual({ type: 'not-applicable' })
  })

  test('a call that was not approved does not run with a policy that asks', async () => {
    const { bash } = guardTools({ bash: { execute: async () => 'ran' } as Any }, { permission: new PermissionPolicy() })
    const error: Any = await bash
      .execute(toolCall.input, { ...call, toolCallId: 'c2' })
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(SpillwayError)
    expect(error.code).toBe('REFUSED')
    expect(error.report.kind).toBe('permission_denied')
  })

  test('consent in the messages counts only where the tools themselves ask', async () => {
    const messages = [
      { role: 'assistant', content: [{ type: 'tool-approval-request', approvalId: 'a', toolCallId: 'c3' }] },
      { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: 'a', approved: true }] },
    ]
    const tools = (hostApproval: boolean) =>
      guardTools({ bash: { execute: async () => 'ran' } as Any }, { permission: new PermissionPolicy(), hostApproval })
    const options = { toolCallId: 'c3', messages }
    expect(await tools(true).bash.execute(toolCall.input, options)).toBe('ran')
    await expect(tools(false).bash.execute(toolCall.input, options)).rejects.toThrow(/denied/)
    // Another call under that id, once the first has its result.
    const over = [...messages, { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c3' }] }]
    const later = { toolCallId: 'c3', messages: over }
    await expect(tools(true).bash.execute({ command: 'ninja' }, later)).rejects.toThrow(/denied/)
  })

  test('consent to a call is none to another under its id', async () => {
    const permission = new PermissionPolicy()
    const policy = approvalPolicy({ permission })
    const { bash } = guardTools({ bash: { execute: async () => 'ran' } as Any }, { permission })
    expect((await policy({ toolCall })).type).toBe('user-approval')
    expect(await bash.execute(toolCall.input, call)).toBe('ran')
    await expect(bash.execute({ command: 'ninja' }, call)).rejects.toThrow(/denied/)
    expect((await policy({ toolCall: { ...toolCall, input: { command: 'ninja' } } })).type).toBe('user-approval')
    expect(await bash.execute({ command: 'ninja' }, call)).toBe('ran')
  })
})

test('wrong controls name the nearest known', () => {
  expect(() => contextMiddleware({ histroy: 1 } as Any)).toThrow(/history/)
  expect(() => contextMiddleware({ recovery: { retrys: 1 } } as Any)).toThrow(/retries/)
  expect(() => contextMiddleware({ history: 1 } as Any)).toThrow(SpillwayError)
  expect(() => guardTools(null as Any, {})).toThrow(SpillwayError)
})
