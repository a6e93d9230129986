/** Adapters in front of a provider that refuses signed reasoning behind messages that have changed. */

import { HistoryPruner, type HistoryPrunerOptions } from 'spillway'
import { contextMiddleware } from 'spillway/ai-sdk'
import { BindingProvider, type Message } from '../support/binding-provider'
import type { Any } from './shapes'

const result = (id: string): Message => ({
  role: 'tool',
  content: [
    {
      type: 'tool-result',
      toolCallId: id,
      toolName: 'read',
      output: { type: 'text', value: `line of ${id}\n`.repeat(600) },
    },
  ],
})

const answer = (id: string, signature: string): Message => ({
  role: 'assistant',
  content: [
    { type: 'reasoning', text: 'I look.', providerOptions: { anthropic: { signature } } },
    { type: 'tool-call', toolCallId: id, toolName: 'read', input: { path: id } },
  ],
})

/** Twelve turns of the AI SDK through the middleware; the prompt of the last one. */
async function session(thinking: HistoryPrunerOptions['thinking'] | undefined): Promise<Message[]> {
  const provider = new BindingProvider()
  const options = { schedule: 'always' as const, keepRecent: 1, ...(thinking && { thinking }) }
  const middleware = contextMiddleware({ history: new HistoryPruner(options) })
  const stored: Message[] = [{ role: 'user', content: [{ type: 'text', text: 'Mend the build.' }] }]
  let sent = stored
  for (let at = 0; at < 12; at++) {
    const made: Any = await middleware.transformParams({ params: { prompt: stored } as Any })
    sent = made.prompt
    stored.push(answer(`c${at}`, provider.answer(sent, answer(`c${at}`, ''))), result(`c${at}`))
  }
  return sent
}

const leftOut = (sent: Message[]) => JSON.stringify(sent).split('left out').length - 1

test('the AI SDK: by default nothing in front of a signed block changes', async () => {
  expect(leftOut(await session(undefined))).toBe(0)
})

test('the AI SDK: with `remove` results leave with the blocks after them', async () => {
  expect(leftOut(await session('remove'))).toBeGreaterThan(5)
})

test('the AI SDK: the provider refuses what a pruner that ignores signatures sends', async () => {
  await expect(session('ignore')).rejects.toThrow(/bound to a different conversation/)
})
