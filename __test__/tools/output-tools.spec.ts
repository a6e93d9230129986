import { symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import {
  createOutputTools,
  createTruncationMiddleware,
  MemoryStorage,
  type OutputToolResult,
  TruncationStorage,
} from 'spillway'
import { png } from '../support/images'
import { onUnix } from '../support/only'
import { bytesOf, makeService, memoryStorage, numbered, rejection, thrown } from '../support/outputs'
import { tempDir } from '../support/temp'

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

test('the names that other agents use for the same arguments are understood', async () => {
  const storage = new TruncationStorage(tempDir())
  const [read, search] = createOutputTools(storage)
  const path = await storage.save(numbered(50), tool)
  const wanted = await read.execute({ path, from_line: 2, line_count: 3 })
  expect(body(wanted)).toBe('line 2\nline 3\nline 4\n')
  for (const args of [
    { path, offset: 2, limit: 3 },
    { path, fromLine: 2, lineCount: 3 },
    { path, start_line: 2, limit: 3 },
    { file_path: path, offset: 2, line_count: 3 },
    { filePath: path, from_line: 2, offset: 2, limit: 3, from_byte: null },
  ]) {
    expect(await read.execute(args)).toEqual(wanted)
  }
  const first = await read.execute({ path, limit: 1 })
  for (const offset of [0, 1]) expect(await read.execute({ path, offset, limit: 1 })).toEqual(first)
  expect(await read.execute({ path, fromByte: 7, byteCount: 6 })).toEqual(
    await read.execute({ path, from_byte: 7, byte_count: 6 }),
  )
  expect(await search.execute({ path, pattern: 'LINE 9$', ignoreCase: true, maxMatches: 1 })).toMatchObject({
    output: expect.stringContaining('9:line 9'),
  })
  const few = await search.execute({ path, pattern: 'line', max_matches: 2 })
  expect(few).toMatchObject({ output: expect.stringContaining('[2 matching lines') })
  expect(await search.execute({ path, pattern: 'line', limit: 2 })).toEqual(few)
})

test('a wrong argument is named as it was given, with the nearest one', async () => {
  const storage = new TruncationStorage(tempDir())
  const [read, search] = createOutputTools(storage)
  const path = await storage.save(numbered(50), tool)
  for (const [args, error] of [
    [{ path, from_lines: 2 }, 'Unknown option "from_lines": did you mean from_line?'],
    [{ path, Limit: 2 }, 'Unknown option "Limit": did you mean limit?'],
    [{ path, offset: 2, from_line: 3 }, 'Invalid option "from_line": means the same as offset; give one of them'],
    [{ path, offset: -1 }, /^Invalid option "offset": expected .*, received -1/],
    [{ path, limit: 'all' }, /^Invalid option "limit": expected .*, received a string/],
    [{ path, fromLine: 1.5 }, /^Invalid option "fromLine": expected .*, received 1.5/],
    [{ path, nothing_like_it: 1 }, /^Unknown option "nothing_like_it": expected one of path, from_line, /],
  ] as const) {
    const answer = await read.execute(args)
    expect(answer).toMatchObject({ success: false })
    if (typeof error === 'string') expect(answer.error).toBe(error)
    else expect(answer.error).toMatch(error)
  }
  expect(await search.execute({ path, pattern: 'x', limit: 2, max_matches: 3 })).toMatchObject({
    error: 'Invalid option "max_matches": means the same as limit; give one of them',
  })
  expect(await search.execute({ path, patern: 'x' })).toMatchObject({
    error: 'Unknown option "patern": did you mean pattern?',
  })
})

test('accepts a service in place of its storage', async () => {
  const service = makeService({ global: { maxLines: 3 } })
  const [read] = createOutputTools(service)
  const { outputPath } = (await service.output(numbered(9), tool)) as { outputPath: string }
  expect(body(await read.execute({ path: outputPath, offset: 9 }))).toBe('line 9\n')
  for (const wrong of [{}, { storage: {} }, null, makeService({ storage: memoryStorage() })]) {
    expect(thrown(() => createOutputTools(wrong as never))).toMatchObject({ field: 'storage' })
  }
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
      // A page that ends inside a line gets a break before the line that says how to continue.
      const parts = results.map((result) =>
        /, cut inside/.test(result.output) ? body(result).replace(/\n$/, '') : body(result),
      )
      expect(parts.join('').replaceAll('\n', '')).toBe(text.replaceAll('\n', ''))
    }
  }
})

test('read_output says which bytes it shows, and reads once', async () => {
  const storage = new TruncationStorage(tempDir())
  let reads = 0
  const counted = {
    readRange: (...args: Parameters<TruncationStorage['readRange']>) => {
      reads += 1
      return storage.readRange(...args)
    },
    search: storage.search.bind(storage),
  }
  const [read] = createOutputTools(counted)
  const path = await storage.save(`${'x'.repeat(999)}\n`.repeat(100), tool)
  const { output, metadata } = await read.execute({ path })
  expect(output.split('\n')[0]).toBe('[lines 1-32, bytes 0-32000 of 100000]')
  expect([reads, metadata.next]).toEqual([1, { path, from_line: 33, line_count: 500 }])
  const long = await storage.save(`first\n${'x'.repeat(50_000)}`, tool)
  expect((await read.execute({ path: long, from_line: 2 })).output.split('\n')[0]).toBe(
    '[line 2, bytes 6-32774 of 50006, cut inside a line]',
  )
})

test('search_output prints as grep does and continues', async () => {
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

test('read_output says how many lines there are where it is asked for more', async () => {
  const storage = new TruncationStorage(tempDir())
  const [read] = createOutputTools(storage)
  const path = await storage.save(numbered(5), tool)
  expect((await read.execute({ path, from_line: 9 })).output).toMatch(
    /^\[no line 9; the output has 5 lines, 34 bytes\]/,
  )
})

test('search_output gives the byte of a match in a long line, from which read_output reads on', async () => {
  const storage = new TruncationStorage(tempDir())
  const [read, search] = createOutputTools(storage)
  const path = await storage.save(`short NEEDLE\n${'é'.repeat(5000)} NEEDLE {"a":1}${'y'.repeat(50_000)}\n`, tool)
  const { output } = await search.execute({ path, pattern: 'NEEDLE' })
  const [, whole, long] = output.split('\n')
  expect([whole, long]).toEqual(['1:short NEEDLE', expect.stringMatching(/^2 \(byte 10014\):….* NEEDLE \{.*…$/)])
  const shown = await read.execute({ path, from_byte: 10_014, byte_count: 14 })
  expect(shown.output.split('\n')[1]).toBe('NEEDLE {"a":1}')
})

test('an error is short and well-formed for anything that the model made up', async () => {
  const long = `\ud800${'x'.repeat(1_000_000)}`
  for (const storage of [new TruncationStorage(tempDir()), new MemoryStorage()]) {
    for (const each of createOutputTools(storage)) {
      for (const args of [
        { path: long, pattern: 'x' },
        { path: 'x', [long]: 1 },
        { path: 'x', pattern: long },
      ]) {
        const { success, output, error } = await each.execute(args)
        expect([success, output]).toEqual([false, `Error: ${error}`])
        expect([output.length < 3000, output.isWellFormed()]).toEqual([true, true])
      }
    }
    const { error } = await createOutputTools(storage)[0].execute({ path: 'x'.repeat(5000) })
    expect(error).toMatch(/^"xxx.* … .*xxx" is not an output that this store saved$/)
  }
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

onUnix('a folder with the name of a session that leads into another one is no way in', async () => {
  const storage = new TruncationStorage(tempDir())
  const mine = await storage.save('mine', { ...tool, sessionId: 'me' })
  const theirs = await storage.save('theirs', { ...tool, sessionId: 'they' })
  const disguise = join(tempDir(), basename(dirname(mine)))
  symlinkSync(dirname(theirs), disguise)
  const path = join(disguise, basename(theirs))
  for (const each of createOutputTools(storage, { sessionId: 'me' })) {
    const { success, output } = await each.execute({ path, ...(each.name === 'search_output' && { pattern: '.' }) })
    expect([success, output]).toEqual([false, expect.stringContaining('not an output of this session')])
  }
})

test('a session is a limit of both storages', async () => {
  for (const storage of [new TruncationStorage(tempDir()), new MemoryStorage()]) {
    const mine = await storage.save('mine', { ...tool, sessionId: 'me' })
    const others = [await storage.save('theirs', { ...tool, sessionId: 'they' }), await storage.save('nobodys', tool)]
    const access = { sessionId: 'me' }
    expect((await storage.readRange(mine, { fromLine: 1 }, access)).text).toBe('mine')
    expect((await storage.search(mine, '.', access)).matches).toHaveLength(1)
    for (const path of others) {
      const refused = { code: 'STORAGE_NOT_OWNED', field: 'path' }
      expect(await rejection(storage.readRange(path, { fromLine: 1 }, access))).toMatchObject(refused)
      expect(await rejection(storage.search(path, '.', access))).toMatchObject(refused)
    }
    const wrong = { code: 'INVALID_ARGUMENT', field: 'access.sessionId' }
    expect(await rejection(storage.readRange(mine, { fromLine: 1 }, { sessionId: 5 } as never))).toMatchObject(wrong)
    expect(await rejection(storage.search(mine, '.', { sessionId: 5 } as never))).toMatchObject({
      ...wrong,
      field: 'options.sessionId',
    })
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
    { path, constructor: 1 },
    { path, from_line: 1, byte_count: 1 },
  ]) {
    expect(await read.execute(args)).toMatchObject({ success: false, output: expect.stringMatching(/^Error: /) })
  }
  for (const args of [{ path }, { path, pattern: '(' }, { path, pattern: 'x', max_matches: 0 }]) {
    expect(await search.execute(args)).toMatchObject({ success: false, output: expect.stringMatching(/^Error: /) })
  }
  expect(thrown(() => createOutputTools({} as never))).toMatchObject({ code: 'INVALID_ARGUMENT', field: 'storage' })
})

test('errors speak of the arguments by the names that the model knows', async () => {
  const storage = new TruncationStorage(tempDir())
  const [read, search] = createOutputTools(storage)
  const path = await storage.save(numbered(5), tool)
  for (const [wrong, name] of [
    [{ from_line: 0 }, 'from_line'],
    [{ line_count: '5' }, 'line_count'],
    [{ from_byte: -1 }, 'from_byte'],
    [{ byte_count: 0.5 }, 'byte_count'],
    [{ from_line: 1, byte_count: 5 }, 'byte_count'],
  ] as const) {
    const { output, error } = await read.execute({ path, ...wrong })
    expect([output, error]).toEqual([
      `Error: ${error}`,
      expect.stringMatching(new RegExp(`^(${name}: can be combined|Invalid option "${name}": )`)),
    ])
    expect(output).not.toMatch(/range|[a-z][A-Z]/)
  }
  for (const [wrong, name] of [
    [{ pattern: 5 }, 'pattern'],
    [{ literal: 'yes' }, 'literal'],
    [{ ignore_case: 1 }, 'ignore_case'],
    [{ context: -1 }, 'context'],
    [{ max_matches: 0 }, 'max_matches'],
    [{ after: 5 }, 'after'],
  ] as const) {
    const { output } = await search.execute({ path, pattern: 'x', ...wrong })
    expect(output).toMatch(new RegExp(`^Error: Invalid option "${name}": `))
  }
})

test('null is an argument that was left out, as models say it that must name every argument', async () => {
  const storage = new TruncationStorage(tempDir())
  const [read, search] = createOutputTools(storage)
  const path = await storage.save(numbered(5), tool)
  const nothing = { from_line: null, line_count: null, from_byte: null, byte_count: null }
  expect(await read.execute({ path, ...nothing })).toEqual(await read.execute({ path }))
  const none = { literal: null, ignore_case: null, context: null, max_matches: null, after: null }
  expect(await search.execute({ path, pattern: '[24]', ...none })).toEqual(
    await search.execute({ path, pattern: '[24]' }),
  )
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

const file = (hex: string) => Buffer.concat([Buffer.from(hex, 'hex'), Buffer.alloc(2000, 0xab)])

test.each<[string, Buffer, string]>([
  ['a PNG', Buffer.from(png(1280, 800, 2000, 0xab), 'base64'), 'image/png, 2,024 bytes'],
  ['a GIF', file('4749463839610a000a00'), 'image/gif, 2,010 bytes'],
  ['a WebP', file('52494646f0070000574542505650'), 'image/webp, 2,014 bytes'],
  ['a JPEG', file('ffd8ffe000104a4649460001'), 'image/jpeg, 2,012 bytes'],
  ['a JPEG of a camera', file('ffd8ffe1a0de457869660000'), 'image/jpeg, 2,012 bytes'],
  ['a PDF', file('255044462d312e370a25e2e3cfd3'), 'application/pdf, 2,014 bytes'],
])('read_output says that an output is %s', async (_name, content, words) => {
  const storage = new TruncationStorage(tempDir())
  const [read] = createOutputTools(storage)
  const path = await storage.saveBytes(content, tool)
  const wanted = { success: true, output: `[${words}; it has no text to read]`, metadata: { truncated: false } }
  for (const more of [{}, { from_byte: 1000 }]) expect(await read.execute({ path, ...more })).toEqual(wanted)
})

test('read_output shows a text with a few bytes that are none', async () => {
  const storage = new TruncationStorage(tempDir())
  const [read] = createOutputTools(storage)
  const path = await storage.saveBytes(Buffer.from('a caf\xe9\n', 'latin1'), tool)
  expect(body(await read.execute({ path }))).toBe('a caf\uFFFD\n')
})
