import { createOutputTools, createTruncationMiddleware, type OutputToolResult, TruncationStorage } from '../index.js'
import { bytesOf, makeService, numbered, thrown } from './support/outputs'
import { tempDir } from './support/temp'

const tool = { toolName: 'x' }

/** All that following `next` gives. */
async function readOn(
  read: { execute(args: unknown): Promise<OutputToolResult> },
  args: object,
): Promise<OutputToolResult[]> {
  const results: OutputToolResult[] = []
  for (let next: object | undefined = args; next; next = results.at(-1)!.metadata.next) {
    results.push(await read.execute(next))
    expect(results.at(-1)!.success).toBe(true)
  }
  return results
}

const body = ({ output }: OutputToolResult) => output.slice(output.indexOf('\n') + 1, output.lastIndexOf('\n') + 1)

test('read_output shows a part and says how to go on', async () => {
  const storage = new TruncationStorage(tempDir())
  const [read] = createOutputTools(storage)
  const path = await storage.save(numbered(5), tool)
  expect(await read.execute({ path, from_line: 2, line_count: 2 })).toEqual({
    success: true,
    output: `[lines 2-3, bytes 7-21 of 34]\nline 2\nline 3\n[More: read_output with ${JSON.stringify({ path, from_line: 4, line_count: 2 })}]`,
    metadata: { truncated: true, next: { path, from_line: 4, line_count: 2 } },
  })
  const { output, metadata } = await read.execute({ path, from_byte: 28 })
  expect([output, metadata]).toEqual(['[bytes 28-34 of 34]\nline 5\n[End of the output]', { truncated: false }])
})

test('read_output is bounded, and following it gives the whole', async () => {
  const storage = new TruncationStorage(tempDir())
  const [read] = createOutputTools(storage)
  for (const text of [
    `${'x'.repeat(400)}\n`.repeat(1000),
    `first\n${'你😀'.repeat(30_000)}\nlast\n`,
    'é\n'.repeat(5000),
  ]) {
    const path = await storage.save(text, tool)
    for (const args of [{ path }, { path, from_byte: 0 }]) {
      const results = await readOn(read, args)
      for (const { output } of results) expect(bytesOf(output)).toBeLessThan(40 * 1024)
      // What ends inside a line gets a break before the line that says how to go on.
      const parts = results.map((result) =>
        /, cut inside/.test(result.output) ? body(result).replace(/\n$/, '') : body(result),
      )
      expect(parts.join('').replaceAll('\n', '')).toBe(text.replaceAll('\n', ''))
    }
  }
})

test('search_output prints as grep does and goes on', async () => {
  const storage = new TruncationStorage(tempDir())
  const [, search] = createOutputTools(storage)
  const path = await storage.save(numbered(40), tool)
  const first = await search.execute({ path, pattern: '3$', context: 1, max_matches: 2 })
  expect(first.output.split('\n').slice(0, -1)).toEqual([
    '[2 matching lines in 13 lines searched]',
    '2-line 2',
    '3:line 3',
    '4-line 4',
    '--',
    '12-line 12',
    '13:line 13',
    '14-line 14',
  ])
  const second = await search.execute(first.metadata.next)
  expect(second.output).toContain('23:line 23')
  const none = await search.execute({ path, pattern: 'nothing' })
  expect(none).toMatchObject({ success: true, output: '[0 matching lines in 40 lines searched]' })
})

test('only outputs of the session are shown', async () => {
  const storage = new TruncationStorage(tempDir())
  const [mine, theirs, nobodys] = [
    await storage.save('mine', { ...tool, sessionId: 'me' }),
    await storage.save('theirs', { ...tool, sessionId: 'they' }),
    await storage.save('nobodys', tool),
  ]
  for (const [tools, context] of [
    [createOutputTools(storage, { sessionId: 'me' }), { sessionId: 'they' }],
    [createOutputTools(storage), { sessionId: 'me' }],
  ] as const) {
    for (const each of tools) {
      const run = async (path: string) =>
        (await each.execute({ path, ...(each.name === 'search_output' && { pattern: '.' }) }, context)).success
      expect([await run(mine), await run(theirs), await run(nobodys)]).toEqual([true, false, false])
    }
  }
})

test('errors are results that can be read', async () => {
  const storage = new TruncationStorage(tempDir())
  const [read, search] = createOutputTools(storage)
  const path = await storage.save('text', tool)
  for (const args of [
    undefined,
    {},
    { path: '/etc/passwd' },
    { path, from_line: 0 },
    { path, line: 1 },
    { path, from_line: 1, byte_count: 1 },
  ]) {
    expect(await read.execute(args)).toMatchObject({ success: false, output: expect.stringMatching(/^Error: /) })
  }
  for (const args of [{ path }, { path, pattern: '(' }, { path, pattern: 'x', max_matches: 0 }]) {
    expect(await search.execute(args)).toMatchObject({ success: false, output: expect.stringMatching(/^Error: /) })
  }
  expect(thrown(() => createOutputTools({} as never))).toMatchObject({ code: 'INVALID_ARGUMENT', field: 'storage' })
})

test('middleware leaves the results alone', async () => {
  const storage = new TruncationStorage(tempDir())
  const service = makeService({ storage })
  const middleware = createTruncationMiddleware({ service })
  const [read] = createOutputTools(storage)
  const path = await storage.save(numbered(9000), tool)
  const result = await read.execute({ path })
  const shown = await middleware('read_output', result, { toolName: 'read_output', options: { maxLines: 100 } })
  expect(shown.output).toBe(result.output)
  expect((await storage.usage()).files).toBe(1)
})
