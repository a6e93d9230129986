/** Outputs that the caller's storage does not take: each may be the only copy. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  createOutputTools,
  type ITruncationStorage,
  MemoryStorage,
  type TruncationEvent,
  type TruncationResult,
  TruncationService,
  type TruncationServiceConfig,
  TruncationStorage,
} from 'spillway'
import { cut, memoryStorage, rejection } from '../support/outputs'
import { tempDir } from '../support/temp'

const TEXT = Array.from({ length: 5000 }, (_, line) => `line ${line}`).join('\n')
const context = { toolName: 'fetch', sessionId: 's1' }

/** Storages that do not take an output, each in its way. */
const FAILING: [string, () => Promise<string>][] = [
  ['rejects', () => Promise.reject(new Error('503 SlowDown'))],
  [
    'throws',
    () => {
      throw new Error('503 SlowDown')
    },
  ],
  ['answers no path', () => Promise.resolve('')],
  ['never answers', () => new Promise(() => {})],
]

/** The ways in which an output reaches a service. */
const WAYS: [
  string,
  (service: TruncationService, content: string | Uint8Array) => Promise<TruncationResult<unknown>>,
][] = [
  ['output', (service, content) => service.output(content, context)],
  [
    'capture',
    (service, content) => {
      const capture = service.capture(context)
      capture.end(content)
      return capture.result
    },
  ],
]

const failing = (save: () => Promise<string>, more: Partial<ITruncationStorage> = {}): ITruncationStorage => ({
  ...memoryStorage(),
  save,
  saveBytes: save,
  saveStream: save,
  ...more,
})

let home: string
beforeEach(() => {
  home = tempDir()
  process.env.SPILLWAY_STORAGE_DIR = join(home, 'outputs')
})
afterEach(() => {
  delete process.env.SPILLWAY_STORAGE_DIR
})

const cases = WAYS.flatMap(([way, give]) => FAILING.map(([how, save]) => ({ way, give, how, save })))

describe("a storage of the caller's that fails", () => {
  test.each(cases)('costs nothing: $way, $how', async ({ give, save }) => {
    for (const content of [TEXT, Buffer.from(TEXT), `${TEXT}\ud800`]) {
      const events: TruncationEvent[] = []
      const onEvent = (event: TruncationEvent) => void events.push(event)
      const service = new TruncationService({ storage: failing(save), storageTimeoutMs: 20, onEvent })
      const result = cut((await give(service, content)) as TruncationResult<string>)
      expect(result.saveError).toBeUndefined()
      expect(result.outputPath.startsWith(process.env.SPILLWAY_STORAGE_DIR!)).toBe(true)
      expect(result.content).toContain(result.outputPath)
      const storage = new TruncationStorage()
      expect(await storage.read(result.outputPath)).toBe(typeof content === 'string' ? content : TEXT)
      await rejection(storage.readRange(result.outputPath, { fromLine: 1 }, { sessionId: 'other' }))
      expect(events.map(({ type }) => type)).toEqual(['error', 'truncated'])
      expect(events[0]).toMatchObject({
        errorCode: expect.stringMatching(/^STORAGE_(WRITE|TIMEOUT)$/),
        error: expect.stringContaining('memory:'),
      })
      await service.close()
    }
  })

  test.each(WAYS)('is reported when the default folders fail too: %s', async (_way, give) => {
    const blocked = join(home, 'file')
    writeFileSync(blocked, '')
    process.env.SPILLWAY_STORAGE_DIR = join(blocked, 'outputs')
    const service = new TruncationService({ storage: failing(FAILING[0]![1]) })
    const { outputPath, saveError, content } = cut((await give(service, TEXT)) as TruncationResult<string>)
    expect(outputPath).toBe('')
    expect(saveError).toMatchObject({ code: 'STORAGE_WRITE', message: '503 SlowDown' })
    expect(saveError.attempts.map(({ dir }) => dir)).toEqual(['memory:', join(blocked, 'outputs')])
    expect(content).toContain('could not be saved')
  })

  test('secrets redacted for the service are redacted in the default folders', async () => {
    for (const [, give] of WAYS) {
      const service = new TruncationService({
        storage: failing(FAILING[0]![1]),
        redact: { values: ['hunter2hunter2'] },
      })
      const result = cut((await give(service, `hunter2hunter2\n${TEXT}`)) as TruncationResult<string>)
      expect(readFileSync(result.outputPath, 'utf8')).not.toContain('hunter2')
      expect(result.redactions).toBe(1)
    }
  })
})

describe('a list of storages', () => {
  const two = () => ({
    remote: failing(FAILING[0]![1], { getStorageDir: () => 's3://bucket' }),
    local: new TruncationStorage(tempDir()),
  })

  test.each(WAYS)('is tried in order, and nothing else: %s', async (_way, give) => {
    const { remote, local } = two()
    const service = new TruncationService({ storage: [remote, local] })
    const result = cut((await give(service, TEXT)) as TruncationResult<string>)
    expect(local.owns(result.outputPath)).toBe(true)
    expect(await service.storage.read(result.outputPath)).toBe(TEXT)
    const alone = new TruncationService({ storage: [remote] } as TruncationServiceConfig)
    expect(cut((await give(alone, TEXT)) as TruncationResult<string>).outputPath).toBe('')
    expect(existsSync(process.env.SPILLWAY_STORAGE_DIR!)).toBe(false)
  })

  test('reads, searches and removes where the output is', async () => {
    const [memory, local] = [new MemoryStorage(), new TruncationStorage(tempDir())]
    const service = new TruncationService({ storage: [memory, local] })
    const first = cut(await service.output(TEXT, context)).outputPath
    const second = await local.save(TEXT, context)
    for (const path of [first, second]) {
      const [read, search] = createOutputTools(service, { sessionId: 's1' })
      expect(JSON.stringify(await read.execute({ path, fromLine: 4000, lineCount: 1 }))).toContain('line 3999')
      expect(JSON.stringify(await search.execute({ path, pattern: 'line 4242' }))).toContain('line 4242')
    }
    const { storage } = service as unknown as { storage: TruncationStorage }
    expect([storage.owns(first), storage.owns(second), storage.owns('/etc/passwd')]).toEqual([true, true, false])
    expect(await rejection(storage.readRange('/etc/passwd', { fromLine: 1 }))).toMatchObject({
      code: 'STORAGE_NOT_OWNED',
    })
    expect((await storage.usage()).files).toBe(2)
    expect((await storage.sweep({ maxStoreFiles: 1, now: Date.now() })).kept.files).toBe(2)
    expect(await storage.deleteSession('s1')).toBe(2)
  })

  test.each([[[]], [[{}]], [[memoryStorage(), null]]])('is refused unless each is a storage: %j', (storage) => {
    expect(() => new TruncationService({ storage } as unknown as TruncationServiceConfig)).toThrow(
      expect.objectContaining({ code: 'INVALID_CONFIG', field: 'storage' }),
    )
  })
})

describe('a stream that is saved', () => {
  async function* pieces(text: string, size: number) {
    for (let at = 0; at < text.length; at += size) yield Buffer.from(text.slice(at, at + size))
  }

  test('is the whole, in constant memory, in the folder of its session', async () => {
    const storage = new TruncationStorage(tempDir())
    for (const size of [1, 1000, 2 ** 20]) {
      const path = await storage.saveStream(pieces(TEXT.repeat(size === 1 ? 1 : 30), size), context)
      expect(await storage.read(path)).toBe(TEXT.repeat(size === 1 ? 1 : 30))
      expect(path).toMatch(/s1-[0-9a-f]+/)
    }
  })

  test('leaves nothing when its source fails or answers nonsense', async () => {
    const dir = tempDir()
    const storage = new TruncationStorage(dir)
    async function* broken() {
      yield Buffer.from(TEXT)
      throw new Error('gone')
    }
    async function* nonsense() {
      yield 'text'
    }
    expect(await rejection(storage.saveStream(broken(), context))).toMatchObject({ message: 'gone' })
    expect(await rejection(storage.saveStream(nonsense() as never, context))).toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
    expect((await storage.usage()).files).toBe(0)
  })
})

test('a capture reaches the storage of the caller on a disk that cannot be written', async () => {
  const [data, temporary] = [join(home, 'data'), join(home, 'tmp')]
  for (const file of [data, temporary]) writeFileSync(file, '')
  // Default folders are found out once for a process.
  const { execFileSync } = await import('node:child_process')
  const script = `
    const { TruncationService } = require(${JSON.stringify(join(__dirname, '../..'))})
    const saved = []
    const keep = async (content) => saved.push(content) && 's3://bucket/key'
    const storage = { save: keep, saveBytes: keep, read: async () => '', cleanup: async () => 0, getStorageDir: () => 's3://bucket' }
    const service = new TruncationService({ storage, redact: { values: ['hunter2hunter2'] } })
    ;(async () => {
      for (const piece of ['text', Buffer.from('bytes')]) {
        const capture = service.capture({ toolName: 'bash' })
        for (let i = 0; i < 5000; i += 1) capture.write(piece)
        capture.write('hunter2hunter2')
        capture.end('\\n'.repeat(5000))
        const { outputPath } = await capture.result
        process.stdout.write(outputPath + ' ' + saved.at(-1).length + ' ' + String(saved.at(-1)).includes('hunter2') + '\\n')
      }
    })()`
  const env = { PATH: process.env.PATH, HOME: data, XDG_DATA_HOME: data, TMPDIR: temporary }
  const printed = execFileSync(process.execPath, ['-e', script], { encoding: 'utf8', env })
  expect(printed).toBe('s3://bucket/key 25014 false\ns3://bucket/key 30014 false\n')
})

test('the notice of an output that is in no file names only tools that can read it', async () => {
  const storage = { ...memoryStorage(), save: async () => 's3://bucket/key' }
  for (const [availableTools, named] of [
    [['read', 'grep', 'task', 'bash'], []],
    [
      ['read', 'read_output', 'grep', 'spillway_search_output'],
      ['read_output', 'spillway_search_output'],
    ],
  ] as const) {
    const { hint } = cut(
      await new TruncationService({ storage, availableTools: [...availableTools] }).output(TEXT, context),
    )
    for (const tool of availableTools)
      expect([tool, hint.includes(`Use ${tool} `)]).toEqual([tool, named.includes(tool as never)])
  }
})
