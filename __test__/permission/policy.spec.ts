import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join, parse } from 'node:path'
import fc from 'fast-check'
import {
  type PermissionCall,
  PermissionGate,
  PermissionPolicy,
  type PermissionRule,
  SpillwayError,
  TruncationService,
  TruncationStorage,
} from 'spillway'

let root: string
let vault: string

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'spillway-permission-')))
  vault = join(root, 'vault')
  mkdirSync(join(vault, 'notes'), { recursive: true })
})
afterEach(() => rmSync(root, { recursive: true }))

const decide = (tool: string, args: unknown, rules: PermissionRule[] = [], call: Partial<PermissionCall> = {}) =>
  new PermissionPolicy({ vault, rules }).evaluate({ tool, args, ...call })

test('a verdict says everything', () => {
  const verdict = decide('read', { path: 'notes/a.md' }, [
    { domain: 'read', pattern: 'vault:notes/**', decision: 'ask' },
    { domain: 'read', pattern: 'vault:**/*.md', decision: 'allow' },
  ])
  expect(verdict).toEqual({
    decision: 'allow',
    domain: 'read',
    targets: ['vault:/notes/a.md'],
    rule: { domain: 'read', pattern: 'vault:**/*.md', decision: 'allow', source: 'user' },
    shadowed: [
      { domain: 'read', pattern: 'vault:notes/**', decision: 'ask', source: 'user' },
      { domain: 'read', pattern: 'vault:**', decision: 'allow', source: 'default' },
    ],
    reasons: [],
    suggestedRules: [],
  })
})

test('links are followed before anything is decided', () => {
  writeFileSync(join(root, 'secret.txt'), '')
  symlinkSync(join(root, 'secret.txt'), join(vault, 'link.md'))
  symlinkSync(root, join(vault, 'up'))
  symlinkSync(join(vault, 'loop'), join(vault, 'loop'))
  expect(decide('read', { path: 'link.md' }).decision).toBe('ask')
  expect(decide('edit', { path: 'link.md' }).decision).toBe('deny')
  expect(decide('edit', { path: 'up/new.txt' }).decision).toBe('deny')
  expect(decide('edit', { path: 'loop' }).decision).toBe('deny')
  expect(
    decide('bash', { command: 'echo x > up/new.txt' }, [{ domain: 'bash', pattern: '*', decision: 'allow' }]).decision,
  ).toBe('deny')
  const ban: PermissionRule[] = [{ domain: 'read', pattern: 'fs:**/secret.txt', decision: 'deny' }]
  expect(decide('read', { path: 'link.md' }, ban).decision).toBe('deny')
  expect(decide('edit', { path: 'notes/new/file.md' }).decision).toBe('allow')
})

test.each([
  ['a program and words that a shell may read', { command: 'ls', args: ['; evil'] }],
  ['words under another name', { command: 'ls', argv: ['$(evil)'] }],
  ['several commands', { commands: ['ls', 'evil'] }],
])('%s are judged as they may be run', (_about, args) => {
  const ls: PermissionRule[] = [{ domain: 'bash', pattern: 'ls *', decision: 'allow' }]
  expect(decide('bash', args, ls).decision).toBe('ask')
  expect(decide('bash', { command: 'ls', args: ['-la', 'notes'] }, ls).decision).toBe('allow')
})

test('a path that begins with a space is asked about: many tools take it away', () => {
  expect(decide('read', { path: ' ../secret.txt' }).decision).toBe('ask')
  expect(decide('edit', { path: ' /etc/passwd' }).decision).toBe('ask')
  expect(decide('read', { path: 'a b.md' }).decision).toBe('allow')
})

test('globs that tools use every day ask nothing', () => {
  for (const pattern of ['**/*.{ts,tsx}', 'src/**/*.{js,jsx}', '**/README*', 'test*', '**/{package,tsconfig}.json']) {
    expect([pattern, decide('glob', { pattern }).decision]).toEqual([pattern, 'allow'])
    expect([pattern, decide('grep', { pattern: 'x', include: pattern }).decision]).toEqual([pattern, 'allow'])
  }
  for (const pattern of ['**/*.{ts,pem}', '{src/.env,x}', '**/.e*', '*.{x,k*y,key}']) {
    expect([pattern, decide('glob', { pattern }).decision]).toEqual([pattern, 'ask'])
  }
})

test('wildcards do not hide a link', () => {
  const elsewhere = join(root, 'beyond')
  mkdirSync(elsewhere)
  mkdirSync(join(vault, 'tree', 'inner'), { recursive: true })
  writeFileSync(join(elsewhere, 'f.md'), '')
  writeFileSync(join(vault, '.env'), '')
  writeFileSync(join(vault, 'tree', 'f.md'), '')
  symlinkSync(elsewhere, join(vault, 'beyond'))
  symlinkSync(elsewhere, join(vault, 'tree', 'inner', 'st*r'))
  symlinkSync(join(elsewhere, 'f.md'), join(vault, 'tree', 'g.md'))
  symlinkSync(join(elsewhere, 'new.md'), join(vault, 'tree', 'dangling.md'))
  symlinkSync(join(vault, '.env'), join(vault, 'tree', 'settings'))
  symlinkSync(join(vault, 'tree'), join(vault, 'same'))
  const any: PermissionRule[] = [{ domain: 'bash', pattern: '*', decision: 'allow' }]
  for (const [command, decision] of [
    ['cat bey*/f.md', 'ask'],
    ['cat [b]eyond/f.md', 'ask'],
    ['cat ?eyond/*', 'ask'],
    ['cat tree/g*', 'ask'],
    ['cat tree/in*/st*/f.md', 'ask'],
    ['cat t*/inner/*/f.md', 'ask'],
    ['cat tree/set*', 'ask'],
    ['ls be*/', 'ask'],
    ['tee tree/g*', 'deny'],
    ['rm bey*/f.md', 'deny'],
    ['touch tree/dang*', 'deny'],
    ['cat tree/f*.md', 'allow'],
    ['cat tree/dang*.md', 'allow'],
    ['cat s*e/f.md', 'allow'],
    ['ls tree/*', 'ask'],
    ['ls t*/inner', 'allow'],
    ['git hash-object -w beyond/f.md', 'ask'],
    ['git hash-object -w bey*/f.md', 'ask'],
    ['git commit -F beyond/f.md', 'ask'],
    ['git apply beyond/f.md', 'ask'],
  ] as const) {
    expect([command, decide('bash', { command }, any).decision]).toEqual([command, decision])
  }
  expect(decide('glob', { pattern: 'bey*/f.md' }).decision).toBe('ask')
  expect(decide('glob', { pattern: '**/*.md' }).decision).toBe('allow')
})

test('a step up after a link is one from the target of the link', () => {
  const elsewhere = join(root, 'other', 'deep')
  mkdirSync(elsewhere, { recursive: true })
  symlinkSync(elsewhere, join(vault, 'out'))
  writeFileSync(join(root, 'other', 'a.md'), '')
  expect(decide('read', { path: 'out/../a.md' }).decision).toBe('ask')
  expect(decide('edit', { path: `${vault}/out/../a.md` }).decision).toBe('deny')
  expect(decide('edit', { path: 'notes/../a.md' }).decision).toBe('allow')
  const cat: PermissionRule[] = [{ domain: 'bash', pattern: 'cat *', decision: 'allow' }]
  for (const command of ['cat out/../a.md', 'cat < out/../a.md', 'cat out/../*.md']) {
    expect(decide('bash', { command }, cat).decision).toBe('ask')
  }
  expect(decide('bash', { command: 'cat a.md', cwd: 'out/..' }, cat).decision).toBe('ask')
  expect(decide('bash', { command: 'cat > out/../b.md' }, cat).decision).toBe('deny')
})

test.each([
  ['rules[0].pattern', { rules: [{ domain: 'bash', pattern: '\ud800', decision: 'allow' }] }],
  ['mcpServers[1]', { mcpServers: ['a', '\udfff'] }],
  ['tools', { tools: { '\ud800': { domain: 'read' } } }],
])('half of a surrogate pair in %s is refused', (field, options) => {
  expect(() => new PermissionPolicy(options as never)).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIG', field }) as Error,
  )
})

test('arguments that cannot be read are asked about and never throw', () => {
  const cyclic: Record<string, unknown> = {}
  cyclic.self = cyclic
  const getter = Object.defineProperty({}, 'path', {
    enumerable: true,
    get: () => {
      throw new Error('no')
    },
  })
  let times = 0
  const changing = Object.defineProperty({}, 'path', {
    enumerable: true,
    get: () => (times++ === 0 ? 'notes/a.md' : '/etc/passwd'),
  })
  const refusing = new Proxy(
    {},
    {
      ownKeys: () => {
        throw new Error('no')
      },
    },
  )
  let deep: unknown = 'x'
  for (let i = 0; i < 5000; i++) deep = [deep]
  for (const args of [
    cyclic,
    getter,
    refusing,
    { path: deep },
    { path: '\ud800' },
    1n,
    Symbol('x'),
    () => 1,
    null,
    undefined,
    7,
    [],
    {
      path: {
        toJSON: () => {
          throw 1
        },
      },
    },
  ]) {
    expect(decide('read', args).decision).toBe('ask')
    expect(decide('read', args, [], { headless: true }).decision).toBe('deny')
  }
  expect(decide('read', changing).targets).toEqual(['vault:/notes/a.md'])
  const call = {
    tool: 'read',
    get args(): unknown {
      throw new Error('no')
    },
  }
  expect(new PermissionPolicy({ vault }).evaluate(call).decision).toBe('ask')
})

const nested = (levels: number) => JSON.parse('{"a":'.repeat(levels) + 1 + '}'.repeat(levels))

/** Arguments that cannot be read are no reason to ask about a command that is denied. */
test.each<[string, object]>([
  ['arrays in arrays', { more: JSON.parse('['.repeat(200) + ']'.repeat(200)) }],
  ['objects beyond any stack', { more: nested(50_000) }],
  ['a half of a character', { more: 'a\ud800' }],
  ['a name with one', { '\ud800': 1 }],
  ['a big integer', { more: 1n }],
  [
    'what refuses to be JSON',
    {
      more: {
        toJSON: () => {
          throw 1
        },
      },
    },
  ],
])('a denied call is denied with %s beside it', async (_, more) => {
  const args = { command: 'rm -rf ~', ...more }
  const rule: PermissionRule = { domain: 'bash', pattern: 'rm *', decision: 'deny' }
  for (const mode of ['agent', 'full_access'] as const) {
    expect(decide('bash', args, [], { mode })).toMatchObject({ decision: 'deny' })
    const gate = new PermissionGate(new PermissionPolicy({ vault, rules: [rule] }))
    expect(await gate.request({ toolCallId: 'a', tool: 'bash', args, mode })).toMatchObject({ decision: 'deny' })
    expect(decide('bash', { ...args, command: 'ls' }, [], { mode })).toMatchObject({
      decision: 'ask',
      reasons: ['the arguments cannot be read'],
    })
  }
})

test.each([
  [{ rules: 1 }, 'rules'],
  [{ rules: [{ domain: 'bash', pattern: 'regex:(', decision: 'allow' }] }, 'rules[0].pattern'],
  [{ rules: [{ domain: 'bash', pattern: '*', decision: 'maybe' }] }, 'rules[0].decision'],
  [
    { rules: [{ domain: 'bash', pattern: 'git *', decision: 'allow', examples: { match: ['ls'] } }] },
    'rules[0].examples.match[0]',
  ],
  [{ hardDeny: [{ domain: 'bash', pattern: '*', decision: 'ask' }] }, 'hardDeny[0].decision'],
  [{ profile: 'x' }, 'profile'],
  [{ outsideEdit: 'allow' }, 'outsideEdit'],
  [{ mcpServers: [''] }, 'mcpServers[0]'],
  [{ mcpServers: ['x'.repeat(1024)] }, 'mcpServers'],
  [{ scratchFolders: [`/${'x'.repeat(1024)}`] }, 'scratchFolders'],
  [{ tools: { a: { domain: 'mcp' } } }, 'tools.a.domain'],
  [{ tools: { a: { domain: 'read', shape: 'command' } } }, 'tools.a.shape'],
  [{ sensitiveFiles: ['a/b'] }, 'sensitiveFiles'],
  [{ vault: 'relative' }, 'vault'],
  [{ headless: 1 }, 'headless'],
  [{ storage: {} }, 'storage'],
  [{ rulez: [] }, 'rulez'],
])('options that are wrong name their field: %j', (options, field) => {
  const make = () => new PermissionPolicy(options as never)
  expect(make).toThrow(SpillwayError)
  expect(make).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG', field }))
})

test('options that JSON would leave out are wrong as well', () => {
  const names =
    'rules hardDeny failClosed sensitiveFiles defaults profile outsideEdit mcpServers tools readOnlyCommands caseSensitive scratchFolders'
  const refusal = (name: string, value: unknown) => {
    try {
      new PermissionPolicy({ vault, [name]: value } as never)
    } catch (error) {
      return error
    }
  }
  for (const value of [() => [], Symbol('x'), 10n]) {
    for (const name of names.split(' '))
      expect(refusal(name, value)).toMatchObject({ code: 'INVALID_CONFIG', field: name })
  }
  const rule = { domain: 'bash', pattern: () => '*', decision: 'allow' }
  expect(() => new PermissionPolicy({ vault }).approve(rule as never)).toThrow(/"rule.pattern": expected .* function/)
})

test.each([
  [{}, 'call.tool'],
  [{ tool: 'x', mode: 'y' }, 'call.mode'],
  [{ tool: 'x', cwd: 1 }, 'call.cwd'],
  [{ tool: 'x', toolz: 1 }, 'call.toolz'],
])('a call that is wrong names its field: %j', (call, field) => {
  expect(() => new PermissionPolicy().evaluate(call as never)).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field }),
  )
})

test('addresses are compared as they are fetched', () => {
  const allow: PermissionRule[] = [
    { domain: 'web_fetch', pattern: '*', decision: 'ask' },
    { domain: 'web_fetch', pattern: 'url:https://example.com/**', decision: 'allow' },
  ]
  const fetched = (url: string, rules = allow) => decide('web_fetch', { url }, rules)
  expect(fetched('HTTPS://EXAMPLE.com/a/../b').targets).toEqual(['url:https://example.com/b'])
  expect(fetched('https://example.com/%2e%2e/x').decision).toBe('allow')
  expect(fetched('example.com/x').decision).toBe('allow')
  expect(fetched('https://example.com@evil.org/').decision).toBe('ask')
  expect(fetched('https://user@example.com/').decision).toBe('ask')
  for (const url of [
    'http://2130706433/',
    'http://0x7f.1/',
    'http://[::1]/',
    'http://localhost:3000/',
    'http://169.254.169.254/x',
    'file:///etc/passwd',
    'data:text/plain,x',
    'http://',
    'nothing at all',
  ]) {
    expect([url, fetched(url, []).decision]).toEqual([url, 'ask'])
  }
  expect(fetched('https://example.org/', []).decision).toBe('allow')
})

test('tools of one’s own say where their arguments stand', () => {
  const policy = new PermissionPolicy({ vault, tools: { open_note: { domain: 'read', keys: ['note'] } } })
  expect(policy.evaluate({ tool: 'open_note', args: { note: '../x', path: 'y' } }).targets).toEqual([
    `fs:${join(root, 'x')}`,
  ])
  expect(policy.evaluate({ tool: 'unknown_tool', args: { path: 'y' } })).toMatchObject({
    decision: 'ask',
    targets: ['tool:unknown_tool'],
  })
})

test.each([
  ['move', { source: '.env', destination: 'x.txt' }, 'ask'],
  ['copy_file', { from: '.env', to: 'x.txt' }, 'ask'],
  ['move', { source: 'a.txt', destination: 'x.txt' }, 'allow'],
  ['move', { source: 'a.txt', destination: '../x.txt' }, 'deny'],
  ['apply_patch', { patch: 'diff --git a/.env b/x\nrename from .env\nrename to x\n' }, 'ask'],
  ['apply_patch', { patch: '*** Begin Patch\n  *** Add File: ../x\n+a\n*** End Patch' }, 'deny'],
  ['str_replace_editor', { command: 'view', path: '.env' }, 'ask'],
  ['str_replace_based_edit_tool', { command: 'view', path: '/etc/passwd' }, 'ask'],
  ['str_replace_based_edit_tool', { command: 'create', path: '/etc/passwd' }, 'deny'],
  ['str_replace_based_edit_tool', { command: 'create', path: 'a.txt' }, 'allow'],
])('%s with %j: %s', (tool, args, decision) => {
  expect(decide(tool, args).decision).toBe(decision)
})

test('an output that the storage saved for this session may be read, unless the user says no', async () => {
  const dir = join(root, 'outputs')
  const storage = new TruncationStorage(dir)
  const service = new TruncationService({ storage, global: { maxLines: 1 } })
  const { outputPath = '' } = await service.output('a\nb\nc', { toolName: 'bash', sessionId: 's1' })
  const policy = (rules: PermissionRule[]) => new PermissionPolicy({ vault, storage, rules })
  const call = { tool: 'read', args: { path: outputPath }, sessionId: 's1' }
  for (const tool of ['read', 'read_output', 'search_output']) {
    const args = { path: outputPath, pattern: 'b' }
    expect([tool, policy([]).evaluate({ ...call, tool, args }).decision]).toEqual([tool, 'allow'])
  }
  expect(policy([]).evaluate({ ...call, sessionId: 's2' }).decision).toBe('ask')
  expect(policy([]).evaluate({ ...call, headless: true }).decision).toBe('allow')
  expect(policy([]).evaluate({ ...call, sessionId: 's2', headless: true }).decision).toBe('deny')
  expect(policy([]).evaluate({ ...call, args: { path: join(dir, 'other.txt') } }).decision).toBe('ask')
  expect(policy([{ domain: 'read', pattern: `fs:${dir}/**`, decision: 'deny' }]).evaluate(call).decision).toBe('deny')
})

test('approvals are listed, hold for their session, and can be taken back', () => {
  const policy = new PermissionPolicy({ vault })
  const call = { tool: 'bash', args: { command: 'make' }, sessionId: 's1' }
  const [rule] = policy.evaluate(call).suggestedRules
  policy.approve(rule, 's1')
  expect(policy.evaluate(call)).toMatchObject({ decision: 'allow', rule: { source: 'approval' } })
  expect(policy.evaluate({ ...call, sessionId: 's2' }).decision).toBe('ask')
  expect(policy.approvals()).toEqual([{ sessionId: 's1', rule: { ...rule, source: 'approval' } }])
  expect(policy.revoke(rule, 's1')).toBe(true)
  expect(policy.revoke(rule, 's1')).toBe(false)
  expect(policy.evaluate(call).decision).toBe('ask')
})

test('rules that can never match are reported', () => {
  const policy = new PermissionPolicy({
    vault,
    rules: [
      { domain: 'mcp', pattern: 'mcp:a/*', decision: 'allow' },
      { domain: 'mcp', pattern: '*', decision: 'ask' },
    ],
  })
  expect(policy.shadowedRules()).toMatchObject([{ rule: { pattern: 'mcp:a/*' }, hiddenBy: { pattern: '*' } }])
})

test('every target is explained', () => {
  const { details } = new PermissionPolicy({ vault }).explain({ tool: 'bash', args: { command: 'cat .env > out' } })
  expect(details.map(({ target, decision }) => [target, decision]).sort()).toEqual([
    ['shell:cat .env', 'ask'],
    ['vault:/.env', 'ask'],
    ['vault:/out', 'allow'],
  ])
})

test('a decision changes nothing, and is the same again', () => {
  const runs = Number(process.env.SPILLWAY_PROPERTY_RUNS ?? 100)
  const policy = new PermissionPolicy({ vault, rules: [{ domain: 'bash', pattern: 'ls *', decision: 'allow' }] })
  fc.assert(
    fc.property(
      fc.constantFrom('bash', 'read', 'edit', 'grep', 'web_fetch', 'mcp:a/b', 'x'),
      fc.anything(),
      (tool, args) => {
        const before = policy.evaluate({ tool, args })
        expect(['allow', 'ask', 'deny']).toContain(before.decision)
        expect(policy.evaluate({ tool, args })).toEqual(before)
      },
    ),
    { numRuns: runs },
  )
})

test('commands after the last one that is read are asked about, at any end of the budget', () => {
  const policy = new PermissionPolicy({ vault, rules: [{ domain: 'bash', pattern: 'p*', decision: 'allow' }] })
  for (const words of [1, 2, 3, 7, 8]) {
    const one = `p${' x'.repeat(words - 1)};`
    const most = Math.floor(16_000 / (words + 8))
    for (const count of [most - 2, most - 1, most, most + 1, most + 2, 2 * most]) {
      const command = `${one.repeat(count)}evil`
      expect({ words, count, decision: policy.evaluate({ tool: 'bash', args: { command } }).decision }).toEqual({
        words,
        count,
        decision: 'ask',
      })
    }
  }
})

test('a command of 128 KiB and 10,000 rules are no matter', () => {
  const rules = Array.from(
    { length: 10_000 },
    (_, n) => ({ domain: 'bash', pattern: `p${n} *`, decision: 'allow' }) as const,
  )
  const policy = new PermissionPolicy({ vault, rules })
  const allowed = Array.from({ length: 1500 }, (_, n) => `p${n} x`).join(' && ')
  expect(policy.evaluate({ tool: 'bash', args: { command: allowed } }).decision).toBe('allow')
  expect(policy.evaluate({ tool: 'bash', args: { command: `${allowed}; evil` } }).decision).toBe('ask')
  expect(policy.evaluate({ tool: 'bash', args: { command: `ls ${'a'.repeat(1_000_000)}` } }).decision).toBe('ask')
})

test('a reason says which target it is about, in few words', () => {
  const policy = new PermissionPolicy({ vault: '/vault' })
  const { reasons, targets } = policy.evaluate({ tool: 'bash', args: { command: `x${'é'.repeat(50_000)}` } })
  expect(targets).toHaveLength(1)
  expect(reasons.join().length).toBeLessThan(300)
  expect(reasons[0]).toMatch(/shell:xé+…$/)
})

test('every folder that a call names counts', () => {
  const rules = [{ domain: 'bash', pattern: 'cat *', decision: 'allow' }] as const
  const policy = new PermissionPolicy({ vault, rules })
  const decide = (tool: string, args: object) => policy.evaluate({ tool, args }).decision
  const command = 'cat passwd'
  expect(decide('bash', { command })).toBe('allow')
  expect(decide('bash', { command, cwd: '.' })).toBe('allow')
  expect(decide('bash', { command, cwd: '.', workdir: './' })).toBe('allow')
  const keys = [
    'cwd',
    'workdir',
    'working_dir',
    'workingDir',
    'work_dir',
    'working_directory',
    'directory',
    'dir',
    'folder',
    'root',
    'path',
    'WORKDIR',
  ]
  for (const key of keys) {
    expect([key, decide('bash', { command, [key]: '/etc' })]).toEqual([key, 'ask'])
    for (const other of keys.filter((other) => other !== key)) {
      for (const value of ['.', null, 3, ['.']]) {
        expect([key, other, decide('bash', { command, [key]: '/etc', [other]: value })]).toEqual([key, other, 'ask'])
        expect([key, other, decide('bash', { command, [other]: value, [key]: '/etc' })]).toEqual([key, other, 'ask'])
      }
    }
  }
  for (const key of ['cwd', 'workdir', 'working_dir', 'dir', 'directory', 'root', 'folder', 'base_dir']) {
    for (const tool of ['read', 'grep', 'list_dir']) {
      expect([tool, key, decide(tool, { path: 'passwd', [key]: '/etc' })]).toEqual([tool, key, 'ask'])
      expect([tool, key, decide(tool, { path: 'a.md', [key]: vault })]).toEqual([tool, key, 'allow'])
    }
    expect([key, decide('write', { path: 'passwd', [key]: '/etc' })]).toEqual([key, 'deny'])
    const patch = '*** Begin Patch\n*** Update File: passwd\n@@\n-x\n+y\n*** End Patch'
    expect([key, decide('apply_patch', { input: patch, [key]: '/etc' })]).toEqual([key, 'deny'])
    expect([key, decide('apply_patch', { input: patch, [key]: vault })]).toEqual([key, 'allow'])
  }
  for (const files of [
    [{ path: 'a.md', file_path: '/etc/passwd' }],
    [{ file: '/etc/passwd', path: 'a.md' }],
    [{ path: 'a.md', filePath: 3 }],
  ]) {
    expect(decide('read_files', { files })).toBe('ask')
  }
  expect(decide('read_files', { files: [{ path: 'a.md', file_path: 'b.md' }] })).toBe('allow')
})

describe('a home folder or a root as the vault', () => {
  const home = homedir()
  const wide = [...new Set([parse(home).root, home, dirname(home), `${home}/.`])]

  test.each(wide)('%s is refused unless it is meant', (folder) => {
    const refused = (code: string, field: string) =>
      expect.objectContaining({ name: 'SpillwayError', code, field }) as Error
    expect(() => new PermissionPolicy({ vault: folder })).toThrow(refused('INVALID_CONFIG', 'vault'))
    const call = { tool: 'read', args: { path: 'x' }, vault: folder }
    expect(() => new PermissionPolicy({ vault }).evaluate(call)).toThrow(refused('INVALID_ARGUMENT', 'call.vault'))
    const meant = new PermissionPolicy({ vault: folder, allowWideVault: true })
    expect(meant.evaluate({ tool: 'read', args: { path: 'x' } }).decision).toBe('allow')
    expect(new PermissionPolicy({ vault, allowWideVault: true }).evaluate(call).decision).toBe('allow')
  })

  test('a link to one is one, and a project in it is none', () => {
    const link = join(root, 'link')
    symlinkSync(home, link)
    expect(() => new PermissionPolicy({ vault: link })).toThrow(SpillwayError)
    expect(() => new PermissionPolicy({ vault: join(home, 'project') })).not.toThrow()
    expect(() => new PermissionPolicy({ vault: `${home}-project` })).not.toThrow()
  })
})
