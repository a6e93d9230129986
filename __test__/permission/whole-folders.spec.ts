import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PermissionPolicy } from 'spillway'
import { tempDir } from '../support/temp'
import { banned, changed, harmless, named, shown, unchanged } from './whole-folders.json'

/** A folder with these files, each with its folders. */
function folderWith(...files: string[]) {
  const folder = tempDir()
  for (const file of files) {
    mkdirSync(join(folder, file, '..'), { recursive: true })
    writeFileSync(join(folder, file), 'x')
  }
  return folder
}

const plain = ['README.md', 'src/a.js', 'clean/a.txt']
const everything = { domain: 'bash', pattern: '*', decision: 'allow' } as const
const ban = { domain: 'read', pattern: 'vault:secrets/**', decision: 'deny' } as const
const exception = { domain: 'read', pattern: 'vault:/.env', decision: 'allow' } as const

const policies = {
  'every command allowed': { rules: [everything] },
  'a ban of files': { rules: [everything, ban] },
  opencode: { profile: 'opencode' as const, rules: [] },
}
type Name = keyof typeof policies
const names = Object.keys(policies) as Name[]
let vault: string
beforeEach(() => {
  vault = folderWith(...plain, '.env', 'secrets/key')
})
const decide = (policy: PermissionPolicy, command: string) =>
  policy.evaluate({ tool: 'bash', args: { command } }).decision
const allowed = (name: Name, commands: string[]) => {
  const policy = new PermissionPolicy({ vault, ...policies[name] })
  return commands.filter((command) => decide(policy, command) === 'allow')
}

describe('a folder with secrets', () => {
  test.each(Object.entries(shown))('is not shown as a whole by %s', (_, commands) => {
    expect(commands.length).toBeGreaterThanOrEqual(10)
    for (const name of names) expect([name, allowed(name, commands)]).toEqual([name, []])
  })

  test('and not by a name that can mean one', () => {
    for (const name of names) expect([name, allowed(name, named)]).toEqual([name, []])
  })

  test('and not what a rule bans in it', () => expect(allowed('a ban of files', banned)).toEqual([]))

  test('is not changed as a whole if a rule bans editing a part of it', () => {
    const rule = { domain: 'edit', pattern: 'vault:secrets/**', decision: 'deny' } as const
    const policy = new PermissionPolicy({ vault, rules: [everything, rule] })
    expect(changed.filter((command) => decide(policy, command) === 'allow')).toEqual([])
    expect(unchanged.filter((command) => decide(policy, command) !== 'allow')).toEqual([])
  })

  test('is searched and copied without them', () => {
    for (const name of names) expect([name, allowed(name, harmless)]).toEqual([name, harmless])
  })

  test('is shown if a rule allows the file', () => {
    const policy = new PermissionPolicy({ vault, rules: [everything, exception] })
    expect(decide(policy, 'tar cf - .')).toBe('allow')
  })
})

test('a folder without secrets costs no question', () => {
  const policy = new PermissionPolicy({ vault: folderWith(...plain), rules: [everything] })
  const commands = [...Object.values(shown).flat(), ...harmless]
  expect(commands.filter((command) => decide(policy, command) !== 'allow')).toEqual([])
})

test('a folder of more names than are looked at is decided in time', () => {
  const many = folderWith(...Array.from({ length: 3000 }, (_, at) => `src/${at % 300}/${at}.txt`))
  const policy = new PermissionPolicy({ vault: many, rules: [everything] })
  for (const [command, decision] of [
    ['tar cf - .', 'allow'],
    // The same folder is looked at once.
    [`tar cf -${' .'.repeat(4000)}`, 'allow'],
    ['grep -r x .; '.repeat(400), 'allow'],
    [Array.from({ length: 400 }, (_, at) => `tar cf - --exclude=${at} .`).join('; '), 'ask'],
    [`cp -r ${'src/1/1.txt '.repeat(1500)} copy`, 'allow'],
  ]) {
    // Other work on the machine only makes a time longer, and the answer to an equal call is known.
    const times = [1, 2, 3].map((time) => {
      const start = performance.now()
      const args = { command, description: String(time) }
      expect(policy.evaluate({ tool: 'bash', args }).decision).toBe(decision)
      return performance.now() - start
    })
    expect(Math.min(...times)).toBeLessThan(500)
  }
})
