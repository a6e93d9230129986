/** Who the requests of a model are sent to, from the model of any of the supported frameworks. */

import { nonEmpty } from '../../history/formats/safe-read'
import type { Recipient } from '../../overflow/provider-limits'

/** AI SDK; LangChain's chat models, two names; pi; OpenAI's Agents SDK. */
const MODELS = ['modelId', 'model', 'modelName', 'id', '_model']

/** AI SDK and pi; LangChain's `initChatModel`. */
const PROVIDERS = ['provider', 'modelProvider']

/** Models that LangChain wraps: one with tools or options bound to it, and one that is made when it is called. */
const INNER = ['bound', '_defaultConfig']

/** Returns the id of a model as its provider writes it, and its provider, each as far as it is known. Never throws. */
export function recipientOf(model: unknown): Recipient {
  if (typeof model === 'string') return { model: model === '' ? undefined : model }
  const own = Object(model) as Record<string, unknown> & { _llmType?: () => unknown }
  const inner = INNER.map((name) => readOf(() => own[name])).find(Boolean)
  // The type of a LangChain model names its provider; that of one around another says only that it is one.
  const found: Recipient =
    inner === undefined ? { provider: nonEmpty(readOf(() => own._llmType?.())) } : recipientOf(inner)
  return { model: firstIn(own, MODELS) ?? found.model, provider: firstIn(own, PROVIDERS) ?? found.provider }
}

function firstIn(holder: Readonly<Record<string, unknown>>, names: readonly string[]): string | undefined {
  for (const name of names) {
    const text = nonEmpty(readOf(() => holder[name]))
    if (text !== undefined) return text
  }
  return undefined
}

/** Reads a field; one that throws is not known. */
function readOf(read: () => unknown): unknown {
  try {
    return read()
  } catch {
    return undefined
  }
}
