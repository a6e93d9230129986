/** Histories in several formats, made from the same turns. */

export type Message = Record<string, unknown>

/** A user's message, the results of the calls that the model then made, and its answer. */
export interface Turn {
  user: string
  results: string[]
  answer: string | undefined
}

interface Format {
  build(turns: readonly Turn[]): Message[]
  /** The texts of all results, by the ids of their calls. */
  results(messages: readonly Message[]): Map<string, string>
  calls(messages: readonly Message[]): string[]
}

const idsOf = (turn: Turn, at: number) => turn.results.map((_, n) => `call_${at}_${n}`)
const list = (value: unknown) => (Array.isArray(value) ? (value as Message[]) : [])
const textIn = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : list(content)
        .map((part) => String(part.text ?? ''))
        .join('\n')

/** Builds a history message by message. */
const built = (
  turns: readonly Turn[],
  calls: (ids: string[]) => Message[],
  results: (ids: string[], texts: string[]) => Message[],
  say: (role: 'user' | 'assistant', text: string) => Message,
): Message[] =>
  turns.flatMap((turn, at) => {
    const ids = idsOf(turn, at)
    return [
      say('user', turn.user),
      ...(ids.length > 0 ? [...calls(ids), ...results(ids, turn.results)] : []),
      ...(turn.answer === undefined ? [] : [say('assistant', turn.answer)]),
    ]
  })

const say = (role: string, content: string): Message => ({ role, content })

/** Each of these is a format that histories are kept in. */
export const formats: Record<string, Format> = {
  pi: {
    build: (turns) =>
      built(
        turns,
        (ids) => [
          { role: 'assistant', content: ids.map((id) => ({ type: 'toolCall', id, name: 'bash', arguments: {} })) },
        ],
        (ids, texts) =>
          ids.map((id, n) => ({
            role: 'toolResult',
            toolCallId: id,
            toolName: 'bash',
            content: [{ type: 'text', text: texts[n] }],
            isError: false,
          })),
        (role, text) => ({ role, content: [{ type: 'text', text }] }),
      ),
    results: (messages) =>
      new Map(
        messages.flatMap((message) =>
          message.role === 'toolResult' ? [[String(message.toolCallId), textIn(message.content)]] : [],
        ),
      ),
    calls: (messages) =>
      messages.flatMap(({ content }) =>
        list(content).flatMap(({ type, id }) => (type === 'toolCall' ? [String(id)] : [])),
      ),
  },
  chat: {
    build: (turns) =>
      built(
        turns,
        (ids) => [
          {
            role: 'assistant',
            content: null,
            tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'bash', arguments: '{}' } })),
          },
        ],
        (ids, texts) => ids.map((id, n) => ({ role: 'tool', tool_call_id: id, content: texts[n] })),
        say,
      ),
    results: (messages) =>
      new Map(
        messages.flatMap((message) =>
          message.role === 'tool' ? [[String(message.tool_call_id), textIn(message.content)]] : [],
        ),
      ),
    calls: (messages) => messages.flatMap(({ tool_calls }) => list(tool_calls).map(({ id }) => String(id))),
  },
  anthropic: {
    build: (turns) =>
      built(
        turns,
        (ids) => [{ role: 'assistant', content: ids.map((id) => ({ type: 'tool_use', id, name: 'bash', input: {} })) }],
        (ids, texts) => [
          {
            role: 'user',
            content: ids.map((id, n) => ({
              type: 'tool_result',
              tool_use_id: id,
              content: [{ type: 'text', text: texts[n] }],
            })),
          },
        ],
        say,
      ),
    results: (messages) =>
      new Map(
        messages.flatMap(({ content }) =>
          list(content).flatMap((part) =>
            part.type === 'tool_result' ? [[String(part.tool_use_id), textIn(part.content)] as const] : [],
          ),
        ),
      ),
    calls: (messages) =>
      messages.flatMap(({ content }) =>
        list(content).flatMap(({ type, id }) => (type === 'tool_use' ? [String(id)] : [])),
      ),
  },
  responses: {
    build: (turns) =>
      built(
        turns,
        (ids) => ids.map((id) => ({ type: 'function_call', call_id: id, name: 'bash', arguments: '{}' })),
        (ids, texts) => ids.map((id, n) => ({ type: 'function_call_output', call_id: id, output: texts[n] })),
        (role, text) => ({
          type: 'message',
          role,
          content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }],
        }),
      ),
    results: (messages) =>
      new Map(
        messages.flatMap((item) =>
          item.type === 'function_call_output' ? [[String(item.call_id), textIn(item.output)]] : [],
        ),
      ),
    calls: (messages) => messages.flatMap(({ type, call_id }) => (type === 'function_call' ? [String(call_id)] : [])),
  },
  'ai-sdk': {
    build: (turns) =>
      built(
        turns,
        (ids) => [
          {
            role: 'assistant',
            content: ids.map((toolCallId) => ({ type: 'tool-call', toolCallId, toolName: 'bash', input: {} })),
          },
        ],
        (ids, texts) => [
          {
            role: 'tool',
            content: ids.map((toolCallId, n) => ({
              type: 'tool-result',
              toolCallId,
              toolName: 'bash',
              output: { type: 'text', value: texts[n] },
            })),
          },
        ],
        (role, text) => ({ role, content: [{ type: 'text', text }] }),
      ),
    results: (messages) =>
      new Map(
        messages.flatMap(({ content }) =>
          list(content).flatMap((part) =>
            part.type === 'tool-result'
              ? [[String(part.toolCallId), String((part.output as Message).value)] as const]
              : [],
          ),
        ),
      ),
    calls: (messages) =>
      messages.flatMap(({ content }) =>
        list(content).flatMap(({ type, toolCallId }) => (type === 'tool-call' ? [String(toolCallId)] : [])),
      ),
  },
}

export function deepFreeze<T>(value: T): T {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(deepFreeze)
  }
  return value
}
