/** The id of a model, from any of the supported frameworks. */

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
