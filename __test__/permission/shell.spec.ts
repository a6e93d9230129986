import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PermissionPolicy } from 'spillway'
import { endChild } from '../support/child'
import bypass from './bypass.json'
import everyday from './everyday.json'
import options from './options.json'
import programs from './programs.json'

let vault: string

beforeAll(() => {
  vault = mkdtempSync(join(tmpdir(), 'spillway-permission-'))
})
afterAll(() => rmSync(vault, { recursive: true }))

const verdicts = (policy: PermissionPolicy, commands: string[]) =>
  commands.map((command) => ({ command, ...policy.evaluate({ tool: 'bash', args: { command } }) }))

test('no attempt to get around the rules runs without a question', () => {
  const policy = new PermissionPolicy({ vault, rules: bypass.rules as never })
  const found = verdicts(
    policy,
    bypass.commands.map(({ command }) => command),
  )
  expect(found.length).toBeGreaterThanOrEqual(300)
  expect(found.filter(({ decision }) => decision === 'allow').map(({ command }) => command)).toEqual([])
  for (const { why } of bypass.commands) expect(why).toMatch(/\w/)
})

test('a command that an allowed program runs, or a file that it touches outside, is asked about', () => {
  const policy = new PermissionPolicy({ vault, rules: programs.rules as never })
  const found = verdicts(
    policy,
    programs.commands.map(({ command }) => command),
  )
  expect(found.length).toBeGreaterThanOrEqual(80)
  expect(found.filter(({ decision }) => decision === 'allow').map(({ command }) => command)).toEqual([])
})

/** Decisions under a rule that allows all calls of the program. */
const underOwnRule = (commands: string[]) =>
  commands.flatMap((command) => {
    const pattern = `${command.split(' ')[0]} *`
    return verdicts(new PermissionPolicy({ vault, rules: [{ domain: 'bash', pattern, decision: 'allow' }] }), [command])
  })

test('options that run code, load code, or read or write elsewhere are asked about', () => {
  const policy = new PermissionPolicy({ vault, rules: everyday.rules as never })
  const found = [...verdicts(policy, options.everyday), ...underOwnRule(options.asked)]
  expect(found.length).toBeGreaterThanOrEqual(1_900)
  expect(found.filter(({ decision }) => decision === 'allow').map(({ command }) => command)).toEqual([])
})

test('files outside that options and arguments name are asked about even if every command is allowed', () => {
  const policy = new PermissionPolicy({ vault, rules: [{ domain: 'bash', pattern: '*', decision: 'allow' }] })
  const found = verdicts(policy, options.outside)
  expect(found.length).toBeGreaterThanOrEqual(30)
  expect(found.filter(({ decision }) => decision === 'allow').map(({ command }) => command)).toEqual([])
})

test('options of everyday run without a question under a rule for the program', () => {
  const found = underOwnRule(options.allowed)
  expect(found.length).toBeGreaterThanOrEqual(400)
  const asked = found.filter(({ decision }) => decision !== 'allow')
  expect(asked.map(({ command, reasons }) => [command, ...reasons])).toEqual([])
})

test('each line of the table has an example, and another one that only looks like it', () => {
  const wordsOf = (commands: string[]) => new Set(commands.flatMap((command) => command.split(/[\s|;&()]+/)))
  const asked = wordsOf([...options.everyday, ...options.asked])
  const allowed = wordsOf([...options.allowed, ...everyday.commands])
  const lines = readFileSync(join(__dirname, '../../src/permission/shell/programs.txt'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(' | '))
  expect(lines.length).toBeGreaterThan(150)
  const names = (line: string[]) => (line[0] ?? '').split(' ')
  const isHarmless = (option: string) => /^[.:]-/.test(option)
  const doesMore = lines.filter(([, , list = '']) => list.split(' ').some((one) => one !== '' && !isHarmless(one)))
  expect(doesMore.map(names).filter((all) => !all.some((name) => asked.has(name)))).toEqual([])
  // A rule for the program allows none of these calls.
  const runs = (kind = '') => /runner|stdin/.test(kind)
  // A module is only run by a rule that names it.
  const isModule = (list = '') => /^(http\.server|unittest|cProfile)/.test(list)
  const usual = lines.filter(([list, kind]) => !runs(kind) && !isModule(list))
  expect(usual.map(names).filter((all) => !all.some((name) => allowed.has(name)))).toEqual([])
})

test('commands that the rules allow are allowed', () => {
  const policy = new PermissionPolicy({ vault, rules: bypass.rules as never })
  for (const command of [
    'git status',
    'npm test',
    'ls -la',
    'git log --oneline && npm test',
    "git commit -m 'a; b && c'",
  ]) {
    expect({ command, ...policy.evaluate({ tool: 'bash', args: { command } }) }).toMatchObject({ decision: 'allow' })
  }
})

test('commands of every day run without a question', () => {
  const policy = new PermissionPolicy({ vault, rules: everyday.rules as never })
  const found = verdicts(policy, everyday.commands)
  expect(found.length).toBeGreaterThanOrEqual(150)
  const asked = found.filter(({ decision }) => decision !== 'allow')
  expect(asked.map(({ command, reasons }) => [command, ...reasons])).toEqual([])
})

test('under a rule for each program, with no word about options, nearly all of them run', () => {
  const others = everyday.others.map(({ command }) => command)
  const commands = [...everyday.commands, ...others]
  // The words that can be programs; one that is none is a rule about nothing.
  const words = new Set(commands.flatMap((command) => command.match(/[\w./[-]+/g) ?? []))
  const names = [...words].filter((word) => !word.startsWith('-')).map((word) => word.replace(/^\/(?:usr\/)?bin\//, ''))
  const rules = names.map((name) => ({ domain: 'bash' as const, pattern: `${name} *`, decision: 'allow' as const }))
  const found = verdicts(new PermissionPolicy({ vault, rules }), commands)
  const asked = found.filter(({ decision }) => decision !== 'allow').map(({ command }) => command)
  // Commands that other systems allow and this one does not, each for a reason.
  expect(asked.filter((command) => others.includes(command))).toEqual(
    everyday.others.filter(({ asked }) => asked !== undefined).map(({ command }) => command),
  )
  expect(1 - asked.length / commands.length).toBeGreaterThanOrEqual(0.97)
})

test('the same commands are asked about without rules', () => {
  const policy = new PermissionPolicy({ vault })
  // To go to a folder of the vault is no question.
  const commands = everyday.commands.filter((command) => !/^cd [\w./-]+$/.test(command))
  const allowed = verdicts(policy, commands).filter(({ decision }) => decision === 'allow')
  expect(allowed.map(({ command }) => command)).toEqual([])
})

test('a text that the parser cannot take is asked about, and prints nothing', () => {
  const body = `const policy = new spillway.PermissionPolicy({ vault: '/vault', rules: input.rules })
    const { decision } = policy.evaluate({ tool: 'bash', args: { command: input.command } })
    console.log(JSON.stringify(decision))`
  const input = { rules: bypass.rules, command: '"x$(<<E\n))"$(( \nE\n' }
  expect(endChild(body, { input })).toEqual({ status: 0, signal: null, stdout: '"ask"\n', stderr: '' })
  expect(endChild(body, { input, env: { NODE_DEBUG: 'spillway' } }).stderr).toMatch(/panicked/)
})
