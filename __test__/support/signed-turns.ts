/** A turn with a signed block of reasoning, a call and its result, as each format writes it. */

import type { Message } from './binding-provider'

/** How a format writes a turn. */
export interface Shape {
  user(text: string): Message
  answer(id: string, signature: string): Message
  result(id: string, text: string): Message
}

export const SHAPES = {
  anthropic: {
    user: (text) => ({ role: 'user', content: [{ type: 'text', text }] }),
    answer: (id, signature) => ({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'I look.', signature },
        { type: 'tool_use', id, name: 'read', input: { path: `${id}.ts` } },
      ],
    }),
    result: (id, text) => ({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: text }] }),
  },
  'ai-sdk': {
    user: (text) => ({ role: 'user', content: [{ type: 'text', text }] }),
    answer: (id, signature) => ({
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'I look.', providerOptions: { anthropic: { signature } } },
        { type: 'tool-call', toolCallId: id, toolName: 'read', input: { path: `${id}.ts` } },
      ],
    }),
    result: (id, text) => ({
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: id, toolName: 'read', output: { type: 'text', value: text } }],
    }),
  },
  langchain: {
    user: (text) => ({ type: 'human', content: text }),
    answer: (id, signature) => ({
      type: 'ai',
      content: [{ type: 'thinking', thinking: 'I look.', signature }],
      tool_calls: [{ id, name: 'read', args: { path: `${id}.ts` } }],
    }),
    result: (id, text) => ({ type: 'tool', tool_call_id: id, name: 'read', content: text }),
  },
  pi: {
    user: (text) => ({ role: 'user', content: text }),
    answer: (id, thinkingSignature) => ({
      role: 'assistant',
      api: 'anthropic-messages',
      content: [
        { type: 'thinking', thinking: 'I look.', thinkingSignature },
        { type: 'toolCall', id, name: 'read', arguments: { path: `${id}.ts` } },
      ],
    }),
    result: (id, text) => ({
      role: 'toolResult',
      toolCallId: id,
      toolName: 'read',
      content: [{ type: 'text', text }],
      isError: false,
    }),
  },
} satisfies Record<string, Shape>
