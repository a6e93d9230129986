import { SpillwayError } from 'spillway'
import { repairToolPairs } from 'spillway/history'
import { pairedFormats, written } from './histories'
import { deepFreeze, type Fields } from './support'

const MISSING = '[missing tool result: the call was interrupted, or its result was lost]'
const result = (id: string, text = 'ok') => ({ id, name: 'read', text, isError: false, image: false })
const calls = (...ids: string[]) => ({
  kind: 'calls' as const,
  text: 'Let me see',
  calls: ids.map((id) => ({ id, name: 'read' })),
})
const results = (...all: ReturnType<typeof result>[]) => ({ kind: 'results' as const, results: all })
const user = { kind: 'user' as const, text: 'Hi' }
const repair = (messages: readonly object[], options?: object) => repairToolPairs(deepFreeze(messages), options)

describe.each(pairedFormats)('%s', (format) => {
  test('a history in pairs is given back as it is', () => {
    for (const history of [[], [user], [user, calls('c', 'd'), results(result('d'), result('c')), user]]) {
      const messages = deepFreeze(written(format, history))
      expect(repairToolPairs(messages)).toBe(messages)
    }
  })

  test('calls at the end may still be running', () => {
    const messages = deepFreeze(written(format, [user, calls('c', 'd'), results(result('c'))]))
    expect(repairToolPairs(messages, { format })).toBe(messages)
    expect(repair(messages, { format, runningCalls: 'close' })).not.toBe(messages)
  })

  test('removes a second answer, and an answer to no call', () => {
    const history = [user, calls('c'), results(result('c'), result('c', 'again'), { ...result('d'), name: 'ls' }), user]
    const whole = [user, calls('c'), results(result('c')), user]
    expect(repair(written(format, history))).toEqual(written(format, whole))
    const alone = [user, results(result('d')), user]
    expect(repair(written(format, alone), { format })).toEqual(written(format, [user, user]))
  })
})

const inside = (given: Fields[], key: string) => (given[0] as Fields)[key] as object[]

/** The replacement of the second call's result, with the messages before it in the same turn. */
const stubs: Record<(typeof pairedFormats)[number], (given: Fields[]) => unknown[]> = {
  'openai-chat': (given) => [...given, { role: 'tool', tool_call_id: 'd', content: MISSING }],
  snow: (given) => [
    ...given,
    { role: 'tool', tool_call_id: 'd', content: MISSING, name: 'read', messageStatus: 'error' },
  ],
  'openai-responses': (given) => [{ type: 'function_call_output', call_id: 'd', output: MISSING }, ...given],
  'openai-agents': (given) => [
    { type: 'function_call_result', callId: 'd', name: 'read', status: 'incomplete', output: MISSING },
    ...given,
  ],
  anthropic: (given) => [
    {
      ...given[0],
      content: [
        ...inside(given, 'content'),
        { type: 'tool_result', tool_use_id: 'd', content: MISSING, is_error: true },
      ],
    },
  ],
  'ai-sdk': (given) => [
    {
      ...given[0],
      content: [
        ...inside(given, 'content'),
        {
          type: 'tool-result',
          toolCallId: 'd',
          toolName: 'read',
          output: { type: 'error-text', value: MISSING },
        },
      ],
    },
  ],
  langchain: (given) => [
    ...given,
    { type: 'tool', tool_call_id: 'd', name: 'read', content: MISSING, status: 'error' },
  ],
  gemini: (given) => [
    {
      ...given[0],
      parts: [...inside(given, 'parts'), { functionResponse: { id: 'd', name: 'read', response: { error: MISSING } } }],
    },
  ],
  bedrock: (given) => [
    {
      ...given[0],
      content: [
        ...inside(given, 'content'),
        { toolResult: { toolUseId: 'd', content: [{ text: MISSING }], status: 'error' } },
      ],
    },
  ],
  pi: (given) => [
    ...given,
    {
      role: 'toolResult',
      toolCallId: 'd',
      toolName: 'read',
      content: [{ type: 'text', text: MISSING }],
      isError: true,
      timestamp: 5,
    },
  ],
}

describe('a missing result', () => {
  test.each(pairedFormats)('is synthesised after those of its turn: %s', (format) => {
    const before = written(format, [user, calls('c', 'd')])
    const given = written(format, [results(result('c'))]) as Fields[]
    const after = written(format, [{ kind: 'assistant', text: 'Go on' }, user])
    const repaired = repair([...before, ...given, ...after])
    expect(repaired).toEqual([...before, ...stubs[format](given), ...after])
    for (const message of [...before, ...after]) expect(repaired).toContain(message)
  })

  test('gets a message of its own where no result of the turn is', () => {
    const messages = written('anthropic', [user, calls('c'), user])
    expect(repair(messages)).toEqual([
      ...messages.slice(0, 2),
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'c', content: MISSING, is_error: true }],
      },
      messages[2],
    ])
  })

  test('says what the caller wants', () => {
    const messages = written('openai-chat', [user, calls('c'), user])
    expect(repair(messages, { text: 'lost \ud800' })[2]).toEqual({
      role: 'tool',
      tool_call_id: 'c',
      content: 'lost \ufffd',
    })
  })

  test('has the form that its kind of call wants', () => {
    const items = [
      { type: 'custom_tool_call', call_id: 'a', name: 'sql', input: 'select' },
      { type: 'shell_call', call_id: 'b', action: { commands: ['ls'] } },
      { type: 'apply_patch_call', call_id: 'c', operation: {} },
      { type: 'local_shell_call', call_id: 'd', action: {} },
      { type: 'message', role: 'user', content: 'Hi' },
    ]
    expect(repair(items).filter((item) => !items.includes(item as never))).toEqual([
      { type: 'custom_tool_call_output', call_id: 'a', output: MISSING },
      {
        type: 'shell_call_output',
        call_id: 'b',
        output: [{ stdout: '', stderr: MISSING, outcome: { type: 'exit', exit_code: 1 } }],
      },
      { type: 'apply_patch_call_output', call_id: 'c', status: 'failed', output: MISSING },
      { type: 'local_shell_call_output', call_id: 'd', output: MISSING },
    ])
  })

  test('is a line of the log where the call is one', () => {
    const [call, said] = written('pi', [calls('c'), user])
    const entries = [
      { type: 'message', id: 'e', parentId: null, message: call },
      { type: 'message', id: 'f', parentId: 'e', message: said },
    ]
    expect(repair(entries)[1]).toEqual({
      type: 'message',
      message: expect.objectContaining({ role: 'toolResult', toolCallId: 'c', isError: true }),
    })
  })
})

describe('a result that comes too late', () => {
  test.each(pairedFormats.filter((name) => !name.startsWith('openai-r') && !name.startsWith('openai-a')))(
    'is moved to its call: %s',
    (format) => {
      const late = [user, calls('c'), user, results(result('c', 'late'))]
      const whole = [user, calls('c'), results(result('c', 'late')), user]
      expect(repair(written(format, late))).toEqual(written(format, whole))
    },
  )

  test('is the same message afterwards', () => {
    const messages = written('openai-chat', [user, calls('c'), user, results(result('c', 'late'))])
    expect(repair(messages)).toEqual([messages[0], messages[1], messages[3], messages[2]])
    expect(repair(messages)[2]).toBe(messages[3])
  })

  test('may stay where items have no order', () => {
    const messages = deepFreeze(written('openai-responses', [user, calls('c'), user, results(result('c'))]))
    expect(repairToolPairs(messages)).toBe(messages)
  })
})

test("results of the provider's own tools need no calls", () => {
  const messages = [
    { role: 'user', content: 'Hi' },
    {
      role: 'assistant',
      content: [
        { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
        { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
      ],
    },
    { role: 'user', content: 'Go on' },
  ]
  expect(repairToolPairs(messages)).toBe(messages)
})

test('results of MCP have no calls', () => {
  const messages = [{ content: [{ type: 'text', text: 'ok' }] }]
  expect(repairToolPairs(messages)).toBe(messages)
})

test('names invalid arguments', () => {
  const refuse = (options: unknown, field: string) => {
    expect(() => repairToolPairs([], options as never)).toThrow(SpillwayError)
    expect(() => repairToolPairs([], options as never)).toThrow(expect.objectContaining({ field }))
  }
  expect(() => repairToolPairs('x' as never)).toThrow(expect.objectContaining({ field: 'messages' }))
  refuse(null, 'options')
  refuse([], 'options')
  refuse({ format: 'xml' }, 'options.format')
  refuse({ text: 1 }, 'options.text')
  refuse({ runningCalls: true }, 'options.runningCalls')
  refuse({ runingCalls: 'keep' }, 'options.runingCalls')
})

describe('an answer that failed or was interrupted', () => {
  const asked = { role: 'user', content: 'Hi' }
  const toolCall = (id: string) => ({ type: 'toolCall', id, name: 'read', arguments: {} })
  const given = (toolCallId: string) => ({
    role: 'toolResult',
    toolCallId,
    toolName: 'read',
    content: [{ type: 'text', text: 'ok' }],
    isError: false,
  })

  test.each(['error', 'aborted'])('%s: its calls get no result, and its results go', (stopReason) => {
    const broken = { role: 'assistant', content: [toolCall('a')], stopReason }
    expect(repair([broken, asked])).toEqual([broken, asked])
    expect(repair([broken, given('a'), asked])).toEqual([broken, asked])
    expect(repair([broken], { runningCalls: 'close', format: 'pi' })).toEqual([broken])
    const whole = { role: 'assistant', content: [toolCall('b')], stopReason: 'toolUse' }
    const messages = [asked, broken, asked, whole, given('b')]
    expect(repairToolPairs(messages)).toBe(messages)
    const line = (message: object) => ({ type: 'message', id: '1', message })
    expect(repair([line(broken), line(asked)])).toEqual([line(broken), line(asked)])
  })
})

describe('a blank name of a tool', () => {
  const calls = (id: string) => ({ id, name: 'read' })
  test.each<[string, object, (name: string) => object]>([
    [
      'pi',
      { role: 'assistant', content: [{ type: 'toolCall', ...calls('a'), arguments: {} }] },
      (toolName) => ({ role: 'toolResult', toolCallId: 'a', toolName, content: [{ type: 'text', text: 'ok' }] }),
    ],
    [
      'AI SDK',
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'read', input: {} }] },
      (toolName) => ({
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: 'a', toolName, output: { type: 'text', value: 'ok' } }],
      }),
    ],
    [
      'Gemini',
      { role: 'model', parts: [{ functionCall: { ...calls('a'), args: {} } }] },
      (name) => ({ role: 'user', parts: [{ functionResponse: { id: 'a', name, response: { output: 'ok' } } }] }),
    ],
    [
      'Agents SDK',
      { type: 'function_call', callId: 'a', name: 'read', arguments: '{}' },
      (name) => ({ type: 'function_call_result', callId: 'a', name, status: 'completed', output: 'ok' }),
    ],
    [
      'LangChain',
      { type: 'ai', content: '', tool_calls: [{ ...calls('a'), args: {} }] },
      (name) => ({ type: 'tool', tool_call_id: 'a', name, content: 'ok' }),
    ],
  ])('%s: becomes that of the call', (_format, called, result) => {
    for (const blank of ['', '  ']) {
      const messages = deepFreeze([called, result(blank)])
      const repaired = repairToolPairs(messages)
      expect(repaired).toEqual([called, result('read')])
      expect(repairToolPairs(repaired)).toBe(repaired)
    }
    const fine = [called, result('other')]
    expect(repairToolPairs(fine)).toBe(fine)
    // LangChain and providers of chats do not require a name.
    if (_format === 'LangChain') return
    for (const missing of [undefined, null, 5]) {
      const repaired = repairToolPairs(deepFreeze([called, result(missing as never)]))
      expect(JSON.parse(JSON.stringify(repaired))).toEqual([called, result('read')])
    }
  })

  test.each<[string, object, (name: string) => object]>([
    [
      'pi',
      { role: 'assistant', content: [{ type: 'toolCall', id: 'a', name: ' ', arguments: {} }] },
      (toolName) => ({ role: 'toolResult', toolCallId: 'a', toolName }),
    ],
    [
      'AI SDK',
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'a', toolName: '', input: {} }] },
      (toolName) => ({ role: 'tool', content: [{ type: 'tool-result', toolCallId: 'a', toolName }] }),
    ],
    [
      'Gemini',
      { role: 'model', parts: [{ functionCall: { id: 'a', name: ' ', args: {} } }] },
      (name) => ({ role: 'user', parts: [{ functionResponse: { id: 'a', name } }] }),
    ],
  ])('%s: a result that is added for a call without a name has one', (_format, called, result) => {
    expect(repairToolPairs([called], { runningCalls: 'close' })[1]).toMatchObject(result('unknown'))
  })
})
