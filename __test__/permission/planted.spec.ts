import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PermissionPolicy } from 'spillway'

/** A command that git runs if it takes a folder for a repository: the marker shows that it did. */
const config = (marker: string) =>
  `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = "touch ${marker}; false"\n[alias]\n\tst = "!touch ${marker}"\n`

describe('repositories of git in plain folders', () => {
  let root: string
  let vault: string
  let marker: string
  let policy: PermissionPolicy
  const allowed = [
    'git status',
    'git *',
    'mkdir *',
    'printf *',
    'echo *',
    'cd *',
    'cp *',
    'mv *',
    'gh pr list',
    'go build *',
    'npm version *',
    'cargo build',
  ]

  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'spillway-planted-')))
    vault = join(root, 'vault')
    marker = join(root, 'marker')
    put('a.md', 'a')
    policy = new PermissionPolicy({
      vault,
      rules: allowed.map((pattern) => ({ domain: 'bash', pattern, decision: 'allow' })),
    })
  })
  afterEach(() => rmSync(root, { recursive: true }))

  function put(path: string, text: string) {
    mkdirSync(dirname(join(vault, path)), { recursive: true })
    writeFileSync(join(vault, path), text)
  }
  function plant(folder: string) {
    put(`${folder}/HEAD`, 'ref: refs/heads/x\n')
    put(`${folder}/config`, config(marker))
    mkdirSync(join(vault, folder, 'objects'))
    mkdirSync(join(vault, folder, 'refs'))
  }
  const write = (path: string) => policy.evaluate({ tool: 'write', args: { path, content: 'x' } }).decision
  const bash = (command: string, cwd?: string) =>
    policy.evaluate({ tool: 'bash', args: { command, ...(cwd === undefined ? {} : { cwd }) } }).decision
  function run(command: string, cwd = '.') {
    const env = { PATH: process.env.PATH, HOME: root, GIT_CONFIG_NOSYSTEM: '1' }
    spawnSync('/bin/sh', ['-c', command], { cwd: join(vault, cwd), env, stdio: 'ignore', timeout: 10_000 })
    return existsSync(marker)
  }

  test('a file that makes a folder one is asked about, by tool and by command', () => {
    for (const path of [
      'notes/HEAD',
      'HEAD',
      'a/b/HEAD',
      'notes/.git',
      '.gitmodules',
      '.gitattributes',
      'x.git/config',
    ]) {
      expect([path, write(path), bash(`echo x > ${path}`), bash(`cp a.md ${path}`), bash(`mv a.md ${path}`)]).toEqual([
        path,
        'ask',
        'ask',
        'ask',
        'ask',
      ])
    }
    for (const path of ['notes/config', 'notes/head.md', 'src/Head.tsx', 'commondir', 'HEAD.md', 'gitdir']) {
      expect([path, write(path)]).toEqual([path, 'allow'])
    }
  })

  test('its settings are asked about where a folder is one', () => {
    plant('notes')
    for (const name of ['config', 'config.worktree', 'commondir', 'gitdir']) {
      expect([name, write(`notes/${name}`), bash(`echo x > notes/${name}`)]).toEqual([name, 'ask', 'ask'])
    }
    expect(write('notes/a.md')).toBe('allow')
  })

  test.each(['git status', 'git diff', 'gh pr list', 'go build ./...', 'npm version patch', 'cargo build'])(
    '%s is asked about in one',
    (command) => {
      plant('notes')
      put('notes/below/x', '')
      for (const cwd of ['notes', 'notes/below', join(vault, 'notes')])
        expect([cwd, bash(command, cwd)]).toEqual([cwd, 'ask'])
      expect(bash(`cd notes && ${command}`)).toBe('ask')
      expect(bash(`cd notes/below; ${command}`)).toBe('ask')
    },
  )

  test('other ways to name the folder', () => {
    plant('notes')
    for (const command of [
      'git -C notes status',
      `git -C ${vault}/notes status`,
      'git -C . -C notes status',
      'git --git-dir=notes status',
      'GIT_DIR=notes git status',
      '(cd notes && git status)',
      'mkdir -p x && cd notes && git status',
    ])
      expect([command, bash(command)]).toEqual([command, 'ask'])
  })

  test('changes after a cached answer are seen', () => {
    put('notes/a', '')
    spawnSync('git', ['init', '-q'], { cwd: vault })
    expect(bash('git status', 'notes')).toBe('allow')
    plant('notes')
    expect(bash('git status', 'notes')).toBe('ask')
  })

  test('a file that names another folder is one, too', () => {
    plant('elsewhere')
    put('notes/.git', 'gitdir: ../elsewhere\n')
    expect(bash('git status', 'notes')).toBe('ask')
    put('notes/.git', 'gitdir: ../.git/modules/notes\n')
    expect(bash('git status', 'notes')).toBe('allow')
  })

  test('an ordinary repository is none', () => {
    spawnSync('git', ['init', '-q'], { cwd: vault })
    put('src/deep/x', '')
    for (const cwd of ['.', 'src', 'src/deep', 'missing'])
      expect([cwd, bash('git status', cwd)]).toEqual([cwd, 'allow'])
    expect(bash('git init --bare x.git')).toBe('ask')
  })

  test('allowed commands make git run no program', () => {
    const making = 'mkdir -p n/objects n/refs && printf "ref: refs/heads/x" > n/HEAD'
    const escaped = config(marker).replaceAll('\n', '\\n').replaceAll('"', '\\"')
    const commands: [string, string?][] = [
      ['git status', 'notes'],
      ['git diff', 'notes'],
      ['git st', 'notes'],
      ['cd notes && git status'],
      ['cd notes; git add -A'],
      ['git -C notes status'],
      ['GIT_DIR=notes git status'],
      [`${making} && printf "${escaped}" > n/config && cd n && git status`],
      [`${making}; printf "${escaped}" > n/config; git -C n status`],
      ['cp -r notes m && cd m && git status'],
      ['git status'],
      ['git log -1'],
      ['git add a.md && git status'],
    ]
    let ran = 0
    for (const [command, cwd] of commands) {
      rmSync(join(vault, 'notes'), { recursive: true, force: true })
      plant('notes')
      rmSync(marker, { force: true })
      const decision = bash(command, cwd)
      const hasRun = run(command, cwd)
      ran += Number(hasRun)
      expect([command, hasRun && decision === 'allow']).toEqual([command, false])
    }
    // The plant works: git does run it where it is not asked.
    expect(ran).toBeGreaterThan(4)
  })
})
