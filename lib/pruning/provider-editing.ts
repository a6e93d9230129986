/** Editing of a history by the provider itself: the fields of a request that ask for it, and the edits that a response reports. */

import { get } from '../history/formats/safe-read'
import { call, native } from '../native/native'
import { isArray, isCount } from '../util/guards'
import { type Check, checkOptions, strings, wholeFrom } from '../validation/options'
import { describe, wrong } from '../validation/validate'
import type { Policy } from './policies'

/** Options of `HistoryPruner.toProvider`. */
export interface ToProviderOptions {
  /**
   * The names of all tools. Anthropic takes exact names of tools whose results stay, so `onlyTools`, and `protectedTools` with a `*`, need them.
   */
  tools?: readonly string[]
  /**
   * Number of tokens from which on the provider compacts a prompt: at least 50,000 for Anthropic.
   * @default for Anthropic no compaction; for OpenAI four fifths of `contextWindow`
   */
  compactAt?: number
}

interface TokenCount {
  type: 'input_tokens'
  value: number
}

/** An edit of Anthropic's context management. */
export type AnthropicEdit =
  | { type: 'clear_thinking_20251015'; keep: { type: 'thinking_turns'; value: number } }
  | {
      type: 'clear_tool_uses_20250919'
      trigger: TokenCount
      keep: { type: 'tool_uses'; value: number }
      clear_at_least: TokenCount
      exclude_tools?: string[]
      clear_tool_inputs?: true
    }
  | { type: 'compact_20260112'; trigger: TokenCount }

/** Fields by which a request asks Anthropic to drop signed reasoning that no longer fits, instead of refusing the request. */
export interface DropThinkingOptions {
  /** For the header `anthropic-beta`. */
  betas: string[]
  /** To be merged into the request's own `thinking`. */
  thinking: { block_binding: { prefix_mismatch_behavior: 'drop_block' } }
}

/** Fields of a request to Anthropic. */
export interface AnthropicEditing extends Partial<DropThinkingOptions> {
  /** For the header `anthropic-beta`. */
  betas: string[]
  context_management: { edits: AnthropicEdit[] }
}

/** Fields of a request to OpenAI's Responses. */
export interface OpenAIEditing {
  context_management: { type: 'compaction'; compact_threshold: number }[]
}

/** Edits of the provider by itself, as its response reports them. */
export interface ProviderEdits {
  /** Number of tool results cleared, oldest first. */
  clearedToolUses: number
  /** Number of turns whose reasoning was cleared. */
  clearedThinkingTurns: number
  /** Tokens that were freed by both. */
  clearedTokens: number
  /** Number of blocks of reasoning that were dropped because something in front of them had changed. */
  droppedThinking: number
  /** True if the response has a summary that replaces earlier messages. */
  compacted: boolean
  /** Why the response was not used, or only in part. */
  problem?: string
}

/** The options that a provider's own editing follows. */
export interface EditingRules {
  readonly keep: number
  readonly trigger: number
  readonly minCleared: number
  readonly window: number
  readonly clearsResults: boolean
  readonly clearsArguments: boolean
  readonly thinking: string | undefined
}

/** The options of a pruner that they come from. */
interface PrunerRules {
  contextWindow?: number
  keepRecent?: number
  thinking?: string
}

/** The tools whose results a pruner leaves alone. */
interface ToolRules {
  readonly protectedTools: readonly string[]
  readonly onlyTools: readonly string[] | undefined
}

/** Anthropic's own default, as documented on 2025-10-28: platform.claude.com, "Context editing". */
const TRIGGER = 100_000
/** Share of the trigger that a change has to free: each costs the cache. */
const MIN_SHARE = 0.2
/** Share of the window that OpenAI compacts at. */
const COMPACT_SHARE = 0.8
/** Anthropic refuses to compact shorter prompts: platform.claude.com, "Compaction", 2026-01-12. */
const MIN_COMPACTED = 50_000

const EDITING_BETA = 'context-management-2025-06-27'
const COMPACTION_BETA = 'compact-2026-01-12'
const BINDING_BETA = 'thinking-binding-controls-2026-08-01'

/** Reads what the options of a pruner mean for its provider. */
export function editingRules(options: PrunerRules, policies: readonly Policy[]): EditingRules {
  const window = options.contextWindow ?? 200_000
  const pressure = policies.find(({ type }) => type === 'pressure')
  const limited = policies.find(({ type }) => type === 'budget' || type === 'pressure')
  const trigger = pressure ? Math.round((pressure.clearAt as number) * window) : Math.min(TRIGGER, window / 2)
  const types = policies.map(({ type }) => type)
  return {
    keep: options.keepRecent ?? 5,
    trigger,
    minCleared: Math.round((limited?.minTokens as number | undefined) ?? MIN_SHARE * trigger),
    window,
    clearsResults: types.some((type) => type !== 'arguments'),
    clearsArguments: types.includes('arguments'),
    thinking: options.thinking,
  }
}

const CHECKS: { readonly [K in keyof Required<ToProviderOptions>]: Check } = {
  tools: strings,
  compactAt: wholeFrom(1, 'tokens'),
}

/** @throws SpillwayError `INVALID_ARGUMENT` that names the option */
export function checkEditing(options: ToProviderOptions): void {
  checkOptions('options', options, CHECKS)
}

/** @throws SpillwayError `INVALID_ARGUMENT` if `compactAt` is below what Anthropic takes, or names of tools are missing */
export function anthropicEditing(
  rules: EditingRules,
  { protectedTools, onlyTools }: ToolRules,
  { tools, compactAt }: ToProviderOptions,
): AnthropicEditing {
  if (compactAt !== undefined && compactAt < MIN_COMPACTED) {
    throw wrong('options.compactAt', compactAt, `at least ${MIN_COMPACTED} tokens`)
  }
  const edits: AnthropicEdit[] = []
  // The provider wants this edit first.
  if (rules.thinking === 'remove') {
    edits.push({ type: 'clear_thinking_20251015', keep: { type: 'thinking_turns', value: 1 } })
  }
  // Without an end to what is kept nothing is ever cleared.
  if (rules.clearsResults && Number.isFinite(rules.keep)) {
    const excluded = excludedTools(protectedTools, onlyTools, tools)
    edits.push({
      type: 'clear_tool_uses_20250919',
      trigger: tokensOf(rules.trigger),
      keep: { type: 'tool_uses', value: rules.keep },
      clear_at_least: tokensOf(rules.minCleared),
      ...(excluded.length > 0 && { exclude_tools: excluded }),
      ...(rules.clearsArguments && { clear_tool_inputs: true as const }),
    })
  }
  if (compactAt !== undefined) edits.push({ type: 'compact_20260112', trigger: tokensOf(compactAt) })
  const { betas = [], thinking } = dropThinkingOptions(rules) ?? {}
  return {
    betas: [EDITING_BETA, ...(compactAt === undefined ? [] : [COMPACTION_BETA]), ...betas],
    context_management: { edits },
    ...(thinking && { thinking }),
  }
}

/** Returns the fields that every request needs in the mode `provider-drops`; `undefined` in others. */
export function dropThinkingOptions({ thinking }: Pick<EditingRules, 'thinking'>): DropThinkingOptions | undefined {
  if (thinking !== 'provider-drops') return undefined
  return { betas: [BINDING_BETA], thinking: { block_binding: { prefix_mismatch_behavior: 'drop_block' } } }
}

export function openaiEditing({ window }: EditingRules, { compactAt }: ToProviderOptions): OpenAIEditing {
  const threshold = compactAt ?? Math.round(COMPACT_SHARE * window)
  return { context_management: [{ type: 'compaction', compact_threshold: threshold }] }
}

function tokensOf(value: number): TokenCount {
  return { type: 'input_tokens', value }
}

/** The names of the tools whose results stay. */
function excludedTools(
  protectedTools: readonly string[],
  onlyTools: readonly string[] | undefined,
  tools: readonly string[] | undefined,
): string[] {
  if (tools === undefined) {
    const isPattern = onlyTools !== undefined || protectedTools.some((name) => name.includes('*'))
    if (isPattern) throw wrong('options.tools', tools, 'the names of all tools: patterns of tools need them')
    return [...protectedTools]
  }
  const isOneOf = (name: string, patterns: readonly string[]) => call(() => native.isOneOfTools(name, [...patterns]))
  return tools.filter((name) => isOneOf(name, protectedTools) || (onlyTools !== undefined && !isOneOf(name, onlyTools)))
}

/** Reads a response of Anthropic's or OpenAI's, or what an SDK made of it. Never throws. `undefined` if it says nothing of edits. */
export function readProviderEdits(response: unknown): ProviderEdits | undefined {
  try {
    return editsIn(response)
  } catch {
    // A proxy or a getter threw.
    return undefined
  }
}

function editsIn(response: unknown): ProviderEdits | undefined {
  const management = get(response, 'context_management') ?? get(response, 'contextManagement')
  const applied = get(management, 'applied_edits') ?? get(management, 'appliedEdits')
  const transformed = get(response, 'input_transformations') ?? get(response, 'inputTransformations')
  const compacted = [get(response, 'content'), get(response, 'output')].some(
    (items) => isArray(items) && items.some((item) => get(item, 'type') === 'compaction'),
  )
  if (!isArray(applied) && !isArray(transformed) && !compacted) return undefined
  const edits = isArray(applied) ? applied : []
  const problems: string[] = []
  const sum = (...names: readonly string[]): number => {
    let total = 0
    for (const edit of edits) {
      const value = names.map((name) => get(edit, name)).find((one) => one !== undefined && one !== null)
      if (value === undefined) continue
      if (isCount(value)) total += value
      else problems.push(`${names[0]} is ${describe(value)}`)
    }
    return total
  }
  const read = {
    clearedToolUses: sum('cleared_tool_uses', 'clearedToolUses'),
    clearedThinkingTurns: sum('cleared_thinking_turns', 'clearedThinkingTurns'),
    clearedTokens: sum('cleared_input_tokens', 'clearedInputTokens'),
    droppedThinking: (isArray(transformed) ? transformed : []).filter((one) => get(one, 'type') === 'thinking_dropped')
      .length,
    compacted,
  }
  return problems.length === 0 ? read : { ...read, problem: problems.join('; ') }
}
