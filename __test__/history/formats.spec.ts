import { SpillwayError } from 'spillway'
import type { HistoryFormatName } from 'spillway/history'
import { detectFormat } from 'spillway/history'
import shapes from './shapes.json'
import { deepFreeze, type Fields, formatNamed, formats, Instance, names, plain, usual } from './support'

/** One message of a format, what it says, and how other texts are written into it. `null`: it must stay as it is. */
interface Shape {
  format: HistoryFormatName
  about: string
  message: Fields
  view: Fields & { results?: object[] }
  /** Other formats could have the message as well. */
  sure?: false
  /** An object of a class. */
  instance?: true
  withResults?: Record<number, string>
  written?: Fields | null
  withArguments?: Record<number, Fields>
  argued?: Fields | null
}

const table = shapes as unknown as Shape[]
const make = ({ message, instance }: Shape): object =>
  deepFreeze(instance ? new Instance(structuredClone(message)) : structuredClone(message))
const places = <T>(values: Record<number, T>) =>
  new Map(Object.entries(values).map(([place, value]) => [Number(place), value]))

/** Every object inside of `after` that equals the one at the same place of `before` must be that very object. */
function expectShared(before: unknown, after: unknown): void {
  if (typeof before !== 'object' || before === null || before === after) return
  if (isEqual(before, after)) throw new Error(`was copied without need: ${JSON.stringify(before)}`)
  for (const [key, value] of Object.entries(before)) expectShared(value, (after as Fields | null)?.[key])
}

function isEqual(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

describe.each(names)('%s', (name) => {
  const own = table.filter(({ format }) => format === name)
  const format = formatNamed(name)

  test('the table has messages of it', () => {
    expect(own.length).toBeGreaterThan(2)
  })

  test.each(own.map((shape) => [shape.about, shape] as const))('%s', (_about, shape) => {
    const message = make(shape)
    expect(plain(format.view(message))).toEqual(
      usual({ ...shape.view, ...(shape.view.results && { results: shape.view.results.map(usual) }) }),
    )
    expect(format.recognises(message)).toBe(shape.sure === false ? 1 : 2)
    if (shape.withResults !== undefined) {
      expectWritten(shape, message, format.withResults(message, places(shape.withResults)), shape.written)
    }
    if (shape.withArguments !== undefined) {
      expectWritten(shape, message, format.withArguments(message, places(shape.withArguments)), shape.argued)
    }
  })

  test('writes nothing where there is nothing', () => {
    for (const shape of own) {
      const message = make(shape)
      expect(format.withResults(message, new Map([[99, 'x']]))).toBeUndefined()
      expect(format.withArguments(message, new Map([[99, {}]]))).toBeUndefined()
      expect(format.withResults(message, new Map())).toBe(message)
    }
  })

  test('is detected by any message that no other format has', () => {
    for (const shape of own.filter(({ sure }) => sure !== false)) {
      expect([shape.about, detectFormat([{ role: 'user', content: 'Hi' }, null, make(shape)])]).toEqual([
        shape.about,
        name,
      ])
    }
  })
})

function expectWritten(shape: Shape, message: object, after: object | undefined, expected: Fields | null | undefined) {
  if (expected === null) {
    expect(after).toBeUndefined()
    return
  }
  expect(after).toEqual(shape.instance ? new Instance(structuredClone(expected as Fields)) : expected)
  expect(Object.keys(after as object)).toEqual(Object.keys(message).filter((key) => key in (expected as Fields)))
  expect(after).not.toBe(message)
  expect(Object.getPrototypeOf(after)).toBe(Object.getPrototypeOf(message))
  expectShared(message, after)
  expect(formats.viewOf(shape.format, after).results.length).toBe(formats.viewOf(shape.format, message).results.length)
}

describe('the format of a history', () => {
  test('is that of most of its telling messages', () => {
    const of = (name: HistoryFormatName) =>
      table.filter(({ format, sure }) => format === name && sure !== false).map(make)
    expect(detectFormat([...of('gemini').slice(0, 1), ...of('anthropic')])).toBe('anthropic')
    expect(detectFormat([...of('anthropic'), ...of('gemini'), ...of('gemini'), ...of('gemini')])).toBe('anthropic')
  })

  test('without tools is the first that has messages like these', () => {
    expect(detectFormat([{ role: 'user', content: 'Hi' }])).toBe('openai-chat')
    expect(detectFormat([{ role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }])).toBe('openai-responses')
  })

  test.each<[string, object[], HistoryFormatName]>([
    ['Converse without tools', [{ role: 'user', content: [{ text: 'Hi' }] }], 'bedrock'],
    [
      'Converse after a text of another',
      [
        { role: 'user', content: 'Hi' },
        { role: 'user', content: 'And?' },
        { role: 'assistant', content: [{ toolUse: { toolUseId: 'a', name: 'bash', input: {} } }] },
      ],
      'bedrock',
    ],
    [
      'chat completions whose texts have no type',
      [
        { role: 'user', content: [{ text: 'Hi' }] },
        { role: 'assistant', content: [{ text: 'Yes' }], tool_calls: [{ id: 'a', function: { name: 'b' } }] },
        { role: 'tool', tool_call_id: 'a', content: [{ text: 'x' }] },
      ],
      'openai-chat',
    ],
  ])('is recognized in %s', (_, messages, format) => {
    expect(detectFormat(messages)).toBe(format)
  })

  test('is unknown when nothing is known', () => {
    for (const messages of [[], [null, 1, 'x', undefined, [], {}, { role: 'ghost' }, () => {}], new Array(3)]) {
      expect(detectFormat(messages)).toBeUndefined()
    }
  })

  test('is asked of an array', () => {
    for (const value of [undefined, null, {}, 'x', Proxy.revocable([], {}), new Array(2 ** 32 - 1)]) {
      expect(() => detectFormat(value as never)).toThrow(SpillwayError)
    }
  })
})

describe('a message of another format', () => {
  const call = {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'a', function: { name: 'read', arguments: '{}' } }],
  }
  const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'ok' }] }

  test('is read by the one that is sure of it', () => {
    expect(formats.viewOf('openai-chat', result)).toMatchObject({
      role: 'tool',
      results: [{ callId: 'a', text: 'ok' }],
    })
    expect(formats.formatOf('openai-chat', result)?.name).toBe('anthropic')
    expect(formats.formatOf('anthropic', call)?.name).toBe('openai-chat')
  })

  test('is undefined if no format is certain', () => {
    const odd = { role: 'narrator', content: 'Meanwhile' }
    expect(formats.viewOf('gemini', odd)).toMatchObject({ role: 'other', text: '', calls: [], results: [] })
    expect(formats.formatOf('gemini', odd)).toBeUndefined()
    for (const value of [null, undefined, 1, 'x', Symbol('x')])
      expect(formats.viewOf('gemini', value).role).toBe('other')
  })
})

describe('the cached reading of a message', () => {
  test('is the view, as long as the message says the same', () => {
    for (const shape of table) {
      const message = make(shape)
      expect(formats.viewOf(shape.format, message)).toBe(formats.viewOf(shape.format, message))
    }
  })

  test.each<[string, HistoryFormatName, Fields, (message: never) => void, string]>([
    [
      'a content',
      'openai-chat',
      { role: 'tool', tool_call_id: 'a', content: 'one' },
      (message: { content: string }) => {
        message.content = 'two'
      },
      'two',
    ],
    [
      'a block',
      'anthropic',
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'one' }] },
      (message: { content: object[] }) => {
        message.content[0] = { type: 'tool_result', tool_use_id: 'a', content: 'two' }
      },
      'two',
    ],
    [
      'a text inside of a block',
      'anthropic',
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'one' }] }] },
      (message: { content: [{ content: [{ text: string }] }] }) => {
        message.content[0].content[0].text = 'two'
      },
      'two',
    ],
    [
      'a value',
      'ai-sdk',
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'a', output: { type: 'text', value: 'one' } }] },
      (message: { content: [{ output: object }] }) => {
        message.content[0].output = { type: 'text', value: 'two' }
      },
      'two',
    ],
    [
      'a message that was none before',
      'gemini',
      { role: 'user' },
      (message: { parts: object[] }) => {
        message.parts = [{ functionResponse: { name: 'read', response: { output: 'two' } } }]
      },
      'two',
    ],
  ])('is read again after another %s was put there', (_what, name, message, change, text) => {
    formats.viewOf(name, message)
    change(message as never)
    expect(formats.viewOf(name, message).results[0]?.text).toBe(text)
  })

  test('is not what another format said', () => {
    const message = { role: 'user', content: 'Hi' }
    expect(formats.viewOf('openai-chat', message).role).toBe('user')
    expect(formats.viewOf('gemini', message).role).toBe('other')
    expect(formats.viewOf('openai-chat', message).role).toBe('user')
  })
})
