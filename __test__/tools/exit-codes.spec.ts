import { spawnSync } from 'node:child_process'
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
  ['neither a code nor a signal', { status: null, stdout: text, stderr: '', signal: null }, false],
  [
    'execa, ended by a signal',
    { exitCode: undefined, signal: 'SIGKILL', failed: true, stdout: text, stderr: '' },
    true,
  ],
  ['spawnSync of no program', spawnSync('/there/is/no/such/program'), true],
  ['spawnSync that took too long', spawnSync(process.execPath, ['-e', 'for(;;);'], { timeout: 50 }), true],
  ['spawnSync that failed', spawnSync(process.execPath, ['-e', 'process.exit(3)'], { encoding: 'utf8' }), true],
  ['an error', { output: text, error: new Error('no') }, true],
  ['the text of an error', { output: text, error: 'no' }, false],
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
  ['an object of streams as the output', { output: { stdout: text, stderr: '', exitCode: 1 } }, true],
  ['an object of streams as the output, fine', { output: { stdout: text, stderr: '', exitCode: 0 } }, false],
  ['a result of spawnSync as the output', { output: { status: 1, stdout: bytes, stderr: bytes, signal: null } }, true],
  ['HTTP as the output', { output: { status: 404, body: text } }, false],
  ['success said', { success: true, output: text, metadata: { exit: 1 } }, false],
  ['no error said', { content: [{ type: 'text', text }], isError: false, exitCode: 1 }, true],
  ['a code of MCP', { content: [{ type: 'text', text }], isError: false, code: 1 }, false],
  ['a getter that throws', throwing, false],
]

const service = () => new TruncationService({ global: { maxLines: 6 }, storage: new MemoryStorage() })

test.each(RESULTS)('a guarded tool, its audit log and its ledger read how it ended: %s', async (_, result, failed) => {
  const outcomes: unknown[] = []
  const audit = { append: async (entry: { outcome?: unknown }) => void outcomes.push(entry.outcome) }
  const ledger = new ToolResultLedger()
  const tool = guardTool({ name: 'job', execute: () => result }, { truncation: service(), audit, ledger } as never)
  await tool.execute({} as never, { toolCallId: 'c1' })
  expect([outcomes.at(-1), ledger.get('c1')?.isError]).toEqual([failed ? 'error' : 'ok', failed])
})

/** Results with a text of their own, which a preview says the outcome of. */
const WHOLE = RESULTS.filter(([, result]) => typeof (result as { output?: unknown }).output === 'string')

test.each(WHOLE)('a middleware, its preview and its ledger read how it ended: %s', async (_, result, failed) => {
  const ledger = new ToolResultLedger()
  const middleware = createTruncationMiddleware({ service: service(), ledger })
  const { output } = await middleware('job', result as never, { toolCallId: 'c1' } as never)
  expect(output).toContain(failed ? 'The tool call failed' : 'The tool call succeeded')
  expect(ledger.get('c1')?.isError).toBe(failed)
})

test.each(RESULTS)('a registry and its ledger read how it ended: %s', async (_, result, failed) => {
  const ledger = new ToolResultLedger()
  const registry = new ToolRegistry({ ledger })
  registry.setTruncationMiddleware(createTruncationMiddleware({ service: service() }))
  registry.register({ name: 'job', execute: () => result })
  const call = { id: 'c1', type: 'function', function: { name: 'job', arguments: '{}' } }
  const [answer] = await registry.execute([call as never])
  expect([answer?.result.success, ledger.get('c1')?.isError]).toEqual([!failed, failed])
})

test.each<[unknown, number]>([
  [{ output: text, metadata: { exit: 4 } }, 4],
  [{ code: 5, stdout: text, stderr: '' }, 5],
  [{ status: 6, stdout: text, stderr: '' }, 6],
  [{ exit_code: 7, log: text }, 7],
  [{ exitCode: 0, stdout: text }, 0],
])('a ledger has the exit code of %j', async (result, exitCode) => {
  const ledger = new ToolResultLedger()
  await guardTool({ name: 'job', execute: () => result }, { ledger }).execute({}, { toolCallId: 'c1' })
  expect(ledger.get('c1')?.exitCode).toBe(exitCode)
})

test.each<[known: object, result: { output: string; [field: string]: unknown }, failed: boolean]>([
  [{ exitCode: 1 }, { output: text }, true],
  [{ exitCode: 1 }, { output: text, success: true }, true],
  [{ exitCode: 0 }, { output: text, exitCode: 1 }, false],
  [{ failed: false }, { output: text, exitCode: 1 }, false],
  [{ failed: true }, { output: text, success: true }, true],
  [{}, { output: text, exitCode: null, signal: 'SIGKILL' }, true],
  [{}, { output: '{"exitCode":0}', exitCode: null, signal: 'SIGKILL' }, true],
  [{}, { output: '{"exitCode":1}' }, true],
])('with %j, %j is a failure: %j', async (known, result, failed) => {
  const ledger = new ToolResultLedger()
  const middleware = createTruncationMiddleware({ service: service(), ledger })
  const { output } = await middleware('job', result, { toolName: 'job', toolCallId: 'c1', ...known })
  expect(ledger.get('c1')?.isError).toBe(failed)
  if (result.output === text) expect(output).toContain(failed ? 'call failed' : 'call succeeded')
})

test('the error of a command that could not start or took too long is a text', async () => {
  const shownOf = async (result: unknown) => {
    const tool = guardTool({ name: 'job', execute: () => result }, { truncation: service() })
    return JSON.stringify(await tool.execute({} as never))
  }
  expect(await shownOf(spawnSync('/there/is/no/such/program'))).toContain('spawnSync /there/is/no/such/program ENOENT')
  const printed = `console.log(${JSON.stringify('seen before')}); for(;;);`
  const shown = await shownOf(spawnSync(process.execPath, ['-e', printed], { timeout: 500, encoding: 'utf8' }))
  expect(shown).toContain('seen before')
  expect(shown).toContain('ETIMEDOUT')
})
