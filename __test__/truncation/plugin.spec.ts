import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { TruncationServiceConfig } from 'spillway'
import {
  type ContentPart,
  createTruncationPlugin,
  type PluginHost,
  type PluginToolInfo,
  type PluginToolResult,
  truncationPlugin,
} from 'spillway/truncation'
import { runChild } from '../support/child'
import { bytesOf, makeListening, numbered, thrown } from '../support/outputs'
import { filesIn, overrideDefaultDir, tempDir } from '../support/temp'

const image = { type: 'image', data: 'abc' }
const info: PluginToolInfo = { toolUse: { name: 'bash_like', callId: 'c1' }, sessionId: 's1' }

function make(config: TruncationServiceConfig = {}) {
  const { service, events } = makeListening({ global: { maxLines: 3 }, ...config })
  const plugin = createTruncationPlugin({ service })
  const run = (result: PluginToolResult, host: PluginHost | undefined = { config: {} }, about = info) =>
    plugin.toolResult.call(host, result, about)
  return { plugin, run, events }
}

test('it is called truncation and comes after the others', () => {
  for (const plugin of [make().plugin, truncationPlugin]) {
    expect(plugin).toMatchObject({ name: 'truncation', enforce: 'post', toolResult: expect.any(Function) })
  }
})

describe('a result within limits', () => {
  test('is stamped and otherwise the same', async () => {
    const result = Object.freeze({ llmContent: numbered(3), returnDisplay: 'shown', metadata: { a: 1 } })
    expect(await make().run(result)).toStrictEqual({ ...result, truncated: false })
  })

  test('keeps its parts', async () => {
    const llmContent = [{ type: 'text', text: numbered(2) }, image]
    const { llmContent: after, truncated } = await make().run({ llmContent })
    expect(after).toBe(llmContent)
    expect(truncated).toBe(false)
  })
})

describe('a result over limits', () => {
  test('gets a preview, the stamp and the place of the rest', async () => {
    const { run, events } = make()
    const result = Object.freeze({ llmContent: numbered(9), metadata: { a: 1 } })
    const after = await run(result)
    expect(after).toEqual({
      llmContent: expect.stringMatching(/^line 1\nline 2\nline 3\n\n\.\.\.6 lines truncated\.\.\.\n/),
      metadata: { a: 1 },
      truncated: true,
      outputPath: expect.any(String),
      returnDisplay: after.llmContent,
    })
    expect(readFileSync(after.outputPath!, 'utf8')).toBe(numbered(9))
    expect(events).toEqual([
      expect.objectContaining({ type: 'truncated', toolName: 'bash_like', toolCallId: 'c1', sessionId: 's1' }),
    ])
  })

  test('shares one budget among its parts, and images keep their place', async () => {
    const llmContent: ContentPart[] = [
      image,
      { type: 'text', text: numbered(2) },
      image,
      { type: 'text', text: numbered(3) },
    ]
    const after = await make().run({ llmContent })
    expect(after.llmContent).toEqual([
      image,
      { type: 'text', text: numbered(2) },
      image,
      { type: 'text', text: expect.stringMatching(/^line 1\n\n\.\.\.2 lines truncated/) },
    ])
    expect(after.returnDisplay).toBe(
      `[image]\n${numbered(2)}\n[image]\n${(after.llmContent[3] as { text: string }).text}`,
    )
  })

  test('keeps a display that is short, and replaces one that is long', async () => {
    const display = async (returnDisplay: unknown) => {
      const after = await make().run({ llmContent: numbered(9), returnDisplay })
      return after.returnDisplay === after.llmContent ? 'the preview' : after.returnDisplay
    }
    const diff = { type: 'diff', lines: [] }
    expect(await display('short')).toBe('short')
    expect(await display('你'.repeat(1666))).toBe('你'.repeat(1666))
    expect(await display('你'.repeat(1667))).toBe('the preview')
    expect(await display(diff)).toBe(diff)
    expect(await display(undefined)).toBe('the preview')
  })

  test('has an empty path when nothing could be saved', async () => {
    const after = await make({ global: { maxLines: 3 }, storageDirs: ['/dev/null/x'] }).run({ llmContent: numbered(9) })
    expect(after).toMatchObject({ truncated: true, outputPath: '' })
    expect(after.llmContent).toContain('could not be saved')
  })

  test('uses the settings of the tool that the host names', async () => {
    const { run } = make({ tools: { one: { maxLines: 1 }, two: { maxLines: 2 } } })
    const lines = async (about: PluginToolInfo | undefined) =>
      /\.\.\.(\d+) lines/.exec(
        String((await run({ llmContent: numbered(9) }, undefined, about as PluginToolInfo)).llmContent),
      )![1]
    expect(await lines({ toolUse: { name: 'one' } })).toBe('8')
    expect(await lines({ toolName: 'two' })).toBe('7')
    expect(await lines({})).toBe('6')
    expect(await lines(undefined)).toBe('6')
  })
})

describe('a result that is left alone', () => {
  const config = { global: { maxLines: 3, maxBytes: 100 } }
  const text = `${'x'.repeat(39)}\n`.repeat(10)

  test.each<[string, Partial<PluginToolResult>]>([
    ['it failed', { isError: true }],
    ['it says truncated', { truncated: true, outputPath: '/mine' }],
    ['it says not truncated', { truncated: false }],
  ])('is the same object up to the hard ceiling: %s', async (_why, marks) => {
    const { run } = make(config)
    const result = { llmContent: text, ...marks }
    expect(await run(result)).toBe(result)
    const over = await run({ ...result, llmContent: `${text}y` })
    expect(over).toMatchObject({ truncated: true, outputPath: expect.stringMatching(/bash_like_/) })
    expect(bytesOf(over.llmContent as string)).toBeLessThan(100 + 512 + over.outputPath!.length)
  })

  test('because the user switched truncation off', async () => {
    const { run, events } = make()
    const result = { llmContent: numbered(9000) }
    expect(await run(result, { config: { truncation: false } })).toBe(result)
    expect(events).toEqual([])
    for (const host of [{ config: { truncation: true } }, { config: {} }, {}, undefined]) {
      expect((await run({ llmContent: numbered(9) }, host)).truncated).toBe(true)
    }
  })

  test.each([undefined, null])('because it has no content: %p', async (llmContent) => {
    const result = { llmContent } as unknown as PluginToolResult
    expect(await make().run(result)).toBe(result)
    expect(await make().run(llmContent as unknown as PluginToolResult)).toBe(llmContent)
  })

  test('may be an error, whose end is shown once it passes the ceiling', async () => {
    const { llmContent } = await make(config).run({ llmContent: numbered(900), isError: true })
    expect(llmContent).toMatch(/The tool call failed[\s\S]*\n\nline 898\nline 899\nline 900$/)
  })
})

describe('text that is not well-formed', () => {
  test('is made so', async () => {
    expect((await make().run({ llmContent: 'a\ud800' })).llmContent).toBe('a\ufffd')
    expect((await make().run({ llmContent: 'a\ud800', isError: true })).llmContent).toBe('a\ufffd')
    expect(((await make().run({ llmContent: 'a\ud800\n'.repeat(9) })).llmContent as string).isWellFormed()).toBe(true)
  })

  test('is made so in parts too', async () => {
    for (const isError of [false, true]) {
      const { llmContent } = await make().run({ llmContent: [{ type: 'text', text: 'a\ud800' }, image], isError })
      expect(llmContent).toEqual([{ type: 'text', text: 'a\ufffd' }, image])
    }
  })
})

describe('never throws', () => {
  test('when the service does', async () => {
    overrideDefaultDir(tempDir())
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    try {
      const plugin = createTruncationPlugin({ service: { output: () => Promise.reject(new Error('down')) } })
      const after = await plugin.toolResult.call(undefined, { llmContent: 'x'.repeat(500_000) }, info)
      expect(bytesOf(after.llmContent as string)).toBeLessThan(52_000)
      expect(warned.mock.calls[0]).toEqual(['truncation: down', 'SpillwayWarning'])
    } finally {
      warned.mockRestore()
    }
  })

  test.each([undefined, {}, { service: undefined }, { service: 5 }, { service: {} }])(
    'later, for want of a service, which is refused at once: %p',
    (options) => {
      const error = thrown(() => createTruncationPlugin(options as never))
      expect(error).toMatchObject({ name: 'SpillwayError', code: 'INVALID_CONFIG', field: 'service' })
    },
  )
})

test('the ready-made plugin has a service of its own with the defaults', async () => {
  const dir = tempDir()
  overrideDefaultDir(dir)
  const after = await truncationPlugin.toolResult.call(
    undefined,
    { llmContent: numbered(2001) } as PluginToolResult,
    info,
  )
  expect(after).toMatchObject({ truncated: true, llmContent: expect.stringContaining('...1 lines truncated...') })
  expect(dirname(dirname(after.outputPath!))).toBe(dir)
  expect(filesIn(dir)).toHaveLength(1)
})

test('the ready-made plugin touches nothing before it is used', () => {
  const home = tempDir()
  const count = runChild<number>(
    `await subpath('truncation').truncationPlugin.toolResult.call(undefined, { llmContent: 'short' })
     answer(require('node:fs').readdirSync(input).length)`,
    { input: home, env: { HOME: home, XDG_DATA_HOME: '', TMPDIR: home } },
  )
  expect(count).toBe(0)
})
