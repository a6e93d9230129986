import type { Outcome } from '../outcome'
import { type Recipe, textOf } from '../recipes'

/** The part of a row that this action reads. */
interface Setup {
  compaction?: CompactionSetup
  options?: Record<string, unknown>
}

/** A message of a history: a text, or a tool call with its output. */
export type TalkRecipe =
  | { user: Recipe; images?: number }
  | { assistant: Recipe }
  | { system: Recipe }
  | { tool: string; output: Recipe }

/** A history that is compacted, once or several times. */
export interface CompactionSetup {
  history: TalkRecipe[]
  /** The summariser's answer; `throws` if it fails; without it there is none. */
  summary?: string | { throws: string }
  /** Several compactions of the same history, which share the state. Without it there is one. */
  rounds?: { summary?: CompactionSetup['summary']; force?: boolean }[]
  aborted?: boolean
}

type Message = { role: string; content: unknown; [key: string]: unknown }

const product: typeof import('spillway/history') = require('spillway/history')

function built(history: readonly TalkRecipe[]): Message[] {
  return history.flatMap((one, at): Message[] => {
    if ('tool' in one) {
      const fn = { name: one.tool, arguments: '{}' }
      return [
        { role: 'assistant', content: '', tool_calls: [{ id: `call_${at}`, type: 'function', function: fn }] },
        { role: 'tool', tool_call_id: `call_${at}`, content: textOf(one.output) },
      ]
    }
    const [role, text] = Object.entries(one)[0] as [string, Recipe]
    const images = Array.from({ length: 'images' in one ? (one.images ?? 0) : 0 }, () => ({ type: 'image_url' }))
    const content = images.length > 0 ? [{ type: 'text', text: textOf(text) }, ...images] : textOf(text)
    return [{ role, content }]
  })
}

export async function compact(setup: Setup, { facts }: Outcome): Promise<void> {
  const { history = [], summary, rounds = [{}], aborted } = setup.compaction ?? { history: [] }
  const messages = built(history)
  const prompts: string[] = []
  const previous: (string | undefined)[] = []
  const told: unknown[] = []
  let state: object | undefined
  const reasons: string[] = []
  const control = new AbortController()
  if (aborted) control.abort()
  for (const round of rounds) {
    const answer = round.summary ?? summary
    const options = {
      ...(setup.options as object),
      ...(round.force && { force: true }),
      ...(state !== undefined && { state }),
      ...(aborted && { signal: control.signal }),
      ...(answer !== undefined && {
        summarize: ({ prompt, previousSummary }: { prompt: string; previousSummary: string | undefined }) => {
          prompts.push(prompt)
          previous.push(previousSummary)
          if (typeof answer === 'string') return answer
          throw new Error(answer.throws)
        },
      }),
      hooks: { 'compaction.after': (report: unknown) => told.push(report) },
    }
    facts.plan = product.compactHistory.plan(messages, options as never)
    const result = await product.compactHistory(messages, options as never)
    const { report } = result
    state = report.state
    reasons.push(report.reason)
    Object.assign(facts, {
      action: report.action,
      reason: report.reason,
      triggered: report.trigger.triggered,
      limit: report.trigger.limit,
      size: report.sizeBefore,
      fits: report.fits,
      replacedMedia: report.replacedMedia,
      roles: result.messages.map(({ role }) => role).join(' '),
      contents: result.messages.map(({ content }) => content),
      // State of each output: removed, replaced, or present.
      outputs: messages
        .filter(({ role }) => role === 'tool')
        .map((message) => {
          const now = result.messages.find(({ tool_call_id }) => tool_call_id === message.tool_call_id)
          return now === undefined ? 'gone' : now.content === message.content ? 'there' : now.content
        }),
      unchanged: result.messages === messages,
    })
  }
  Object.assign(facts, {
    reasons,
    asked: prompts.length,
    prompt: prompts.at(-1) ?? '',
    previous: previous.at(-1),
    told: told.length,
  })
}
