import {
  createTruncationMiddleware,
  guardTool,
  MemoryStorage,
  ToolRegistry,
  ToolResultLedger,
  TruncationService,
} from 'spillway'

const text = Array.from({ length: 50 }, (_, at) => `line ${at}`).join('\n')
const bytes = Buffer.from(text)
const throwing = Object.defineProperty({ stdout: text }, 'code', {
  enumerable: false,
  get() {
    throw new Error('not to be read')
  },
})

/** A result as a host gives it, and whether its call failed. */
const RESULTS: [string, unknown, boolean][] = [
  ['OpenCode, failed', { output: text, metadata: { exit: 1, description: 'x' } }, true],
  ['OpenCode, fine', { output: text, metadata: { exit: 0 } }, false],
  ['OpenCode, ended by a timeout', { output: text, metadata: { exit: null } }, false],
  ['the metadata of a shell', { output: text, metadata: { exitCode: 2 } }, true],
  ['code', { code: 1, stdout: text, stderr: '' }, true],
  ['code 0', { code: 0, stdout: text, stderr: 'a warning' }, false],
  ['spawnSync', { status: 2, stdout: text, stderr: '', signal: null, pid: 7 }, true],
  ['spawnSync with bytes', { status: 2, stdout: bytes, stderr: Buffer.alloc(0), signal: null }, true],
  ['spawnSync, ended by a signal', { status: null, stdout: text, stderr: '', signal: 'SIGKILL' }, true],
  ['a signal alone', { status: null, stdout: text, stderr: '', signal: null }, false],
  ['exitCode', { exitCode: 1, stdout: text }, true],
  ['exit_code', { exit_code: 1, log: text }, true],
  ['a negative code', { exit_code: -1, stdout: text }, true],
  ['a frozen record', Object.freeze({ code: 1, stderr: text }), true],
  ['HTTP', { status: 200, data: text }, false],
  ['HTTP, not found', { code: 404, body: text }, false],
  ['HTTP with an output', { status: 404, output: text }, false],
  ['a word', { status: 'error', stdout: text }, false],
  ['a text of a number', { exitCode: '1', stdout: text }, false],
  ['no number', { exitCode: Number.NaN, stdout: text }, false],
  ['a fraction', { code: 0.5, stdout: text }, false],
  ['a list', [{ code: 1, stdout: text }], false],
  ['metadata without an output', { metadata: { exit: 1 }, text }, false],
  ['success said', { success: true, output: text, metadata: { exit: 1 } }, false],
  ['no error said', { content: [{ type: 'text', text }], isError: false, exitCode: 1 }, true],
  ['a code of MCP', { content: [{ type: 'text', text }], isError: false, code: 1 }, false],
  ['a getter that throws', throwing, false],
]

const service = () => new TruncationService({ global: { maxLines: 6 }, storage: new MemoryStorage() })

test.each(RESULTS)('a guarded tool reads how it ended: %s', async (_, result, failed) => {
  const outcomes: unknown[] = []
  const audit = { append: async (entry: { outcome?: unknown }) => void outcomes.push(entry.outcome) }
  const tool = guardTool({ name: 'job', execute: () => result }, { truncation: service(), audit } as never)
  const shown = JSON.stringify(await tool.execute({} as never))
  expect(shown).not.toContain(failed ? 'The tool call succeeded' : 'The tool call failed')
  expect(outcomes.at(-1)).toBe(failed ? 'error' : 'ok')
})

const WHOLE = RESULTS.filter(([, result]) => 'output' in (result as object))

test.each(WHOLE)('a middleware reads how it ended: %s', async (_, result, failed) => {
  const middleware = createTruncationMiddleware({ service: service() })
  const shown = JSON.stringify(await middleware('job', result as never))
  expect(shown).not.toContain(failed ? 'The tool call succeeded' : 'The tool call failed')
})

test.each(RESULTS.filter(([, , failed]) => failed))(
  'a registry and its ledger say that it failed: %s',
  async (_, result) => {
    const ledger = new ToolResultLedger()
    const registry = new ToolRegistry({ ledger })
    registry.setTruncationMiddleware(createTruncationMiddleware({ service: service() }))
    registry.register({ name: 'job', execute: () => result })
    const call = { id: 'c1', type: 'function', function: { name: 'job', arguments: '{}' } }
    const answer = await registry.execute([call as never])
    expect(JSON.stringify(answer)).not.toContain('The tool call succeeded')
    expect(ledger.get('c1')).toMatchObject({ isError: true })
  },
)

test('the error of a command that could not start is beside what it printed', async () => {
  const result = { status: null, signal: 'SIGTERM', stdout: text, stderr: '', error: new Error('spawnSync ETIMEDOUT') }
  const tool = guardTool({ name: 'job', execute: () => result }, { truncation: service() })
  const shown = JSON.stringify(await tool.execute({} as never))
  expect(shown).toContain('line 49')
  expect(shown).toContain('spawnSync ETIMEDOUT')
})
