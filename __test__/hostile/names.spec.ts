import { readFileSync, realpathSync } from 'node:fs'
import { basename, dirname, relative, sep } from 'node:path'
import { createTruncationMiddleware, type TruncationEvent, TruncationStorage } from 'spillway'
import { runChild } from '../support/child'
import { isLong } from '../support/only'
import { cut, makeListening, makeService, numbered, rejection } from '../support/outputs'
import { age, filesIn, OUTPUT_NAME, tempDir } from '../support/temp'

/** Title of a test: the group, the row, and as much of the input as a line holds. */
const titled = (group: string, id: number, value: string) => `${group} #${id} ${JSON.stringify(value).slice(0, 40)}`

describe('the name of a tool', () => {
  const x = (times: number) => 'x'.repeat(times)
  /** The row, the name, and the part of the file's name that it becomes. */
  const rows: [id: number, name: string, becomes: string][] = [
    [1, '', 'tool'],
    [1, '   ', 'tool'],
    [2, '../../etc/passwd', '______etc_passwd'],
    [2, '..\\..\\x', '______x'],
    [3, '/etc/cron.d/x', '_etc_cron_d_x'],
    [3, 'C:\\x', 'C__x'],
    [3, '\\\\host\\share', '__host_share'],
    [3, '\\\\?\\C:\\x', '____C__x'],
    [4, '.', 'tool'],
    [4, '..', 'tool'],
    [4, '.bashrc', '_bashrc'],
    [4, '-rf', '_rf'],
    [5, 'a\0b', 'a_b'],
    [5, 'a\nb', 'a_b'],
    [5, 'a\r\nb', 'a__b'],
    [5, '\u001b[31mred\u001b]8;;x\u0007', '__31mred__8__x_'],
    [6, 'CON', 'CON'],
    [6, 'nul.txt', 'nul_txt'],
    [6, 'COM1', 'COM1'],
    [6, 'COM¹', 'COM_'],
    [6, 'LPT9 ', 'LPT9_'],
    [6, 'CONIN$', 'CONIN_'],
    [6, 'aux.c', 'aux_c'],
    [7, 'bash:stream', 'bash_stream'],
    [7, 'a<b>|?*"', 'a_b_____'],
    [8, x(100_000), x(48)],
    [8, `${x(47)}你好`, `${x(47)}_`],
    [9, '工具', 'tool'],
    [9, 'ｂａｓｈ', 'tool'],
    [9, 'e\u0301', 'e_'],
    [10, '\u202egnp.exe', '_gnp_exe'],
    [10, '\u200b\ufeff\u2028', 'tool'],
    [11, '\ud800', 'tool'],
    [12, '__proto__', '__proto__'],
    [12, 'constructor', 'constructor'],
    [12, 'toString', 'toString'],
    [13, '%2e%2e%2f', '_2e_2e_2f'],
    [13, '$(id)', '__id_'],
    [13, '`id`', '_id_'],
    [13, ';rm', '_rm'],
    [15, 'bash_1700000000000_abcdef', 'bash_1700000000000_abcdef'],
    [15, 'bash_1700000000000_abcdefghijklm.txt', 'bash_1700000000000_abcdefghijklm_txt'],
  ]

  test.each(rows.map(([id, ...row]): [string, string, string] => [titled('D1', id, row[0]), ...row]))(
    '%s is saved inside the folder under a plain name, and read and removed by it',
    async (_title, toolName, becomes) => {
      const dir = tempDir()
      const { service, events } = makeListening({ storageDirs: [dir], global: { maxLines: 3 } })
      const result = cut(await service.output(numbered(9), { toolName }))
      const name = basename(result.outputPath)
      expect(name).toMatch(OUTPUT_NAME)
      expect(name.replace(/_\d+_[a-z0-9]+\.txt$/, '')).toBe(becomes)
      expect(realpathSync(dirname(result.outputPath))).toBe(dir)
      expect(filesIn(dir)).toEqual([name])
      expect(readFileSync(result.outputPath, 'utf8')).toBe(numbered(9))
      expect(events.map((event) => [event.type, event.toolName])).toEqual([['truncated', toolName]])
      // No name finds the settings of another tool, nor anything that objects inherit.
      expect(service.effectiveConfig({ toolName }).sources.direction).toBe('default')

      const storage = new TruncationStorage(dir)
      expect([storage.owns(result.outputPath), await storage.read(result.outputPath)]).toEqual([true, numbered(9)])
      // A store that was just saved into may be sweeping.
      await service.close()
      age(result.outputPath, 24 * 8)
      expect([await storage.cleanup(7), filesIn(dir)]).toEqual([1, []])
    },
  )

  test('D1 #5 a terminal that shows the log gets no control characters', () => {
    const toolName = '\u001b]0;title\u0007\u009b31m\r\n\u202ex'
    const written = runChild<string>(
      `let text = ''
       process.stderr.write = (piece) => { text += piece; return true }
       await new spillway.TruncationService().output('short', { toolName: input })
       answer(text)`,
      { env: { NODE_DEBUG: 'spillway' }, input: toolName },
    )
    expect(written).toMatch(/^SPILLWAY \d+: skipped /)
    expect(written.trimEnd()).not.toMatch(/[\p{Cc}\u202e]/u)
  })

  test('D1 #9 names that become the same one never share a file', async () => {
    const dir = tempDir()
    const storage = new TruncationStorage(dir)
    const names = Array.from({ length: 50 }, () => ['工具', 'ｂａｓｈ', '']).flat()
    const paths = await Promise.all(names.map((toolName) => storage.save(toolName, { toolName })))
    expect(filesIn(dir)).toHaveLength(names.length)
    expect(await Promise.all(paths.map((path) => storage.read(path)))).toEqual(names)
  })

  test('D1 #12 settings for a tool that is called like something inherited are that tool’s alone', () => {
    const tools = JSON.parse('{"__proto__": {"maxLines": 7}, "constructor": {"maxLines": 8}}')
    const service = makeService({ tools })
    const lines = ['__proto__', 'constructor', 'toString', 'x'].map(
      (toolName) => service.effectiveConfig({ toolName }).config.maxLines,
    )
    expect(lines).toEqual([7, 8, 2000, 2000])
    expect(({} as { maxLines?: unknown }).maxLines).toBeUndefined()
  })

  let asked = 0
  const count = () => {
    asked += 1
    return 'x'
  }
  const odd: [string, unknown][] = [
    ['an array', ['../x']],
    [
      'an object that makes itself a text',
      { toString: count, valueOf: count, toJSON: count, [Symbol.toPrimitive]: count },
    ],
    ['null', null],
    ['a symbol', Symbol('x')],
    ['a number', 5],
    ['a boxed text', new String('x')],
    ['a proxy that refuses everything', new Proxy({}, { get: count, has: count as never, ownKeys: count as never })],
  ]
  test.each(odd)(
    'D1 #14 %s is refused without being asked, and middleware still bounds the result',
    async (_what, name) => {
      asked = 0
      const dir = tempDir()
      const { service, events } = makeListening({ storageDirs: [dir], global: { maxLines: 3 } })
      const wrong = { name: 'SpillwayError', code: 'INVALID_ARGUMENT', field: 'context.toolName' }
      const context = { toolName: name as string }
      expect(await rejection(service.output(numbered(9), context))).toMatchObject(wrong)
      expect(await rejection(service.output('short', context))).toMatchObject(wrong)
      expect(await rejection(new TruncationStorage(dir).save('text', context))).toMatchObject(wrong)
      expect(events).toEqual([])
      const middleware = createTruncationMiddleware({ service })
      const result = await middleware(name as string, { success: true, output: numbered(3000) }, context)
      expect(String(result.output).length).toBeLessThan(numbered(3000).length)
      expect(events.map(({ type }: TruncationEvent) => type)).toContain('error')
      expect(asked).toBe(0)
    },
  )

  test('D1 #16 a great many names leave no growing state', () => {
    const grown = runChild<number>(
      `const service = new spillway.TruncationService({ storage: new spillway.MemoryStorage() })
       const long = 'x'.repeat(4000)
       const use = async (from, to) => {
         for (let i = from; i < to; i += 1) await service.output('x', { toolName: i + long })
         gc()
         return process.memoryUsage().rss
       }
       const before = await use(0, input / 2)
       answer(await use(input / 2, input) - before)`,
      // V8 grows its young generation with what is allocated, and keeps it: 70 MB in Node 24.
      { input: isLong ? 1_000_000 : 40_000, node: ['--expose-gc', '--max-semi-space-size=1'] },
    )
    // Remembered without a bound, the names alone would take 80 MB.
    expect(grown).toBeLessThan(32 << 20)
  })
})

describe('the id of a session', () => {
  const long = 'x'.repeat(64)
  /** The row, and ids that must not meet. */
  const rows: [id: number, ids: string[]][] = [
    [17, ['../../outside/pwned', 'a/b', 'a_b', 'a\\b', '.', '..']],
    [18, ['ABC', 'abc', 'Abc']],
    [19, ['CON', 'con', 'nul', 'com1.jsonl', 'COM¹']],
    [20, ['x'.repeat(10_000), 'x'.repeat(10_001), '', '\ud800', '\ud801', '\ufffd', '工具', 'a\nb']],
    [22, [`${long}a`, `${long}b`]],
  ]
  const all = rows.flatMap(([, ids]) => ids)

  /** Saves one output for each id, and gives back their folders as a disk sees them that does not tell cases apart. */
  async function foldersOf(dir: string, storage: TruncationStorage, ids: readonly string[]): Promise<Set<string>> {
    const folders = new Set<string>()
    for (const sessionId of ids) {
      const path = await storage.save(sessionId, { toolName: 'x', sessionId })
      const [folder, name, ...more] = relative(dir, path).split(sep)
      expect(more).toEqual([])
      expect(name).toMatch(OUTPUT_NAME)
      expect(folder).toMatch(/^[A-Za-z0-9_][A-Za-z0-9_-]{0,80}-[0-9a-f]{12,}$/)
      expect(await storage.read(path)).toBe(sessionId)
      folders.add(folder!.toLowerCase())
    }
    return folders
  }

  test.each(rows.map(([id, ids]): [string, string[]] => [titled('D2', id, ids.join(' ')), ids]))(
    '%s: each has a folder of its own inside, and is deleted alone',
    async (_title, ids) => {
      const dir = tempDir()
      const storage = new TruncationStorage(dir)
      expect((await foldersOf(dir, storage, ids)).size).toBe(ids.length)
      expect((await storage.usage()).sessions).toBe(ids.length)
      for (const [gone, id] of ids.entries()) {
        expect(filesIn(dir)).toHaveLength(ids.length - gone)
        expect(await storage.deleteSession(id)).toBe(1)
      }
      expect(filesIn(dir)).toEqual([])
    },
  )

  test('D2 #17–22 all of them together', async () => {
    const dir = tempDir()
    expect((await foldersOf(dir, new TruncationStorage(dir), all)).size).toBe(all.length)
    expect(filesIn(dir)).toHaveLength(all.length)
  })
})
