import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PermissionPolicy } from 'spillway'
import bypass from './bypass.json'
import { shapes } from './wrappers.json'

let vault: string

beforeAll(() => {
  vault = realpathSync(mkdtempSync(join(tmpdir(), 'spillway-wrappers-')))
})
afterAll(() => rmSync(vault, { recursive: true }))

/** A command in a shape, as words and as one text. */
function fill(shape: string, command: string): string {
  const text = `'${command.replaceAll("'", "'\\''")}'`
  return shape.replaceAll('{text}', text).replaceAll('{raw}', command).replaceAll('{}', command)
}

type Decide = (command: string) => string

const decideBy =
  (options: object, mode: 'agent' | 'full_access' = 'agent'): Decide =>
  (command) =>
    new PermissionPolicy({ vault, ...options } as never).evaluate({ tool: 'bash', args: { command }, mode }).decision

const everything = { domain: 'bash', pattern: '*', decision: 'allow' }
const docs = ['read', 'edit'].map((domain) => ({ domain, pattern: 'fs:/home/u/docs/**', decision: 'deny' }))

/** Programs that take no command to run as words of their own. */
const REMOTE = /^ssh /

/** A policy, commands that it must not allow, and what it may say of them. */
const policies: [string, Decide, string[], RegExp][] = [
  ['its own rules', decideBy({ rules: bypass.rules }), ['evil', 'evil x', 'cat /home/u/docs/x'], /ask|deny/],
  [
    'hard denies in full access',
    decideBy({}, 'full_access'),
    [
      'rm -rf /',
      'rm -r -f / x',
      'dd if=/dev/zero of=/dev/sda',
      'cp x /dev/sda',
      'mkfs.ext4 /dev/sdb',
      'tee /dev/nvme0n1',
    ],
    /deny/,
  ],
  [
    'a ban of files where every command is allowed',
    decideBy({ rules: [everything, ...docs] }),
    [
      'cat /home/u/docs/x',
      'rm -rf /home/u/docs',
      'cp /home/u/docs/x y',
      'cp y /home/u/docs/x',
      'sed -i s/a/b/ /home/u/docs/x',
      'grep -r x /home/u/docs',
      'cat x/../../../../../../../home/u/docs/x',
    ],
    /deny/,
  ],
  ['opencode', decideBy({ profile: 'opencode' }), ['cat /etc/shadow', 'rm -rf /home/u/docs', 'cp .env x'], /ask|deny/],
  [
    'every command allowed, edits outside denied',
    decideBy({ rules: [everything] }),
    ['rm -rf /home/u/docs', 'cp a /etc/x'],
    /deny/,
  ],
]

test.each(policies)(
  'a command inside another program is judged like the command: %s',
  (_, decide, commands, expected) => {
    const wrong = commands.flatMap((command) =>
      shapes
        .filter((shape) => !REMOTE.test(shape))
        .map((shape) => fill(shape, command))
        .filter((whole) => !expected.test(decide(whole)))
        .map((whole) => `${whole} -> ${decide(whole)}`),
    )
    expect(wrong).toEqual([])
  },
)

const evil = [
  { domain: 'bash', pattern: 'evil *', decision: 'deny' },
  { domain: 'bash', pattern: 'evil', decision: 'deny' },
]

test.each<[string, Decide, string, RegExp]>([
  ['hard denies of the machine', decideBy({}, 'full_access'), 'rm -rf /', /deny/],
  ['a hard deny of a user', decideBy({ hardDeny: evil }, 'full_access'), 'evil x', /deny/],
  ['a ban where every command is allowed', decideBy({ rules: [everything, ...evil] }), 'evil x', /deny/],
  ['a ban of files', decideBy({ rules: [everything, ...docs] }), 'cat /home/u/docs/x', /deny/],
  ['opencode', decideBy({ profile: 'opencode' }), 'cat /etc/shadow', /ask|deny/],
])('a substitution that no word shows is found: %s', (_, decide, banned, expected) => {
  const hidden = bypass.commands
    .map(({ command }) => command)
    .filter((command) => /\$\(evil\)|`evil`/.test(command))
    .map((command) => command.replaceAll(/(?<=\$\()evil(?=\))|(?<=`)evil(?=`)/g, banned))
  expect(hidden.length).toBeGreaterThan(60)
  expect(hidden.filter((command) => !expected.test(decide(command)))).toEqual([])
})

test('a text about a banned command is no such command', () => {
  const decide = decideBy({ rules: [everything, ...evil] })
  for (const command of ["git commit -m 'say $(evil x)'", "echo '`evil x`'"]) expect(decide(command)).toBe('allow')
})
