/** A turn with a signed block of reasoning, a call and its result, as each format writes it. */

import type { Message } from './binding-provider'

/** How a format writes a turn. */
export interface Shape {
  user(text: string): Message
  answer(id: string, signature: string): Message[]
  result(id: string, text: string): Message
}

/** A history of the AI SDK with these options in reasoning, and maybe in calls. */
function aiSdk(options: (signature: string) => object, callsOptions?: typeof options): Shape {
  return {
    user: (text) => ({ role: 'user', content: [{ type: 'text', text }] }),
    answer: (id, signature) => {
      const call = { type: 'tool-call', toolCallId: id, toolName: 'read', input: { path: `${id}.ts` } }
      const reasoning = { type: 'reasoning', text: 'I look.', providerOptions: options(signature) }
      const more = callsOptions && { providerOptions: callsOptions(signature) }
      return [{ role: 'assistant', content: [reasoning, { ...call, ...more }] }]
    },
    result: (id, text) => ({
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: id, toolName: 'read', output: { type: 'text', value: text } }],
    }),
  }
}

/** A history of LangChain whose answers have these fields. */
function langchain(fields: (signature: string) => object): Shape {
  return {
    user: (text) => ({ type: 'human', content: text }),
    answer: (id, signature) => [
      { type: 'ai', content: '', tool_calls: [{ id, name: 'read', args: { path: `${id}.ts` } }], ...fields(signature) },
    ],
    result: (id, text) => ({ type: 'tool', tool_call_id: id, name: 'read', content: text }),
  }
}

/** A history of OpenAI's Agents SDK whose model is one of the AI SDK. */
function agents(providerData: (signature: string) => object, callsData = providerData): Shape {
  return {
    user: (text) => ({ role: 'user', content: text }),
    answer: (id, signature) => [
      {
        type: 'reasoning',
        content: [{ type: 'input_text', text: 'I look.' }],
        rawContent: [{ type: 'reasoning_text', text: 'I look.' }],
        providerData: { model: 'claude', ...providerData(signature) },
      },
      {
        type: 'function_call',
        callId: id,
        name: 'read',
        arguments: JSON.stringify({ path: `${id}.ts` }),
        status: 'completed',
        providerData: { model: 'claude', ...callsData(signature) },
      },
    ],
    result: (id, text) => ({
      type: 'function_call_result',
      callId: id,
      name: 'read',
      status: 'completed',
      output: { type: 'text', text },
    }),
  }
}

/** A history of chat completions whose answers have these fields. */
function chat(fields: (signature: string) => object): Shape {
  return {
    user: (text) => ({ role: 'user', content: text }),
    answer: (id, signature) => {
      const call = { name: 'read', arguments: JSON.stringify({ path: `${id}.ts` }) }
      return [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id, type: 'function', function: call }],
          ...fields(signature),
        },
      ]
    },
    result: (id, text) => ({ role: 'tool', tool_call_id: id, content: text }),
  }
}

const detailsOf = (signature: string) => [
  { type: 'reasoning.text', text: 'I look.', signature, format: 'anthropic-claude-v1' },
]
const openrouter = (signature: string) => ({ openrouter: { reasoning_details: detailsOf(signature) } })

export const SHAPES = {
  anthropic: {
    user: (text) => ({ role: 'user', content: [{ type: 'text', text }] }),
    answer: (id, signature) => [
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'I look.', signature },
          { type: 'tool_use', id, name: 'read', input: { path: `${id}.ts` } },
        ],
      },
    ],
    result: (id, text) => ({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: text }] }),
  },
  'ai-sdk': aiSdk((signature) => ({ anthropic: { signature } })),
  langchain: langchain((signature) => ({ content: [{ type: 'thinking', thinking: 'I look.', signature }] })),
  pi: {
    user: (text) => ({ role: 'user', content: text }),
    answer: (id, thinkingSignature) => [
      {
        role: 'assistant',
        api: 'anthropic-messages',
        content: [
          { type: 'thinking', thinking: 'I look.', thinkingSignature },
          { type: 'toolCall', id, name: 'read', arguments: { path: `${id}.ts` } },
        ],
      },
    ],
    result: (id, text) => ({
      role: 'toolResult',
      toolCallId: id,
      toolName: 'read',
      content: [{ type: 'text', text }],
      isError: false,
    }),
  },
} satisfies Record<string, Shape>

/** The same from other providers, and as other versions write it. The format is in front of the colon. */
export const MORE_SHAPES: Record<string, Shape> = {
  'ai-sdk: another name of Bedrock': aiSdk((signature) => ({ amazonBedrock: { signature } })),
  'ai-sdk: redacted, of Bedrock': aiSdk((redactedContent) => ({ bedrock: { redactedContent } })),
  'ai-sdk: OpenRouter': aiSdk(openrouter, openrouter),
  'langchain: blocks of version 1': langchain((signature) => ({
    content: [{ type: 'reasoning', reasoning: 'I look.', signature }],
  })),
  'langchain: redacted, of version 1': langchain((data) => ({
    content: [{ type: 'non_standard', value: { type: 'redacted_thinking', data } }],
  })),
  'langchain: Bedrock': langchain((signature) => ({
    content: [{ type: 'reasoning_content', reasoningText: { text: 'I look.', signature } }],
  })),
  'langchain: redacted, of Bedrock': langchain((redactedContent) => ({
    content: [{ type: 'reasoning_content', redactedContent }],
  })),
  'langchain: OpenRouter': langchain((signature) => ({
    additional_kwargs: { reasoning_content: 'I look.', reasoning_details: detailsOf(signature) },
  })),
  'openai-agents: Claude': agents(
    (signature) => ({ anthropic: { signature } }),
    () => ({}),
  ),
  'openai-agents: OpenRouter': agents(openrouter),
  'openai-chat: OpenRouter': chat((signature) => ({ reasoning: 'I look.', reasoning_details: detailsOf(signature) })),
  'openai-chat: the block beside the content': chat((signature) => ({
    thinking: { type: 'thinking', thinking: 'I look.', signature },
  })),
}
