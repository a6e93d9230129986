import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  DoomLoopDetector,
  HistoryPruner,
  PermissionPolicy,
  type PermissionPolicyOptions,
  TruncationService,
  TruncationStorage,
} from 'spillway'
import { truncateOversizedToolResultsInMessages } from 'spillway/overflow'

// Differences from other systems that docs/reliability.md lists as deliberate.

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'spillway-differences-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

type Rule = [domain: string, pattern: string]

const judged = (command: string, allowed: Rule[], options: PermissionPolicyOptions = {}) => {
  const rules = allowed.map(([domain, pattern]) => ({ domain, pattern, decision: 'allow' as const }))
  return new PermissionPolicy({ vault: folder, rules: [...(options.rules ?? []), ...rules] as never }).evaluate({
    tool: 'bash',
    args: { command },
  })
}

const history = (text: string) => [
  { role: 'user', content: 'go' },
  ...Array.from({ length: 40 }, (_, n) => [
    { role: 'assistant', content: null, tool_calls: [call(`c${n}`, { n })] },
    { role: 'tool', tool_call_id: `c${n}`, content: text },
  ]).flat(),
]

function call(id: string, args: object) {
  return { id, type: 'function', function: { name: 'bash', arguments: JSON.stringify(args) } }
}

test('a negative retention is an error', () => {
  expect(() => new TruncationService({ global: { retentionDays: -1 } })).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIG', field: 'global.retentionDays' }),
  )
})

test('a result whose place cannot be written is still shown, and says that it was not saved', async () => {
  const file = join(folder, 'a-file')
  writeFileSync(file, '')
  const failed: string[] = []
  const service = new TruncationService({
    storageDirs: [join(file, 'none')],
    onEvent: (event) => void failed.push(event.type),
  })
  const result = await service.output('line\n'.repeat(5_000), { toolName: 'bash' })
  expect(result).toMatchObject({ truncated: true, content: expect.stringMatching(/line\nline/) })
  expect(result.content).toMatch(/could not be saved/)
  expect(failed).not.toEqual([])
})

test('old files that only look like those of the store stay', async () => {
  const dir = join(folder, 'store')
  mkdirSync(dir)
  const other = join(dir, 'tool_old')
  writeFileSync(other, 'of somebody else')
  utimesSync(other, 1, 1)
  await new TruncationStorage(dir).sweep({ retentionDays: 1 })
  expect(readdirSync(dir)).toContain('tool_old')
})

test('text parts are joined by a line feed', async () => {
  const service = new TruncationService({ storageDirs: [join(folder, 'parts')], global: { maxLines: 2 } })
  const parts = ['a\nb\nc', 'd\ne\nf'].map((text) => ({ type: 'text', text }))
  const result = await service.output(parts, { toolName: 'look' })
  if (!result.truncated) throw new Error('it was not truncated')
  const { text } = await new TruncationStorage(join(folder, 'parts')).readRange(result.outputPath as string, {
    fromLine: 1,
    lineCount: 10,
  })
  expect(text).toBe('a\nb\nc\nd\ne\nf')
})

test('a result that is shorter than its placeholder stays', () => {
  const pruner = new HistoryPruner({ schedule: 'always' } as never)
  const messages = history('ok')
  expect(pruner.prune(messages).messages).toEqual(messages)
})

test('a cap below 2,000 characters holds', () => {
  const { messages } = truncateOversizedToolResultsInMessages(history('x'.repeat(9_000)), 1_000)
  for (const { role, content } of messages as { role: string; content: string }[]) {
    if (role === 'tool') expect(content.length).toBeLessThan(2_000)
  }
})

test('a poll whose answer stays the same is asked about at the fifth call', () => {
  const detector = new DoomLoopDetector()
  const actions = Array.from({ length: 5 }, (_, n) => {
    const { action } = detector.check({
      toolCallId: `c${n}`,
      tool: 'bash',
      args: { command: 'gh run view 1' },
      turn: n,
    })
    detector.record({ toolCallId: `c${n}`, result: 'in_progress' })
    return action
  })
  expect(actions).toEqual(['allow', 'allow', 'allow', 'allow', 'ask'])
})

describe('permission', () => {
  test.each<[string, string, Rule[]]>([
    ['sudo', 'sudo ls', [['bash', 'ls *']]],
    ['code of an interpreter', "node -e 'x'", [['bash', 'node *']]],
    ['a variable that nobody knows', 'FOO=1 npm test', [['bash', 'npm *']]],
    ['where modules are looked up', 'PYTHONPATH=src pytest', [['bash', 'pytest *']]],
    [
      'arguments that are read',
      'git ls-files | xargs grep x',
      [
        ['bash', 'git *'],
        ['bash', 'xargs *'],
        ['bash', 'grep *'],
      ],
    ],
    [
      'names that are read',
      'for f in $(git diff --name-only); do wc -l "$f"; done',
      [
        ['bash', 'git *'],
        ['bash', 'wc *'],
      ],
    ],
    ['what another shell reads', 'powershell -Command ls', [['bash', 'powershell *']]],
  ])('asks about %s', (_title, command, rules) => {
    expect(judged(command, rules).decision).toBe('ask')
  })

  test('asks for the folder that ls reads', () => {
    const ask = { rules: [{ domain: '*', pattern: '*', decision: 'ask' }] } as never
    expect(judged('ls', [['bash', '*']], ask).decision).toBe('ask')
  })

  test('a rule that names the option is enough', () => {
    expect(judged("node -e 'x'", [['bash', 'node -e *']]).decision).toBe('allow')
  })

  test.each([
    ['npm run build', ['shell:npm run build']],
    ['wc -l a', ['shell:wc -l a', 'shell:wc *']],
  ])('suggests no rule for more than was seen: %s', (command, patterns) => {
    expect(judged(command, []).suggestedRules.map(({ pattern }) => pattern)).toEqual(patterns)
  })

  test('asks about a search that leads out', () => {
    const policy = new PermissionPolicy({ vault: folder })
    expect(policy.evaluate({ tool: 'glob', args: { pattern: '../x/**' } }).decision).toBe('ask')
  })
})
