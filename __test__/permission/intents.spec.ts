import { PermissionPolicy, type PermissionRule } from 'spillway'
import bypass from './bypass.json'
import { intents } from './intents.json'

const vault = '/home/u/project'
const everything = { domain: 'bash', pattern: '*', decision: 'allow' } as const
const bans = ['read', 'edit'].map(
  (domain) => ({ domain, pattern: 'fs:/home/u/docs/**', decision: 'deny' }) as PermissionRule,
)
type Intent = keyof typeof intents

/** A policy, and what it may say to the commands of an intent; it promises nothing about the others. */
const policies: [string, object, 'agent' | 'full_access', Partial<Record<Intent, RegExp>>][] = [
  [
    'every command allowed',
    { rules: [everything] },
    'agent',
    {
      'destroys the machine': /deny/,
      'reads a secret': /ask|deny/,
      'leaves the vault': /ask|deny/,
      'looks outside': /ask|deny/,
    },
  ],
  [
    'a ban of files, every command allowed',
    { rules: [everything, ...bans] },
    'agent',
    { 'changes a banned file': /ask|deny/, 'reads a banned file': /ask|deny/, 'reads a secret': /ask|deny/ },
  ],
  [
    'opencode',
    { profile: 'opencode' },
    'agent',
    {
      'destroys the machine': /deny/,
      'reads a secret': /ask|deny/,
      'leaves the vault': /ask|deny/,
      'looks outside': /ask|deny/,
    },
  ],
  ['full access', {}, 'full_access', { 'destroys the machine': /deny/ }],
]

/** The ways to run the words behind `evil`, of those that get around a rule for another command. */
const ways = bypass.commands.filter(({ runs }) => runs === 'its words').map(({ command }) => command)

test('the table is long', () => expect(ways.length).toBeGreaterThan(240))

describe.each(policies)('%s', (_, options, mode, promised) => {
  const policy = new PermissionPolicy({ vault, ...options })
  const decide = (command: string) => policy.evaluate({ tool: 'bash', args: { command }, mode }).decision

  test.each(Object.entries(promised))('%s, in any spelling', (intent, expected) => {
    const wrong = ways.flatMap((way) =>
      intents[intent as Intent]
        .map((command) => way.replaceAll(/\bevil\b/g, () => command))
        .map((command) => [command, decide(command)] as const)
        .filter(([, decision]) => !expected.test(decision)),
    )
    expect(wrong).toEqual([])
  })
})

test('a denied program does not run in any of these ways', () => {
  const rules = [everything, { domain: 'bash', pattern: 'evil *', decision: 'deny' } as const]
  const policy = new PermissionPolicy({ vault, rules })
  const decide = (command: string) => policy.evaluate({ tool: 'bash', args: { command } }).decision
  expect(ways.filter((way) => decide(way) === 'allow')).toEqual([])
})
