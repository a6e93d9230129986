/** The last step of a {@link ContextManager}: results are shortened if the messages still do not fit. */

import type { CompactionReport } from '../compaction/report'
import { SpillwayError } from '../errors'
import { detectFormat, viewOf } from '../history/formats'
import { recoverAsFar } from '../overflow/recover-from-overflow'
import { share } from '../pruning/pruner'
import { messageOf } from '../util/message-of'
import { type Inner, requestTokens } from './manager-parts'
import { compactionWords, type Guarded } from './step-reports'

/** Shortens results if the messages still do not fit, or were refused and nothing else helped. */
export async function guarded<M>(
  inner: Inner<M>,
  messages: M[],
  tokens: number,
  {
    isRefused,
    compaction,
    signal,
  }: { isRefused: boolean; compaction: CompactionReport | undefined; signal: AbortSignal | undefined },
): Promise<Guarded | undefined> {
  const { options, pruner, usable, recipient, tell } = inner
  const { overflow = 'openclaw', reserveTokens = 0, estimateTokens, storage, ledger } = options
  const whole = requestTokens(inner, tokens)
  const reserved = Math.max(reserveTokens + whole - tokens, 0)
  const fits = whole <= usable
  if (overflow === false || options.contextWindow === undefined || (fits && !isRefused)) return undefined
  // The estimate of a refused request was too small, so less than it must be sent.
  const contextWindow = fits ? whole + reserveTokens : options.contextWindow
  share(pruner)
  try {
    const given = {
      ...recipient,
      messages,
      contextWindowTokens: contextWindow,
      reserveTokens: reserved,
      profile: overflow,
      ...(estimateTokens && { estimateTokens }),
      ...(storage && { storage }),
      ...(ledger && { ledger }),
      ...(signal && { signal }),
    }
    const recovered = await recoverAsFar(given, {
      compaction: compactionWords(options.compaction !== false, compaction),
    })
    const { problem, report } = recovered
    const { tokensBefore, tokensAfter } = report
    // Insufficient savings cost the provider's cache at every request; that pays only if the request would be refused otherwise.
    const room = contextWindow - reserved
    if (problem !== undefined && !(tokens > room && tokensAfter <= room)) {
      return { texts: [], freed: 0, problem: problem.message }
    }
    const texts = changedTexts(messages, recovered.messages)
    return { texts, freed: tokensBefore - tokensAfter, problem: problem?.message }
  } catch (error) {
    if ((error as SpillwayError).code === 'ABORTED') throw error
    tell(error instanceof SpillwayError ? error : new SpillwayError('INTERNAL', messageOf(error)))
    return { texts: [], freed: 0, problem: messageOf(error) }
  }
}

/** The results that have another text. */
function changedTexts<M>(before: readonly M[], after: readonly M[]): Guarded['texts'] {
  const format = detectFormat(before)
  if (format === undefined) return []
  return after.flatMap((message, index) => {
    if (message === before[index]) return []
    const old = viewOf(format, before[index]).results
    return viewOf(format, message).results.flatMap(({ text }, place) => {
      const joined = typeof text === 'string' ? text : text.join('\n')
      const was = old[place]?.text ?? ''
      return joined === (typeof was === 'string' ? was : was.join('\n')) ? [] : [{ index, place, text: joined }]
    })
  })
}
