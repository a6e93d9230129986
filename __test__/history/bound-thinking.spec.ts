/** Signed reasoning against a provider that checks the messages in front of every block, as current Claude models do. */

import fc from 'fast-check'
import {
  ContextManager,
  classifyOverflow,
  compactHistory,
  HistoryPruner,
  type HistoryPrunerOptions,
  recoverFromOverflow,
} from 'spillway'
import { detectFormat } from 'spillway/history'
import { BindingProvider, type Message, signatureIn } from '../support/binding-provider'
import { SHAPES, type Shape } from '../support/signed-turns'

/** A session of this many turns; `send` makes of the stored history the messages of a request. */
async function session(
  shape: Shape,
  turns: readonly { length: number; pause: number }[],
  send: (stored: readonly Message[], now: number) => Promise<readonly Message[]> | readonly Message[],
): Promise<{ provider: BindingProvider; stored: Message[]; sent: readonly Message[] }> {
  const provider = new BindingProvider()
  const stored: Message[] = [shape.user('Mend the build.')]
  let sent: readonly Message[] = stored
  let now = 0
  for (const [at, { length, pause }] of turns.entries()) {
    now += pause
    sent = await send(stored, now)
    stored.push(shape.answer(`c${at}`, provider.answer(sent, shape.answer(`c${at}`, ''))))
    stored.push(shape.result(`c${at}`, `line ${at}\n`.repeat(length)))
  }
  return { provider, stored, sent }
}

const TURNS = Array.from({ length: 40 }, () => ({ length: 600, pause: 1000 }))
const POLICIES = ['results', 'outdated', 'superseded', 'budget', 'pressure', 'arguments'] as const
const refusal = /bound to a different conversation/

describe.each(Object.entries(SHAPES))('%s', (name, shape) => {
  const prunedBy = (options: HistoryPrunerOptions) => {
    const pruner = new HistoryPruner(options)
    return (stored: readonly Message[], now: number) => pruner.prune(stored, { now }).messages
  }

  it('reads a history of this format', async () => {
    const { stored } = await session(shape, TURNS.slice(0, 3), (all) => all)
    expect(detectFormat(stored)).toBe(name)
  })

  it('is refused if results in front of a block change', async () => {
    await expect(session(shape, TURNS, prunedBy({ thinking: 'ignore', schedule: 'always' }))).rejects.toThrow(refusal)
  })

  it('is accepted whatever the policies, sizes and pauses are', async () => {
    const turn = fc.record({ length: fc.nat(2000), pause: fc.nat(900_000) })
    await fc.assert(
      fc.asyncProperty(
        fc.array(turn, { maxLength: 20 }),
        fc.constantFrom(...POLICIES),
        fc.constantFrom('cache' as const, 'always' as const, 'cold' as const),
        fc.constantFrom('keep-prefix' as const, 'remove' as const),
        fc.boolean(),
        async (turns, policy, schedule, thinking, isResumed) => {
          const options = { policies: [policy], schedule, thinking, keepRecent: 0, contextWindow: 10_000 }
          let pruner = new HistoryPruner(options)
          await session(shape, turns, (stored, now) => {
            // Another process continues, with messages that it has read again.
            if (isResumed) pruner = HistoryPruner.fromJSON(JSON.stringify(pruner), options)
            const all = isResumed ? (JSON.parse(JSON.stringify(stored)) as Message[]) : stored
            return pruner.prune(all, { now }).messages
          })
        },
      ),
      { numRuns: 40 },
    )
  })

  it('is pruned with `remove`, without the blocks after a change and with those before it', async () => {
    const { sent, stored } = await session(shape, TURNS, prunedBy({ thinking: 'remove', schedule: 'always' }))
    const changed = sent.findIndex((message, at) => message !== stored[at])
    expect(changed).toBe(2)
    expect(JSON.stringify(sent.slice(0, changed))).toContain('signature-')
    expect(JSON.stringify(sent).length).toBeLessThan(JSON.stringify(stored).length / 3)
  })

  it('is accepted from a context manager, whatever it prunes, compacts and shortens', async () => {
    const turn = fc.record({ length: fc.nat(2000), pause: fc.constantFrom(1000, 400_000) })
    const replay = async (
      turns: readonly { length: number; pause: number }[],
      contextWindow: number,
      thinking: 'keep-prefix' | 'remove',
      isResumed: boolean,
    ) => {
      const compaction = { summarize: () => 'What was done so far.', recentTurns: 1 }
      const options = { contextWindow, compaction, pruning: { thinking }, onError: () => {} }
      let manager = new ContextManager<Message>(options)
      const prepare = async (stored: readonly Message[], now: number) => {
        if (isResumed) manager = ContextManager.fromJSON<Message>(JSON.stringify(manager), options)
        return (await manager.prepare(stored, { now })).messages
      }
      // A history that cannot be made to fit ends the session.
      await session(shape, turns, prepare).catch((error) => {
        if (error.code !== 'COMPACTION') throw error
      })
    }
    const windows = fc.constantFrom(4000, 10_000, 30_000)
    const modes = fc.constantFrom('keep-prefix' as const, 'remove' as const)
    const turns = fc.array(turn, { minLength: 1, maxLength: 20 })
    await fc.assert(fc.asyncProperty(turns, windows, modes, fc.boolean(), replay), { numRuns: 12 })
  })

  it('says why nothing is pruned, and prunes what the host has taken the reasoning from', async () => {
    const { stored } = await session(shape, TURNS, (all) => all)
    const pruner = new HistoryPruner({ schedule: 'always' })
    expect(pruner.prune(stored, { now: 1 }).report).toMatchObject({ total: 0, bound: stored.length - 1 })
    expect(pruner.explain()).toContain('signed reasoning is bound to the first 80 messages')
    const bare = stored.map((message) => withoutSigned(message))
    expect(pruner.prune(bare, { now: 2 }).report.total).toBeGreaterThan(30)
  })

  it('has no signed block behind a compaction, also over a restart', async () => {
    const summarize = () => 'What was done so far.'
    const options = { contextWindow: 24_000, compaction: { summarize }, pruning: { cacheLifetimeMs: 1e9 } }
    let manager = new ContextManager<Message>(options)
    let compactions = 0
    const { stored } = await session(shape, TURNS, async (all, now) => {
      const { messages, report } = await manager.prepare(all, { now })
      if (report.compaction !== undefined && report.compaction.action !== 'none') compactions++
      manager = ContextManager.fromJSON<Message>(JSON.stringify(manager.toJSON()), options)
      return messages
    })
    expect(compactions).toBeGreaterThan(0)
    const { messages, report } = await compactHistory(stored, { summarize, force: true, targetTokens: 3000 })
    expect(report.action).toBe('summary')
    expect(JSON.stringify(messages)).not.toContain('signature-')
    const kept = await compactHistory(stored, { summarize, force: true, targetTokens: 3000, thinking: 'ignore' })
    expect(JSON.stringify(kept.messages)).toContain('signature-')
  })

  it('recovers from an overflow, and from a refused block once', async () => {
    const { stored, provider } = await session(shape, TURNS, (all) => all)
    const { messages } = await recoverFromOverflow({ messages: stored, contextWindowTokens: 30_000 })
    expect(messages).not.toEqual(stored)
    expect(() => provider.answer(messages)).not.toThrow()

    const changed = [shape.user('Something else.'), ...stored.slice(1)]
    const trouble = thrownBy(() => provider.answer(changed))
    const overflow = classifyOverflow(trouble)
    expect(overflow).toMatchObject({ overflow: false, kind: 'thinking-binding', confidence: 'high' })
    const mended = await recoverFromOverflow({ messages: changed, contextWindowTokens: 1e6, overflow })
    expect(mended.report.steps).toMatchObject([{ step: 'thinking', event: 'fits' }])
    expect(() => provider.answer(mended.messages)).not.toThrow()
    await expect(
      recoverFromOverflow({ messages: mended.messages, contextWindowTokens: 1e6, overflow }),
    ).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })
})

function withoutSigned(message: Message): Message {
  const { content } = message
  return Array.isArray(content)
    ? { ...message, content: content.filter((part) => signatureIn(part) === undefined) }
    : message
}

function thrownBy(work: () => unknown): unknown {
  try {
    work()
  } catch (thrown) {
    return thrown
  }
  throw new Error('nothing was thrown')
}

it.each([
  ['no signature', { type: 'thinking', thinking: 'a' }],
  ['an empty one', { type: 'thinking', thinking: 'a', signature: '' }],
  ['one that is no text', { type: 'thinking', thinking: 'a', signature: 7 }],
  ['a foreign one', { type: 'reasoning', text: 'a', providerOptions: { openai: { reasoningEncryptedContent: 'e' } } }],
])('does not count as bound: %s', (_, block) => {
  const history = ['a', 'b'].flatMap((id) => [
    { role: 'assistant', content: [block, { type: 'tool_use', id, name: 'read', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'x'.repeat(5000) }] },
  ])
  const { report } = new HistoryPruner({ schedule: 'always', keepRecent: 0 }).prune(history, { now: 1 })
  expect(report.bound).toBeUndefined()
  expect(report.total).toBe(1)
})

it('leaves out encrypted items of another organisation', async () => {
  const messages = [
    { role: 'user', content: 'Hello' },
    { type: 'reasoning', summary: [], encrypted_content: 'gAAA' },
    { type: 'function_call', call_id: 'a', name: 'read', arguments: '{}' },
    { type: 'function_call_output', call_id: 'a', output: 'text' },
  ]
  const overflow = classifyOverflow({ status: 400, error: { code: 'invalid_encrypted_content', message: 'Bad.' } })
  expect(overflow).toMatchObject({ kind: 'encrypted-reasoning' })
  const recovered = await recoverFromOverflow<object>({ messages, contextWindowTokens: 1e6, overflow })
  expect(recovered.messages).toEqual([messages[0], messages[2], messages[3]])
})
