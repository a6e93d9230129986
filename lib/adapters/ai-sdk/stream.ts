/** The stream of a model, checked for errors until the first part of the answer. */

/** A part of a stream, as far as it matters here. */
export interface StreamPart {
  type: string
  /** The new part of a text. */
  delta?: unknown
  error?: unknown
  finishReason?: unknown
  usage?: unknown
  providerMetadata?: unknown
}

/** A stream whose beginning was looked at. */
export interface Peeked<R> {
  /** The result with a stream that begins at the beginning. */
  result: R
  /** The first part of the stream, if it is an error or an end. */
  trouble: StreamPart | undefined
  /** The stream is not wanted any more. */
  cancel(): void
}

/** Parts before the answer; `custom` parts are messages of the provider itself, such as the start of a message. */
const SILENT = new Set(['stream-start', 'response-metadata', 'raw', 'ping', 'custom', 'text-start'])

/** Some providers begin a text, without a letter, whatever comes then. */
function isSilent(part: StreamPart): boolean {
  const { type, delta } = Object(part) as StreamPart
  return SILENT.has(type) || (type === 'text-delta' && delta === '')
}

/** Reads until the first part that a user would see. `finished` receives the last part of the answer. */
export async function peek<R extends { stream: ReadableStream<StreamPart> }>(
  result: R,
  finished: (part: StreamPart) => void,
): Promise<Peeked<R>> {
  const reader = result.stream.getReader()
  const pass = (controller: ReadableStreamDefaultController<StreamPart>, part: StreamPart) => {
    if (part?.type === 'finish') finished(part)
    controller.enqueue(part)
  }
  const held: StreamPart[] = []
  let failure: { error: unknown } | undefined
  let trouble: StreamPart | undefined
  let ended = false
  try {
    for (;;) {
      const { done, value } = await reader.read()
      ended = done
      if (done) break
      held.push(value)
      if (isSilent(value)) continue
      if (value?.type === 'error' || value?.type === 'finish') trouble = value
      break
    }
  } catch (error) {
    failure = { error }
    trouble = { type: 'error', error }
  }
  const cancel = () => {
    reader.cancel().catch(() => {})
  }
  const stream = new ReadableStream<StreamPart>({
    async pull(controller) {
      const next = held.shift()
      if (next !== undefined) return pass(controller, next)
      if (failure !== undefined) return controller.error(failure.error)
      if (ended) return controller.close()
      const { done, value } = await reader.read()
      if (done) controller.close()
      else pass(controller, value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
  return { result: { ...result, stream }, trouble, cancel }
}
