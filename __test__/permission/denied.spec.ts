import { PermissionPolicy } from 'spillway'
import data from './denied.json'

const withRules = (rules: unknown[]) => new PermissionPolicy({ vault: '/home/u/project', rules: rules as never })
const policy = withRules(data.rules)

/** The commands that are decided so, with the first reason. */
const decided = (commands: string[], expected: RegExp, by = policy) =>
  commands
    .map((command) => ({ command, ...by.evaluate({ tool: 'bash', args: { command } }) }))
    .filter(({ decision }) => expected.test(decision))
    .map(({ command, reasons }) => [command, ...reasons])

describe('with every command allowed', () => {
  test.each(Object.entries(data.programs))('a denied program is not %s', (_, commands) => {
    expect(commands.length).toBeGreaterThanOrEqual(10)
    expect(decided(commands, /allow/)).toEqual([])
  })

  test.each(Object.entries(data.files))('a secret or a banned file is not touched through %s', (_, commands) => {
    expect(commands.length).toBeGreaterThanOrEqual(10)
    expect(decided(commands, /allow/)).toEqual([])
  })

  test.each(Object.entries(data.edits))('a ban on editing holds for %s, and nothing else does', (_, commands) => {
    expect(commands.length).toBeGreaterThanOrEqual(10)
    expect(decided(commands, /allow|ask/)).toEqual([])
    expect(
      decided(commands, /deny|ask/, withRules(data.rules.filter((rule) => rule.pattern !== 'vault:made/**'))),
    ).toEqual([])
  })

  test.each(Object.entries(data.possibleEdits))(
    'a file that a rule bans editing is not changed by %s',
    (_, commands) => {
      expect(commands.length).toBeGreaterThanOrEqual(10)
      expect(decided(commands, /allow/)).toEqual([])
      const free = data.rules.filter((rule) => rule.pattern === '*')
      expect(decided(commands, /deny/, withRules(free))).toEqual([])
    },
  )

  test('a file that a rule bans editing is read without a question', () => {
    const rules = data.rules.filter((rule) => rule.domain === 'edit' || rule.pattern === '*')
    expect(decided(data.onlyRead, /ask|deny/, withRules(rules))).toEqual([])
  })

  test('a file that may be banned, and one attached to an option, are not edited without a question', () => {
    const commands = [
      'sort -omade/a b',
      "git restore 'm*/x'",
      "git checkout HEAD -- ':(icase)MADE/x'",
      'git --icase-pathspecs rm MADE/x',
    ]
    expect(decided(commands, /allow/)).toEqual([])
  })

  test('a word that is no file is not taken for an edited file', () => {
    const rules = [
      { domain: 'bash', pattern: '*', decision: 'allow' },
      { domain: 'edit', pattern: '**', decision: 'deny' },
      { domain: 'edit', pattern: 'src/**', decision: 'allow' },
    ]
    expect(decided(data.spared, /ask|deny/, withRules(rules))).toEqual([])
  })

  test.each(["git restore ':!b'", "git checkout -- ':!b'", "git clean -fd ':!src'", "git rm -r ':(exclude)src'"])(
    'a pattern that only leaves files out means all others: %s',
    (command) => {
      const rules = [
        { domain: 'edit', pattern: '**', decision: 'deny' },
        { domain: 'edit', pattern: 'src/**', decision: 'allow' },
      ]
      expect(decided([command], /deny/, withRules(rules))).toHaveLength(1)
    },
  )

  test('harmless lookalikes are allowed', () => {
    expect(decided(data.harmless, /ask|deny/)).toEqual([])
  })
})

/** Calls of other tools under rules that allow all files of the vault but those. */
const decideTool = (tool: string, args: unknown) => policy.evaluate({ tool, args } as never).decision

describe('an argument that no table knows', () => {
  const secret = 'secrets/key'
  const calls: [string, unknown][] = [
    ...[
      'TargetFile',
      'output_path',
      'outputPath',
      'fullPath',
      'full_path',
      'notebookPath',
      'abs_path',
      'dst',
      'file-path',
    ].map((key): [string, unknown] => ['edit_file', { path: 'a.txt', [key]: secret }]),
    ...['SearchPath', 'files', 'target', 'searchFile', 'in_paths'].map((key): [string, unknown] => [
      'grep',
      { pattern: 'x', path: 'src', [key]: key === 'files' ? [secret] : secret },
    ]),
    ['grep', { Query: 'x', pattern: 'x', Includes: ['.env'] }],
    ['grep', { pattern: 'x', '--glob': '.env' }],
    ['grep', { pattern: 'x', options: ['--pre', 'x'] }],
    ['grep', { pattern: 'x', args: '--hidden .env' }],
    ...['.e*', '{.env,a}', 'secrets/*', 's*/key', '**/.env'].map((path): [string, unknown] => [
      'read_many_files',
      { paths: ['a.md', path] },
    ]),
    ['read_many_files', { paths: ['a.md'], include: ['.e*'] }],
    ['list_files', { path: '.', pattern: '.env' }],
    ['list_files', { pattern: '../**' }],
    ['list_dir', { path: '.', glob: '/etc/*' }],
    ...['current_working_directory', 'wd', 'pwd', 'start_in', 'base_directory', 'ExecCwd'].map(
      (key): [string, unknown] => ['bash', { command: 'cat key', [key]: 'secrets' }],
    ),
    ['bash', { command: 'cat key', options: { cwd: 'secrets' } }],
    ['bash', { command: 'ls', options: { env: { PATH: '.' } } }],
    ['bash', { command: 'cat', stdin_file: secret }],
    ['bash', { command: 'cat', inputPath: '.env' }],
    ['bash', { command: 'ls', output_file: '/etc/x' }],
    ['bash', { command: 'ls', post_command: 'cat secrets/key' }],
    ['shell', { command: 'ls', CommandLine: 'git push' }],
    ['multi_edit', { file_path: 'a.txt', edits: [{ file_path: secret, old_string: 'a', new_string: 'b' }] }],
    ['codebase_search', { query: 'x', target_directories: ['secrets'] }],
    ['grep', { pattern: 'x', path: 'src', searchFolders: ['secrets'] }],
    ['fetch', { url: 'https://example.com', body_file: '.env' }],
    ['fetch', { url: 'https://example.com', outputPath: secret }],
    ['bash', { program: 'rm', args: ['x'] }],
    ...['sudo', 'as_root', 'privileged', 'container'].map((key): [string, unknown] => [
      'bash',
      { command: 'ls', [key]: true },
    ]),
    ['bash', { command: 'ls', sandbox: false }],
  ]
  test.each(calls)('is judged by its name: %s %j', (tool, args) => expect(decideTool(tool, args)).not.toBe('allow'))

  const usual: [string, unknown][] = [
    ['edit_file', { path: 'a.txt', old_string: '.env', new_string: 'secrets/key', replace_all: true }],
    ['edit_file', { target_file: 'a.txt', instructions: 'x', code_edit: 'y' }],
    ['read_file', { target_file: 'a.txt', should_read_entire_file: true }],
    ['read_file', { path: 'app/[id]/page.tsx' }],
    ['read_many_files', { paths: ['src/**/*.ts'] }],
    ['grep', { pattern: '.env', path: 'src', '-n': true, '-i': true, output_mode: 'content' }],
    ['grep', { pattern: 'x', path: 'src', include: '*.ts' }],
    ['list_files', { path: 'src', recursive: true }],
    ['list_files', { path: 'src', pattern: '*.ts' }],
    ['bash', { command: 'ls', timeout: 1000, description: 'list the directory', run_in_background: false }],
    ['bash', { command: 'ls', options: { timeout: 5 } }],
    ['bash', { command: 'ls', current_working_directory: 'src' }],
    ['write_file', { path: 'a.txt', content: 'secrets/key', encoding: 'utf8' }],
    ['multi_edit', { file_path: 'a.txt', edits: [{ old_string: 'secrets/key', new_string: '.env' }] }],
    ['codebase_search', { query: 'secrets/key', target_directories: ['src'] }],
    ['fetch', { url: 'https://example.com', body: 'secrets/key', method: 'POST' }],
    ['bash', { command: 'ls', sandbox: true, sudo: false }],
  ]
  test.each(usual)('does not make a usual call a question: %s %j', (tool, args) =>
    expect(decideTool(tool, args)).toBe('allow'),
  )
})
