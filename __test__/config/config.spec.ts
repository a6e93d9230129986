import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTruncation, DoomLoopDetector, PermissionGate, PermissionPolicy, SpillwayError } from 'spillway'
import { type LoadedConfig, lintConfig, loadConfig, parseSize, updateConfig } from 'spillway/config'
import { BINARY } from '../support/binary'
import { startChild } from '../support/child'
import { tempDir } from '../support/temp'

let folder = ''
beforeEach(() => {
  folder = tempDir()
})
const dir = () => folder
const DOCUMENTED = `// mine
{
  "theme": "dark", // the application's
  "agents": {
    "runtime": {
      "mode": { "default": "agent" },
      "compaction": { "maxChars": 120000, "recentTurns": 3 },
      "truncation": { "maxLines": 2000, "maxBytes": 51200, "ttlDays": 7 },
      "doomLoop": { "maxAttempts": 3, "maxToolCalls": 60, "sameToolThreshold": 5 },
      "permission": {
        "rules": [
          { "domain": "read", "pattern": "vault:**/*.md", "decision": "allow" },
          { "domain": "read", "pattern": "fs:**/*.env*", "decision": "ask" }, // secrets
          { "domain": "bash", "pattern": "*", "decision": "ask" },
        ],
      },
    },
  },
}
`

function fileOf(text: string, name = 'config.jsonc'): string {
  const file = join(dir(), name)
  writeFileSync(file, text)
  return file
}

const load = (text: string): LoadedConfig => loadConfig({ userFile: fileOf(text) })

describe('loadConfig', () => {
  test('reads the documented file, and the capabilities take its options', () => {
    const { config, problems, options, sources } = load(DOCUMENTED)
    expect(problems).toEqual([])
    expect(config.theme).toBe('dark')
    expect(config.agents?.runtime?.truncation).toEqual({ maxLines: 2000, maxBytes: 51200, ttlDays: 7 })
    expect(options.mode).toBe('agent')
    expect(options.truncation).toEqual({ maxLines: 2000, maxBytes: 51200, retentionDays: 7 })
    expect(sources['agents.runtime.permission.rules[2]']).toBe('user')
    new DoomLoopDetector(options.doomLoop)
    const policy = new PermissionPolicy({ ...options.permission, vault: dir() })
    expect(policy.evaluate({ tool: 'read', args: { path: 'a.md' } }).rule?.source).toBe('user')
  })

  test.each([
    ['store', 's3://outputs/prod?region=eu-central-1', true],
    ['store', 'azblob://account/outputs', true],
    ['store', 's3://', false],
    ['store', '/mnt/outputs', false],
    ['store', 3, false],
    ['spoolDir', join(tmpdir(), 'spool'), true],
    ['spoolDir', 'spool', false],
    ['spoolDir', '', false],
    ['coordination', 'rediss://user:secret@host:6379/0', true],
    ['coordination', 'postgres://host/agents?schema=tenant_42', true],
    ['coordination', 'redi://user:secret@host:6379/0', false],
    ['coordination', 'redis://user:secret@host 6379', false],
  ])('fleet.%s: %j is taken: %s', (key, value, isRight) => {
    const { options, problems, sources } = load(
      JSON.stringify({ agents: { runtime: { fleet: { [key]: value } } } }, null, 2),
    )
    const path = `agents.runtime.fleet.${key}`
    expect(options.fleet).toEqual(isRight ? { [key]: value } : {})
    expect(problems).toMatchObject(isRight ? [] : [{ severity: 'error', path, line: 5 }])
    expect(sources[path]).toBe(isRight ? 'user' : undefined)
    // A URL may have a password in it.
    expect(problems.map(({ message }) => message).join()).not.toContain('secret')
  })

  test('a file that is not there is no problem', () => {
    const found = loadConfig({ userFile: join(dir(), 'none.jsonc') })
    expect(found).toMatchObject({ config: {}, problems: [], sources: {} })
    expect(loadConfig().config).toEqual({})
  })

  test('inline comes after the file, and so do its rules', () => {
    const rule = { domain: 'bash', pattern: 'ls *', decision: 'allow' } as const
    const inline = {
      agents: { runtime: { truncation: false, permission: { rules: [rule] } } },
      mine: { a: 1 },
    } as const
    const { config, options, sources } = loadConfig({ userFile: fileOf(DOCUMENTED), inline: inline as never })
    expect(options.truncation).toBe(false)
    expect(options.permission.rules?.at(-1)).toEqual(rule)
    expect(sources['agents.runtime.permission.rules[3]']).toBe('inline')
    expect(sources['agents.runtime.truncation']).toBe('inline')
    expect(config).toMatchObject({ theme: 'dark', mine: { a: 1 } })
  })

  test('a wrong field is reported with file, line and column, and the rest is used', () => {
    const { problems, options } = load(
      '{ "agents": { "runtime": {\n  "truncation": { "maxLines": "é", "maxBytes": 9 },\n "mode": 3 } } }',
    )
    expect(problems.map(({ path, line, column }) => [path, line, column])).toEqual([
      ['agents.runtime.truncation.maxLines', 2, 31],
      ['agents.runtime.mode', 3, 10],
    ])
    expect(problems[0]?.message).toMatch(/config\.jsonc:2:31: .* expected a whole number of at least 1, received "é"/)
    expect(options).toMatchObject({ truncation: { maxBytes: 9 }, mode: 'agent' })
  })

  test.each([
    ['a rule', '[{ "domain": "bash", "pattern": "rm *", "decision": "dney" }]', ['bash']],
    ['a rule of no domain', '[{ "domain": "bsah", "pattern": "rm *", "decision": "deny" }]', 'all'],
    ['no list', '{}', 'all'],
    [
      'an example that fails',
      '[{ "domain": "bash", "pattern": "rm *", "decision": "deny", "examples": { "match": ["ls"] } }]',
      ['bash'],
    ],
    [
      'a rule that says two things',
      '[{ "domain": "edit", "pattern": "**", "decision": "deny", "decision": "allow" }]',
      ['edit'],
    ],
  ])('permission fails closed: %s', (_name, rules, closed) => {
    const { options, problems } = load(`{ "agents": { "runtime": { "permission": { "rules": ${rules} } } } }`)
    expect(problems).toHaveLength(1)
    const all = ['bash', 'edit', 'mcp', 'read', 'tool', 'web_fetch', 'web_search']
    expect(options.permission.failClosed).toEqual(closed === 'all' ? all : closed)
    const policy = new PermissionPolicy({ ...options.permission, vault: dir() })
    const domain = closed === 'all' || closed.includes('edit') ? 'write' : 'bash'
    const args = domain === 'write' ? { path: 'a.ts', content: '' } : { command: 'cd .' }
    expect(policy.evaluate({ tool: domain, args }).decision).toBe('ask')
  })

  test('returns settings that the capabilities accept', () => {
    const values = [
      0,
      1,
      2,
      1.5,
      2 ** 53,
      Infinity,
      '',
      'a',
      true,
      {},
      [],
      ['*a*'],
      ['a/b'],
      ['!'],
      ['.'],
      ['a*'],
      [{}],
    ]
    const keys = {
      mode: ['default'],
      truncation: ['maxLines', 'maxBytes', 'maxTokens', 'direction', 'strategy', 'smartRules', 'enabled', 'ttlDays'],
      doomLoop: ['maxAttempts', 'maxToolCalls', 'sameToolThreshold', 'sameErrorThreshold', 'sameAnswerThreshold'],
      permission: ['rules', 'outsideEdit', 'mcpServers', 'sensitiveFiles'],
    }
    for (const [section, names] of Object.entries(keys)) {
      for (const [name, value] of names.flatMap((name) => values.map((value) => [name, value] as const))) {
        const { options } = loadConfig({ inline: { agents: { runtime: { [section]: { [name]: value } } } } })
        new PermissionPolicy({ vault: dir(), ...options.permission })
        new DoomLoopDetector(options.doomLoop)
        createTruncation(options.truncation)
      }
    }
  })

  test('a file with a syntax error is used as far as it can be read, and nothing is allowed unasked', () => {
    const { config, problems, options } = load(
      '{ "agents": { "runtime": { "mode": { "default": "full_access" } }\n "theme": 1 }',
    )
    expect(problems[0]).toMatchObject({ severity: 'error', path: '', layer: 'user' })
    expect(config).not.toHaveProperty('missing')
    expect(options.mode).toBe('agent')
    expect(options.permission.failClosed).toHaveLength(7)
  })

  test('hostile files are answered', () => {
    const texts: [string, string | Buffer][] = [
      ['too large', Buffer.alloc(5 * 1024 * 1024, 32)],
      ['zeros', '{ "a": \0 }'],
      ['deep', '['.repeat(200_000)],
      ['deep object', '{"a":'.repeat(200_000)],
      ['not UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
    ]
    for (const [name, text] of texts) {
      const file = join(dir(), 'hostile.jsonc')
      writeFileSync(file, text)
      const { problems, options } = loadConfig({ userFile: file })
      expect([name, problems.some(({ severity }) => severity === 'error')]).toEqual([name, true])
      expect(options.permission.failClosed).toHaveLength(7)
    }
    const file = join(dir(), 'latin.jsonc')
    writeFileSync(file, Buffer.concat([Buffer.from('\ufeff{\n  "é": "caf'), Buffer.from([0xe9]), Buffer.from('"\n}')]))
    expect(loadConfig({ userFile: file }).problems).toMatchObject([
      { line: 2, column: 12, message: `${file}:2:12: is not UTF-8: the byte e9 does not belong there` },
    ])
    mkdirSync(join(dir(), 'folder'))
    expect(loadConfig({ userFile: join(dir(), 'folder') }).problems).toHaveLength(1)
    expect(load('\ufeff{ "a": 1 }')).toMatchObject({ config: { a: 1 }, problems: [] })
  })

  test('no prototype is changed', () => {
    const { config, problems } = load('{ "__proto__": { "polluted": 1 }, "a": { "__proto__": 1 } }')
    expect(Object.keys(config)).toEqual(['a'])
    expect((config as Record<string, unknown>).polluted).toBeUndefined()
    expect(problems.map(({ severity }) => severity)).toEqual(['warning', 'warning'])
  })

  test('arguments of a wrong kind are named', () => {
    const cyclic: Record<string, unknown> = {}
    cyclic.self = cyclic
    for (const [options, field] of [
      [{ userFile: 3 }, 'options.userFile'],
      [{ userFile: 'a\0b' }, 'options.userFile'],
      [{ inline: [] }, 'options.inline'],
      [{ inline: cyclic }, 'options.inline'],
      [{ inlined: {} }, 'options.inlined'],
    ] as const) {
      expect(() => loadConfig(options as never)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field }))
    }
  })
})

describe('updateConfig', () => {
  test('keeps comments, formatting, mode and the names that the file uses', async () => {
    const file = fileOf(DOCUMENTED.replace('"default"', '"global"'))
    chmodSync(file, 0o640)
    const { problems } = await updateConfig(file, {
      agents: { runtime: { mode: { default: 'full_access' }, truncation: { maxLines: 10 } } },
    })
    expect(problems).toEqual([])
    const expected = DOCUMENTED.replace('"default": "agent"', '"global": "full_access"').replace(
      'Lines": 2000',
      'Lines": 10',
    )
    expect(readFileSync(file, 'utf8')).toBe(expected)
    expect(statSync(file).mode & 0o777).toBe(0o640)
    expect(readdirSync(dir()).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  test('makes what is not there, and follows a link', async () => {
    const file = join(dir(), 'new', 'config.jsonc')
    await updateConfig(file, { a: 1 })
    expect(readFileSync(file, 'utf8')).toBe('{\n  "a": 1\n}\n')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const link = join(dir(), 'link.jsonc')
    symlinkSync(file, link)
    await updateConfig(link, () => ({ b: 2 }))
    await updateConfig(link, async () => ({ c: 3 }))
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ a: 1, b: 2, c: 3 })
  })

  test('refuses what is wrong, and leaves a broken file as it is', async () => {
    const file = fileOf('{ "a": 1 ')
    const refused = (change: unknown, code: string) =>
      expect(updateConfig(file, change as never)).rejects.toMatchObject({ code })
    await refused({ b: 1 }, 'INVALID_CONFIG')
    await refused(() => ({ b: 1 }), 'INVALID_CONFIG')
    await refused({ agents: { runtime: { truncation: { maxLines: 0 } } } }, 'INVALID_CONFIG')
    await refused(3, 'INVALID_ARGUMENT')
    expect(readFileSync(file, 'utf8')).toBe('{ "a": 1 ')
    await expect(updateConfig(join(dir(), 'none', '\0'), {})).rejects.toBeInstanceOf(SpillwayError)
  })

  test('two processes and this one lose nothing', async () => {
    const file = fileOf('{ // kept\n}\n')
    const script = `
      for (let n = 0; n < 25; n++) {
        await subpath('config').updateConfig(input.file, (now) => ({ all: [...(now.all ?? []), input.name + n] }))
        await subpath('config').updateConfig(input.file, { [input.name]: n })
      }`
    const children = ['a', 'b'].map((name) => startChild(script, { input: { file, name } }))
    const ended = children.map((child) => new Promise((resolve) => child.on('close', resolve)))
    for (let n = 0; n < 25; n += 1) {
      await updateConfig(file, ({ all }) => ({ all: [...((all as string[]) ?? []), `c${n}`] }))
    }
    expect(await Promise.all(ended)).toEqual([0, 0])
    const { config } = loadConfig({ userFile: file })
    expect(new Set(config.all as string[]).size).toBe(75)
    expect(config).toMatchObject({ a: 24, b: 24 })
    expect(readFileSync(file, 'utf8')).toContain('// kept')
    expect(readdirSync(dir()).filter((name) => name.endsWith('.lock'))).toEqual([])
  }, 60_000)
})

describe('an answer "always"', () => {
  test('is written into the file, holds after a restart and never overrides a deny', async () => {
    const deny = '{ "domain": "bash", "pattern": "make clean*", "decision": "deny" }, // mine'
    const file = fileOf(`{ "agents": { "runtime": { "permission": { "rules": [\n  ${deny}\n] } } } }`)
    const policy = () => new PermissionPolicy({ ...loadConfig({ userFile: file }).options.permission, vault: dir() })
    const gate = new PermissionGate(policy(), { configFile: file })
    for (const id of ['1', '2']) {
      const answer = gate.request({ toolCallId: id, tool: 'bash', args: { command: `make t${id}` } })
      const [question] = gate.pending()
      await gate.respond(question?.id ?? '', 'always', question?.suggestedRules.at(-1))
      expect((await answer).by).toBe('always')
    }
    const again = policy()
    const decide = (command: string) => again.evaluate({ tool: 'bash', args: { command } }).decision
    expect([decide('make t1'), decide('make clean'), decide('curl x')]).toEqual(['allow', 'deny', 'ask'])
    expect(readFileSync(file, 'utf8')).toContain(deny)
    const { rules } = loadConfig({ userFile: file }).options.permission
    expect(rules?.[1]).toMatchObject({ domain: 'bash', decision: 'allow', approved: true })
  })
})

test.each<[string, object]>([
  ['n', { n: Number.NaN }],
  ['a.b[1].c', { a: { b: [1, { c: Number.NEGATIVE_INFINITY }] } }],
  ['f', { f: () => 1 }],
  ['list[0]', { list: [undefined] }],
  ['big', { big: 1n }],
  ['s', { s: Symbol('s') }],
  ['m', { m: new Map() }],
])('a value that JSON cannot hold is refused with its field: %s', async (field, change) => {
  const file = join(dir(), 'config.jsonc')
  const refused = (name: string) => expect.objectContaining({ code: 'INVALID_ARGUMENT', field: `${name}.${field}` })
  await expect(updateConfig(file, change as never)).rejects.toEqual(refused('change'))
  await expect(updateConfig(file, () => change as never)).rejects.toEqual(refused('change()'))
  expect(existsSync(file)).toBe(false)
  // Settings that are not given are not changed.
  await updateConfig(file, { a: 1, b: undefined, at: new Date(0) })
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ a: 1, at: '1970-01-01T00:00:00.000Z' })
})

test('lintConfig finds rules that never count, false examples and unknown keys', () => {
  const rules = [
    { domain: 'mcp', pattern: 'mcp:a/*', decision: 'allow' },
    { domain: 'mcp', pattern: '*', decision: 'ask' },
    { domain: 'bash', pattern: 'ls *', decision: 'allow', examples: { noMatch: ['ls x'] } },
  ]
  const config = { agents: { runtime: { permission: { rules }, doomLoop: { maxAttempt: 1 }, other: {} } }, theme: 1 }
  const found = lintConfig(config as never)
  expect(found.map(({ kind, path }) => [kind, path.replace('agents.runtime.', '')]).sort()).toEqual([
    ['example', 'permission.rules[2].examples.noMatch[0]'],
    ['shadowed', 'permission.rules[0]'],
    ['unknown', 'doomLoop.maxAttempt'],
  ])
  expect(lintConfig({})).toEqual([])
})

test('the schema for editors and the table in the docs are those of the checks', () => {
  const { configSchema, configTable } = require(BINARY) as { configSchema(): string; configTable(): string }
  const root = join(__dirname, '..', '..')
  expect(JSON.parse(readFileSync(join(root, 'schema/spillway.schema.json'), 'utf8'))).toEqual(
    JSON.parse(configSchema()),
  )
  const row = (line: string) => line.replace(/ +/g, ' ').replace(/-+/g, '-')
  const docs = readFileSync(join(root, 'docs/configuration.md'), 'utf8').split('\n').map(row)
  for (const line of configTable().trim().split('\n')) expect(docs).toContain(row(line))
  expect(require('../../package.json').files).toContain('schema')
})

test.each([
  ['51200', 51200],
  ['50k', 51200],
  ['1.5MiB', 1_572_864],
  ['0', undefined],
  ['50 k', undefined],
  ['\ud800', undefined],
])('parseSize(%j) is %p', (text, size) => {
  expect(parseSize(text)).toBe(size)
})

test('parseSize rejects values that are no text', () => {
  expect(() => parseSize(50 as never)).toThrow('Invalid option "size": expected a string, received 50')
})

test('a size in a file may have a unit', () => {
  const userFile = join(dir(), 'size.jsonc')
  writeFileSync(userFile, '{ "agents": { "runtime": { "truncation": { "maxBytes": "50k" } } } }')
  const { options, problems } = loadConfig({ userFile })
  expect(problems).toEqual([])
  expect(options.truncation).toEqual({ maxBytes: 51200 })
})
