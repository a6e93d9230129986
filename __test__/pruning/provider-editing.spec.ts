/** Editing by the provider: the fields of a request that ask for it, and the report in a response. */

import { ContextManager, HistoryPruner, type HistoryPrunerOptions, ToolResultLedger } from 'spillway'
import { FoldSession } from 'spillway/fold'
import { foldedText } from '../support/folded'

const clearing = (more: object = {}) => ({
  type: 'clear_tool_uses_20250919',
  trigger: { type: 'input_tokens', value: 100_000 },
  keep: { type: 'tool_uses', value: 5 },
  clear_at_least: { type: 'input_tokens', value: 20_000 },
  ...more,
})
const EDITING = 'context-management-2025-06-27'

describe('the options of a request', () => {
  it.each<[string, HistoryPrunerOptions, object, object]>([
    ['the defaults', {}, {}, { betas: [EDITING], context_management: { edits: [clearing()] } }],
    [
      'a budget with protected tools',
      { policies: [{ type: 'budget', minTokens: 9000 }], keepRecent: 8, protectedTools: ['skill'] },
      {},
      {
        betas: [EDITING],
        context_management: {
          edits: [
            clearing({
              keep: { type: 'tool_uses', value: 8 },
              clear_at_least: { type: 'input_tokens', value: 9000 },
              exclude_tools: ['skill'],
            }),
          ],
        },
      },
    ],
    [
      'pressure in a small window, and arguments',
      { policies: ['pressure', 'arguments'], contextWindow: 40_000 },
      {},
      {
        betas: [EDITING],
        context_management: {
          edits: [
            clearing({
              trigger: { type: 'input_tokens', value: 20_000 },
              clear_at_least: { type: 'input_tokens', value: 12_500 },
              clear_tool_inputs: true,
            }),
          ],
        },
      },
    ],
    [
      'removed reasoning comes first',
      { thinking: 'remove' },
      { compactAt: 150_000 },
      {
        betas: [EDITING, 'compact-2026-01-12'],
        context_management: {
          edits: [
            { type: 'clear_thinking_20251015', keep: { type: 'thinking_turns', value: 1 } },
            clearing(),
            { type: 'compact_20260112', trigger: { type: 'input_tokens', value: 150_000 } },
          ],
        },
      },
    ],
    [
      'blocks that no longer fit are dropped',
      { thinking: 'provider-drops', keepRecent: Number.POSITIVE_INFINITY },
      {},
      {
        betas: [EDITING, 'thinking-binding-controls-2026-08-01'],
        context_management: { edits: [] },
        thinking: { block_binding: { prefix_mismatch_behavior: 'drop_block' } },
      },
    ],
    [
      'patterns become names',
      { protectedTools: ['mcp_*'], onlyTools: ['Bash', 'mcp_*'] },
      { tools: ['bash', 'read', 'mcp_search'] },
      { betas: [EDITING], context_management: { edits: [clearing({ exclude_tools: ['read', 'mcp_search'] })] } },
    ],
  ])('Anthropic: %s', (_, options, asked, expected) => {
    expect(new HistoryPruner(options).toProvider('anthropic', asked)).toEqual(expected)
  })

  it.each<[HistoryPrunerOptions, object, number]>([
    [{}, {}, 160_000],
    [{ contextWindow: 400_000 }, {}, 320_000],
    [{}, { compactAt: 1000 }, 1000],
  ])('OpenAI: %j %j', (options, asked, threshold) => {
    const request = new HistoryPruner(options).toProvider('openai', asked)
    expect(request).toEqual({ context_management: [{ type: 'compaction', compact_threshold: threshold }] })
  })

  it.each<[HistoryPrunerOptions, unknown, unknown, string]>([
    [{}, 'xai', {}, "expected one of 'anthropic', 'openai'"],
    [{}, 'anthropic', { compactAt: 49_999 }, '"compactAt": expected at least 50000 tokens'],
    [{}, 'openai', { compactAt: -1 }, '"compactAt": expected a whole number'],
    [{}, 'openai', { compactat: 1 }, 'compactat'],
    [{ protectedTools: ['mcp_*'] }, 'anthropic', {}, '"tools": expected the names of all tools'],
    [{ onlyTools: ['bash'] }, 'anthropic', {}, '"tools": expected the names of all tools'],
  ])('%j %s %j is refused', (options, provider, asked, words) => {
    const ask = () => new HistoryPruner(options).toProvider(provider as 'openai', asked as object)
    expect(ask).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.stringContaining(words) }))
  })
})

const lines = (from: number) =>
  Array.from({ length: 60 }, (_, at) => `export const value${from + at} = compute(${from + at})`).join('\n')

/** A history in which the result of `d` points to the one of `a`. */
function folded() {
  const fold = new FoldSession()
  const ledger = new ToolResultLedger()
  const texts: Record<string, string> = { a: lines(0), b: lines(100), c: lines(200), d: lines(0) }
  const messages = Object.entries(texts).flatMap(([id, text]) => {
    const args = { path: `${id}.ts` }
    const content = foldedText(text, { toolName: 'read', toolCallId: id, args }, { fold, ledger })
    return [
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'read', input: args }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] },
    ]
  })
  return { messages: [{ role: 'user', content: 'Read them.' }, ...messages], ledger, texts }
}

const cleared = (count: unknown, tokens: unknown = 900) => ({
  usage: { input_tokens: 100 },
  context_management: {
    applied_edits: [
      { type: 'clear_tool_uses_20250919', cleared_tool_uses: count, cleared_input_tokens: tokens },
      { type: 'clear_thinking_20251015', cleared_thinking_turns: 2, cleared_input_tokens: 50 },
    ],
  },
})

describe('a response of the provider', () => {
  it('restores the text of a pointer into a result that the provider cleared, also in another process', () => {
    const { messages, ledger, texts } = folded()
    const options = { ledger, keepRecent: 10 }
    const pruner = new HistoryPruner(options)
    const before = pruner.prune(messages, { now: 1 })
    expect(JSON.stringify(before.messages)).toContain('of the read of a.ts above')
    expect(before.report.clearedByProvider).toBeUndefined()

    expect(pruner.accept(cleared(1))).toEqual({
      clearedToolUses: 1,
      clearedThinkingTurns: 2,
      clearedTokens: 950,
      droppedThinking: 0,
      compacted: false,
      toolCallIds: ['a'],
    })
    const resumed = HistoryPruner.fromJSON(JSON.stringify(pruner), options)
    for (const one of [pruner, resumed]) {
      const { messages: sent, report } = one.prune(messages, { now: 2 })
      expect(sent.at(-1)).toMatchObject({ content: [{ content: texts.d }] })
      expect(report.clearedByProvider).toBe(1)
      expect(one.explain()).toContain('The provider has cleared 1 results by itself.')
    }
  })

  it('counts no result that the provider was asked to keep', () => {
    const { messages, ledger } = folded()
    const pruner = new HistoryPruner({ ledger, protectedTools: ['read'] })
    pruner.prune(messages, { now: 1 })
    expect(pruner.accept(cleared(2))).toMatchObject({ clearedToolUses: 2, toolCallIds: [] })
  })

  it('is read from a context manager too', async () => {
    const { messages } = folded()
    const manager = new ContextManager()
    await manager.prepare(messages, { now: 1 })
    expect(manager.accept(cleared(2))?.toolCallIds).toEqual(['a', 'b'])
  })

  it.each<[string, unknown, object | undefined]>([
    ['nothing', undefined, undefined],
    ['a response without edits', { usage: { input_tokens: 1 }, content: [] }, undefined],
    ['edits of another kind', { context_management: { applied_edits: 7 } }, undefined],
    ['no edit', { context_management: { applied_edits: [] } }, { clearedToolUses: 0, compacted: false }],
    ['more than there are', cleared(99), { clearedToolUses: 99, toolCallIds: ['a', 'b', 'c', 'd'] }],
    ['a negative count', cleared(-1), { clearedToolUses: 0, problem: 'cleared_tool_uses is -1', toolCallIds: [] }],
    ['a count that is none', cleared('3'), { clearedToolUses: 0, problem: 'cleared_tool_uses is a string' }],
    ['endless tokens', cleared(1, Number.POSITIVE_INFINITY), { clearedToolUses: 1, clearedTokens: 50 }],
    [
      'what an SDK made of it',
      { contextManagement: { appliedEdits: [{ clearedToolUses: 2 }] } },
      { clearedToolUses: 2 },
    ],
    ['dropped reasoning', { input_transformations: [{ type: 'thinking_dropped' }, null] }, { droppedThinking: 1 }],
    ["a summary of Anthropic's", { content: [{ type: 'compaction', content: 'x' }] }, { compacted: true }],
    ["a summary of OpenAI's", { output: [{ type: 'compaction', encrypted_content: 'x' }] }, { compacted: true }],
  ])('%s', (_, response, expected) => {
    const pruner = new HistoryPruner()
    pruner.prune(folded().messages, { now: 1 })
    const answer = pruner.accept(response)
    if (expected === undefined) expect(answer).toBeUndefined()
    else expect(answer).toMatchObject(expected)
  })

  it('never throws, for any response', () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    expect(new HistoryPruner().accept(proxy)).toBeUndefined()
  })

  it('is part of the state, and checked there', () => {
    const state = { ...new HistoryPruner().toJSON(), clearedByProvider: -1 }
    expect(() => HistoryPruner.fromJSON(state)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
  })
})
