/** Signed reasoning against a provider that checks the messages in front of every block, as current Claude models do. */

import fc from 'fast-check'
import {
  ContextManager,
  classifyOverflow,
  compactHistory,
  HistoryPruner,
  type HistoryPrunerOptions,
  recoverFromOverflow,
  ToolResultLedger,
} from 'spillway'
import { FoldSession } from 'spillway/fold'
import { detectFormat } from 'spillway/history'
import { BindingProvider, bare, type Message } from '../support/binding-provider'
import { foldedText } from '../support/folded'
import { MORE_SHAPES, SHAPES, type Shape } from '../support/signed-turns'

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
    stored.push(...shape.answer(`c${at}`, provider.answer(sent)))
    stored.push(shape.result(`c${at}`, `line ${at}\n`.repeat(length)))
  }
  return { provider, stored, sent }
}

const TURNS = Array.from({ length: 40 }, () => ({ length: 600, pause: 1000 }))
const POLICIES = ['results', 'outdated', 'superseded', 'budget', 'pressure', 'arguments'] as const
const refusal = /bound to a different conversation/

describe.each(Object.entries({ ...SHAPES, ...MORE_SHAPES }))('%s', (name, shape) => {
  const isFirst = name in SHAPES
  const prunedBy = (options: HistoryPrunerOptions) => {
    const pruner = new HistoryPruner(options)
    return (stored: readonly Message[], now: number) => pruner.prune(stored, { now }).messages
  }

  it('reads a history of this format', async () => {
    const { stored } = await session(shape, TURNS.slice(0, 3), (all) => all)
    expect(detectFormat(stored)).toBe(name.split(':')[0])
  })

  it('is refused if results in front of a block change', async () => {
    await expect(session(shape, TURNS, prunedBy({ thinking: 'ignore', schedule: 'always' }))).rejects.toThrow(refusal)
  })

  it('is accepted with any policies, sizes and pauses', async () => {
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
      { numRuns: isFirst ? 40 : 10 },
    )
  })

  it('is pruned with `remove`, without the blocks after a change and with those before it', async () => {
    const { sent, stored } = await session(shape, TURNS, prunedBy({ thinking: 'remove', schedule: 'always' }))
    const changed = sent.findIndex((message, at) => message !== stored[at])
    expect(changed).toBe(stored.length / TURNS.length > 2.5 ? 3 : 2)
    expect(JSON.stringify(sent.slice(0, changed))).toContain('signature-')
    expect(JSON.stringify(sent).length).toBeLessThan(JSON.stringify(stored).length / 3)
  })

  it('is accepted from a context manager after any pruning, compaction and shortening', async () => {
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
    await fc.assert(fc.asyncProperty(turns, windows, modes, fc.boolean(), replay), { numRuns: isFirst ? 12 : 4 })
  })

  it.each([
    ['keep-prefix', false],
    ['keep-prefix', true],
    ['remove', false],
    ['remove', true],
  ] as const)(
    'is accepted after the provider cleared the target of a pointer: %s, resumed: %s',
    async (thinking, isResumed) => {
      const ledger = new ToolResultLedger()
      const fold = new FoldSession()
      const options = { ledger, thinking, schedule: 'cold' as const }
      let pruner = new HistoryPruner(options)
      const provider = new BindingProvider()
      const stored: Message[] = [shape.user('Mend the build.')]
      let before = ''
      let tokens = 0
      for (let at = 0; at < 12; at++) {
        if (isResumed) pruner = HistoryPruner.fromJSON(JSON.stringify(pruner), options)
        const all = isResumed ? (JSON.parse(JSON.stringify(stored)) as Message[]) : stored
        const { messages, report } = pruner.prune(all, { now: at })
        const signature = provider.answer(messages)
        // Nothing changes but once, after the provider has cleared results.
        const sent = JSON.stringify(messages)
        if (at > 0 && (thinking === 'keep-prefix' || at !== 8)) expect(sent.startsWith(before.slice(0, -1))).toBe(true)
        before = sent
        tokens = report.tokensAfter
        const id = `c${at}`
        const text = Array.from({ length: 60 }, (_, line) => `line ${line} of file ${at % 3}`).join('\n')
        const args = { path: `${id}.ts` }
        const content = foldedText(text, { toolName: 'read', toolCallId: id, args }, { fold, ledger })
        stored.push(...shape.answer(id, signature), shape.result(id, content))
        if (at === 7) {
          const edits = [{ type: 'clear_tool_uses_20250919', cleared_tool_uses: 3 }]
          fold.forget(pruner.accept({ context_management: { applied_edits: edits } })?.toolCallIds ?? [])
        }
      }
      expect(before.includes('above')).toBe(thinking === 'keep-prefix')
      // A note in place of a block takes a few tokens.
      const really = new HistoryPruner().prune(JSON.parse(before)).report.tokensBefore
      expect(Math.abs(really - tokens)).toBeLessThan(20)
    },
  )

  it('says why nothing is pruned, and prunes what the host has taken the reasoning from', async () => {
    const { stored } = await session(shape, TURNS, (all) => all)
    const pruner = new HistoryPruner({ schedule: 'always' })
    expect(pruner.prune(stored, { now: 1 }).report).toMatchObject({ total: 0, bound: lastSigned(stored) })
    expect(pruner.explain()).toContain(`signed reasoning is bound to the first ${lastSigned(stored)} messages`)
    const unsigned = stored.map((message) => ({ content: '', ...(bare(message) ?? { role: 'assistant' }) }))
    expect(pruner.prune(unsigned, { now: 2 }).report.total).toBeGreaterThan(30)
  })

  it('has no signed block after a compaction, also over a restart', async () => {
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

  it.each([
    [undefined, undefined, false],
    ['ignore', undefined, true],
    [undefined, 'ignore', true],
    ['provider-drops', undefined, true],
    ['keep-prefix', 'ignore', true],
    ['ignore', 'keep-prefix', false],
  ] as const)(
    'the reasoning of a manager with pruning %s and compaction %s stays after a summary: %s',
    async (own, of, stays) => {
      const { stored } = await session(shape, TURNS, (all) => all)
      const manager = new ContextManager<Message>({
        contextWindow: 24_000,
        compaction: { summarize: () => 'What was done so far.', thinking: of },
        pruning: { thinking: own },
        overflow: false,
        onError: () => {},
      } as never)
      const { messages, report } = await manager.prepare(stored, { now: 1, force: true })
      expect(report.compaction?.action).toBe('summary')
      expect(JSON.stringify(messages).includes('signature-')).toBe(stays)
    },
  )

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

/** The number of messages up to the last with a signature. */
function lastSigned(messages: readonly Message[]): number {
  return messages.findLastIndex((message) => JSON.stringify(message).includes('signature-')) + 1
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

const CALL = { id: 'a', name: 'read', args: {} }
const CHAT_CALL = { id: 'a', type: 'function', function: { name: 'read', arguments: '{}' } }
const gemini = { type: 'reasoning.text', text: 'a', signature: 's', format: 'google-gemini-v1' }
const sealed = { type: 'reasoning.encrypted', data: 'd', format: 'openai-responses-v1' }

it.each([
  ['Gemini in LangChain', { type: 'thinking', thinking: 'a', signature: 's' }, { model_provider: 'google-genai' }, 0],
  [
    'Claude of Vertex',
    { type: 'thinking', thinking: 'a', signature: 's' },
    { model_provider: 'google', model_name: 'claude-opus-5-5' },
    1,
  ],
])('reads whose signature it is: %s', (_, block, response_metadata, bound) => {
  const answer = { type: 'ai', content: [block], tool_calls: [CALL], response_metadata }
  const history = [{ type: 'human', content: 'a' }, answer, { type: 'tool', tool_call_id: 'a', content: 'a' }]
  expect(new HistoryPruner().prune(history, { now: 1 }).report.bound ?? 0).toBe(bound * 2)
})

it.each([
  ['Gemini', [gemini], 0],
  ['OpenAI', [sealed], 0],
  ['none', [{ type: 'reasoning.text', text: 'a' }], 0],
  ['no format', [{ type: 'reasoning.text', text: 'a', signature: 's' }], 1],
  ['Claude, redacted', [{ ...sealed, format: 'anthropic-claude-v1' }], 1],
  ['several', [gemini, { ...gemini, format: 'anthropic-claude-v1' }], 1],
])('reads whose signature it is in details of OpenRouter: %s', (_, reasoning_details, bound) => {
  const answer = { role: 'assistant', content: null, tool_calls: [CHAT_CALL], reasoning_details }
  const history = [{ role: 'user', content: 'a' }, answer, { role: 'tool', tool_call_id: 'a', content: 'a' }]
  expect(new HistoryPruner().prune(history, { now: 1 }).report.bound ?? 0).toBe(bound * 2)
})

const encrypted = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' }
const refused = { status: 400, error: { code: 'invalid_encrypted_content', message: 'Bad.' } }
const text = { type: 'text', text: 'I look.' }

it.each<[string, object, object | undefined]>([
  ['openai-responses', encrypted, undefined],
  ['Codex', { type: 'response_item', payload: encrypted }, undefined],
  ['openai-agents', { type: 'reasoning', content: [], providerData: { encrypted_content: 'gAAA' } }, undefined],
  [
    'openai-agents with the AI SDK',
    { type: 'reasoning', content: [text], providerData: { openai: { reasoningEncryptedContent: 'gAAA' } } },
    undefined,
  ],
  [
    'ai-sdk',
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: '', providerOptions: { openai: { reasoningEncryptedContent: 'gAAA' } } },
        text,
      ],
    },
    { role: 'assistant', content: [text] },
  ],
  [
    'ai-sdk with nothing else',
    {
      role: 'assistant',
      content: [{ type: 'reasoning', text: 'a', providerOptions: { azure: { reasoningEncryptedContent: 'gAAA' } } }],
    },
    { role: 'assistant', content: [{ type: 'text', text: '[Reasoning left out]' }] },
  ],
  [
    'langchain',
    {
      type: 'ai',
      content: 'I look.',
      additional_kwargs: { reasoning: encrypted },
      response_metadata: { output: [encrypted, { type: 'message' }] },
    },
    { type: 'ai', content: 'I look.', additional_kwargs: {}, response_metadata: { output: [{ type: 'message' }] } },
  ],
  [
    'pi',
    {
      role: 'assistant',
      content: [{ type: 'thinking', thinking: '', thinkingSignature: JSON.stringify(encrypted) }, text],
    },
    { role: 'assistant', content: [text] },
  ],
  [
    'a line of pi',
    {
      type: 'message',
      message: {
        role: 'assistant',
        content: [{ type: 'thinking', thinking: '', thinkingSignature: JSON.stringify(encrypted) }, text],
      },
    },
    { type: 'message', message: { role: 'assistant', content: [text] } },
  ],
])('leaves out the encrypted reasoning of another organisation: %s', async (_name, message, rest) => {
  const overflow = classifyOverflow(refused)
  expect(overflow).toMatchObject({ kind: 'encrypted-reasoning' })
  const messages = [{ role: 'user', content: 'Hello' }, message]
  const recovered = await recoverFromOverflow<object>({ messages, contextWindowTokens: 1e6, overflow })
  expect(recovered.messages).toEqual([messages[0], ...(rest ? [rest] : [])])
  await expect(
    recoverFromOverflow<object>({ messages: recovered.messages, contextWindowTokens: 1e6, overflow }),
  ).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
})

it.each([
  'Thought signature is not valid.',
  'Unable to submit request because Thought signature is not valid',
  'Corrupted thought signature.',
  'Function call is missing a thought_signature in functionCall parts.',
  'Function call is missing a thought signature',
])('knows a refused signature of Gemini: %s', (message) => {
  const error = { error: { code: 400, message, status: 'INVALID_ARGUMENT' } }
  expect(classifyOverflow(error)).toMatchObject({ overflow: false, kind: 'thought-signature' })
})
