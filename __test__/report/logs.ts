/**
 * One small session in the log of each agent: a question, a read, its result, a failed command, and the answer. The
 * fields are those of the versions that are named in them.
 */

import { MemorySession } from 'spillway/session'

const AT = Date.parse('2026-11-02T10:00:00.000Z')
const iso = (seconds: number) => new Date(AT + seconds * 1000).toISOString()
const lines = (records: readonly object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('')

export const FILE = 'export const answer = 42\n'.repeat(40)
const [ASKED, SAID, DONE, FAILED] = ['What is in a.ts?', 'Let me look.', 'It exports 42.', 'exit code 1']

function claudeCode(): string {
  const of = (type: string, uuid: string, seconds: number, message: object, more: object = {}) => ({
    parentUuid: null,
    isSidechain: false,
    userType: 'external',
    cwd: '/w',
    sessionId: 's1',
    version: '2.1.331',
    type,
    uuid,
    timestamp: iso(seconds),
    message,
    ...more,
  })
  const usage = (output: number) => ({
    input_tokens: 10,
    cache_creation_input_tokens: 300,
    cache_read_input_tokens: 1000,
    output_tokens: output,
  })
  const answer = (id: string, content: object[], output: number) => ({
    id,
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-4-5-20251101',
    content,
    usage: usage(output),
  })
  const read = { type: 'tool_use', id: 't1', name: 'Read', input: { file_path: 'a.ts' } }
  const bash = { type: 'tool_use', id: 't2', name: 'Bash', input: { command: 'false' } }
  const result = (id: string, content: unknown, more: object = {}) => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: id, content, ...more }],
  })
  const side = answer('m9', [{ type: 'text', text: 'of a sub-agent' }], 5)
  const records = [
    { type: 'summary', summary: 'About a.ts', leafUuid: 'u9' },
    of('user', 'u1', 0, { role: 'user', content: ASKED }),
    of('assistant', 'u2', 2, answer('m1', [{ type: 'thinking', thinking: 'hm', signature: 'x' }], 1)),
    of('assistant', 'u3', 3, answer('m1', [{ type: 'text', text: SAID }], 1)),
    of('assistant', 'u4', 4, answer('m1', [read, bash], 60)),
    of('user', 'u5', 5, result('t1', [{ type: 'text', text: FILE }]), { toolUseResult: { file: FILE } }),
    of('user', 'u6', 6, result('t2', FAILED, { is_error: true })),
    of('user', 'u6', 6, result('t2', FAILED, { is_error: true })),
    of('assistant', 'u7', 7, side, { isSidechain: true }),
    of('assistant', 'u8', 8, answer('m2', [{ type: 'text', text: DONE }], 20)),
  ]
  return lines(records)
}

function codex(): string {
  const item = (seconds: number, payload: object, type = 'response_item') => ({
    timestamp: iso(seconds),
    type,
    payload,
  })
  const tokens = (total: number, cached: number, output: number) => {
    const last = { input_tokens: total, cached_input_tokens: cached, output_tokens: output, reasoning_output_tokens: 0 }
    return { type: 'token_count', info: { total_token_usage: { input_tokens: total * 2 }, last_token_usage: last } }
  }
  const message = (role: string, text: string) => {
    const type = role === 'assistant' ? 'output_text' : 'input_text'
    return { type: 'message', role, content: [{ type, text }] }
  }
  const call = (id: string, name: string, args: string) => ({
    type: 'function_call',
    name,
    arguments: args,
    call_id: id,
  })
  const output = (id: string, text: string) => ({ type: 'function_call_output', call_id: id, output: text })
  const instructions = { id: 's1', cwd: '/w', cli_version: '0.169.0', base_instructions: { text: 'You are an agent.' } }
  return lines([
    item(0, instructions, 'session_meta'),
    item(0, { turn_id: 'x', cwd: '/w', model: 'gpt-5.5' }, 'turn_context'),
    item(0, message('user', ASKED)),
    item(1, { type: 'reasoning', summary: [] }),
    item(2, message('assistant', SAID)),
    item(3, call('t1', 'read', '{"file_path":"a.ts"}')),
    item(3, call('t2', 'shell', '{"command":"false"}')),
    item(5, output('t1', FILE)),
    item(6, output('t2', FAILED)),
    item(6, tokens(1310, 1000, 60), 'event_msg'),
    item(6, tokens(1310, 1000, 60), 'event_msg'),
    item(8, message('assistant', DONE)),
    item(8, tokens(1400, 1300, 20), 'event_msg'),
  ])
}

function openCode(): string {
  const info = (id: string, role: string, seconds: number, more: object = {}) => ({
    info: { id, sessionID: 'ses_1', role, time: { created: AT + seconds * 1000 }, ...more },
  })
  const answer = (output: number) => ({
    modelID: 'claude-opus-4-5',
    providerID: 'anthropic',
    cost: 0,
    tokens: { input: 10, output, reasoning: 0, cache: { read: 1000, write: 300 } },
  })
  const tool = (callID: string, name: string, state: object) => ({ type: 'tool', callID, tool: name, state })
  const time = { start: AT + 4000, end: AT + 5000 }
  const messages = [
    { ...info('m1', 'user', 0), parts: [{ type: 'text', text: ASKED }] },
    {
      ...info('m2', 'assistant', 2, answer(60)),
      parts: [
        { type: 'step-start' },
        { type: 'text', text: SAID },
        tool('t1', 'read', { status: 'completed', input: { file_path: 'a.ts' }, output: FILE, title: '', time }),
        tool('t2', 'bash', { status: 'error', input: { command: 'false' }, error: FAILED, time }),
      ],
    },
    { ...info('m3', 'assistant', 8, answer(20)), parts: [{ type: 'text', text: DONE }] },
  ]
  return JSON.stringify({ info: { id: 'ses_1', version: '1.18.33', title: 'x' }, messages }, null, 2)
}

function pi(): string {
  const entry = (id: string, parentId: string | null, seconds: number, message: object) => ({
    type: 'message',
    id,
    parentId,
    timestamp: iso(seconds),
    message: { ...message, timestamp: AT + seconds * 1000 },
  })
  const answer = (content: object[], output: number) => ({
    role: 'assistant',
    content,
    model: 'claude-opus-4-5',
    provider: 'anthropic',
    usage: { input: 10, output, cacheRead: 1000, cacheWrite: 300, totalTokens: 1370 },
  })
  const call = (id: string, name: string, args: object) => ({ type: 'toolCall', id, name, arguments: args })
  const result = (toolCallId: string, toolName: string, text: string, isError: boolean) => ({
    role: 'toolResult',
    toolCallId,
    toolName,
    content: [{ type: 'text', text }],
    isError,
  })
  const calls = [call('t1', 'read', { file_path: 'a.ts' }), call('t2', 'bash', { command: 'false' })]
  const records = [
    { type: 'session', version: 3, id: 's1', timestamp: iso(0), cwd: '/w' },
    { type: 'model_change', id: 'e0', parentId: null, timestamp: iso(0), provider: 'anthropic', modelId: 'x' },
    entry('e1', 'e0', 0, { role: 'user', content: [{ type: 'text', text: ASKED }] }),
    entry('left', 'e1', 1, answer([{ type: 'text', text: 'A branch that was left.' }], 7)),
    entry('e2', 'e1', 2, answer([{ type: 'text', text: SAID }, ...calls], 60)),
    entry('e3', 'e2', 5, result('t1', 'read', FILE, false)),
    entry('e4', 'e3', 6, result('t2', 'bash', FAILED, true)),
    entry('e5', 'e4', 8, answer([{ type: 'text', text: DONE }], 20)),
  ]
  return lines(records)
}

function geminiMessages(): object[] {
  const tokens = (output: number) => ({ input: 1310, output, cached: 1000, thoughts: 0, tool: 0, total: 1310 + output })
  const call = (id: string, name: string, args: object, response: object, status: string) => ({
    id,
    name,
    args,
    status,
    timestamp: iso(5),
    result: [{ functionResponse: { id, name, response } }],
  })
  const answer = { type: 'gemini', model: 'gemini-2.5-pro' }
  const toolCalls = [
    call('t1', 'read_file', { file_path: 'a.ts' }, { output: FILE }, 'success'),
    call('t2', 'run_shell_command', { command: 'false' }, { error: FAILED }, 'error'),
  ]
  return [
    { id: '1', timestamp: iso(0), type: 'user', content: [{ text: ASKED }] },
    { id: '2', timestamp: iso(1), type: 'info', content: 'Update available' },
    { id: '3', timestamp: iso(2), ...answer, content: SAID, tokens: tokens(60), toolCalls },
    { id: '4', timestamp: iso(8), ...answer, content: DONE, tokens: tokens(20) },
  ]
}

const GEMINI = { sessionId: 's1', projectHash: 'h', startTime: iso(0), lastUpdated: iso(8) }

/** Newer versions append; a line with a known id takes the place of the earlier one. */
function geminiLines(): string {
  const [asked, info, answer, end] = geminiMessages() as [object, object, { toolCalls: object[] }, object]
  const { toolCalls: _, ...begun } = answer
  const dropped = { id: '5', timestamp: iso(9), type: 'user', content: 'never mind' }
  const changed = { $set: { lastUpdated: iso(9) } }
  return lines([GEMINI, asked, info, begun, answer, end, dropped, changed, { $rewindTo: '5' }])
}

function neutral(): string {
  const toolCalls = [
    { id: 't1', name: 'read', args: { file_path: 'a.ts' } },
    { id: 't2', name: 'bash', args: { command: 'false' } },
  ]
  return lines([
    { role: 'user', content: ASKED, timestamp: AT },
    { role: 'assistant', content: SAID, toolCalls, timestamp: AT + 2000 },
    { role: 'tool', content: FILE, toolCallId: 't1', toolName: 'read', timestamp: AT + 5000 },
    { role: 'tool', content: FAILED, toolCallId: 't2', toolName: 'bash', isError: true, timestamp: AT + 6000 },
    { role: 'assistant', content: DONE, timestamp: AT + 8000 },
  ])
}

/** The same session as the messages of each format, one a line. */
const HISTORIES: Readonly<Record<string, readonly object[]>> = {
  'openai-chat': [
    { role: 'user', content: ASKED },
    {
      role: 'assistant',
      content: SAID,
      tool_calls: [
        { id: 't1', type: 'function', function: { name: 'read', arguments: '{"file_path":"a.ts"}' } },
        { id: 't2', type: 'function', function: { name: 'bash', arguments: '{"command":"false"}' } },
      ],
    },
    { role: 'tool', tool_call_id: 't1', content: FILE },
    { role: 'tool', tool_call_id: 't2', content: FAILED, messageStatus: 'error' },
    { role: 'assistant', content: DONE },
  ],
  'openai-responses': [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: ASKED }] },
    { type: 'reasoning', id: 'r1', summary: [], encrypted_content: 'x' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: SAID }] },
    { type: 'function_call', call_id: 't1', name: 'read', arguments: '{"file_path":"a.ts"}' },
    { type: 'function_call', call_id: 't2', name: 'bash', arguments: '{"command":"false"}' },
    { type: 'function_call_output', call_id: 't1', output: FILE },
    { type: 'function_call_output', call_id: 't2', output: FAILED },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: DONE }] },
  ],
  anthropic: [
    { role: 'user', content: ASKED },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'x' },
        { type: 'text', text: SAID },
        { type: 'tool_use', id: 't1', name: 'read', input: { file_path: 'a.ts' } },
        { type: 'tool_use', id: 't2', name: 'bash', input: { command: 'false' } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 't1', content: FILE },
        { type: 'tool_result', tool_use_id: 't2', content: FAILED, is_error: true },
      ],
    },
    { role: 'assistant', content: [{ type: 'text', text: DONE }] },
  ],
  'ai-sdk': [
    { role: 'user', content: [{ type: 'text', text: ASKED }] },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: SAID },
        { type: 'tool-call', toolCallId: 't1', toolName: 'read', input: { file_path: 'a.ts' } },
        { type: 'tool-call', toolCallId: 't2', toolName: 'bash', input: { command: 'false' } },
      ],
    },
    {
      role: 'tool',
      content: [
        { type: 'tool-result', toolCallId: 't1', toolName: 'read', output: { type: 'text', value: FILE } },
        { type: 'tool-result', toolCallId: 't2', toolName: 'bash', output: { type: 'error-text', value: FAILED } },
      ],
    },
    { role: 'assistant', content: [{ type: 'text', text: DONE }] },
  ],
  pi: [
    { role: 'user', content: ASKED },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: SAID },
        { type: 'toolCall', id: 't1', name: 'read', arguments: { file_path: 'a.ts' } },
        { type: 'toolCall', id: 't2', name: 'bash', arguments: { command: 'false' } },
      ],
    },
    { role: 'toolResult', toolCallId: 't1', toolName: 'read', content: [{ type: 'text', text: FILE }] },
    {
      role: 'toolResult',
      toolCallId: 't2',
      toolName: 'bash',
      content: [{ type: 'text', text: FAILED }],
      isError: true,
    },
    { role: 'assistant', content: [{ type: 'text', text: DONE }] },
  ],
}

/** A session file of `JsonlSession`: a branch that was left, and an entry of the host, are not part of the conversation. */
function sessionFile(messages: readonly object[]): string {
  const session = new MemorySession()
  session.append({ type: 'label', label: 'begun' })
  for (const [at, message] of messages.entries()) {
    const before = session.leaf()
    if (at === 2) {
      session.append({ type: 'message', message: { ...message, content: 'of another branch' } })
      session.branch(before)
    }
    session.append({ type: 'message', message })
  }
  return lines(session.entries())
}

const HISTORY_LOGS = Object.entries(HISTORIES).flatMap(([format, messages]) => [
  [`messages of ${format}`, 'messages', lines(messages)] as const,
  [`a session file with messages of ${format}`, 'messages', sessionFile(messages)] as const,
])

/** Each log with the name of its format. */
export const LOGS: readonly (readonly [name: string, format: string, text: string])[] = [
  ['Claude Code', 'claude-code', claudeCode()],
  ['Codex', 'codex', codex()],
  ['OpenCode', 'opencode', openCode()],
  ['pi', 'pi', pi()],
  ['Gemini CLI, one object', 'gemini', JSON.stringify({ ...GEMINI, messages: geminiMessages() }, null, 2)],
  ['Gemini CLI, lines', 'gemini', geminiLines()],
  ['messages', 'messages', neutral()],
  ...HISTORY_LOGS,
]
