// The limits of a request in bytes and images, as options of each `withSpillway`.

import { existsSync, readFileSync } from 'node:fs'
import { TruncationService, type TruncationStorage } from 'spillway'
import * as ai from 'spillway/ai-sdk'
import * as claude from 'spillway/claude-agent-sdk'
import * as langchain from 'spillway/langchain'
import * as agents from 'spillway/openai-agents'
import * as opencode from 'spillway/opencode'
import * as pi from 'spillway/pi'
import { png } from '../support/images'
import { bytesOf, copyOf, historyOf, PLACES, sentJson } from '../support/media-shapes'
import { tempDir } from '../support/temp'
import type { Any } from './shapes'

/** Sends a history as a framework does, and returns what the model receives. */
type Send = (messages: object[]) => Promise<Any[]>

/** A model that refuses the first requests for their size, and what it was sent. */
function modelThat(refusals: number): { answer: (messages: Any[]) => Promise<Any>; sent: Any[][] } {
  const sent: Any[][] = []
  return {
    sent,
    async answer(messages) {
      sent.push(messages)
      if (sent.length > refusals) return { content: [], output: [], usage: {} }
      throw Object.assign(new Error('Request exceeds the maximum size'), {
        status: 413,
        error: { type: 'request_too_large', message: 'Request exceeds the maximum size' },
      })
    },
  }
}

const recovering: Record<string, (options: object, model: ReturnType<typeof modelThat>) => Send> = {
  'ai-sdk': (options, { answer, sent }) => {
    const doGenerate = ({ prompt }: Any) => answer(prompt)
    const model = { modelId: 'some-model', doGenerate, doStream: doGenerate }
    const { model: made } = ai.withSpillway({ ...options, model }) as Any
    return async (messages) => {
      await made.doGenerate({ prompt: messages })
      return sent.at(-1) as Any[]
    }
  },
  langchain: (options, { answer, sent }) => {
    const { middleware } = langchain.withSpillway({ outputTools: false, ...options, model: 'some-model' })
    return async (messages) => {
      await middleware[0].wrapModelCall({ messages }, (request: Any) => answer(request.messages))
      return sent.at(-1) as Any[]
    }
  },
  'openai-agents': (options, { answer, sent }) => {
    const model = { getResponse: ({ input }: Any) => answer(input), async *getStreamedResponse() {} }
    const made = agents.withSpillway({ ...options, model }).model as Any
    return async (messages) => {
      await made.getResponse({ input: messages })
      return sent.at(-1) as Any[]
    }
  },
}

const adapters: Record<string, (options: object) => Send> = {
  ...Object.fromEntries(
    Object.entries(recovering).map(([name, make]) => [name, (options: object) => make(options, modelThat(0))]),
  ),
  pi: (options) => {
    const { transformContext } = pi.withSpillway({ ...options, initialState: {} })
    return (messages) => transformContext(messages)
  },
}

const MEGABYTE = Array.from({ length: 40 }, (_, at) => png(1280, 800, 1_000_000, at))
const small = (at: number) => png(1280, 800, 10_000, at)
const places = PLACES.filter(([format, place]) => format in adapters && !place.startsWith('an entry'))

describe.each(Object.keys(adapters))('%s', (format) => {
  const send = (options: object) => (adapters[format] as (typeof adapters)[string])(options)
  const dir = tempDir()
  const truncation = { storageDir: dir }

  test('forty screenshots of a megabyte go out within the limit, and are saved', async () => {
    const messages = historyOf(format, 'a result', 40, (at) => MEGABYTE[at] as string)
    const whole = copyOf(messages)
    const sent = await send({ maxRequestBytes: 20e6, truncation, pruning: { keepRecent: 100 } })(messages)
    expect(bytesOf(sent)).toBeLessThan(20e6)
    expect(bytesOf(sent)).toBeGreaterThan(14e6)
    expect(messages).toEqual(whole)
    const [path] = sentJson(sent).match(/(?<=left out; saved in )[^\]]+/) ?? []
    expect(readFileSync(path as string).toString('base64')).toBe(MEGABYTE[0])
  })

  test('the same bytes go out with every request', async () => {
    const next = send({ maxRequestBytes: 100_000, truncation: false, pruning: false })
    for (let count = 1; count < 16; count++) {
      const sent = await next(historyOf(format, 'a result', count, small))
      expect(bytesOf(sent)).toBeLessThan(100_000)
      const again = await next(historyOf(format, 'a result', count, small))
      expect(again).toEqual(sent)
    }
  })

  test('fewer images than the limit go out', async () => {
    const messages = historyOf(format, 'a result', 20, small)
    const sent = await send({ maxImages: 8, truncation: false, pruning: false })(messages)
    expect(sentJson(sent).split('iVBORw0K')).toHaveLength(7)
  })

  test('changes nothing without either of them', async () => {
    const messages = historyOf(format, 'a result', 40, small)
    expect(await send({ truncation: false, pruning: false })(messages)).toEqual(messages)
  })
})

test.each(places)('%s, %s: is sent within the limit', async (format, place) => {
  const messages = historyOf(format, place, 20, small)
  const send = (adapters[format] as (typeof adapters)[string])({ maxRequestBytes: 100_000, truncation: false })
  expect(bytesOf(await send(messages))).toBeLessThan(100_000)
})

test.each(Object.keys(recovering))(
  '%s: a request that is too large is sent again with half of its images',
  async (format) => {
    const model = modelThat(2)
    const send = (recovering[format] as (typeof recovering)[string])({ pruning: false, truncation: false }, model)
    const messages = historyOf(format, 'a result', 20, (at) => png(1280, 800, 300_000, at))
    const sent = await send(messages)
    expect(model.sent).toHaveLength(3)
    expect(bytesOf(sent)).toBeLessThan(bytesOf(messages) / 4 + 20_000)
    // The next request begins with what was sent.
    const more = [...copyOf(messages), ...historyOf(format, 'a result', 1, small)]
    expect(bytesOf(await send(more))).toBeLessThan(bytesOf(messages) / 3)
  },
)

test('signed reasoning after an image that left is left out', async () => {
  const said = {
    role: 'assistant',
    content: [{ type: 'reasoning', text: 'Hm', providerOptions: { anthropic: { signature: 's' } } }],
  }
  const messages = historyOf('ai-sdk', 'a result', 20, small).toSpliced(-1, 0, said)
  const options = { maxRequestBytes: 100_000, truncation: false }
  const sent = await (adapters['ai-sdk'] as (typeof adapters)[string])(options)(messages)
  expect(sentJson(sent)).not.toContain('"signature"')
})

test('the event of a request says what became of images', async () => {
  const events: Any[] = []
  const pruning = { keepRecent: 100 }
  const options = { maxRequestBytes: 100_000, truncation: false, pruning, onEvent: (event: Any) => events.push(event) }
  await (adapters['ai-sdk'] as (typeof adapters)[string])(options)(historyOf('ai-sdk', 'a result', 20, small))
  expect(events).toMatchObject([
    { type: 'prepared', report: { fits: true, media: { step: 'media', outcome: 'done' } } },
  ])
})

/** Messages of OpenCode: a question with a screenshot, and an answer with a call that has one. */
function openCodeMessages(count: number, dataOf: (at: number) => string): Any[] {
  const file = (at: number, data: string) => ({
    id: `f${at}`,
    sessionID: 's',
    messageID: `m${at}`,
    type: 'file',
    mime: 'image/png',
    filename: 'a.png',
    url: `data:image/png;base64,${data}`,
  })
  const text = { id: 't', sessionID: 's', messageID: 'm', type: 'text', text: 'Look' }
  return Array.from({ length: count }, (_, at) => [
    { info: { id: `u${at}`, role: 'user', sessionID: 's' }, parts: [text, file(at, dataOf(2 * at))] },
    {
      info: { id: `a${at}`, role: 'assistant', sessionID: 's' },
      parts: [
        {
          id: `p${at}`,
          type: 'tool',
          callID: `c${at}`,
          tool: 'shot',
          state: {
            status: 'completed',
            input: {},
            output: 'ok',
            title: '',
            metadata: {},
            time: { start: 1, end: 2 },
            attachments: [file(at, dataOf(2 * at + 1))],
          },
        },
        text,
      ],
    },
  ]).flat()
}

async function sentByOpenCode(options: object, messages: Any[]): Promise<Any[]> {
  const hooks = await opencode.withSpillway({ truncation: false, ...options })()
  const output = { messages: [...messages] }
  await hooks['experimental.chat.messages.transform']?.({}, output)
  return output.messages
}

describe('OpenCode', () => {
  test('screenshots of questions and results are sent within the limit', async () => {
    const messages = openCodeMessages(20, small)
    const whole = copyOf(messages)
    const sent = await sentByOpenCode({ maxRequestBytes: 200_000, pruning: { keepRecent: 100 } }, messages)
    expect(messages).toEqual(whole)
    expect(bytesOf(sent)).toBeLessThan(210_000)
    expect(bytesOf(sent)).toBeGreaterThan(120_000)
    const note = expect.stringMatching(/^\[image\/png 1280×800, \d+\.\d kB, left out\]$/)
    expect(sent[0].parts).toEqual([
      messages[0].parts[0],
      { id: 'f0', sessionID: 's', messageID: 'm0', type: 'text', text: note, synthetic: true },
    ])
    const { state } = sent[1].parts[0]
    expect(state).toMatchObject({ status: 'completed', attachments: [] })
    expect(state.output).toMatch(/^ok\n\[image\/png 1280×800, \d+\.\d kB, left out\]$/)
    expect(sent.slice(-2)).toEqual(messages.slice(-2))
  })

  test('the plugin of opencode.json reads the limits', async () => {
    await expect(opencode.server({}, { maxImages: 0 })).rejects.toThrow('Invalid option "maxImages"')
    await expect(opencode.server({}, { maxRequestBytes: 1e6, maxImages: 5 })).resolves.toBeDefined()
  })

  test('a pruned result is sent without its screenshots', async () => {
    const messages = openCodeMessages(20, small)
    const pruning = { schedule: 'always', keepRecent: 0, keepUsed: 0 }
    const sent = await sentByOpenCode({ pruning }, messages)
    const { output, attachments } = sent[1].parts[0].state
    expect(output).toMatch(/\[image removed: image\/png 1280×800, \d+\.\d kB\] /)
    expect(attachments).toEqual([])
    expect(sent[0]).toBe(messages[0])
  })
})

const model = { modelId: 'm', doGenerate: async () => ({}), doStream: async () => ({}) }
const all: [string, (options: Any) => unknown, object][] = [
  ['the AI SDK', ai.withSpillway, { model }],
  ['LangChain', langchain.withSpillway, { model: 'm' }],
  ['the Agents SDK', agents.withSpillway, { model: { getResponse() {}, getStreamedResponse() {} } }],
  ['pi', pi.withSpillway, { initialState: {} }],
  ['OpenCode', ({ outputTools: _, ...options }) => opencode.withSpillway(options), {}],
]

test.each(all)('withSpillway of %s checks its limits', (_name, make, parts) => {
  expect(() => make({ ...parts, maxRequestBytes: 0 })).toThrow(
    'Invalid option "maxRequestBytes": expected a number of bytes above 0',
  )
  expect(() => make({ ...parts, maxImages: '5' })).toThrow('Invalid option "maxImages": expected a number above 0')
  expect(() => make({ ...parts, outputTools: false, maxRequestBytes: 1e6, maxImages: 5 })).not.toThrow()
})

test('withSpillway of the Claude Agent SDK, which sends by itself, has no limits', () => {
  expect(() => claude.withSpillway({ maxImages: 5 } as Any)).toThrow('Unknown option "maxImages"')
})

describe('the AI SDK', () => {
  const asked = (at: number) => ({
    role: 'user',
    content: [{ type: 'file', mediaType: 'image/png', data: png(1280, 800, 20_000, at) }],
  })
  const pairs = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => [
      asked(from + at),
      { role: 'assistant', content: [{ type: 'text', text: 'Yes' }] },
    ]).flat()
  const sendWith = (options: object) => (adapters['ai-sdk'] as (typeof adapters)[string])(options)

  test.each<[string, object]>([
    ['a session', { sessionId: 's' }],
    ['no session', {}],
  ])('with %s, a history without its start loses no image within the limit', async (_name, session) => {
    const send = sendWith({ ...session, maxImages: 8, truncation: false, outputTools: false })
    await send(pairs(0, 10))
    const next = [...pairs(6, 10), asked(10)]
    expect(await send(next)).toEqual(next)
  })

  test('conversations without a session do not take images out of each other', async () => {
    const dir = tempDir()
    const send = sendWith({ maxImages: 8, truncation: { storageDir: dir } })
    const sent = await send(pairs(0, 10))
    expect(sentJson(sent)).toContain('saved in')
    expect(await send(pairs(20, 28))).toEqual(pairs(20, 28))
    // The same request has the same bytes, whatever was sent between.
    expect(await send(pairs(0, 10))).toEqual(sent)
  })

  test('without a session images leave in steps, so that most requests begin as the last one', async () => {
    const send = sendWith({ maxImages: 8, truncation: false, outputTools: false })
    const starts = new Set<string>()
    for (let count = 9; count <= 16; count++) {
      const sent = await send(pairs(0, count))
      expect(sentJson(sent).split('iVBORw0K').length - 1).toBeLessThanOrEqual(8)
      starts.add(
        sent
          .map(({ content }) => content[0].type)
          .join()
          .split('file')[0] as string,
      )
    }
    expect(starts.size).toBe(5)
  })

  test('read_output opens what a note names, and says that it is an image', async () => {
    const sent: Any[][] = []
    const doGenerate = async ({ prompt }: Any) => {
      sent.push(prompt)
      return { content: [], usage: {} }
    }
    const service = new TruncationService({ storageDir: tempDir() })
    const options = { sessionId: 's', maxImages: 8, truncation: service }
    const made = ai.withSpillway({
      ...options,
      model: { modelId: 'm', doGenerate, doStream: doGenerate },
    } as Any) as Any
    await made.model.doGenerate({ prompt: pairs(0, 10) })
    const [path] = sentJson(sent[0]).match(/(?<=left out; saved in )[^\]]+/) ?? []
    const read = await made.tools.read_output.execute({ path }, { toolCallId: 'x', messages: [] })
    expect(JSON.stringify(read)).toContain('[image/png, 20,024 bytes; it has no text to read]')
    await (service.storage as TruncationStorage).deleteSession('s')
    expect(existsSync(path as string)).toBe(false)
  })
})

test('the documented limits of the Agents SDK apply without pruning', async () => {
  const send = (adapters['openai-agents'] as (typeof adapters)[string])({ truncation: false, pruning: false })
  const messages = historyOf('openai-agents', 'a result', 60, (at) => MEGABYTE[at % 40] as string)
  expect(bytesOf(messages)).toBeGreaterThan(50e6)
  expect(bytesOf(await send(messages))).toBeLessThan(50e6)
})
