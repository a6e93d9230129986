import fc from 'fast-check'
import { estimateTokens, type SimplifiedReport, SpillwayError, simplifyOutdatedTerminalResults } from 'spillway'
import type { OutdatedResultInfo } from 'spillway/history'

type Message = Record<string, unknown>

const PLACEHOLDER = '此命令返回内容已过时'
const NOW = 1_769_824_800_000
const SECOND = 1000
const MINUTE = 60 * SECOND

const SUCCESS = { stdout: 'Building project...\nDone in 3.2s', stderr: '', exitCode: 0 }
const FAILURE = { stdout: '', stderr: "Error: Cannot find module 'xxx'", exitCode: 1 }

/** A tool result of the given age. Texts stand for themselves, objects for their JSON. */
function result(age: number | undefined, content: unknown, more: Message = {}): Message {
  const isPlain = typeof content === 'object' && content !== null && Object.getPrototypeOf(content) === Object.prototype
  return {
    role: 'tool',
    content: isPlain ? JSON.stringify(content) : content,
    ...(age !== undefined && { timestamp: NOW - age }),
    ...more,
  }
}

function terminal(age: number | undefined, content: unknown = SUCCESS, more: Message = {}): Message {
  return result(age, content, { name: 'terminal-execute', ...more })
}

function file(age: number, content: unknown = 'export const a = 1\n'): Message {
  return result(age, content, { name: 'filesystem-read' })
}

/** The newest results: no other is among the newest five. */
function recent(count = 5): Message[] {
  return Array.from({ length: count }, (_, n) => file((count - n) * SECOND))
}

function simplify(messages: readonly unknown[], options: object = {}): unknown[] {
  return simplifyOutdatedTerminalResults(deepFreeze(messages), { now: NOW, ...options })
}

/** The indices of the messages that were replaced. */
function replaced(messages: readonly unknown[], options: object = {}): number[] {
  const after = simplify(messages, options)
  expect(after).toHaveLength(messages.length)
  return indicesOf(after, (message, index) => message !== messages[index])
}

function indicesOf(list: readonly unknown[], test: (value: unknown, index: number) => boolean): number[] {
  return [...list.keys()].filter((index) => test(list[index], index))
}

/** Returns true if a single old result, apart from newer ones, is replaced. */
function isReplaced(message: unknown, options: object = {}): boolean {
  return replaced([message, ...recent()], options).includes(0)
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const key of Reflect.ownKeys(value)) {
      const own = Object.getOwnPropertyDescriptor(value, key)
      if (own && 'value' in own) deepFreeze(own.value)
    }
  }
  return value
}

const warnings = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
beforeEach(() => warnings.mockClear())
afterAll(() => warnings.mockRestore())

describe('the requirement, example by example', () => {
  test('1: an old success that is not among the newest five is replaced', () => {
    const messages = [result(20 * MINUTE, SUCCESS), ...recent()]
    expect(simplify(messages)[0]).toEqual({ content: PLACEHOLDER, timestamp: NOW - 20 * MINUTE, role: 'tool' })
  })

  test('2: an old success among the newest five stays', () => {
    expect(replaced([result(20 * MINUTE, SUCCESS), ...recent(4)])).toEqual([])
  })

  test('3: an old error stays', () => {
    expect(replaced([result(20 * MINUTE, FAILURE), ...recent()])).toEqual([])
  })

  test('4: a success of the last 15 minutes stays', () => {
    expect(replaced([result(5 * MINUTE, SUCCESS), ...recent()])).toEqual([])
  })

  test('5: of ten results, the old successes before the newest five are replaced; the error among these does not count', () => {
    const ages = [5, 10, 15, 20, 25, 30, 40, 70, 80, 90]
    const newestFirst = ages.map((age, index) => {
      if (index === 0 || index === 8) return file(age * MINUTE)
      return terminal(age * MINUTE, index === 3 || index === 9 ? FAILURE : SUCCESS)
    })
    expect(replaced([...newestFirst].reverse())).toEqual([2, 3])
    expect(replaced(newestFirst)).toEqual([6, 7])
    expect(replaced(newestFirst, { countErrors: true })).toEqual([5, 6, 7])
  })

  test('6: results of other tools stay', () => {
    expect(replaced([file(30 * MINUTE, 'x'.repeat(10_000)), ...recent()])).toEqual([])
  })

  test('7: 15 minutes and a millisecond are outdated', () => {
    expect(replaced([result(15 * MINUTE + 1, SUCCESS), ...recent()])).toEqual([0])
  })

  test('8: 15 minutes are not', () => {
    expect(replaced([result(15 * MINUTE, SUCCESS), ...recent()])).toEqual([])
  })

  test('9: what is kept is not changed, and makes the same request again', () => {
    const history = [result(20 * MINUTE, SUCCESS), ...recent()]
    const before = JSON.stringify(history)
    const first = simplify(history)
    expect(JSON.stringify(history)).toBe(before)
    expect(simplify(JSON.parse(before))).toEqual(first)
    expect(first[0]).not.toBe(history[0])
  })
})

describe('the newest results', () => {
  test('are counted by time, not by place in the history', () => {
    const old = terminal(60 * MINUTE)
    expect(replaced([...recent(), old])).toEqual([5])
    expect(replaced([...recent(3), old, ...recent(2)])).toEqual([3])
  })

  test('are counted by position among equal times', () => {
    const same = Array.from({ length: 7 }, () => terminal(60 * MINUTE))
    expect(replaced(same)).toEqual([0, 1])
  })

  test('are as many as the caller sets', () => {
    const messages = Array.from({ length: 7 }, (_, n) => terminal((60 - n) * MINUTE))
    expect(replaced(messages, { keepRecent: 0 })).toEqual([0, 1, 2, 3, 4, 5, 6])
    expect(replaced(messages, { keepRecent: 6 })).toEqual([0])
    expect(replaced(messages, { keepRecent: Number.POSITIVE_INFINITY })).toEqual([])
  })

  test('do not include messages of other roles', () => {
    const others = ['user', 'assistant', 'system', 'function', undefined].map((role) => ({
      role,
      content: 'x',
      timestamp: NOW,
    }))
    expect(replaced([terminal(60 * MINUTE), ...others, ...recent(4)])).toEqual([])
  })

  test('are looked for among many errors', () => {
    const errors = Array.from({ length: 2000 }, () => terminal(MINUTE, FAILURE))
    const messages = [...Array.from({ length: 7 }, () => terminal(60 * MINUTE)), ...errors]
    expect(replaced(messages)).toEqual([0, 1])
    expect(replaced(messages, { countErrors: true })).toEqual([0, 1, 2, 3, 4, 5, 6])
  })
})

describe('time', () => {
  test('is needed to be outdated', () => {
    for (const timestamp of [undefined, null, Number.NaN, Number.NEGATIVE_INFINITY, '2020-01-01', new Date(0), {}]) {
      expect(isReplaced(terminal(undefined, SUCCESS, { timestamp }))).toBe(false)
    }
    for (const timestamp of [0, -1, 1]) expect(isReplaced(terminal(undefined, SUCCESS, { timestamp }))).toBe(true)
  })

  test('is that of the nearest earlier result for a result without one', () => {
    const options = { keepRecent: 1 }
    expect(replaced([terminal(60 * MINUTE), terminal(undefined)], options)).toEqual([0])
    expect(replaced([terminal(undefined), terminal(60 * MINUTE)], options)).toEqual([])
    expect(replaced([terminal(60 * MINUTE), terminal(undefined), terminal(90 * MINUTE)], options)).toEqual([0, 2])
  })

  test('in the future is young', () => {
    expect(replaced([terminal(-MINUTE), ...recent()], { keepRecent: 0 })).toEqual([])
  })

  test('is now unless the caller says otherwise', () => {
    jest.useFakeTimers({ now: NOW })
    try {
      const messages = [terminal(15 * MINUTE), ...recent()]
      expect(simplifyOutdatedTerminalResults(messages)).toBe(messages)
      jest.setSystemTime(NOW + 1)
      expect(simplifyOutdatedTerminalResults(messages)[0]).toMatchObject({ content: PLACEHOLDER })
      expect(simplifyOutdatedTerminalResults(messages, { now: undefined })[0]).toMatchObject({ content: PLACEHOLDER })
    } finally {
      jest.useRealTimers()
    }
  })

  test('limits are inclusive', () => {
    expect(isReplaced(terminal(MINUTE, SUCCESS), { maxAgeMs: MINUTE })).toBe(false)
    expect(isReplaced(terminal(MINUTE + 1, SUCCESS), { maxAgeMs: MINUTE })).toBe(true)
    expect(isReplaced(terminal(0), { maxAgeMs: 0, keepRecent: 0 })).toBe(false)
    expect(isReplaced(terminal(60 * MINUTE), { maxAgeMs: Number.POSITIVE_INFINITY })).toBe(false)
  })
})

describe('a terminal', () => {
  const OLD = 60 * MINUTE

  test.each([
    'terminal-execute',
    'bash',
    'Bash',
    'shell',
    'exec',
    'exec_command',
    'run_command',
    'run_shell_command',
    'mcp__box__bash',
  ])('is known by the name %s, with any output', (name) => {
    expect(isReplaced(result(OLD, 'total 0', { name }))).toBe(true)
    expect(isReplaced(result(OLD, '', { name }))).toBe(true)
  })

  test.each([
    'read',
    'filesystem-read',
    'filesystem-edit',
    'ace-tools',
    'grep',
    'edit',
    'Read',
    'mcp__files__read_file',
  ])('is not what the name %s means, with any output', (name) => {
    expect(isReplaced(result(OLD, SUCCESS, { name }))).toBe(false)
    expect(isReplaced(result(OLD, 'const text = `"stdout": …`', { name }))).toBe(false)
  })

  test('is known by the call that the result answers', () => {
    const shapes = [
      { id: 'a', type: 'function', function: { name: 'bash', arguments: '{}' } },
      { id: 'a', name: 'bash', args: {} },
    ]
    for (const call of shapes) {
      const calling = { role: 'assistant', content: '', tool_calls: [{ id: 'b', name: 'read' }, call] }
      const messages = [
        calling,
        result(OLD, 'total 0', { tool_call_id: 'a' }),
        result(OLD, SUCCESS, { tool_call_id: 'b' }),
      ]
      expect(replaced([...messages, ...recent()])).toEqual([1])
    }
  })

  test('is known by the nearest earlier call of that id', () => {
    const calling = (name: string, id = 'call_0') => ({ role: 'assistant', tool_calls: [{ id, function: { name } }] })
    const answer = (content: unknown = 'total 0') => result(OLD, content, { tool_call_id: 'call_0' })
    expect(replaced([answer(), calling('bash'), ...recent()])).toEqual([])
    expect(replaced([calling('read'), answer(SUCCESS), calling('bash'), answer(), ...recent()])).toEqual([3])
    expect(replaced([calling('bash'), answer(), calling('read'), answer(SUCCESS), ...recent()])).toEqual([1])
    expect(replaced([calling('read'), calling('bash'), calling('x', 'other'), answer(), ...recent()])).toEqual([3])
    expect(replaced([calling('bash'), calling('read'), calling('x', 'other'), answer(SUCCESS), ...recent()])).toEqual(
      [],
    )
  })

  test('is known by one of very many calls', () => {
    const calls = Array.from({ length: 3000 }, (_, n) => ({ id: `c${n}`, function: { name: n % 2 ? 'bash' : 'read' } }))
    const answers = calls.map(({ id }) => result(OLD, 'total 0', { tool_call_id: id }))
    const messages = [{ role: 'assistant', tool_calls: calls }, ...answers.reverse(), ...recent()]
    expect(replaced(messages)).toHaveLength(1500)
  })

  test("is known by the result's own name first", () => {
    const calling = { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'bash' } }] }
    expect(replaced([calling, result(OLD, 'total 0', { tool_call_id: 'a', name: 'read' }), ...recent()])).toEqual([])
  })

  test.each([
    ['{"stdout":"Build completed"}', true],
    ['{"stderr":""}', true],
    [' {\n "exitCode" : 0 }\n', true],
    ['{"std\\u006fut":"x"}', true],
    ['File content: …', false],
    ['{"path":"/path/to/file"}', false],
    ['{"result":{"stdout":"","exitCode":0}}', false],
    ['[{"stdout":""}]', false],
    ['"a \\"stdout\\": b"', false],
    ['{"text":"{\\"stdout\\":\\"\\"}"}', false],
    [`{"deep":${'['.repeat(5000)}{"stdout":1}${']'.repeat(5000)}}`, false],
    ['{"stdout":"cut in the mid', true],
    ['"exitCode": 0, and more', true],
    ['{"stdout" : "cut in the mid', false],
    ['stdout: x', false],
    ['', false],
  ])('is known by what an unknown tool printed: %s', (text, expected) => {
    expect(isReplaced(result(OLD, text))).toBe(expected)
    expect(isReplaced(result(OLD, text, { name: 'deploy' }))).toBe(expected)
    expect(isReplaced(result(OLD, [{ type: 'text', text }]))).toBe(expected)
  })

  test('is known by a long text wherever the keys are', () => {
    const log = 'line with "quotes", \\ and 你好\n'.repeat(400)
    for (const value of [
      { stdout: log, stderr: '', exitCode: 0 },
      { stderr: '', exitCode: 0, stdout: log },
      { stdout: log, stderr: '', exitCode: 0, log },
      { stdout: log, stderr: '', exitCode: 0, command: 'npm test -- "a b"', executedAt: '2026-01-31T00:00:00Z' },
    ]) {
      for (const indent of [0, 2]) {
        const [success, failure, noise] = [value, { ...value, exitCode: 2 }, { ...value, stderr: 'x' }].map((each) =>
          JSON.stringify(each, null, indent),
        )
        expect(isReplaced(result(OLD, success))).toBe(true)
        expect(isReplaced(result(OLD, failure))).toBe(false)
        expect(isReplaced(result(OLD, noise))).toBe(false)
        expect(isReplaced(result(OLD, JSON.stringify({ inner: success })))).toBe(false)
        expect(isReplaced(result(OLD, `${success}\n[cut]`))).toBe(true)
        expect(isReplaced(result(OLD, `[cut]\n${failure}`))).toBe(true)
      }
    }
  })

  test('is what the caller says', () => {
    const options = { terminalTools: ['my-shell', 'read'] }
    expect(isReplaced(result(OLD, 'x', { name: 'my_shell' }), options)).toBe(true)
    expect(isReplaced(result(OLD, 'x', { name: 'read' }), options)).toBe(true)
    expect(isReplaced(result(OLD, 'x', { name: 'bash' }), options)).toBe(false)
    expect(isReplaced(result(OLD, SUCCESS, { name: 'bash' }), options)).toBe(true)
    expect(isReplaced(result(OLD, SUCCESS, { name: 'grep' }), options)).toBe(false)
    const message = result(OLD, 'x', { name: 'read' })
    expect([options, {}, options, {}].map((each) => isReplaced(message, each))).toEqual([true, false, true, false])
  })
})

describe('an error', () => {
  const OLD = 60 * MINUTE

  test.each([
    'Error: Command failed with exit code 1',
    ' \n\tError: with white space in front',
    '\u{feff}\u{3000}Error: with any white space in front',
    'Error:',
  ])('starts with the word: %j', (text) => {
    expect(isReplaced(terminal(OLD, text))).toBe(false)
    expect(isReplaced(terminal(OLD, text.padEnd(5000, '.')))).toBe(false)
  })

  test.each(['error: x', 'TypeError: x', 'Errors: 0', 'No Error: x'])('does not start with %j', (text) => {
    expect(isReplaced(terminal(OLD, text))).toBe(true)
    expect(isReplaced(terminal(OLD, text.padEnd(5000, '.')))).toBe(true)
  })

  test('is known by the status of the message', () => {
    expect(isReplaced(terminal(OLD, SUCCESS, { messageStatus: 'error' }))).toBe(false)
    expect(isReplaced(terminal(OLD, SUCCESS, { messageStatus: 'success' }))).toBe(true)
  })

  test.each([1, -1, 137, 0.5, '1', null, true])('is known by the exit code %j', (exitCode) => {
    expect(isReplaced(result(OLD, { stdout: 'x', exitCode }))).toBe(false)
    expect(isReplaced(terminal(OLD, { stdout: 'x', exitCode }))).toBe(false)
  })

  test.each([0, -0, '0'])('is not recognized by the exit code %j', (exitCode) => {
    expect(isReplaced(result(OLD, { stdout: 'x', exitCode }))).toBe(true)
  })

  test('is known by the text of stderr, unless the caller says otherwise', () => {
    for (const stderr of ['warning', '\n', ['line']]) {
      expect(isReplaced(result(OLD, { stderr, exitCode: 0 }))).toBe(false)
      expect(isReplaced(result(OLD, { stderr, exitCode: 0 }), { stderrIsError: false })).toBe(true)
    }
    for (const stderr of ['', null, [], 0]) expect(isReplaced(result(OLD, { stderr, exitCode: 0 }))).toBe(true)
    expect(isReplaced(result(OLD, { stderr: 'x', exitCode: 1 }), { stderrIsError: false })).toBe(false)
  })

  test('cannot be known from a text that is not JSON', () => {
    expect(isReplaced(result(OLD, '{"stdout":"x","stderr":"Connection refused","exitCode":1'))).toBe(true)
  })

  test('does not count among the newest, for any tool', () => {
    const old = [terminal(OLD), terminal(OLD)]
    const failed = result(MINUTE, 'Error: no such file', { name: 'read' })
    expect(replaced([...old, failed, ...recent(4)])).toEqual([0])
    expect(replaced([...old, failed, ...recent(4)], { countErrors: true })).toEqual([0, 1])
  })

  test('is not what a file holds', () => {
    const old = [terminal(OLD), terminal(OLD)]
    expect(replaced([...old, file(MINUTE, FAILURE), ...recent(4)])).toEqual([0, 1])
  })
})

describe('the returned history', () => {
  const OLD = 60 * MINUTE

  test('is the history itself if there is nothing to do', () => {
    for (const messages of [[], [{ role: 'user', content: 'x' }], recent(), [terminal(MINUTE), ...recent()]]) {
      expect(simplify(messages)).toBe(messages)
    }
  })

  test('is a new array in which all other messages are the same', () => {
    const messages = [{ role: 'user', content: 'x' }, terminal(OLD), { role: 'assistant', content: 'y' }, ...recent()]
    const after = simplify(messages)
    expect(after).not.toBe(messages)
    expect(Object.isFrozen(after)).toBe(false)
    expect(indicesOf(after, (message, index) => message !== messages[index])).toEqual([1])
  })

  test('has the other properties of a replaced message, in their order', () => {
    const symbol = Symbol('mark')
    const message = {
      id: 7,
      ...terminal(OLD),
      tool_call_id: 'a',
      cache_control: { type: 'ephemeral' },
      [symbol]: 1,
      last: [],
    }
    const [after] = simplify([message, ...recent()]) as [typeof message]
    expect(after).toStrictEqual({ ...message, content: PLACEHOLDER })
    expect(JSON.stringify(after)).toBe(JSON.stringify({ ...message, content: PLACEHOLDER }))
    expect(after.cache_control).toBe(message.cache_control)
    expect(Object.isFrozen(after)).toBe(false)
  })

  test('stays the same from then on', () => {
    const options: object[] = [
      {},
      { placeholder: 'gone' },
      { placeholder: '' },
      { placeholder: '"stdout": gone' },
      { placeholder: ({ ageMs, bytes }: OutdatedResultInfo) => `"stdout": ${bytes} bytes, ${ageMs} ms ago` },
      { placeholder: () => '' },
    ]
    for (const each of options) {
      const messages = [terminal(OLD), result(OLD, SUCCESS), terminal(OLD, 'total 0'), ...recent()]
      const first = simplify(messages, each)
      expect(indicesOf(first, (message, index) => message !== messages[index])).toEqual([0, 1, 2])
      const onSimplified = jest.fn()
      expect(simplify(first, { ...each, onSimplified })).toBe(first)
      expect(simplify(first, { ...each, now: NOW + MINUTE, onSimplified })).toBe(first)
      expect(onSimplified).not.toHaveBeenCalled()
    }
  })

  test('keeps the default placeholder under another one', () => {
    const first = simplify([terminal(OLD), ...recent()])
    expect(simplify(first, { placeholder: 'gone' })).toBe(first)
  })

  test('grows with the history, message by message', () => {
    const now = NOW + 60 * MINUTE
    const all = Array.from({ length: 12 }, (_, n) => terminal(-n * MINUTE))
    let sent: unknown[] = []
    for (const message of all) sent = simplifyOutdatedTerminalResults([...sent, message], { now })
    expect(sent).toEqual(simplifyOutdatedTerminalResults(all, { now }))
    expect(indicesOf(sent, (message) => (message as Message).content === PLACEHOLDER)).toEqual([0, 1, 2, 3, 4, 5, 6])
  })

  test('is the same whether the history is new or known', () => {
    const messages = [terminal(OLD), terminal(OLD, FAILURE), result(OLD, SUCCESS), ...recent()]
    const first = simplify(messages)
    expect(simplify(messages)).toEqual(first)
    expect(simplify([...messages])).toEqual(first)
    expect(simplify(messages)[0]).not.toBe(first[0])
  })
})

describe('a message that changes', () => {
  const OLD = 60 * MINUTE
  const run = (messages: Message[]) => simplifyOutdatedTerminalResults(messages, { now: NOW })
  const changed = (messages: Message[]) => indicesOf(run(messages), (message, index) => message !== messages[index])

  test('is read again when its content does', () => {
    const message = result(OLD, SUCCESS)
    const messages = [message, ...recent()]
    expect(changed(messages)).toEqual([0])
    message.content = JSON.stringify(FAILURE)
    expect(changed(messages)).toEqual([])
    message.content = 'File content: …'
    expect(changed(messages)).toEqual([])
    message.content = [{ type: 'text', text: JSON.stringify(SUCCESS) }]
    expect(changed(messages)).toEqual([0])
    ;(message.content as Message[]).push({ type: 'text', text: JSON.stringify(FAILURE) })
    expect(changed(messages)).toEqual([])
    ;(message.content as Message[]).pop()
    ;(message.content as Message[]).push({ type: 'image' })
    expect(changed(messages)).toEqual([])
    message.content = JSON.stringify(SUCCESS)
    expect(changed(messages)).toEqual([0])
  })

  test('is read again when something else does', () => {
    const message = result(OLD, 'total 0', { tool_call_id: 'a' })
    const messages: Message[] = [{ role: 'user', content: 'x' }, message, ...recent()]
    expect(changed(messages)).toEqual([])
    messages[0] = {
      role: 'assistant',
      tool_calls: [
        { id: 'a', name: 'bash' },
        { id: 'b', name: 'read' },
      ],
    }
    expect(changed(messages)).toEqual([1])
    message.tool_call_id = 'b'
    expect(changed(messages)).toEqual([])
    message.name = 'bash'
    expect(changed(messages)).toEqual([1])
    message.messageStatus = 'error'
    expect(changed(messages)).toEqual([])
    delete message.messageStatus
    message.timestamp = NOW
    expect(changed(messages)).toEqual([])
    message.timestamp = 0
    expect(changed(messages)).toEqual([1])
    message.extra = 1
    expect(run(messages)[1]).toEqual({ ...message, content: PLACEHOLDER })
    message.role = 'user'
    expect(changed(messages)).toEqual([])
  })
})

describe('content in parts', () => {
  const OLD = 60 * MINUTE
  const text = (value: unknown) => ({ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) })

  test('is replaced as a whole if it is text', () => {
    expect(simplify([result(OLD, [text(SUCCESS), text('a hint')]), ...recent()])[0]).toMatchObject({
      content: PLACEHOLDER,
    })
    expect(isReplaced(terminal(OLD, [text('total'), text('0')]))).toBe(true)
    expect(isReplaced(terminal(OLD, []))).toBe(true)
  })

  test('keeps what a part carries beside its text, such as a mark for the cache', () => {
    const cache_control = { type: 'ephemeral' }
    const content = [text(SUCCESS), { ...text('a hint'), cache_control }, text('another')]
    const messages = deepFreeze([terminal(OLD, content), ...recent()])
    const after = simplify(messages)
    expect(after[0]).toMatchObject({ content: [{ type: 'text', text: PLACEHOLDER, cache_control }] })
    expect(simplify(after)).toBe(after)
    const twice = [1, 2].reduce<readonly unknown[]>(
      (now, run) => simplify(now, { placeholder: () => `gone ${run}` }),
      messages,
    )
    expect(twice[0]).toMatchObject({ content: [{ type: 'text', text: 'gone 1', cache_control }] })
  })

  test('is an error if one of the texts is', () => {
    expect(isReplaced(result(OLD, [text('a hint'), text(FAILURE)]))).toBe(false)
    expect(isReplaced(terminal(OLD, [text('a hint'), text('Error: no')]))).toBe(false)
  })

  test('stays if there is anything else in it', () => {
    for (const part of [
      { type: 'image', data: '' },
      { type: 'text' },
      { type: 'other', text: 'x' },
      null,
      'x',
      1,
      undefined,
    ]) {
      expect(isReplaced(terminal(OLD, [text(SUCCESS), part]))).toBe(false)
    }
    for (const content of [undefined, null, 1, true, { stdout: 'x' }, new String('x')]) {
      expect(isReplaced({ ...terminal(OLD), content })).toBe(false)
    }
  })

  test('that stays takes its place among the newest, unless it is an error', () => {
    const image = { type: 'image', data: '' }
    expect(replaced([terminal(OLD), result(MINUTE, [image]), ...recent(4)])).toEqual([0])
    expect(replaced([terminal(OLD), result(MINUTE, [image, text('Error: no')]), ...recent(4)])).toEqual([])
  })
})

describe('hostile histories', () => {
  const OLD = 60 * MINUTE

  test('have elements that are no messages', () => {
    const cyclic: Message = terminal(OLD)
    cyclic.self = cyclic
    const odd = [
      null,
      undefined,
      0,
      'tool',
      Symbol('x'),
      () => {},
      [],
      ['tool'],
      new Date(),
      new Map(),
      { role: ['tool'] },
    ]
    const messages = [...odd, cyclic, ...recent()]
    const after = simplifyOutdatedTerminalResults<unknown>(messages, { now: NOW })
    expect(indicesOf(after, (message, index) => message !== messages[index])).toEqual([odd.length])
    expect((after[odd.length] as Message).self).toBe(cyclic)
  })

  test('have holes', () => {
    const messages = [terminal(OLD), ...recent()]
    messages.length = 20
    messages[15] = terminal(OLD)
    const after = simplifyOutdatedTerminalResults(messages, { now: NOW })
    expect(after).toHaveLength(20)
    expect(Object.keys(after)).toEqual(Object.keys(messages))
    expect([after[0]?.content, after[15]?.content]).toEqual([PLACEHOLDER, PLACEHOLDER])
  })

  test('have elements that cannot be read', () => {
    const fail = () => {
      throw new Error('planted')
    }
    const throwing = (key: string) => Object.defineProperty(terminal(OLD), key, { get: fail, enumerable: true })
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const odd = [
      ...['role', 'content', 'timestamp', 'tool_call_id', 'name', 'messageStatus', 'extra'].map(throwing),
      proxy,
      new Proxy(terminal(OLD), { get: fail }),
      new Proxy(terminal(OLD), { ownKeys: fail }),
      new Proxy(terminal(OLD), { getOwnPropertyDescriptor: fail }),
      new Proxy(terminal(OLD), { getPrototypeOf: fail }),
      terminal(OLD, [throwing('text')]),
      { ...terminal(OLD), content: revokedArray() },
    ]
    const calls = [throwing('tool_calls'), { id: 'a', function: throwing('name') }, throwing('id'), null, 7]
    const assistants = [
      { role: 'assistant', tool_calls: calls },
      { role: 'assistant', tool_calls: revokedArray() },
      Object.defineProperty({ role: 'assistant' }, 'tool_calls', { get: fail }),
      { role: 'assistant', tool_calls: { length: 1, 0: { id: 'a', name: 'bash' } } },
    ]
    const last = result(OLD, SUCCESS, { tool_call_id: 'a' })
    const messages = [...odd, ...assistants, last, ...recent()]
    for (let times = 0; times < 2; times++) {
      const after = simplifyOutdatedTerminalResults(messages, { now: NOW })
      expect(indicesOf(after, (message, index) => message !== messages[index])).toEqual([
        odd.length + assistants.length,
      ])
    }
  })

  test('have proxies that behave', () => {
    expect(simplify([new Proxy(terminal(OLD), {}), ...recent()])[0]).toEqual({ ...terminal(OLD), content: PLACEHOLDER })
    const history = new Proxy([terminal(OLD), ...recent()], {})
    expect(simplifyOutdatedTerminalResults(history, { now: NOW })[0]).toMatchObject({ content: PLACEHOLDER })
  })

  test('have getters, which are asked once', () => {
    const asked: Record<string, number> = {}
    const values = { ...terminal(OLD), tool_call_id: 'a', messageStatus: 'success', extra: 1 }
    const message = {}
    for (const [key, value] of Object.entries(values)) {
      const get = () => {
        asked[key] = (asked[key] ?? 0) + 1
        return value
      }
      Object.defineProperty(message, key, { get, enumerable: true })
    }
    const messages = [message, ...recent()]
    for (let times = 1; times < 4; times++) {
      const [after] = simplifyOutdatedTerminalResults<unknown>(messages, { now: NOW })
      expect(after).toStrictEqual({ ...values, content: PLACEHOLDER })
      expect(asked).toEqual(Object.fromEntries(Object.keys(values).map((key) => [key, times])))
      for (const key of Object.keys(values)) asked[key] = times
    }
  })

  test('have keys that are dangerous to copy', () => {
    const message = JSON.parse(`{"__proto__":{"polluted":1},"constructor":2,${JSON.stringify(terminal(OLD)).slice(1)}`)
    const [after] = simplify([message, ...recent()]) as [Message]
    expect(Object.getOwnPropertyDescriptor(after, '__proto__')?.value).toEqual({ polluted: 1 })
    expect(after.polluted).toBeUndefined()
    expect(Object.getPrototypeOf(after)).toBe(Object.prototype)
    expect(after.content).toBe(PLACEHOLDER)

    const bare = Object.assign(Object.create(null), { ...terminal(OLD), ['__proto__']: 1 })
    const [copy] = simplify([bare, ...recent()]) as [Message]
    expect(Object.getPrototypeOf(copy)).toBeNull()
    expect({ ...copy }).toEqual({ ...bare, content: PLACEHOLDER })
  })

  test('have instances of classes', () => {
    class Plain {
      role = 'tool'
      name = 'bash'
      timestamp = 0
      content = 'total 0'
      shout() {
        return this.content.toUpperCase()
      }
    }
    class Inherited {
      constructor(readonly values: Message) {}
      get role() {
        return this.values.role
      }
      get content() {
        return this.values.content
      }
      get timestamp() {
        return this.values.timestamp
      }
    }
    class Private {
      #content = JSON.stringify(SUCCESS)
      role = 'tool'
      timestamp = 0
      get content() {
        return this.#content
      }
    }
    const messages = [new Plain(), new Inherited(result(OLD, SUCCESS)), new Private(), ...recent()]
    const after = simplifyOutdatedTerminalResults<unknown>(messages, { now: NOW }) as [Plain, Inherited, Private]
    expect(after[0]).toBeInstanceOf(Plain)
    expect(after[0].shout()).toBe(PLACEHOLDER)
    expect(after[1]).toBeInstanceOf(Inherited)
    expect([after[1].content, messages[1]?.content]).toEqual([PLACEHOLDER, JSON.stringify(SUCCESS)])
    expect(after[2]).toBe(messages[2])
  })

  test('have the same message twice', () => {
    const twice = terminal(OLD, [{ type: 'text', text: 'a' }])
    expect(replaced([twice, twice, twice, ...recent(4)])).toEqual([0, 1])
    const short = result(OLD, SUCCESS)
    expect(replaced([short, short, ...recent()])).toEqual([0, 1])
  })

  test('have lone surrogates', () => {
    const message = terminal(OLD, '\ud800 "stdout": \udc00', { name: '\ud800', tool_call_id: '\udfff' })
    expect(isReplaced(message)).toBe(true)
    expect(simplify([message, ...recent()], { placeholder: 'a\ud800b' })[0]).toMatchObject({ content: 'a\ufffdb' })
    const again = simplify(simplify([terminal(OLD), ...recent()], { placeholder: 'a\ud800b' }), {
      placeholder: 'a\ud800b',
    })
    expect(again[0]).toMatchObject({ content: 'a\ufffdb' })
  })

  test('are long', () => {
    const text = JSON.stringify({ stdout: 'x'.repeat(400_000), stderr: '', exitCode: 0 })
    const messages = [...Array.from({ length: 10_000 }, () => result(OLD, text)), ...recent()]
    expect(replaced(messages)).toHaveLength(10_000)
    const many = Array.from({ length: 200_000 }, (_, n) => result((n % 1000) * MINUTE, 'x'))
    expect(simplifyOutdatedTerminalResults(many, { now: NOW })).toBe(many)
  })
})

describe('the placeholder', () => {
  const OLD = 60 * MINUTE

  test('receives the result that it replaces', () => {
    const infos: OutdatedResultInfo[] = []
    const messages = [
      { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'bash' } }] },
      result(OLD, '你好', { tool_call_id: 'a', outputPath: '/out/a.txt' }),
      result(OLD, SUCCESS, { metadata: { truncated: true, truncationPath: '/out/b.txt' } }),
      terminal(
        OLD,
        [
          { type: 'text', text: 'ab' },
          { type: 'text', text: 'é' },
        ],
        { metadata: { outputPath: '/out/c.txt' } },
      ),
      terminal(OLD, 'x', { metadata: null, outputPath: '' }),
      ...recent(),
    ]
    const placeholder = (info: OutdatedResultInfo) => {
      infos.push(info)
      return `[${info.toolName}: ${info.outputPath}]`
    }
    const after = simplify(messages, { placeholder }) as Message[]
    expect(after.slice(1, 5).map((message) => message.content)).toEqual([
      '[bash: /out/a.txt]',
      '[undefined: /out/b.txt]',
      '[terminal-execute: /out/c.txt]',
      '[terminal-execute: undefined]',
    ])
    const times = { timestamp: NOW - OLD, ageMs: OLD }
    expect(infos).toStrictEqual([
      { toolName: 'bash', toolCallId: 'a', ...times, bytes: 6, outputPath: '/out/a.txt' },
      { ...times, bytes: JSON.stringify(SUCCESS).length, outputPath: '/out/b.txt' },
      { toolName: 'terminal-execute', ...times, bytes: 4, outputPath: '/out/c.txt' },
      { toolName: 'terminal-execute', ...times, bytes: 1 },
    ])
  })

  test('is the default one, with one warning, where the function fails', () => {
    const messages = [terminal(OLD), terminal(OLD), terminal(OLD), ...recent()]
    const answers = [
      () => {
        throw new Error('planted')
      },
      () => 7 as unknown as string,
      () => null as unknown as string,
      async () => 'later',
    ]
    for (const placeholder of answers) {
      warnings.mockClear()
      const after = simplify(messages, { placeholder }) as Message[]
      expect(after.slice(0, 3).map((message) => message.content)).toEqual([PLACEHOLDER, PLACEHOLDER, PLACEHOLDER])
      expect(warnings).toHaveBeenCalledTimes(1)
    }
    warnings.mockClear()
    simplify(messages, { placeholder: answers[0] })
    expect(warnings).toHaveBeenCalledWith('placeholder: planted', 'SpillwayWarning')
  })

  test('may look at the history while it is replaced', () => {
    const messages = [terminal(OLD), terminal(OLD), ...recent()]
    const placeholder = () => {
      messages.push(terminal(OLD))
      return String(simplifyOutdatedTerminalResults(messages, { now: NOW }).length)
    }
    const after = simplifyOutdatedTerminalResults(messages, { now: NOW, placeholder })
    expect(after).toHaveLength(7)
    expect(after.slice(0, 2).map((message) => message.content)).toEqual(['8', '9'])
  })
})

describe('the report', () => {
  const OLD = 60 * MINUTE

  test('says what was saved, once per call that replaced something', () => {
    const reports: SimplifiedReport[] = []
    const onSimplified = (report: SimplifiedReport) => reports.push(report)
    const long = 'x'.repeat(4000)
    const messages = [{ role: 'user' }, terminal(OLD, long), file(OLD), terminal(OLD, '你好'.repeat(50)), ...recent()]
    simplify(messages, { onSimplified })
    simplify(messages, { onSimplified, placeholder: 'gone' })
    simplify(recent(), { onSimplified })
    const was = estimateTokens(long) + estimateTokens('你好'.repeat(50))
    expect(reports).toStrictEqual([
      {
        count: 2,
        bytes: 4000 + 300 - 2 * 30,
        tokens: was - 2 * estimateTokens('此命令返回内容已过时'),
        indices: [1, 3],
      },
      { count: 2, bytes: 4000 + 300 - 2 * 4, tokens: was - 2 * estimateTokens('gone'), indices: [1, 3] },
    ])
  })

  test('is honest about placeholders that are longer than what they replace', () => {
    const onSimplified = jest.fn()
    simplify([terminal(OLD, 'ok'), ...recent()], { onSimplified })
    expect(onSimplified).toHaveBeenCalledWith({
      count: 1,
      bytes: 2 - 30,
      tokens: estimateTokens('ok') - estimateTokens('此命令返回内容已过时'),
      indices: [0],
    })
  })

  test('may fail', async () => {
    const onSimplified = () => {
      throw new Error('planted')
    }
    expect(isReplaced(terminal(OLD), { onSimplified })).toBe(true)
    expect(warnings).toHaveBeenCalledWith('onSimplified: planted', 'SpillwayWarning')
    warnings.mockClear()
    const later = (async () => onSimplified()) as () => void
    expect(isReplaced(terminal(OLD), { onSimplified: later })).toBe(true)
    await new Promise(setImmediate)
    expect(warnings.mock.calls).toEqual([['onSimplified: planted', 'SpillwayWarning']])
  })
})

describe('arguments', () => {
  function refusal(messages: unknown, options?: unknown): SpillwayError {
    try {
      simplifyOutdatedTerminalResults(messages as unknown[], options as object)
    } catch (error) {
      expect(error).toBeInstanceOf(SpillwayError)
      expect(error).toMatchObject({ code: 'INVALID_ARGUMENT' })
      return error as SpillwayError
    }
    throw new Error('nothing was thrown')
  }

  function revoked(): unknown {
    const { proxy, revoke } = Proxy.revocable([], {})
    revoke()
    return proxy
  }

  test.each([[undefined], [null], ['x'], [{ length: 0 }], [new Set()], [revoked()]])('messages: %s', (messages) => {
    expect(refusal(messages).field).toBe('messages')
  })

  test.each([null, 5, 'x', [], () => {}])('options: %s', (options) => {
    expect(refusal([], options).field).toBe('options')
  })

  test.each([
    ['now', Number.NaN],
    ['now', Number.POSITIVE_INFINITY],
    ['now', -1],
    ['now', '5'],
    ['now', new Date()],
    ['maxAgeMs', Number.NaN],
    ['maxAgeMs', -1],
    ['maxAgeMs', '15m'],
    ['maxAgeMs', null],
    ['keepRecent', Number.NaN],
    ['keepRecent', -1],
    ['keepRecent', 1.5],
    ['keepRecent', 5n],
    ['countErrors', 1],
    ['stderrIsError', 'no'],
    ['terminalTools', 'bash'],
    ['terminalTools', ['bash', 1]],
    ['terminalTools', new Set(['bash'])],
    ['placeholder', 1],
    ['placeholder', null],
    ['onSimplified', true],
  ])('options.%s: %s', (key, value) => {
    const error = refusal([], { [key]: value })
    expect(error.field).toBe(`options.${key}`)
    expect(error.message).toMatch(new RegExp(`^Invalid option "${key}": expected .+, received `))
  })

  test('an unknown option is answered with the nearest known one', () => {
    expect(refusal([], { maxAge: 1 })).toMatchObject({
      field: 'options.maxAge',
      message: 'Unknown option "maxAge": did you mean maxAgeMs?',
    })
    expect(refusal([], { keep_recent: 1 }).message).toContain('did you mean keepRecent?')
    expect(refusal([], { zzzzzzzz: 1 }).message).toContain('expected one of now, maxAgeMs, keepRecent')
    expect(refusal([], { '\ud800': 1 }).field).toBe('options.\ufffd')
    expect(refusal([], JSON.parse('{"__proto__":1}')).field).toBe('options.__proto__')
    expect(refusal([], { constructor: 1 }).field).toBe('options.constructor')
  })

  test('an option that is undefined is not there', () => {
    const keys = [
      'now',
      'maxAgeMs',
      'keepRecent',
      'countErrors',
      'stderrIsError',
      'terminalTools',
      'placeholder',
      'onSimplified',
    ]
    const options = Object.fromEntries(keys.map((key) => [key, undefined]))
    expect(simplifyOutdatedTerminalResults([{ ...terminal(0), timestamp: 0 }, ...recent()], options)[0]).toMatchObject({
      content: PLACEHOLDER,
    })
  })
})

/** The rule once more, as plainly as it can be said. */
function oracle(messages: Message[], options: Required<Options>): number[] {
  const results = indicesOf(messages, (message) => (message as Message).role === 'tool')
  const at = (index: number) => messages[index] as Message
  const ownTime = (index: number) =>
    typeof at(index).timestamp === 'number' ? (at(index).timestamp as number) : undefined
  const time = (index: number) => {
    const earlier = results.filter((other) => other <= index && ownTime(other) !== undefined)
    return earlier.length > 0 ? (ownTime(earlier.at(-1) as number) as number) : Number.NEGATIVE_INFINITY
  }
  const isNewer = (a: number, b: number) => time(a) > time(b) || (time(a) === time(b) && a > b)
  const nameOf = (index: number) => {
    if (at(index).name) return at(index).name
    const calls = messages
      .slice(0, index)
      .flatMap((message) => (message.tool_calls as { id: string; name: string }[]) ?? [])
    return calls.findLast((call) => call.id === at(index).tool_call_id)?.name
  }
  const parsed = (index: number): Message | undefined => {
    try {
      const value = JSON.parse(at(index).content as string)
      return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
    } catch {
      return undefined
    }
  }
  const isOther = (index: number) => nameOf(index) === 'read'
  const isTerminal = (index: number) => {
    if (nameOf(index) === 'bash') return true
    if (isOther(index)) return false
    const json = parsed(index)
    const text = at(index).content as string
    if (json) return ['stdout', 'stderr', 'exitCode'].some((key) => Object.hasOwn(json, key))
    return ['"stdout":', '"stderr":', '"exitCode":'].some((marker) => text.includes(marker))
  }
  const isError = (index: number) => {
    if ((at(index).content as string).trim().startsWith('Error:') || at(index).messageStatus === 'error') return true
    const json = isOther(index) ? undefined : parsed(index)
    if (!json) return false
    if (Object.hasOwn(json, 'exitCode') && json.exitCode !== 0) return true
    return options.stderrIsError && typeof json.stderr === 'string' && json.stderr.length > 0
  }
  return results.filter((index) => {
    const own = ownTime(index)
    const places = results.filter((other) => isNewer(other, index) && (options.countErrors || !isError(other))).length
    const isOld = own !== undefined && NOW - own > options.maxAgeMs
    return isOld && places >= options.keepRecent && isTerminal(index) && !isError(index)
  })
}

interface Options {
  maxAgeMs?: number
  keepRecent?: number
  countErrors?: boolean
  stderrIsError?: boolean
}

describe('any history', () => {
  const word = fc.constantFrom('', 'ok', 'x'.repeat(500), 'say \\"exitCode\\": 1\\n'.repeat(30), '错误 é\\n'.repeat(80))
  const json = fc
    .tuple(
      fc.shuffledSubarray(['stdout', 'stderr', 'exitCode', 'path', 'inner'], { minLength: 0 }),
      fc.record({
        stdout: word,
        stderr: fc.oneof({ weight: 3, arbitrary: fc.constant('') }, { weight: 1, arbitrary: word }),
        exitCode: fc.constantFrom(0, 0, 0, 1, 127, null),
        path: word,
        inner: fc.constant({ stdout: '', exitCode: 1, stderr: 'x' }),
      }),
      fc.constantFrom(undefined, 2),
    )
    .map(([keys, values, indent]) => {
      return JSON.stringify(
        Object.fromEntries(keys.map((key) => [key, values[key as keyof typeof values]])),
        null,
        indent,
      )
    })
  const text = fc.oneof(
    { weight: 6, arbitrary: json },
    { weight: 1, arbitrary: json.map((whole) => whole.slice(0, -3)) },
    { weight: 1, arbitrary: json.map((whole) => whole.slice(3)) },
    { weight: 1, arbitrary: json.map((whole) => ` \nError: ${whole}`) },
    { weight: 1, arbitrary: json.map((whole) => JSON.stringify([whole, JSON.parse(whole)])) },
    { weight: 2, arbitrary: word },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 600 }) },
  )
  const id = fc.constantFrom('a', 'b', 'c')
  const tool = fc.record(
    {
      role: fc.constant('tool'),
      content: text,
      timestamp: fc.integer({ min: 0, max: 40 }).map((minutes) => NOW - minutes * MINUTE),
      tool_call_id: id,
      name: fc.constantFrom('bash', 'read', 'deploy', ''),
      messageStatus: fc.constantFrom('success', 'success', 'error'),
    },
    { requiredKeys: ['role', 'content'] },
  )
  const assistant = fc.record({
    role: fc.constant('assistant'),
    tool_calls: fc.array(fc.record({ id, name: fc.constantFrom('bash', 'read', 'deploy') }), { maxLength: 12 }),
  })
  const history = fc.array(
    fc.oneof(
      { weight: 6, arbitrary: tool },
      { weight: 2, arbitrary: assistant },
      { weight: 1, arbitrary: fc.constant({ role: 'user', content: 'x', timestamp: NOW }) },
    ),
    { maxLength: 40 },
  )
  const settings = fc.record({
    maxAgeMs: fc.constantFrom(0, 15 * MINUTE, 30 * MINUTE),
    keepRecent: fc.integer({ min: 0, max: 7 }),
    countErrors: fc.boolean(),
    stderrIsError: fc.boolean(),
  })

  test('follows the rule, for new and for known messages', () => {
    fc.assert(
      fc.property(history, settings, settings, (messages: Message[], options, others) => {
        deepFreeze(messages)
        for (const each of [options, others, options]) {
          const after = simplifyOutdatedTerminalResults(messages, { now: NOW, ...each })
          const expected = oracle(messages, each)
          expect(indicesOf(after, (message, index) => message !== messages[index])).toEqual(expected)
          for (const index of expected) expect(after[index]).toEqual({ ...messages[index], content: PLACEHOLDER })
          if (expected.length === 0) expect(after).toBe(messages)
          expect(simplifyOutdatedTerminalResults(after, { now: NOW, ...each })).toBe(after)
        }
      }),
      { numRuns: 1000 },
    )
  })

  test('with any values is answered', () => {
    const key = fc.constantFrom(
      'role',
      'content',
      'timestamp',
      'tool_calls',
      'tool_call_id',
      'name',
      'id',
      'type',
      'text',
      '__proto__',
    )
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        fc.constantFrom('tool', 'assistant', 'text', 'bash', 0, null, undefined, Number.NaN, -1n, Symbol.iterator),
        fc.string(),
        fc.array(tie('any'), { maxLength: 4 }),
        fc.dictionary(key, tie('any'), { maxKeys: 6 }),
      ),
    })).any
    fc.assert(
      fc.property(fc.array(value), (messages) => {
        const after = simplifyOutdatedTerminalResults(deepFreeze(messages), { now: NOW, keepRecent: 0 })
        expect(after).toHaveLength(messages.length)
      }),
      { numRuns: 1000 },
    )
  })
})

function revokedArray(): unknown[] {
  const { proxy, revoke } = Proxy.revocable([] as unknown[], {})
  revoke()
  return proxy
}
