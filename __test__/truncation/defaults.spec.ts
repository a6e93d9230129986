import {
  createTruncation,
  createTruncationMiddleware,
  guardTool,
  ToolRegistry,
  type TruncationContext,
  TruncationService,
  type UserTruncationConfig,
} from 'spillway'
import { guardTools } from 'spillway/ai-sdk'
import { guardMcpClient } from 'spillway/mcp'
import { createShellTool } from 'spillway/tools'
import { tempDir } from '../support/temp'

/** A log whose error is far from both ends, as many lines as no tool may show. */
const LOG = Array.from({ length: 6000 }, (_, at) =>
  at === 3000 ? 'error: disk full' : `step ${at} of the build`,
).join('\n')
const smart = { strategy: 'smart' } as const

function shown(options: object, context: Partial<TruncationContext>): Promise<string> {
  const service = new TruncationService({ storageDirs: [tempDir()], ...options })
  return service.output(LOG, { toolName: 'bash', defaults: smart, ...context }).then(({ content }) => content)
}

describe('defaults of the caller', () => {
  const cases: [what: string, options: object, context: Partial<TruncationContext>, isSmart: boolean][] = [
    ['hold where nothing else is set', {}, {}, true],
    ['hold beside limits', { global: { maxLines: 100 } }, { options: { maxBytes: 4000 } }, true],
    ['hold for a call that failed', {}, { failed: true }, true],
    ['give way to a strategy of the service', { strategy: 'default' }, {}, false],
    ['give way to a strategy of the tool', { tools: { bash: { strategy: 'line' } } }, {}, false],
    ['give way to a strategy of the call', {}, { options: { strategy: 'byte' } }, false],
    ['give way to what the tool declares', {}, { declared: { strategy: 'default' } }, false],
    ['keep an end that the service chose', { global: { direction: 'tail' } }, {}, false],
    [
      'keep an end that the service chose, also if it failed',
      { global: { direction: 'head' } },
      { failed: true },
      false,
    ],
    ['keep an end that the user chose for the tool', { tools: { bash: { direction: 'head' } } }, {}, false],
    ['keep an end that the call chose', {}, { options: { direction: 'both' } }, false],
    ['leave a profile its rules', { profile: 'opencode' }, {}, false],
  ]
  test.each(cases)('%s', async (_, options, context, isSmart) => {
    expect((await shown(options, context)).includes('error: disk full')).toBe(isSmart)
  })

  test('are named as the source', () => {
    const service = new TruncationService()
    const { config, sources } = service.effectiveConfig({ toolName: 'bash', defaults: { ...smart, maxBytes: 9000 } })
    expect(config).toMatchObject({ strategy: 'smart', maxBytes: 9000, maxLines: 500 })
    expect(sources).toMatchObject({ strategy: 'caller', maxBytes: 'caller', maxLines: 'built-in tool' })
  })

  test('are validated', async () => {
    const defaults = { strategy: 'smrt' } as never
    await expect(shown({}, { defaults })).rejects.toMatchObject({ code: 'INVALID_CONFIG', field: 'defaults.strategy' })
  })
})

describe('the exit code', () => {
  test.each([
    [0, undefined, 'succeeded'],
    [1, undefined, 'failed'],
    [null, undefined, 'failed'],
    [1, false, 'succeeded'],
    [undefined, undefined, 'succeeded'],
  ])('%s with failed: %s means that the call %s', async (exitCode, failed, said) => {
    const text = await shown({}, { exitCode, ...(failed !== undefined && { failed }) })
    expect(text).toContain(`The tool call ${said}`)
  })

  test.each([1.5, '1', Number.NaN])('cannot be %p', async (exitCode) => {
    const error = { code: 'INVALID_ARGUMENT', field: 'context.exitCode' }
    await expect(shown({}, { exitCode: exitCode as number })).rejects.toMatchObject(error)
  })
})

describe('the command', () => {
  const hunk = (file: number) =>
    [
      `diff --git a/f${file} b/f${file}`,
      'index 1..2 100644',
      `--- a/f${file}`,
      `+++ b/f${file}`,
      '@@ -1,40 +1,41 @@',
      ...Array.from({ length: 40 }, (_, line) => ` context ${line} of error ${file}`),
      `+added ${file}`,
      '',
    ].join('\n')
  const diff = Array.from({ length: 60 }, (_, file) => hunk(file)).join('')
  const service = new TruncationService({ storageDirs: [tempDir()], strategy: 'smart' })
  const preview = async (text: string, context: Partial<TruncationContext>) => {
    const result = await service.output(text, { toolName: 'bash', options: { maxBytes: 8000 }, ...context })
    return result.content.replace(/saved to: .*/, '')
  }

  test.each(['git diff', 'cd a && git show abc | head -5000', 'git log -p'])('%s prints a diff', async (command) => {
    const asDiff = await preview(diff, { command })
    expect(asDiff.match(/^diff --git/gm)).toHaveLength(60)
    expect((await preview(diff, {})).match(/^diff --git/gm)?.length ?? 0).toBeLessThan(60)
  })

  test('with a question, lines are looked for in a diff as anywhere', async () => {
    const query = 'Which file has added 47?'
    expect(await preview(diff, { command: 'git diff', query })).toBe(await preview(diff, { query }))
    expect(await preview(diff, { query })).toContain('+added 47')
  })

  test.each(['cat steps.txt', 'rg -n step | head -9999'])('weights the start of a listing by %s', async (command) => {
    const lines = (text: string) => text.match(/^step (\d+) of/gm)!.filter((line) => Number(line.split(' ')[1]) < 3000)
    const [early, late] = [await preview(LOG, { command }), await preview(LOG, { command: 'make' })]
    expect(lines(early).length).toBeGreaterThan(2 * lines(late).length)
  })

  test('weights the end of a log as that of the command that wrote it', async () => {
    expect(await preview(LOG, { command: 'cat build.log' })).toBe(await preview(LOG, { command: 'make' }))
  })

  test('changes nothing with another strategy', async () => {
    const ends = { options: { strategy: 'default', maxBytes: 8000 } } as const
    expect(await preview(diff, { ...ends, command: 'git diff' })).toBe(await preview(diff, ends))
  })

  test('is a text', async () => {
    const error = { code: 'INVALID_ARGUMENT', field: 'context.command' }
    await expect(preview(LOG, { command: ['git', 'diff'] as never })).rejects.toMatchObject(error)
  })
})

describe('the command of a call', () => {
  const diff = Array.from({ length: 40 }, (_, file) => {
    const lines = Array.from({ length: 60 }, (_, line) => ` context ${line} of error ${file}`).join('\n')
    return `diff --git a/f${file} b/f${file}\n--- a/f${file}\n+++ b/f${file}\n@@ -1,60 +1,61 @@\n${lines}\n+added\n`
  }).join('')
  const options = { strategy: 'smart', global: { maxBytes: 8000 } } as const
  const isDiff = (text: unknown) => String(text).match(/^diff --git/gm)?.length === 40
  const cases: [tool: string, args: object, isRead: boolean][] = [
    ['bash', { command: 'git diff' }, true],
    ['exec_command', { cmd: 'git diff' }, true],
    ['shell', { command: ['bash', '-lc', 'git diff'] }, true],
    ['mcp__box__run_command', { command: 'git diff' }, true],
    ['bash', { command: 'npm test' }, false],
    ['bash', { command: `git diff ${'x'.repeat(5000)}` }, false],
    ['git', { command: 'git diff' }, false],
  ]

  test.each(cases)('is read by guardTool: %s %j', async (name, args, isRead) => {
    const service = new TruncationService({ storageDirs: [tempDir()], ...options })
    const { execute } = guardTool({ name, execute: (_: object) => diff }, { truncation: service })
    expect(isDiff(await execute(args))).toBe(isRead)
  })

  test.each(cases)('is read by ToolRegistry: %s %j', async (name, args, isRead) => {
    const { middleware } = createTruncation({ storageDirs: [tempDir()], strategy: 'smart', maxBytes: 8000 })
    const registry = new ToolRegistry()
    registry.register({ name, execute: () => ({ success: true, output: diff }) })
    registry.setTruncationMiddleware(middleware)
    const [answer] = await registry.execute([
      { id: 'c', type: 'function', function: { name, arguments: JSON.stringify(args) } },
    ])
    expect(isDiff(answer?.result.output)).toBe(isRead)
  })
})

describe('a shell tool', () => {
  const script = 'seq -f "step %g" 3000; echo "error: disk full"; seq -f "step %g" 3000'
  const run = async (options: UserTruncationConfig) => {
    const service = new TruncationService({ storageDirs: [tempDir()], ...options })
    const { execute } = guardTool(createShellTool({ service }), { truncation: service })
    return String(((await execute({ command: script })) as { output: string }).output)
  }

  test('keeps what decides, wherever it is', async () => {
    expect(await run({})).toContain('\nerror: disk full\n')
  })

  test('keeps the end if the user wants that', async () => {
    expect(await run({ tools: { bash: { direction: 'tail' } } })).not.toContain('error: disk full')
  })
})

describe("a host's own tool", () => {
  type Door = (name: string, output: string, service: TruncationService, failed: boolean) => Promise<unknown>
  const doors: [string, Door][] = [
    [
      'guardTool',
      (name, output, service, failed) => {
        const execute = (_: object) => ({ success: !failed, output })
        return guardTool({ name, execute }, { truncation: service }).execute({ command: 'make' })
      },
    ],
    [
      'ToolRegistry',
      async (name, output, service, failed) => {
        const registry = new ToolRegistry()
        registry.register({ name, execute: () => ({ success: !failed, output }) })
        registry.setTruncationMiddleware(createTruncationMiddleware({ service }))
        const call = { id: 'c', type: 'function', function: { name, arguments: '{"command":"make"}' } } as const
        return (await registry.execute([call]))[0]?.result
      },
    ],
    [
      'the AI SDK',
      async (name, output, service, failed) => {
        const tool = {
          execute: () => 'kept for the application',
          toModelOutput: () => ({ type: failed ? 'error-text' : 'text', value: output }),
        }
        const wrapped = guardTools({ [name]: tool as never }, { truncation: service })[name] as unknown as typeof tool
        return (wrapped.toModelOutput as (given: object) => unknown)({ toolCallId: 'c', input: {}, output: 'x' })
      },
    ],
    [
      'guardMcpClient',
      (name, output, service, failed) => {
        const callTool = async (_: object) => ({ content: [{ type: 'text', text: output }], isError: failed })
        return guardMcpClient({ callTool }, { truncation: service }).callTool({ name })
      },
    ],
  ]
  const shownBy = async (door: Door, name: string, failed: boolean, options: UserTruncationConfig = {}) =>
    JSON.stringify(await door(name, LOG, new TruncationService({ storageDirs: [tempDir()], ...options }), failed))

  test.each(doors)('by %s shows an answer in JSON on one line to its end', async (_, door) => {
    const answer = JSON.stringify({ items: Array.from({ length: 9000 }, (_, id) => ({ id })), next: 'page 2' })
    const shownOf = async (options: UserTruncationConfig) => {
      const service = new TruncationService({ storageDirs: [tempDir()], ...options })
      return JSON.stringify(await door('list_issues', answer, service, false))
    }
    expect(await shownOf({})).toContain('page 2')
    for (const options of [{ direction: 'head' }, { strategy: 'default' }, { profile: 'opencode' }] as const) {
      expect(await shownOf(options)).not.toContain('page 2')
    }
  })

  test.each(doors)('by %s keeps what decides, if it runs commands or failed', async (which, door) => {
    for (const name of ['bash', 'run_shell_command']) {
      expect(await shownBy(door, name, false)).toContain('error: disk full')
    }
    // A registry keeps the end of a failed call, as its documents say.
    expect((await shownBy(door, 'query', true)).includes('error: disk full')).toBe(which !== 'ToolRegistry')
    expect(await shownBy(door, 'query', false)).not.toContain('error: disk full')
    expect(await shownBy(door, 'bash', false, { direction: 'tail' })).not.toContain('error: disk full')
  })
})
