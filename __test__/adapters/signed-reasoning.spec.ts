/** Adapters in front of a provider that refuses signed reasoning behind messages that have changed. */

import { ContextManager, HistoryPruner, type HistoryPrunerOptions } from 'spillway'
import { contextMiddleware } from 'spillway/ai-sdk'
import { contextControl } from 'spillway/langchain'
import { agentHooks } from 'spillway/pi'
import { BindingProvider, type Message } from '../support/binding-provider'
import { SHAPES } from '../support/signed-turns'
import type { Any } from './shapes'

/** The messages that a host sends through its adapter. */
type Send = (stored: readonly Message[]) => Promise<Message[]>

const HOSTS: Record<'ai-sdk' | 'langchain' | 'pi', (history: HistoryPruner) => Send> = {
  'ai-sdk': (history) => {
    const middleware = contextMiddleware({ history })
    return async (stored) => {
      const made: Any = await middleware.transformParams({ params: { prompt: stored } as Any })
      return made.prompt
    }
  },
  langchain: (history) => {
    const { wrapModelCall } = contextControl({ history })
    return (messages) => wrapModelCall({ messages }, async (request: { messages: Message[] }) => request.messages)
  },
  pi: (history) => {
    const { transformContext } = agentHooks({ history })
    return (stored) => transformContext([...stored])
  },
}

describe.each(['ai-sdk', 'langchain', 'pi'] as const)('%s', (host) => {
  /** Twelve turns through the adapter; the messages of the last request. */
  const session = async (thinking?: HistoryPrunerOptions['thinking']): Promise<Message[]> => {
    const { user, answer, result } = SHAPES[host]
    const provider = new BindingProvider()
    const send = HOSTS[host](new HistoryPruner({ schedule: 'always', keepRecent: 1, ...(thinking && { thinking }) }))
    const stored: Message[] = [user('Mend the build.')]
    let sent: Message[] = stored
    for (let at = 0; at < 12; at++) {
      const id = `c${at}`
      sent = await send(stored)
      stored.push(...answer(id, provider.answer(sent)), result(id, `line of ${id}\n`.repeat(600)))
    }
    return sent
  }
  const leftOut = (sent: Message[]) => JSON.stringify(sent).split('left out').length - 1

  test('by default nothing in front of a signed block changes', async () => {
    expect(leftOut(await session())).toBe(0)
  })

  test('with `remove` results leave with the blocks after them', async () => {
    expect(leftOut(await session('remove'))).toBeGreaterThan(5)
  })

  test('the provider refuses what a pruner that ignores signatures sends', async () => {
    await expect(session('ignore')).rejects.toThrow(/bound to a different conversation/)
  })
})

describe('the option by which the provider drops reasoning that no longer fits', () => {
  const blockBinding = { prefixMismatchBehavior: 'drop_block' }
  const prompt = [{ role: 'user', content: [{ type: 'text', text: 'Mend the build.' }] }]
  const optionsOf = async (history: Any, providerOptions?: object) => {
    const params: Any = { prompt, ...(providerOptions && { providerOptions }) }
    return (await contextMiddleware({ history }).transformParams({ params })).providerOptions
  }
  const thinking = 'provider-drops'

  test.each<[string, object | undefined, object]>([
    ['without other options', undefined, { anthropic: { thinking: { blockBinding } } }],
    [
      'beside those of the caller',
      { anthropic: { effort: 'low', thinking: { type: 'adaptive' } }, openai: { store: false } },
      { anthropic: { effort: 'low', thinking: { type: 'adaptive', blockBinding } }, openai: { store: false } },
    ],
    [
      'what the caller has set stays',
      { anthropic: { thinking: { blockBinding: { prefixMismatchBehavior: 'error' } } } },
      { anthropic: { thinking: { blockBinding: { prefixMismatchBehavior: 'error' } } } },
    ],
    [
      'Amazon Bedrock, with reasoning',
      { bedrock: { reasoningConfig: { type: 'adaptive' } } },
      { anthropic: { thinking: { blockBinding } }, bedrock: { reasoningConfig: { type: 'adaptive', blockBinding } } },
    ],
    ['Amazon Bedrock, without', { bedrock: {} }, { anthropic: { thinking: { blockBinding } }, bedrock: {} }],
  ])('AI SDK, %s', async (_name, given, sent) => {
    expect(await optionsOf(new HistoryPruner({ thinking }), given)).toEqual(sent)
    expect(await optionsOf(new ContextManager({ pruning: { thinking } }), given)).toEqual(sent)
  })

  test.each(['keep-prefix', 'remove', 'ignore'] as const)('with `%s` a request gets none', async (other) => {
    expect(await optionsOf(new HistoryPruner({ thinking: other }))).toBeUndefined()
    expect(await optionsOf(new ContextManager({ pruning: { thinking: other } }))).toBeUndefined()
  })

  test('a loop of your own gets the fields of the API, in every request', async () => {
    const requestOptions = {
      betas: ['thinking-binding-controls-2026-08-01'],
      thinking: { block_binding: { prefix_mismatch_behavior: 'drop_block' } },
    }
    const pruner = new HistoryPruner({ thinking })
    expect(pruner.prune(prompt)).toMatchObject({ requestOptions })
    expect(pruner.prune([...prompt, 17 as never])).toMatchObject({ requestOptions })
    expect(await new ContextManager({ pruning: { thinking } }).prepare(prompt)).toMatchObject({ requestOptions })
    expect(new HistoryPruner().prune(prompt)).not.toHaveProperty('requestOptions')
  })
})
