/** Asks the caller's summariser, with a time limit. */

import { SpillwayError } from '../errors'
import { viewOf } from '../history/formats'
import { OTHER } from '../history/formats/define-format'
import { call, native } from '../native/native'
import { messageOf } from '../util/message-of'
import { TimeoutError, withTimeout } from '../util/with-timeout'
import { mismatch } from '../validation/validate'
import type { Measure, ReadHistory } from './history-reader'
import { askBefore } from './hooks'
import { COUNTED_CHARS_PER_TOKEN, type CompactSettings } from './options'
import { promptMaker } from './prompt'
import type { CompactionReason } from './report'
import type { SummaryRequest } from './types'

/** Subject of the request. */
export interface Asker<M> {
  readonly settings: CompactSettings<M>
  readonly history: ReadHistory<M>
  /** The messages with their full outputs. */
  readonly originals: readonly M[]
  readonly measure: Measure
  readonly chinese: boolean
}

/** Why there is no summary. */
export interface NoSummary {
  reason: CompactionReason
  error: SpillwayError
}

/** One question: the summary of these messages, with the one so far brought up to date. */
export async function askSummarizer<M>(
  asker: Asker<M>,
  part: 'history' | 'turn',
  indices: readonly number[],
  previous: string,
  maxTokens: number,
): Promise<string | NoSummary> {
  const { settings, history, originals, chinese, measure } = asker
  const { options, timeoutMs, hookTimeoutMs } = settings
  const update = previous !== ''
  const instructions = call(() => native.compactionInstructions(part === 'turn', update, maxTokens, chinese))
  const messages = indices.map((index) => originals[index] as M)
  const views =
    originals === history.messages
      ? indices.map((index) => history.views[index] ?? OTHER)
      : messages.map((message) => (history.format ? viewOf(history.format, message) : OTHER))
  const perToken = settings.unit === 'chars' ? COUNTED_CHARS_PER_TOKEN : 1
  const build = promptMaker({
    views,
    messages,
    previousSummary: update ? previous : undefined,
    environment: options.environment,
    chinese,
    tokens: Math.max(settings.summarizerTokens - maxTokens, 1),
    size: (text) => measure.text(text) / perToken,
    sizes: (texts) => measure.texts(texts).map((size) => size / perToken),
  })
  const ends = new AbortController()
  const request: SummaryRequest<M> = {
    prompt: build(instructions),
    instructions,
    messages,
    part,
    previousSummary: update ? previous : undefined,
    environment: options.environment,
    maxTokens,
    language: chinese ? 'zh-CN' : 'en',
    signal: ends.signal,
  }
  const stop = () => ends.abort(options.signal?.reason)
  options.signal?.addEventListener('abort', stop, { once: true })
  try {
    const asked = await askBefore(options.hooks, hookTimeoutMs, request, build)
    checkAborted(options.signal)
    const answer: unknown = await withTimeout(timeoutMs, async () => options.summarize?.(asked), {
      signal: options.signal,
      onLate: () => ends.abort(new TimeoutError(`took longer than ${timeoutMs} ms`)),
    })
    const text = typeof answer === 'string' ? answer : (answer as { text?: unknown } | null | undefined)?.text
    if (typeof text !== 'string') {
      return noSummary('summary-failed', `invalid answer: ${mismatch(answer, 'a string')}`)
    }
    const plain = text.toWellFormed().trim()
    return plain === '' ? noSummary('summary-empty', 'answered nothing') : plain
  } catch (thrown) {
    checkAborted(options.signal)
    const reason = thrown instanceof TimeoutError ? 'summary-timeout' : 'summary-failed'
    return noSummary(reason, messageOf(thrown), thrown)
  } finally {
    options.signal?.removeEventListener('abort', stop)
  }
}

/** There is no summary, and this is why. */
export function noSummary(reason: CompactionReason, problem: string, cause?: unknown): NoSummary {
  return { reason, error: new SpillwayError('CALLBACK', `summarize: ${problem}`, { cause }) }
}

/** @throws SpillwayError `ABORTED` if the signal says so */
export function checkAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new SpillwayError('ABORTED', 'the compaction was aborted', { cause: signal.reason })
}
