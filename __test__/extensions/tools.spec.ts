import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryStorage, PermissionPolicy, TruncationService } from 'spillway'
import { type LoadToolsOptions, loadTools } from 'spillway/extensions'
import { runChild } from '../support/child'
import { onUnix } from '../support/only'
import { tempDir } from '../support/temp'

function folder(files: Record<string, string>): string {
  const dir = tempDir()
  for (const [name, content] of Object.entries(files)) writeFileSync(join(dir, name), content)
  return dir
}

/** Returns the tools of a folder by name, with their answers, and problems without the folder. */
async function load(files: Record<string, string> | string, options: LoadToolsOptions = {}) {
  const dir = typeof files === 'string' ? files : folder(files)
  const { tools, problems, paths } = await loadTools(dir, { enabled: true, trial: false, ...options })
  const answers: Record<string, unknown> = {}
  for (const tool of tools)
    answers[tool.name] = await tool.execute({ n: 1, query: 'q', command: 'c' } as never, { toolCallId: 'c' })
  return {
    names: tools.map(({ name }) => name),
    answers,
    problems: problems.map(({ path, message }) => `${path} ${message}`.replaceAll(`${dir}/`, '')),
    paths: Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, path.replace(`${dir}/`, '')])),
  }
}

const tool = (answer: string, name?: string) =>
  `{ ${name ? `name: '${name}', ` : ''}execute: ({ n }) => '${answer}' + n }`

describe('a folder of tools', () => {
  test('is not looked at unless that is switched on', async () => {
    const dir = folder({ 'a.mjs': "throw globalThis.SPILLWAY_LOADED = 'it ran'" })
    const nothing = { tools: [], problems: [], paths: {} }
    expect(await loadTools(dir)).toEqual(nothing)
    await expect(loadTools(undefined as never)).rejects.toThrow(
      '"dir": expected the path of a folder, received undefined',
    )
    expect(await loadTools(dir, {})).toEqual(nothing)
    expect(await loadTools(dir, { enabled: false })).toEqual(nothing)
    expect((await load(dir)).problems).toHaveLength(1)
  })

  test('gives every tool of every kind of module, in order', async () => {
    const { names, answers, problems, paths } = await load({
      'b.mjs': `export const helper = 1\nexport const two = ${tool('two')}\nexport default ${tool('b')}`,
      'a.cjs': `module.exports = ${tool('a')}`,
      'c.cjs': `exports.__esModule = true\nexports.default = ${tool('c', 'see')}\nexports.other = ${tool('o')}`,
      'd.js': `module.exports = [${tool('d1', 'd1')}, ${tool('d2', 'd2')}]`,
      'e.mjs': `await null\nclass T { name = 'e'; execute({ n }) { return this.name + n } }\nexport default new T()`,
      'types.d.ts': 'export {}',
      '.hidden.mjs': 'throw 1',
      'notes.txt': 'no code',
    })
    expect(problems).toEqual([])
    expect(names).toEqual(['a', 'b', 'two', 'see', 'other', 'd1', 'd2', 'e'])
    expect(answers).toEqual({
      a: 'a1',
      b: 'b1',
      two: 'two1',
      see: 'c1',
      other: 'o1',
      d1: 'd11',
      d2: 'd21',
      e: 'e1',
    })
    expect(paths.two).toBe('b.mjs')
  })

  test('gives tools of classes with what their classes say', async () => {
    const dir = folder({
      'a.mjs': `class Named { get name() { return 'named' } get description() { return 'of a class' } execute() { return 1 } }
        class Nameless { #n = 2; get description() { return 'without a name' } execute() { return this.#n } }
        export default [new Named(), new Nameless()]`,
    })
    const { tools, problems } = await loadTools(dir, { enabled: true, trial: false, controls: {} })
    expect(problems).toEqual([])
    expect(tools).toMatchObject([
      { name: 'named', description: 'of a class' },
      { name: 'a', description: 'without a name' },
    ])
    expect(await tools[1]?.execute({} as never, { toolCallId: 'c' })).toBe(2)
  })

  test('passes through permission and truncation', async () => {
    const lines = "Array.from({ length: 50 }, (_, n) => 'line ' + n).join('\\n')"
    const dir = folder({
      'long.mjs': `export default { execute: () => ${lines} }`,
      'bash.mjs': `export default { execute: () => { throw new Error('it ran') } }`,
      'breaks.mjs': `export default { execute: () => { throw new Error('broke') } }`,
    })
    const rules = [{ domain: '*', pattern: '*', decision: 'allow' } as const]
    const tools = { long: { domain: 'web_search' }, breaks: { domain: 'web_search' } } as const
    const { answers, problems } = await load(dir, {
      controls: {
        permission: new PermissionPolicy({
          tools,
          rules: [...rules, { domain: 'bash', pattern: '*', decision: 'deny' }],
          vault: '/x',
        }),
        truncation: new TruncationService({ global: { maxLines: 5 }, storage: new MemoryStorage() }),
      },
    })
    expect(problems).toEqual([])
    expect((answers.long as string).split('\n').length).toBeLessThan(15)
    expect(answers.bash).toMatchObject({ kind: 'permission_denied' })
    expect(answers.breaks).toMatchObject({ kind: 'tool_failed', output: 'broke' })
  })
})

describe('faults are reported, and the others load:', () => {
  const good = { 'z.mjs': `export default ${tool('z')}` }

  test.each<[string, string, string]>([
    ['a syntax error', 'export default {', 'does not load: Unexpected'],
    ['a throw', "throw new Error('no key')", 'does not load: no key'],
    ['a throw of anything', "throw 'no key'", 'does not load: no key'],
    ['a throw of nothing', 'throw null', 'does not load: null'],
    ['a missing package', "import 'there-is-no-such-package'", "does not load: Cannot find package 'there-is-no-such"],
    ['no tool', 'export const a = 1', 'exports no tool: nothing in it has an execute function'],
    ['a strange name', `export default ${tool('a', 'rm -rf')}`, "the name 'rm -rf' is not allowed"],
    ['a name that is no text', 'export default { name: 3, execute() {} }', 'the name 3 is not allowed'],
    [
      'a description',
      'export default { description: {}, execute() {} }',
      "the description of 'a': expected a string, received an object",
    ],
    ['limits', 'export default { truncation: { maxLines: 0 }, execute() {} }', 'maxLines'],
    ['a getter', "export default { get execute() { throw new Error('mine') } }", 'mine'],
  ])('%s', async (_, code, message) => {
    const { names, problems } = await load({ 'a.mjs': code, ...good })
    expect(names).toEqual(['z'])
    expect(problems).toEqual([expect.stringMatching(/^a\.mjs /)])
    expect(problems[0]).toContain(message)
  })

  test('names that are taken, by the host or by another file', async () => {
    const { names, problems, answers } = await load(
      {
        'a.mjs': `export const read = ${tool('x')}\nexport const mine = ${tool('first')}`,
        'b.mjs': `export const mine = ${tool('second')}\nexport const other = ${tool('other')}`,
        'constructor.mjs': `export default ${tool('built')}`,
      },
      { reserved: ['read'] },
    )
    expect(names).toEqual(['mine', 'other', 'constructor'])
    expect(answers.mine).toBe('first1')
    expect(problems).toEqual([
      "a.mjs the tool 'read' is called like one of the host's",
      "b.mjs the tool 'mine' is called like one of a.mjs",
    ])
  })

  test('names of the host in another spelling', async () => {
    const names = ['BASH', 'Bash', 'readfile', 'read-File', 'mine']
    const { names: found, problems } = await load(
      { 'a.cjs': `module.exports = [${names.map((name) => tool('x', name)).join()}]` },
      { reserved: ['bash', 'read_file'] },
    )
    expect(found).toEqual(['mine'])
    expect(problems).toEqual(
      names.slice(0, -1).map((name) => `a.cjs the tool '${name}' is called like one of the host's`),
    )
  })

  test('an import that does not end', async () => {
    const { names, problems } = await load({ 'a.mjs': 'await new Promise(() => {})', ...good }, { timeoutMs: 300 })
    expect(names).toEqual(['z'])
    expect(problems).toEqual(['a.mjs took longer than 300 ms to load'])
  })

  test('modules that would end or block the process, found by a trial in a thread of its own', () => {
    const ends = folder({
      'exit.cjs': 'process.exit(3)',
      'noise.mjs': `for (let n = 0; n < 1000; n++) console.error('x'.repeat(100))\nexport default ${tool('n')}`,
      'throws.cjs': "throw new Error('no')",
      'rejects.cjs': "Promise.reject(new Error('late')); module.exports = { name: 'r', execute() {} }",
      'soon.mjs': "setImmediate(() => { throw new Error('soon') }); export default { execute() {} }",
      ...good,
    })
    const hangs = folder({
      'hang.mjs': 'setInterval(() => {}, 1000); await new Promise(() => {})',
      'loop.mjs': 'for (;;);',
    })
    const { names, problems, warnings } = runChild<Record<'names' | 'problems' | 'warnings', string[]>>(
      `const warnings = []
       process.on('warning', (warning) => warnings.push(String(warning)))
       const one = await subpath('extensions').loadTools(input.ends, { enabled: true })
       const two = await subpath('extensions').loadTools(input.hangs, { enabled: true, timeoutMs: 200 })
       const problems = [...one.problems, ...two.problems].map(({ path, message }) => path.replace(/.*\\//, '') + ' ' + message)
       answer({ names: [...one.tools, ...two.tools].map(({ name }) => name), problems, warnings })`,
      { input: { ends, hangs } },
    )
    expect(names).toEqual(['noise', 'z'])
    expect(problems).toEqual([
      'exit.cjs does not load: it ended the process (exit code 3)',
      'rejects.cjs does not load: late',
      'soon.mjs does not load: soon',
      'throws.cjs does not load: no',
      'hang.mjs took longer than 200 ms to load',
      'loop.mjs took longer than 200 ms to load',
    ])
    expect(warnings).toEqual([])
  })

  onUnix('links, folders and pipes', async () => {
    const dir = folder(good)
    symlinkSync(join(dir, 'z.mjs'), join(dir, 'a.mjs'))
    mkdirSync(join(dir, 'folder.js'))
    execFileSync('mkfifo', [join(dir, 'pipe.js')])
    const { names, problems } = await load(dir)
    expect(names).toEqual(['z'])
    expect(problems).toEqual([
      'a.mjs is a link, and links are not followed here',
      'folder.js is not a file',
      'pipe.js is not a file',
    ])
  })
})

describe('TypeScript', () => {
  const files = {
    'a.ts': `const n: number = 1\nexport default { execute: (): string => 'a' + n }`,
    'b.mjs': `export default ${tool('b')}`,
  }

  test('is read by the runtime, or the problem says what would', () => {
    const dir = folder(files)
    const { names, problems, reads } = runChild<{ names: string[]; problems: string[]; reads: boolean }>(
      `const { tools, problems } = await subpath('extensions').loadTools(input, { enabled: true })
       answer({ names: tools.map((one) => one.name), problems: problems.map((one) => one.message), reads: !!process.features.typescript })`,
      { input: dir },
    )
    expect(names).toEqual(reads ? ['a', 'b'] : ['b'])
    expect(problems).toEqual(
      reads ? [] : [expect.stringMatching(/nothing here reads TypeScript: Node 22\.18 .* or the option loader$/)],
    )
  })

  test('is read by a loader, which may fail', async () => {
    const dir = folder({ ...files, 'c.ts': '', 'd.ts': '' })
    const asked: string[] = []
    const { names, answers, problems } = await load(dir, {
      timeoutMs: 2000,
      loader: async (path) => {
        asked.push(path.slice(dir.length + 1))
        if (path.endsWith('c.ts')) throw new Error('cannot')
        if (path.endsWith('d.ts')) await new Promise(() => {})
        return { default: { execute: () => 'loaded' } }
      },
    })
    expect(asked).toEqual(['a.ts', 'c.ts', 'd.ts'])
    expect(names).toEqual(['a', 'b'])
    expect(answers.a).toBe('loaded')
    expect(problems).toEqual(['c.ts does not load: cannot', 'd.ts took longer than 2000 ms to load'])
  })

  test('is read by what has registered itself for require', () => {
    const { names } = runChild<{ names: string[] }>(
      `require.extensions['.ts'] ??= (module) => module._compile("exports.default = { execute: () => 'a' }", module.filename)
       const { tools } = await subpath('extensions').loadTools(input, { enabled: true })
       answer({ names: tools.map((one) => one.name) })`,
      { input: folder(files) },
    )
    expect(names).toEqual(['a', 'b'])
  })
})

test('a folder that is not there has no tools', async () => {
  expect(await load(join(tempDir(), 'none'))).toMatchObject({ names: [], problems: [] })
})

test('names invalid folders and options', async () => {
  const refused = (field: string, ...args: unknown[]) =>
    expect(loadTools(...(args as [string]))).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field })
  await refused('dir', '')
  await refused('options', '.', 3)
  await refused('options.enable', '.', { enable: true })
  await refused('options.enabled', '.', { enabled: 'yes' })
  await refused('options.reserved', '.', { reserved: 'bash' })
  await refused('options.timeoutMs', '.', { timeoutMs: 0 })
  await refused('options.loader', '.', { loader: 'tsx' })
  await refused('controls.permision', '.', { controls: { permision: {} } })
})
