import { PermissionPolicy } from 'spillway'
import data from './destroyers.json'

const vault = '/home/u/project'
const everything = { domain: '*', pattern: '*', decision: 'allow' } as const

const policies = {
  defaults: new PermissionPolicy({ vault }),
  'everything allowed': new PermissionPolicy({ vault, rules: [everything] }),
  opencode: new PermissionPolicy({ vault, profile: 'opencode' }),
}

function decide(name: keyof typeof policies, command: string, mode?: 'full_access') {
  return policies[name].evaluate({ tool: 'bash', args: { command }, mode }).decision
}

const single = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
const double = (text: string) => `"${text.replaceAll(/[\\"$`]/g, '\\$&')}"`
const escaped = (text: string) => `$'${text.replaceAll(/[\\']/g, '\\$&').replaceAll('\n', '\\n')}'`

/** Ways to give a shell the text of a command. */
const quotings = {
  'eval and quotes': (command: string) => `eval ${single(command)}`,
  'eval and double quotes': (command: string) => `eval ${double(command)}`,
  'eval and quotes with escapes': (command: string) => `eval ${escaped(command)}`,
  'bash -c and quotes': (command: string) => `bash -c ${single(command)}`,
  'bash -c and quotes with escapes': (command: string) => `bash -c ${escaped(command)}`,
  'sh -c and double quotes': (command: string) => `sh -c ${double(command)}`,
  'sudo bash -c and quotes': (command: string) => `sudo bash -c ${single(command)}`,
  'env zsh -lc and quotes': (command: string) => `env A=b zsh -lc ${single(command)}`,
}

const names = Object.keys(policies) as (keyof typeof policies)[]

describe('destructive commands are denied in every mode', () => {
  test.each(Object.entries(data.destroyers))('%s', (_class, commands) => {
    expect(commands.length).toBeGreaterThanOrEqual(10)
    const passed = commands.flatMap((command) => [
      ...names.filter((name) => decide(name, command) !== 'deny').map((name) => [name, command]),
      ...(decide('defaults', command, 'full_access') === 'deny' ? [] : [['full access', command]]),
    ])
    expect(passed).toEqual([])
  })

  test.each(Object.entries(quotings))('after %s as well', (_, quote) => {
    const commands = Object.values(data.destroyers).flat().map(quote)
    expect(commands.filter((command) => decide('defaults', command, 'full_access') !== 'deny')).toEqual([])
  })

  const long = 'a'.repeat(14_000)
  const puttings = [
    `parallel 'echo {} {} {} {} {}; rm -rf {}' ::: '/ ${long}'`,
    `parallel 'echo {} {} {} {} {}; rm -rf {}' ::: / ${long}`,
    `echo '${'"'.repeat(5000)}/' | xargs rm -rf`,
    `echo '/ ${long}' | xargs -I{} sh -c 'echo {} {} {} {} {}; rm -rf {}'`,
    `echo '~ ${'b/ '.repeat(60)}' | xargs sh -c '${'echo "$@"; '.repeat(400)}rm -rf "$@"'`,
    `echo / | xargs sh -c 'rm -rf "$@"$@"$@"' _`,
    `rm -rf / ; echo a | xargs sh -c 'x "$@"$@"y"'`,
  ]
  test.each(puttings.map((command) => [`${command.slice(0, 60)}…`, command]))('commands inside %s', (_, command) => {
    expect(names.map((name) => decide(name, command))).toEqual(names.map(() => 'deny'))
    expect(decide('defaults', command, 'full_access')).toBe('deny')
  })

  test('more input than is read is asked about', () => {
    for (const command of [
      `echo '${'a '.repeat(65)}/' | xargs rm -rf`,
      ...['dd', 'gdd', '/bin/dd', 'dcfldd'].map((dd) => `echo '${'a '.repeat(65)}/' | xargs ${dd}`),
      `echo '${'a/b/c '.repeat(60)}' | xargs sh -c '${'echo "$@"; '.repeat(400)}'`,
    ])
      expect(decide('defaults', command, 'full_access')).toBe('ask')
    for (const command of ['wc -l', 'git add', 'yarn add'])
      expect(decide('defaults', `echo '${'a '.repeat(65)}' | xargs ${command}`, 'full_access')).toBe('allow')
  })

  test('a tool that deletes is denied the same places', () => {
    const tool = (tool: string, path: string) =>
      policies.defaults.evaluate({ tool, args: { path }, mode: 'full_access' }).decision
    for (const path of ['/', '/etc', '/home', '/home/u', '~', '/usr/', '/etc/passwd', '/dev/sda', '/boot/vmlinuz']) {
      expect([path, tool('delete', path), tool('delete_file', path)]).toEqual([path, 'deny', 'deny'])
    }
    expect(['/tmp/x', 'build', '/home/u/project/x'].map((path) => tool('delete', path))).toEqual(Array(3).fill('allow'))
    expect(tool('write', '/etc/shadow')).toBe('deny')
    expect(tool('read', '/etc/passwd')).toBe('allow')
  })

  test('the reason names the form that is denied, and how a variable may stay', () => {
    const reasonsOf = (command: string) =>
      policies.defaults.evaluate({ tool: 'bash', args: { command }, mode: 'full_access' }).reasons
    expect(reasonsOf('rm -rf "$OUT_OF_BUILD"/*')).toEqual([
      expect.stringMatching(/^".*" is never allowed, and this can be .*; a variable .* is safe as \$\{NAME:\?\}$/),
    ])
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the shell
    expect(reasonsOf('rm -rf "${OUT_OF_BUILD:?}"/*')).toEqual(['full access'])
    expect(reasonsOf('rm -rf /')).toEqual([expect.not.stringContaining('NAME')])
  })

  test('harmless lookalikes are allowed with full access', () => {
    expect(data.harmless.filter((command) => decide('defaults', command, 'full_access') !== 'allow')).toEqual([])
  })

  test.each(Object.entries(quotings))('harmless lookalikes are not denied inside %s', (_, quote) => {
    const commands = data.harmless.map(quote)
    expect(commands.filter((command) => decide('defaults', command, 'full_access') === 'deny')).toEqual([])
  })
})
