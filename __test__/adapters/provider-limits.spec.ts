// The limits that a provider documents, where an adapter or the caller knows who a request is sent to.

import * as ai from 'spillway/ai-sdk'
import { ContextManager } from 'spillway/history'
import * as langchain from 'spillway/langchain'
import * as pi from 'spillway/pi'
import { png } from '../support/images'
import { bytesOf, historyOf, sentJson } from '../support/media-shapes'
import type { Any } from './shapes'

const MEGABYTE = Array.from({ length: 53 }, (_, at) => png(1280, 800, 1_000_000, at))
const large = (format: string) => historyOf(format, 'a result', MEGABYTE.length, (at) => MEGABYTE[at] as string)
const OFF = { truncation: false, pruning: false, outputTools: false } as const

/** Sends a history to a model as a framework does, and returns what it receives; `options` are those of `withSpillway`. */
type Send = (messages: object[], model: object, options?: object) => Promise<object[]>

function aiSender(options: object = {}): Send {
  return async (messages, model) => {
    let sent: object[] = []
    const doGenerate = async ({ prompt }: Any) => {
      sent = prompt
      return { content: [], usage: {} }
    }
    const made = ai.withSpillway({ ...OFF, ...options, model: { ...model, doGenerate, doStream: doGenerate } } as Any)
    await (made as Any).model.doGenerate({ prompt: messages })
    return sent
  }
}

function langchainSender(options: object = {}): Send {
  const { middleware } = langchain.withSpillway({ ...OFF, ...options, model: 'some-model' } as Any) as Any
  return async (messages, model) => {
    let sent: object[] = []
    await middleware[0].wrapModelCall({ messages, model }, async (request: Any) => {
      sent = request.messages
      return { content: [] }
    })
    return sent
  }
}

const senders: Record<string, (options?: object) => Send> = {
  'ai-sdk': aiSender,
  langchain: langchainSender,
  pi: (options) => async (messages, model) =>
    (pi.withSpillway({ ...OFF, ...options, initialState: { model } } as Any) as Any).transformContext(messages),
}

const chat = (type: string, model: string) => ({ _llmType: () => type, model })
/** A model of LangChain's `initChatModel`, which makes the real one when it is called. */
const initChat = (config: object) => ({ _llmType: () => 'chat_model', _defaultConfig: config })

const LIMITED: [adapter: string, model: object, most: number][] = [
  ['ai-sdk', { provider: 'anthropic.messages', modelId: 'claude-opus-5-5' }, 32e6],
  ['ai-sdk', { provider: 'openai.responses', modelId: 'gpt-5.5' }, 50e6],
  ['ai-sdk', { provider: 'openai.chat', modelId: 'gpt-5.5' }, 50e6],
  ['ai-sdk', { provider: 'google.generative-ai', modelId: 'gemini-3-pro' }, 20e6],
  ['ai-sdk', { provider: 'amazon-bedrock', modelId: 'us.anthropic.claude-opus-5-5-v1:0' }, 20e6],
  ['langchain', chat('anthropic', 'claude-opus-5-5'), 32e6],
  ['langchain', { bound: chat('openai', 'gpt-5.5') }, 50e6],
  ['langchain', { model: 'claude-opus-5-5' }, 32e6],
  ['langchain', chat('googlegenerativeai', 'gemini-3-pro'), 20e6],
  ['langchain', initChat({ model: 'claude-opus-5-5', modelProvider: 'anthropic' }), 32e6],
  ['langchain', initChat({ model: 'gpt-5.5', modelProvider: 'openai' }), 50e6],
  ['langchain', initChat({ model: 'claude-opus-5-5' }), 32e6],
  ['langchain', { bound: initChat({ model: 'gemini-3-pro', modelProvider: 'google-genai' }) }, 20e6],
  ['langchain', initChat({ model: 'anthropic.claude-opus-5-5-v1:0', modelProvider: 'bedrock' }), 20e6],
  ['langchain', initChat({ model: 'anthropic.claude-opus-5-5-v1:0', modelProvider: 'aws' }), 20e6],
  ['ai-sdk', { provider: 'anthropic.messages' }, 32e6],
  ['langchain', initChat({ modelProvider: 'openai' }), 50e6],
  ['pi', { provider: 'anthropic' }, 32e6],
  ['pi', { provider: 'anthropic', id: 'claude-opus-5-5' }, 32e6],
  ['pi', { provider: 'google', id: 'gemini-3-pro' }, 20e6],
  ['pi', { provider: 'amazon-bedrock', id: 'global.anthropic.claude-opus-5-5-v1:0' }, 20e6],
]

test.each(LIMITED)('%s, %j: at most %d bytes', async (adapter, model, most) => {
  const sent = await (senders[adapter] as () => Send)()(large(adapter), model)
  expect(bytesOf(sent)).toBeLessThan(most)
  expect(bytesOf(sent)).toBeGreaterThan(most / 2)
})

const UNKNOWN: [adapter: string, model: object, options: object][] = [
  ['ai-sdk', { provider: 'openrouter', modelId: 'anthropic/claude-opus-5-5' }, {}],
  ['ai-sdk', { provider: 'openai.chat', modelId: 'qwen3-vl' }, {}],
  ['ai-sdk', { provider: 'amazon-bedrock', modelId: 'amazon.nova-pro-v1:0' }, {}],
  ['ai-sdk', { provider: 'azure.responses', modelId: 'gpt-5.5' }, {}],
  ['langchain', chat('openai', 'anthropic/claude-opus-5-5'), {}],
  ['langchain', initChat({ model: 'anthropic/claude-opus-5-5', modelProvider: 'openrouter' }), {}],
  ['langchain', initChat({ model: 'gemini-3-pro', modelProvider: 'google-vertexai' }), {}],
  ['langchain', initChat({}), {}],
  ['ai-sdk', { provider: 'openrouter' }, {}],
  ['pi', { provider: 'openrouter', id: 'anthropic/claude-opus-5.5' }, {}],
  ['pi', { provider: 'github-copilot', id: 'claude-opus-5-5' }, {}],
  ['ai-sdk', { provider: 'anthropic.messages', modelId: 'claude-opus-5-5' }, { maxRequestBytes: Infinity }],
]

test.each(UNKNOWN)('%s, %j, %j: no limit', async (adapter, model, options) => {
  const messages = large(adapter)
  expect(await (senders[adapter] as (options?: object) => Send)(options)(messages, model)).toEqual(messages)
})

test('a limit of the caller counts, also if it is above the documented one', async () => {
  const model = { provider: 'anthropic.messages', modelId: 'claude-opus-5-5' }
  const sent = await aiSender({ maxRequestBytes: 45e6 })(large('ai-sdk'), model)
  expect(bytesOf(sent)).toBeLessThan(45e6)
  expect(bytesOf(sent)).toBeGreaterThan(32e6)
})

test('a session that continues with another model has the limit of that one', async () => {
  const send = langchainSender({ sessionId: 's', fold: false })
  const messages = large('langchain')
  const sizes: number[] = []
  for (const model of [
    chat('other', 'x'),
    chat('openai', 'gpt-5.5'),
    chat('anthropic', 'claude-opus-5-5'),
    chat('googlegenerativeai', 'gemini-3-pro'),
    // Images that left stay out, so that the cache stays valid.
    chat('other', 'x'),
  ])
    sizes.push(bytesOf(await send(messages, model)))
  const limits = [Number.POSITIVE_INFINITY, 50e6, 32e6, 20e6, 20e6]
  expect(sizes.map((size, at) => size <= (limits[at] as number))).toEqual(limits.map(() => true))
  expect(sizes[0]).toBeGreaterThan(53e6)
  expect(sizes[4]).toBe(sizes[3])
})

test('prepare of a context manager takes the provider and the model', async () => {
  const stored = historyOf('bedrock', 'a result', 25, (at) => MEGABYTE[at] as string)
  const manager = new ContextManager<object>({ budget: false, superseded: false, outdated: false })
  const unlimited = await manager.prepare(stored)
  expect(sentJson(unlimited.messages)).toBe(sentJson(stored))
  const { messages, report } = await manager.prepare(stored, { model: 'anthropic.claude-opus-5-5-v1:0' })
  expect(report.fits).toBe(true)
  expect(bytesOf(messages)).toBeLessThan(20e6)
  await expect(manager.prepare(stored, { provider: 1 } as never)).rejects.toThrow('provider')
})

const answer = (more: object) => [
  { role: 'user', content: 'Go', timestamp: 1 },
  { role: 'assistant', content: [{ type: 'text', text: 'Done' }], timestamp: 2, ...more },
]

test.each<[string, model: object | undefined, answer: object, told: object]>([
  ['an answer with an id', undefined, { id: 'claude-1' }, {}],
  [
    'an answer with a model',
    undefined,
    { id: 'claude-1', provider: 'openrouter', model: 'anthropic/claude-opus-5.5' },
    { provider: 'openrouter', model: 'anthropic/claude-opus-5.5' },
  ],
  [
    'a provider of the host',
    { provider: 'anthropic' },
    { provider: 'openai', model: 'gpt-5.5' },
    { provider: 'anthropic' },
  ],
])('pi, %s: who the request is sent to', async (_name, model, more, told) => {
  let heard: object | undefined
  const handlers: Record<string, (event: object, context: object) => unknown> = {}
  const history = (_sessionId: string | undefined, recipient: object) => {
    heard = recipient
    return undefined
  }
  pi.extension({ history })({ on: (event: string, handler: never) => (handlers[event] = handler) })
  await handlers.context?.({ messages: answer(more) }, { model })
  expect(heard).toEqual(told)
})
