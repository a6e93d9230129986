/** The id of a model and its provider, from any of the supported frameworks. */

import type { Recipient } from '../../overflow/media-limits'

/** AI SDK; LangChain's chat models, two names; pi; OpenAI's Agents SDK. */
const NAMES = ['modelId', 'model', 'modelName', 'id', '_model']

/** Models that LangChain wraps: one with tools or options bound to it, and one that is made when it is called. */
const INNER = ['bound', '_defaultConfig']

/** Returns the id of a model as its provider writes it; nothing where it is not known. */
export function modelIdOf(model: unknown): string | undefined {
  if (typeof model === 'string') return model === '' ? undefined : model
  try {
    const found = NAMES.map((name) => Object(model)[name]).find((id) => typeof id === 'string' && id !== '')
    return found ?? INNER.map((name) => Object(model)[name]).flatMap((inner) => (inner ? modelIdOf(inner) : []))[0]
  } catch {
    // A getter of the model's own.
    return undefined
  }
}

/** AI SDK and pi; LangChain's `initChatModel`. */
const PROVIDERS = ['provider', 'modelProvider']

/** Returns who a model's requests are sent to, as far as that is known. */
export function recipientOf(model: unknown): Recipient {
  return { model: modelIdOf(model), provider: providerOf(model) }
}

function providerOf(model: unknown): string | undefined {
  try {
    const found = PROVIDERS.map((name) => Object(model)[name]).find((one) => typeof one === 'string' && one !== '')
    if (found !== undefined) return found
    // LangChain's chat models.
    const type: unknown = Object(model)._llmType?.()
    if (typeof type === 'string' && type !== '') return type
    return INNER.map((name) => Object(model)[name]).flatMap((inner) => (inner ? providerOf(inner) : []))[0]
  } catch {
    return undefined
  }
}
