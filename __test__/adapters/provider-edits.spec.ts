/** Responses that say what the provider left out by itself: the pruner and the folds of the session know it. */

import { DoomLoopDetector, HistoryPruner } from 'spillway'
import { contextMiddleware } from 'spillway/ai-sdk'
import { FoldSession } from 'spillway/fold'
import { contextControl } from 'spillway/langchain'
import { guardModel } from 'spillway/openai-agents'
import { extension } from 'spillway/pi'
import type { Message } from '../support/binding-provider'
import { SHAPES } from '../support/signed-turns'
import type { Any } from './shapes'

const TEXT = Array.from({ length: 60 }, (_, at) => `line ${at} of a file that is read twice`).join('\n')

/** Anthropic's report, and what the AI SDK makes of it. */
const report = (cleared: number) => ({
  context_management: {
    applied_edits: [{ type: 'clear_tool_uses_20250919', cleared_tool_uses: cleared, cleared_input_tokens: 900 }],
  },
})
const metadata = (clearedToolUses: number) => ({
  anthropic: { contextManagement: { appliedEdits: [{ type: 'clear_tool_uses_20250919', clearedToolUses }] } },
})

interface Controls {
  history: HistoryPruner
  fold: FoldSession
  doomLoop: DoomLoopDetector
}

/** Sends one request; its answer says that `cleared` results were left out. */
type Request = (controls: Controls, messages: Message[], cleared: number) => Promise<unknown>

async function drain(all: AsyncIterable<object>): Promise<void> {
  for await (const _part of all) {
  }
}

const aiSdk =
  (answer: (cleared: number) => object): Request =>
  async (controls, prompt, cleared) => {
    const { transformParams, wrapGenerate } = contextMiddleware(controls)
    const params: Any = await transformParams({ params: { prompt } })
    const doGenerate = async () => ({ finishReason: 'stop', ...answer(cleared) })
    return wrapGenerate({ doGenerate, params, model: { doGenerate } })
  }

const langchain =
  (answer: (cleared: number) => object): Request =>
  (controls, messages, cleared) =>
    contextControl(controls).wrapModelCall({ messages }, async () => ({ content: 'I see.', ...answer(cleared) }))

const agentsModel = (controls: Controls, response: object) =>
  guardModel(
    {
      getResponse: async (_request: object) => response,
      async *getStreamedResponse(_request: object) {
        yield { type: 'response_done', response }
      },
    },
    controls,
  )

/** Asks an extension for the context, then reports the events of the provider's stream, as pi's agent does. */
const pi =
  (event: (cleared: number) => object): Request =>
  async (controls, messages, cleared) => {
    const handlers = new Map<string, (event: object) => unknown>()
    extension(controls)({ on: (name, handler) => handlers.set(name, handler) })
    await handlers.get('context')?.({ messages })
    for (const data of ['[DONE]', { type: 'ping' }, event(cleared)]) {
      await handlers.get('provider_stream_event')?.({ type: 'provider_stream_event', data })
    }
  }

const HOSTS: Record<string, { turns: (id: string) => Message[]; request: Request }> = {
  'AI SDK, the metadata of an answer': {
    turns: turnsOf('ai-sdk'),
    request: aiSdk((cleared) => ({ providerMetadata: metadata(cleared) })),
  },
  'AI SDK, the body of an answer': {
    turns: turnsOf('ai-sdk'),
    request: aiSdk((cleared) => ({ response: { body: report(cleared) } })),
  },
  'AI SDK, a stream': {
    turns: turnsOf('ai-sdk'),
    request: async (controls, prompt, cleared) => {
      const { transformParams, wrapStream } = contextMiddleware(controls)
      const params: Any = await transformParams({ params: { prompt } })
      const parts = [
        { type: 'text-delta', delta: 'I see.' },
        { type: 'finish', finishReason: 'stop', providerMetadata: metadata(cleared) },
      ]
      const doStream = async () => ({ stream: ReadableStream.from(parts) as ReadableStream<object> })
      const { stream } = await wrapStream({ doStream, params, model: { doStream } })
      await drain(stream as unknown as AsyncIterable<object>)
    },
  },
  'LangChain, an answer': {
    turns: turnsOf('langchain'),
    request: langchain((cleared) => ({ additional_kwargs: report(cleared) })),
  },
  'LangChain, a stream': {
    turns: turnsOf('langchain'),
    request: langchain((cleared) => ({ response_metadata: report(cleared) })),
  },
  'OpenAI Agents SDK, an answer': {
    turns: agentsTurns,
    request: (controls, input, cleared) =>
      agentsModel(controls, { output: [{}], providerData: report(cleared) }).getResponse({ input }),
  },
  'OpenAI Agents SDK, a stream': {
    turns: agentsTurns,
    request: (controls, input, cleared) =>
      drain(agentsModel(controls, { output: [{}], providerData: report(cleared) }).getStreamedResponse({ input })),
  },
  'pi, a stream of Anthropic': {
    turns: turnsOf('pi'),
    request: pi((cleared) => ({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, ...report(cleared) })),
  },
  'pi, a stream of OpenAI': {
    turns: turnsOf('pi'),
    request: pi((cleared) => ({ type: 'response.completed', response: report(cleared) })),
  },
}

function turnsOf(format: 'ai-sdk' | 'langchain' | 'pi'): (id: string) => Message[] {
  const { answer, result } = SHAPES[format]
  return (id) => [...answer(id, ''), result(id, TEXT)]
}

function agentsTurns(callId: string): Message[] {
  return [
    { type: 'function_call', callId, name: 'read', arguments: '{}', status: 'completed' },
    { type: 'function_call_result', callId, name: 'read', status: 'completed', output: { type: 'text', text: TEXT } },
  ]
}

describe.each(Object.entries(HOSTS))('%s', (name, { turns, request }) => {
  /** Reads a text again after the provider has left out `cleared` results. */
  const secondReading = async (cleared: number) => {
    const controls = {
      history: new HistoryPruner({ keepRecent: 5 }),
      fold: new FoldSession(),
      doomLoop: new DoomLoopDetector(),
    }
    for (let at = 0; at < 4; at++) {
      // One call a turn, as a detector counts them.
      controls.doomLoop.check({ toolCallId: 'a', tool: 'read', args: {}, turn: at })
      controls.doomLoop.record({ toolCallId: 'a', result: TEXT })
    }
    controls.fold.fold(TEXT, { toolName: 'read', toolCallId: 'a', args: { path: 'a.ts' } })
    const user = name.startsWith('LangChain') ? { type: 'human', content: 'Go' } : { role: 'user', content: 'Go' }
    await request(controls, [user, ...turns('a')], cleared)
    const { content } = controls.fold.fold(TEXT, { toolName: 'read', toolCallId: 'b', args: { path: 'b.ts' } })
    const { action } = controls.doomLoop.check({ toolCallId: 'b', tool: 'read', args: {}, turn: 'next' })
    return { content, action, state: controls.history.toJSON() }
  }

  test('a result that was cleared is no target of a later pointer, and reading it again is no loop', async () => {
    const { content, state, action } = await secondReading(1)
    expect(state.clearedByProvider).toBe(1)
    expect(content).toBe(TEXT)
    expect(action).toBe('allow')
  })

  test('one that was not cleared is', async () => {
    const { content, state, action } = await secondReading(0)
    expect(state.clearedByProvider).toBeUndefined()
    expect(content.length).toBeLessThan(TEXT.length)
    expect(action).toBe('ask')
  })
})

test('a control that throws costs no answer', async () => {
  const errors: unknown[] = []
  const history = {
    prune: (messages: readonly unknown[]) => ({ messages }),
    accept: () => {
      throw new Error('not today')
    },
  }
  const onEvent = (event: { type: string; error?: Error }) => {
    if (event.type === 'error') errors.push(event.error?.message)
  }
  const { wrapModelCall } = contextControl({ history, onEvent })
  const answer = { content: 'I see.', response_metadata: report(1) }
  expect(await wrapModelCall({ messages: [{ type: 'human', content: 'Go' }] }, async () => answer)).toBe(answer)
  expect(errors).toEqual([expect.stringContaining('not today')])
})
