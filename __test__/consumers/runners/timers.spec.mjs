// Hosts test their tools under faked timers. Nothing of ours may wait for a clock that only the test moves: every
// asynchronous call settles by itself, and the one wait that is measured, for a storage, is measured in real time.
// The setup of each runner says how timers are faked there: before this file is loaded, or by `startFakeTimers`.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTruncation, ToolRegistry, TruncationService, TruncationStorage } from 'spillway'
import { BaseTruncationStrategy, createTruncationPlugin, truncationPlugin } from 'spillway/truncation'

const { startFakeTimers, stopFakeTimers, countFakeTimers } = globalThis

const storageDir = mkdtempSync(join(process.env.SPILLWAY_STORAGE_DIR, 'timers-'))
const SHORT = 'one\ntwo\n'
const LONG = 'a line of some length\n'.repeat(5000)
const HUGE = LONG.repeat(40)
const context = { toolName: 'test' }
const service = new TruncationService({ global: { storageDir } })

/** Real milliseconds; no library fakes this clock. */
const now = () => process.uptime() * 1000

/** Waits in real time. Files are read by threads, so this continues whatever is faked. */
async function pass(ms) {
  for (const end = now() + ms; now() < end; ) await stat(storageDir)
}

let probe
let fired
beforeEach(() => {
  startFakeTimers?.()
  fired = false
  probe = setTimeout(() => {
    fired = true
  }, 1)
})

afterEach(async () => {
  await pass(5)
  // Otherwise the timers were not faked, and the test has shown nothing.
  expect(fired).toBe(false)
  // The test's clock has nothing of ours.
  if (countFakeTimers) expect(countFakeTimers()).toBe(1)
  clearTimeout(probe)
  stopFakeTimers?.()
})

afterAll(() => rmSync(storageDir, { recursive: true, force: true }))

describe('settles under faked timers:', () => {
  test.each([
    ['a short text', SHORT, false],
    ['a long text', LONG, true],
    ['a text of many slices', HUGE, true],
    ['short bytes', Buffer.from(SHORT), false],
    ['long bytes', Buffer.from(HUGE), true],
    ['parts', [{ type: 'text', text: LONG }, { type: 'image' }, { type: 'text', text: HUGE }], true],
  ])('output of %s', async (_name, content, truncated) => {
    expect((await service.output(content, context)).truncated).toBe(truncated)
  })

  test('more outputs at once than threads', async () => {
    const texts = Array.from({ length: 12 }, (_, index) => `${index}\n${HUGE}`)
    const results = await Promise.all(texts.map((text) => service.output(text, context)))
    const saved = results.map(({ outputPath }) => readFileSync(outputPath, 'utf8'))
    expect(saved.every((text, index) => text === texts[index])).toBe(true)
  })

  test('an aborted output', async () => {
    const controller = new AbortController()
    const work = service.output(HUGE, { ...context, signal: controller.signal })
    controller.abort()
    await expect(work).rejects.toBe(controller.signal.reason)
  })

  test('a wrong call', async () => {
    await expect(service.output(1, context)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  test('an output with events and a notice of its own', async () => {
    const events = []
    const mine = new TruncationService({
      global: { storageDir },
      onEvent: ({ type }) => events.push(type),
      formatNotice: () => 'the rest is kept',
    })
    expect((await mine.output(LONG, context)).content).toContain('the rest is kept')
    expect(events).toEqual(['truncated'])
  })

  test('an output by a strategy of the caller', async () => {
    class Mine extends BaseTruncationStrategy {
      name = 'mine'
    }
    const mine = new TruncationService({ global: { storageDir }, strategy: new Mine() })
    expect((await mine.output(HUGE, context)).truncated).toBe(true)
  })

  test('saving, reading and cleaning up', async () => {
    const storage = new TruncationStorage(storageDir)
    for (const text of [SHORT, HUGE]) {
      expect(await storage.read(await storage.save(text, context))).toBe(text)
      expect(await storage.read(await storage.saveBytes(Buffer.from(text), context))).toBe(text)
    }
    await expect(storage.read(process.execPath)).rejects.toMatchObject({ code: 'STORAGE_NOT_OWNED' })
    expect(await storage.cleanup(1)).toBe(0)
    expect(await service.cleanup()).toBe(0)
    await storage.close()
  })

  test.each([0, -1, 1.5, 8.64e15])('saving and cleaning up when the test says it is %d', async (time) => {
    const real = Date.now
    Date.now = () => time
    try {
      const result = await service.output(LONG, context)
      expect(result).not.toHaveProperty('saveError')
      expect(readFileSync(result.outputPath, 'utf8')).toBe(LONG)
      await new TruncationStorage(join(storageDir, 'empty')).cleanup(1)
    } finally {
      Date.now = real
    }
  })

  test('middleware', async () => {
    const { middleware, service: own } = createTruncation({ storageDir })
    for (const output of [SHORT, HUGE, { rows: HUGE.split('\n') }]) {
      expect(await middleware('test', { output }, context)).toHaveProperty('metadata.truncated', output !== SHORT)
    }
    await own.close()
  })

  test('the registry', async () => {
    const registry = new ToolRegistry()
    registry.setTruncationMiddleware(createTruncation({ storageDir }).middleware)
    registry.register({ name: 'print', execute: async () => HUGE })
    const calls = ['1', '2', '3'].map((id) => ({ id, name: 'print' }))
    const results = await registry.execute(calls)
    expect(results.map(({ result }) => result.metadata.truncated)).toEqual([true, true, true])
  })

  test('the plugins', async () => {
    for (const plugin of [truncationPlugin, createTruncationPlugin({ service })]) {
      expect(await plugin.toolResult({ llmContent: SHORT })).toHaveProperty('truncated', false)
      expect(await plugin.toolResult({ llmContent: HUGE })).toHaveProperty('truncated', true)
    }
  })
})

describe('a storage of the caller under faked timers', () => {
  const withStorage = (save, options) =>
    new TruncationService({
      storage: [
        {
          save,
          read: (path) => readFile(path, 'utf8'),
          cleanup: async () => 3,
          getStorageDir: () => storageDir,
        },
      ],
      ...options,
    })

  test('answers', async () => {
    const path = join(storageDir, 'mine.txt')
    const save = async (content) => {
      await writeFile(path, content)
      return path
    }
    const mine = withStorage(save)
    expect((await mine.output(LONG, context)).outputPath).toBe(path)
    expect(await mine.cleanup()).toBe(3)
  })

  test('has longer to answer than a timer can measure', async () => {
    const save = () => pass(20).then(() => 'id')
    const result = await withStorage(save, { storageTimeoutMs: 2 ** 31 }).output(LONG, context)
    expect(result).toHaveProperty('outputPath', 'id')
  })

  test('fails', async () => {
    const result = await withStorage(() => Promise.reject(new Error('full'))).output(LONG, context)
    expect(result).toHaveProperty('saveError.message', 'full')
  })

  test('never answers: the wait ends in real time', async () => {
    const started = now()
    const result = await withStorage(() => new Promise(() => {}), { storageTimeoutMs: 50 }).output(LONG, context)
    expect(result).toHaveProperty('saveError.code', 'STORAGE_TIMEOUT')
    expect(now() - started).toBeGreaterThan(40)
    expect(now() - started).toBeLessThan(2000)
  })
})
