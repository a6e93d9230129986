import { type CompactOptions, ContextManager, compactHistory, estimateTokens, HistoryPruner } from 'spillway'

/** Parts of a message that are neither text nor calls must be counted, in every format. */

const prose = 'The build failed because the header was moved, so I look for every file that includes it.\n'.repeat(500)
const secret = 'aGVsbG8gd29ybGQh'.repeat(2_500)
const base64 = Buffer.from(prose).toString('base64')
const options: CompactOptions<object> = { contextWindow: 1e6, summarize: () => '' }
const size = (message: object, before: readonly object[] = []) =>
  compactHistory.plan([...before, message], options).sizeBefore -
  (before.length === 0 ? 0 : compactHistory.plan([...before], options).sizeBefore)

const spoken = estimateTokens(prose)

/** By how much a message may differ from the text alone: its own delimiters, a call, a title. */
const MARGIN = 120

const geminiTurn = { role: 'user', parts: [{ text: 'Go' }] }
const piCall = { type: 'toolCall', id: 'a', name: 'read', arguments: {} }
const anthropicCall = { type: 'tool_use', id: 'a', name: 'read', input: {} }
const aiCall = { type: 'tool-call', toolCallId: 'a', toolName: 'read', input: {} }
const chatCall = { id: 'a', type: 'function', function: { name: 'read', arguments: '{}' } }

describe('reasoning counts as its text', () => {
  test.each<[string, object, object?]>([
    [
      'Anthropic',
      { role: 'assistant', content: [{ type: 'thinking', thinking: prose, signature: 'x' }, anthropicCall] },
    ],
    [
      'Claude Code',
      {
        type: 'assistant',
        message: { role: 'assistant', content: [{ type: 'thinking', thinking: prose, signature: 'x' }] },
      },
    ],
    ['AI SDK', { role: 'assistant', content: [{ type: 'reasoning', text: prose }, aiCall] }],
    ['chat: reasoning_content', { role: 'assistant', content: 'ok', reasoning_content: prose, tool_calls: [chatCall] }],
    ['chat: reasoning', { role: 'assistant', content: 'ok', reasoning: prose, tool_calls: [chatCall] }],
    ['chat: thinking', { role: 'assistant', content: 'ok', thinking: prose, tool_calls: [chatCall] }],
    ['chat: reasoning_text', { role: 'assistant', content: 'ok', reasoning_text: prose, tool_calls: [chatCall] }],
    [
      'chat: reasoning_details',
      {
        role: 'assistant',
        content: 'ok',
        reasoning_details: [{ type: 'reasoning.text', text: prose }],
        tool_calls: [chatCall],
      },
    ],
    [
      'chat: the same twice',
      {
        role: 'assistant',
        content: 'ok',
        reasoning: prose,
        reasoning_details: [{ type: 'reasoning.text', text: prose }],
        tool_calls: [chatCall],
      },
    ],
    [
      'Mistral',
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: prose }] },
          { type: 'text', text: 'ok' },
        ],
      },
    ],
    ['Responses: a summary', { type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: prose }] }],
    [
      'Responses: content',
      { type: 'reasoning', id: 'r', summary: [], content: [{ type: 'reasoning_text', text: prose }] },
    ],
    ['Agents SDK', { type: 'reasoning', content: [{ type: 'input_text', text: prose }] }],
    ['Agents SDK: raw', { type: 'reasoning', content: [], rawContent: [{ type: 'reasoning_text', text: prose }] }],
    [
      'Agents SDK: a model of the AI SDK says it twice',
      {
        type: 'reasoning',
        content: [{ type: 'input_text', text: prose }],
        rawContent: [{ type: 'reasoning_text', text: prose }],
      },
    ],
    ['Gemini', { role: 'model', parts: [{ text: prose, thought: true }] }, geminiTurn],
    ['pi', { role: 'assistant', content: [{ type: 'thinking', thinking: prose, thinkingSignature: '' }, piCall] }],
    ['LangChain: reasoning', { type: 'ai', content: [{ type: 'reasoning', reasoning: prose }], tool_calls: [] }],
    ['LangChain: thinking', { type: 'ai', content: [{ type: 'thinking', thinking: prose }], tool_calls: [] }],
    [
      'LangChain: DeepSeek',
      { type: 'ai', content: '', additional_kwargs: { reasoning_content: prose }, tool_calls: [] },
    ],
    [
      'LangChain: OpenAI',
      {
        type: 'ai',
        content: '',
        additional_kwargs: { reasoning: { type: 'reasoning', summary: [{ type: 'summary_text', text: prose }] } },
      },
    ],
    ['LangChain: Bedrock', { type: 'ai', content: [{ type: 'reasoning_content', reasoningText: { text: prose } }] }],
    ['Snow', { role: 'assistant', content: 'ok', reasoning_content: prose, timestamp: 1, tool_calls: [chatCall] }],
  ])('%s', (...[, message, before]) => {
    const tokens = size(message, before === undefined ? [] : [before])
    expect(tokens).toBeGreaterThanOrEqual(spoken)
    expect(tokens).toBeLessThan(spoken + MARGIN)
  })
})

describe('signatures and encrypted reasoning count by their size', () => {
  test.each<[string, object, object?]>([
    [
      'Anthropic: a signature',
      { role: 'assistant', content: [{ type: 'thinking', thinking: '', signature: secret }, anthropicCall] },
    ],
    [
      'Anthropic: redacted',
      { role: 'assistant', content: [{ type: 'redacted_thinking', data: secret }, anthropicCall] },
    ],
    [
      'AI SDK: a signature',
      {
        role: 'assistant',
        content: [{ type: 'reasoning', text: '', providerOptions: { anthropic: { signature: secret } } }, aiCall],
      },
    ],
    [
      'AI SDK: metadata',
      {
        role: 'assistant',
        content: [{ type: 'reasoning', text: '', providerMetadata: { anthropic: { redactedData: secret } } }, aiCall],
      },
    ],
    [
      'AI SDK: encrypted',
      {
        role: 'assistant',
        content: [
          {
            type: 'reasoning',
            text: '',
            providerOptions: { openai: { itemId: 'i', reasoningEncryptedContent: secret } },
          },
          aiCall,
        ],
      },
    ],
    [
      'AI SDK: a signed call',
      { role: 'assistant', content: [{ ...aiCall, providerOptions: { google: { thoughtSignature: secret } } }] },
    ],
    [
      'OpenRouter',
      {
        role: 'assistant',
        content: 'ok',
        reasoning_details: [{ type: 'reasoning.encrypted', data: secret }],
        tool_calls: [chatCall],
      },
    ],
    ['Copilot', { role: 'assistant', content: 'ok', reasoning_opaque: secret, tool_calls: [chatCall] }],
    [
      'Gemini in chat',
      {
        role: 'assistant',
        content: 'ok',
        tool_calls: [{ ...chatCall, extra_content: { google: { thought_signature: secret } } }],
      },
    ],
    ['Responses', { type: 'reasoning', id: 'r', summary: [], encrypted_content: secret }],
    ['Responses: compaction', { type: 'compaction', encrypted_content: secret }],
    ['Agents SDK', { type: 'reasoning', content: [], providerData: { encrypted_content: secret } }],
    [
      'Gemini',
      { role: 'model', parts: [{ functionCall: { name: 'read', args: {} }, thoughtSignature: secret }] },
      geminiTurn,
    ],
    ['pi', { role: 'assistant', content: [{ type: 'thinking', thinking: '', thinkingSignature: secret }, piCall] }],
    ['pi: a signed call', { role: 'assistant', content: [{ ...piCall, thoughtSignature: secret }] }],
    ['LangChain', { type: 'ai', content: [{ type: 'redacted_thinking', data: secret }], tool_calls: [] }],
    [
      'LangChain: Gemini',
      { type: 'ai', content: '', additional_kwargs: { __gemini_function_call_thought_signatures__: { a: secret } } },
    ],
  ])('%s', (...[, message, before]) => {
    const tokens = size(message, before === undefined ? [] : [before])
    expect(tokens).toBeGreaterThanOrEqual(secret.length / 4)
    expect(tokens).toBeLessThan(secret.length / 4 + MARGIN)
  })
})

describe('files that are texts count as their text', () => {
  const user = (...content: object[]) => ({ role: 'user', content })
  const toolUse = { role: 'assistant', content: [anthropicCall] }
  const aiUse = { role: 'assistant', content: [aiCall] }
  const langchainUse = { type: 'ai', content: '', tool_calls: [{ id: 'a', name: 'read', args: {} }] }
  test.each<[string, object, object?]>([
    ['a document', user({ type: 'document', source: { type: 'text', media_type: 'text/plain', data: prose } })],
    [
      'a document in base64',
      user({ type: 'document', source: { type: 'base64', media_type: 'text/csv', data: base64 } }),
    ],
    [
      'a document of blocks',
      user({ type: 'document', source: { type: 'content', content: [{ type: 'text', text: prose }] } }),
    ],
    [
      'a search result',
      user({ type: 'search_result', title: 'T', source: 's', content: [{ type: 'text', text: prose }] }),
    ],
    [
      'a document as a result',
      user({
        type: 'tool_result',
        tool_use_id: 'a',
        content: [{ type: 'document', source: { type: 'text', data: prose } }],
      }),
      toolUse,
    ],
    [
      'search results as a result',
      user({
        type: 'tool_result',
        tool_use_id: 'a',
        content: [{ type: 'search_result', title: 'T', source: 's', content: [{ type: 'text', text: prose }] }],
      }),
      toolUse,
    ],
    ['AI SDK: base64', user({ type: 'file', mediaType: 'text/plain', data: base64 })],
    ['AI SDK: bytes', user({ type: 'file', mediaType: 'application/json', data: Buffer.from(prose) })],
    [
      'AI SDK: an address with the data',
      user({ type: 'file', mediaType: 'text/markdown', data: new URL(`data:text/markdown;base64,${base64}`) }),
    ],
    [
      'AI SDK: a result',
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'a',
            toolName: 'read',
            output: { type: 'content', value: [{ type: 'file-data', mediaType: 'text/plain', data: base64 }] },
          },
        ],
      },
      aiUse,
    ],
    ['chat', user({ type: 'file', file: { filename: 'a.txt', file_data: `data:text/plain;base64,${base64}` } })],
    [
      'Responses',
      {
        type: 'message',
        ...user({ type: 'input_file', filename: 'a.txt', file_data: `data:text/plain;base64,${base64}` }),
      },
    ],
    ['Gemini', { role: 'user', parts: [{ inlineData: { mimeType: 'text/plain', data: base64 } }] }, geminiTurn],
    ['LangChain', { type: 'human', content: [{ type: 'text-plain', mimeType: 'text/plain', data: base64 }] }],
    [
      'LangChain: version 0',
      { type: 'human', content: [{ type: 'file', source_type: 'text', mime_type: 'text/plain', text: prose }] },
    ],
    [
      'LangChain: a result',
      { type: 'tool', tool_call_id: 'a', content: [{ type: 'text-plain', text: prose }] },
      langchainUse,
    ],
    ['MCP', { content: [{ type: 'resource', resource: { uri: 'file:///a', mimeType: 'text/plain', blob: base64 } }] }],
  ])('%s', (...[, message, before]) => {
    const tokens = size(message, before === undefined ? [] : [before])
    expect(tokens).toBeGreaterThanOrEqual(spoken)
    expect(tokens).toBeLessThan(spoken + MARGIN)
  })

  test.each<[string, object]>([
    ['PDF', user({ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: base64 } })],
    ['an image', user({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64 } })],
    ['a document elsewhere', user({ type: 'document', source: { type: 'url', url: 'https://example.org/a.txt' } })],
    ['AI SDK: PDF', user({ type: 'file', mediaType: 'application/pdf', data: base64 })],
    ['AI SDK: an address', user({ type: 'file', mediaType: 'text/plain', data: 'https://example.org/a.txt' })],
    ['chat: an id', user({ type: 'file', file: { file_id: 'f' } })],
  ])('%s counts by its own rule', (_name, message) => {
    expect(size(message)).toBeGreaterThanOrEqual(1_500)
    expect(size(message)).toBeLessThan(1_500 + MARGIN)
  })
})

test('a history of nothing but thinking does not fit because it is thinking', async () => {
  const thinking = prose.slice(0, 40_000)
  const messages = Array.from({ length: 40 }, (_, at) => [
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking, signature: 'x' },
        { ...anthropicCall, id: `${at}` },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: `${at}`, content: 'ok' }] },
  ]).flat()
  const { report } = await new ContextManager({ contextWindow: 200_000 }).prepare(messages, { now: 0 })
  expect(report.tokensBefore).toBeGreaterThan(300_000)
  expect(report.fits).toBe(false)
  const { report: pruned } = new HistoryPruner().prune(messages, { now: 0 })
  expect(pruned.tokensBefore).toBeGreaterThan(300_000)
})

test('reasoning stays as it is when something in its message is replaced', () => {
  const thought = { type: 'thinking', thinking: prose, signature: secret }
  const messages = [
    { role: 'user', content: 'Go' },
    { role: 'assistant', content: [thought, anthropicCall] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: prose }] },
    { role: 'assistant', content: [thought, { type: 'text', text: 'Done' }] },
  ]
  const { messages: sent } = new HistoryPruner({ keepRecent: 0, schedule: 'always', thinking: 'ignore' }).prune(
    messages,
    { now: 0 },
  )
  expect(sent[1]).toBe(messages[1])
  expect(JSON.stringify(sent[2])).not.toContain('The build failed')
})

test('reasoning that is put there later is counted', () => {
  const message = { role: 'assistant', content: 'ok', reasoning_content: 'hm', tool_calls: [chatCall] }
  const before = size(message)
  message.reasoning_content = prose
  expect(size(message)).toBeGreaterThan(before + spoken - 10)
})
