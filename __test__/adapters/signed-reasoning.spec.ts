/** Adapters in front of a provider that refuses signed reasoning behind messages that have changed. */

import { HistoryPruner, type HistoryPrunerOptions } from 'spillway'
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
