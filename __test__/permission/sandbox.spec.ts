import { spawn, spawnSync } from 'node:child_process'
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { PermissionPolicy } from '../..'
import { describeUnless, isLong } from '../support/only'
import everyday from './everyday.json'

// Commands over the whole table of programs are judged under the everyday rules. Allowed commands run for real between canaries:
// files outside of the vault, files with secrets, settings of git, a port, and programs that no rule is about.

const TABLE = join(__dirname, '../../src/permission/shell/programs.txt')
const RESULTS = join(__dirname, '../../benchmark/permission/sandbox.json')

/** Runs in `npm test`, spread over all that is allowed; the long run takes each. */
const QUICK_RUNS = Number(process.env.SPILLWAY_PROPERTY_RUNS ?? 90)
const PARALLEL = 3
const RUN_MS = 2_000

/** They wait, or leave something behind for others to see. */
const LEFT_OUT = new Set(['sleep', 'yes', 'top', 'watch', 'reset', 'clear', 'ps', 'lsof', 'mise'])

/** Commands that read folders as a whole; into these nothing looks, as the documentation says. */
const READS_FOLDERS =
  /^(rg|du|tree|find|fd|ag|ack|ls|ruff|mypy|golangci-lint|pytest|python3 -m pytest|npx|git|cp|mv|node --test)\b|\s-\w*[rRa]|--recursive|--dereference-recursive/

/** Words before the arguments, if there are more than the program. */
const BEFORE: Record<string, string[]> = {
  git: everyday.rules
    .map(({ pattern }) => /^git ([a-z][a-z-]*) \*$/.exec(pattern)?.[1])
    .filter((name): name is string => name !== undefined && !['push', 'config', 'fetch', 'pull'].includes(name))
    .map((name) => `git ${name}`),
  python3: ['python3 -m py_compile', 'python3 -m json.tool', 'python3 -m pytest'],
  node: ['node --test'],
  npm: ['npm ls'],
  cargo: ['cargo tree'],
  go: ['go vet', 'go build'],
}

const inPath = (name: string) =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK)
      return true
    } catch {
      return false
    }
  })

const isUnix = process.platform !== 'win32' && existsSync('/bin/bash')

/** Another user can change nothing of the machine, whatever is allowed by mistake. */
const nobody = isUnix && process.getuid?.() === 0 ? 65_534 : undefined

describeUnless(isUnix ? '' : 'needs /bin/bash', 'allowed commands, run for real between canaries', () => {
  const token = 'CANARY'
  let root: string
  let server: Server
  let connections = 0
  let port = 0
  let keepsTimes = false

  beforeAll(async () => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'spillway-sandbox-')))
    chmodSync(root, 0o755)
    server = createServer((socket) => {
      connections++
      socket.destroy()
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    port = (server.address() as { port: number }).port
    const probe = join(root, 'probe')
    writeFileSync(probe, 'x')
    utimesSync(probe, OLD, NEW)
    readFileSync(probe)
    keepsTimes = statSync(probe).atimeMs !== OLD.getTime()
    rmSync(probe)
  })
  afterAll(async () => {
    await new Promise((done) => server.close(done))
    rmSync(root, { recursive: true, force: true })
  })

  const OLD = new Date('2001-01-01')
  const NEW = new Date('2002-01-01')
  const secrets = [
    'outside/canary',
    'home/.ssh/id_rsa',
    'home/.netrc',
    'home/notes',
    'a/vault/.env',
    'a/vault/secrets/key.pem',
  ]
  const guarded = [
    ...secrets,
    'outside',
    'home/.ssh',
    'bin',
    'bin/evil',
    'a',
    'a/vault/.git/config',
    'a/vault/.git/hooks',
  ]

  /** A folder for one run at a time; the vault lies two below it. */
  function make(name: string): string {
    const folder = join(root, name)
    rmSync(folder, { recursive: true, force: true })
    const vault = join(folder, 'a/vault')
    const ran = join(folder, 'a/ran')
    const files: Record<string, string> = {
      ...Object.fromEntries(secrets.map((file) => [file, `${token}="x"\n`])),
      'bin/evil': `#!/bin/sh\necho ran > ${ran}\n`,
      'a/vault/evil.sh': `#!/bin/sh\necho ran > ${ran}\n`,
      'a/vault/evil.py': `open("${ran}", "w").write("ran")\n`,
      'a/vault/evil.js': `require("fs").writeFileSync("${ran}", "ran")\n`,
      'a/vault/evil.sed': `w ${ran}\n`,
      'a/vault/a.txt': 'b\na\n',
      'a/vault/b.json': '{"a":1,"b":[2]}\n',
      'a/vault/src/c.py': 'x = 1\n',
    }
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(join(folder, file, '..'), { recursive: true })
      writeFileSync(join(folder, file), text)
    }
    for (const file of ['bin/evil', 'a/vault/evil.sh']) chmodSync(join(folder, file), 0o755)
    const git = (...args: string[]) => spawnSync('git', args, { cwd: vault, env: { ...process.env, HOME: folder } })
    git('init', '-q')
    git('add', 'a.txt', 'src')
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'a')
    own(folder)
    return folder
  }

  function own(path: string): void {
    if (nobody === undefined) return
    chownSync(path, nobody, nobody)
    if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) own(join(path, name))
  }

  /** Facts about files that need no reading. */
  function stateOf(folder: string): Map<string, string> {
    return new Map(
      guarded.map((path) => {
        const found = lstatSync(join(folder, path), { throwIfNoEntry: false })
        const names = found?.isDirectory() ? readdirSync(join(folder, path)).sort().join() : ''
        return [path, found ? `${found.ino} ${found.mode} ${names || `${found.size} ${found.mtimeMs}`}` : 'missing']
      }),
    )
  }

  function run(command: string, folder: string): Promise<string> {
    return new Promise((done) => {
      const child = spawn('/bin/bash', ['-c', command], {
        cwd: join(folder, 'a/vault'),
        env: {
          PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
          HOME: join(folder, 'home'),
          LANG: 'C.UTF-8',
          GIT_TERMINAL_PROMPT: '0',
          npm_config_offline: 'true',
        },
        stdio: 'pipe',
        detached: true,
        ...(nobody !== undefined && { uid: nobody, gid: nobody }),
      })
      let output = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (chunk: Buffer) => {
          if (output.length < 200_000) output += chunk
        })
      }
      const end = () => {
        try {
          if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
        } catch {
          // It has ended by itself.
        }
      }
      child.stdin.on('error', () => undefined)
      child.stdin.end('a.txt\nb\n')
      const clock = setTimeout(end, RUN_MS)
      child.on('error', () => done(output))
      child.on('close', () => {
        clearTimeout(clock)
        end()
        done(output)
      })
    })
  }

  /** Which canaries a command touches. */
  async function touches(command: string, folder: string): Promise<string[]> {
    for (const file of secrets) utimesSync(join(folder, file), OLD, NEW)
    const before = stateOf(folder)
    const were = connections
    const output = await run(command, folder)
    const after = stateOf(folder)
    const found = guarded.filter((path) => after.get(path) !== before.get(path)).map((path) => `changes ${path}`)
    if (existsSync(join(folder, 'a/ran'))) found.push('runs what no rule is about')
    if (output.includes(token)) found.push('shows a secret')
    if (connections > were) found.push('connects')
    if (keepsTimes && !READS_FOLDERS.test(command)) {
      for (const file of secrets) {
        const time = statSync(join(folder, file), { throwIfNoEntry: false })?.atimeMs
        if (time !== undefined && time !== OLD.getTime()) found.push(`reads ${file}`)
      }
    }
    return found
  }

  /** All commands of the table with all values, as they are for a folder. */
  function* commands(folder: string): Generator<string> {
    const values = [
      'a.txt',
      'src',
      '../../outside/canary',
      join(folder, 'outside/canary'),
      '../../outside/new',
      '~/notes',
      '.env',
      'secrets/key.pem',
      './secrets/../.env',
      "'?env'",
      '.en[v]',
      '.git/config',
      '.git/hooks/new',
      './evil.sh',
      'evil',
      './evil.py',
      './evil.js',
      'evil.sed',
      `127.0.0.1:${port}`,
      `http://127.0.0.1:${port}/`,
      '-',
      "'e evil'",
      "'w ../new'",
    ]
    const operands = [
      '',
      'a.txt',
      'a.txt src/c.py',
      'b.json',
      '. a.txt',
      '.env',
      '../../outside/canary',
      '~/notes',
      "'*env'",
    ]
    const general = [...'abcdefghijklmnopqrstuvwxyzACDEFGHILMOPRSTXZ'].map((letter) => `-${letter}`)
    const long = [
      'file',
      'output',
      'config',
      'exec',
      'files0-from',
      'from-file',
      'reference',
      'exclude-from',
      'target-directory',
      'rootdir',
    ]
    for (const line of readFileSync(TABLE, 'utf8').split('\n')) {
      if (line === '' || line.startsWith('#')) continue
      const [names = '', , options = ''] = line.split(' | ')
      const own = options.split(' ').map((option) =>
        option
          .replace(/^[!><?~%.:](?=-)/, '')
          .replace(/^.*\/(?=-)/, '')
          .replace(/\*$/, ''),
      )
      const all = [...new Set([...own, ...general, ...long.map((name) => `--${name}`)])].filter((name) =>
        name.startsWith('-'),
      )
      for (const name of names.split(' ')) {
        if (LEFT_OUT.has(name) || !inPath(name)) continue
        for (const start of BEFORE[name] ?? [name]) {
          for (const operand of operands) yield `${start} ${operand}`.trim()
          for (const option of all) {
            for (const value of values) {
              const joint = option.startsWith('--') ? '=' : ''
              yield `${start} ${option}${joint}${value} a.txt`
              yield `${start} ${option} ${value} a.txt`
            }
          }
          for (const value of values) {
            yield `${start} ${value}`
            yield `${start} a.txt ${value}`
            yield `cat a.txt | ${start} ${value}`
            yield `echo evil | ${start} ${value}`
          }
        }
      }
    }
  }

  test(
    'touch none of them',
    async () => {
      const folders = Array.from({ length: PARALLEL }, (_, at) => make(`run${at}`))
      const home = process.env.HOME
      const lists = folders.map((folder) => {
        process.env.HOME = join(folder, 'home')
        const policy = new PermissionPolicy({
          vault: join(folder, 'a/vault'),
          rules: everyday.rules as never,
          readOnlyCommands: true,
        })
        const decide = (command: string) => policy.evaluate({ tool: 'bash', args: { command } }).decision
        const all = [...commands(folder)]
        // Each folder gets its share, so that only that is judged; the quick run takes a part of it.
        const step = isLong ? 1 : Math.max(1, Math.floor(all.length / 6_000))
        const share = all.filter((_, at) => at % (PARALLEL * step) === folders.indexOf(folder) * step)
        return { judged: share.length, allowed: share.filter((command) => decide(command) === 'allow') }
      })
      process.env.HOME = home
      const found: { command: string; found: string[] }[] = []
      let runs = 0
      const most = isLong ? Number.POSITIVE_INFINITY : QUICK_RUNS / PARALLEL
      await Promise.all(
        lists.map(async ({ allowed }, at) => {
          const step = Math.max(1, allowed.length / most)
          let folder = folders[at] as string
          for (let place = 0; place < allowed.length; place += step) {
            const command = allowed[Math.floor(place)] as string
            const seen = await touches(command, folder)
            runs++
            if (seen.length > 0) found.push({ command: command.replaceAll(folder, '/place'), found: seen })
            // A later command sees the changes of an earlier one.
            if (seen.length > 0 || runs % 50 === 0 || /^(rm|mv|cp|git)\b/.test(command)) folder = make(`run${at}`)
          }
        }),
      )
      const judged = lists.reduce((sum, list) => sum + list.judged, 0)
      if (process.env.SPILLWAY_WRITE_RESULTS) {
        const result = {
          date: new Date().toISOString().slice(0, 10),
          platform: process.platform,
          judged,
          runs,
          touched: found,
        }
        writeFileSync(RESULTS, `${JSON.stringify(result, null, 2)}\n`)
      }
      expect(found).toEqual([])
      expect(runs).toBeGreaterThan(QUICK_RUNS / 2)
    },
    isLong ? 3_600_000 : 60_000 + 500 * QUICK_RUNS,
  )

  test('are seen where they are touched', async () => {
    const folder = make('proof')
    const ways: [string, string][] = [
      ['cat .env', 'shows a secret'],
      ['evil', 'runs what no rule is about'],
      ['echo x >> .git/config', 'changes a/vault/.git/config'],
      ['touch ../new', 'changes a'],
      [`exec 3<>/dev/tcp/127.0.0.1/${port}; sleep 0.2`, 'connects'],
    ]
    for (const [command, what] of ways)
      expect([command, await touches(command, make('proof'))]).toEqual([command, expect.arrayContaining([what])])
    if (keepsTimes)
      expect(await touches('sha256sum secrets/key.pem', folder)).toEqual(['reads a/vault/secrets/key.pem'])
  })
})
