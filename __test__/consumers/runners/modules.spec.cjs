// What Jest alone does to a package: it loads it as often as a test likes, while the binary is loaded once per process.

const { mkdtempSync, readFileSync, rmSync } = require('node:fs')
const { join } = require('node:path')

const storageDir = mkdtempSync(join(process.env.SPILLWAY_STORAGE_DIR, 'modules-'))
afterAll(() => rmSync(storageDir, { recursive: true, force: true }))

const LONG = 'a line of some length\n'.repeat(5000)

function loadTwice() {
  const load = () => ({ ...require('spillway'), ...require('spillway/truncation') })
  const first = load()
  jest.resetModules()
  const second = load()
  expect(second.SpillwayError).not.toBe(first.SpillwayError)
  return [first, second]
}

test('two copies know the errors of each other', () => {
  const [first, second] = loadTwice()
  expect(() => new first.TruncationService({ global: { maxLines: 0 } })).toThrow(second.SpillwayError)
  expect(() => new second.TruncationService({ global: { maxLines: 0 } })).toThrow(first.SpillwayError)
})

test('a copy works with the storage, the strategy and the service of another', async () => {
  const [first, second] = loadTwice()
  const storage = new first.TruncationStorage(storageDir)
  const strategy = new first.LineBasedStrategy()
  const service = new second.TruncationService({ storage, strategy })
  const middleware = first.createTruncationMiddleware({ service })
  const result = await service.output(LONG, { toolName: 'test' })
  expect(readFileSync(result.outputPath, 'utf8')).toBe(LONG)
  const { metadata } = await middleware('test', { output: LONG }, { toolName: 'test' })
  expect(metadata.truncated).toBe(true)
})

test('isolated modules', async () => {
  await jest.isolateModulesAsync(async () => {
    const { TruncationService } = require('spillway')
    const result = await new TruncationService({ global: { storageDir } }).output(LONG, { toolName: 'test' })
    expect(result.truncated).toBe(true)
  })
})

test('the package can be mocked', () => {
  jest.doMock('spillway', () => ({ ...jest.requireActual('spillway'), estimateTokens: () => 7 }))
  jest.resetModules()
  expect(require('spillway').estimateTokens('x')).toBe(7)
  jest.dontMock('spillway')
})

test('a binary that is missing gives an error that says so', () => {
  const { SpillwayError } = require('spillway')
  const binding = process.env.PLATFORM_PACKAGE
  jest.resetModules()
  jest.doMock(binding, () => {
    throw new Error('no such file')
  })
  const load = () => jest.isolateModules(() => require('spillway'))
  expect(load).toThrow(Error)
  expect(load).toThrow(SpillwayError)
  expect(load).toThrow(
    expect.objectContaining({ code: 'NATIVE_LOAD', message: expect.stringContaining('no such file') }),
  )
  jest.dontMock(binding)
})
