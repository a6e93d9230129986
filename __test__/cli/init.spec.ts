/** `spillway init` and `spillway doctor` with the settings of real agents in a home folder of their own. */

import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onUnix } from '../support/only'
import { tempDir } from '../support/temp'
import { CLI, cli, ended, HERE, start } from './support'

let home: string
let cwd: string
let env: NodeJS.ProcessEnv
beforeEach(() => {
  home = tempDir()
  cwd = tempDir()
  env = { HOME: home, USERPROFILE: home, SPILLWAY_STORAGE_DIR: undefined, XDG_DATA_HOME: undefined }
  for (const name of ['CLAUDE_CONFIG_DIR', 'CODEX_HOME', 'COPILOT_HOME', 'XDG_CONFIG_HOME', 'PI_CODING_AGENT_DIR']) {
    env[name] = undefined
  }
})

const spillway = (...args: string[]) => cli(args, { env, cwd })
const put = (path: string, text: string) => {
  mkdirSync(dirname(join(home, path)), { recursive: true })
  writeFileSync(join(home, path), text)
}
/** Writes settings of Spillway, and returns their path. */
const writeConfig = (text: string) => {
  writeFileSync(join(cwd, 'agent.jsonc'), text)
  return join(cwd, 'agent.jsonc')
}
const SERVER = join(__dirname, '..', 'clients', 'server.cjs')
const get = (path: string) => readFileSync(join(home, path), 'utf8')

/** By agent: its file, a line that must be in it, and another's settings that must stay. */
const CASES: [agent: string, file: string, line: string, others: string][] = [
  [
    'claude-code',
    '.claude/settings.json',
    'hook claude-code"',
    '{\n  // mine\n  "model": "x",\n  "hooks": {\n    "PostToolUse": [\n      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "other hook claude-code" }] } // keep\n    ]\n  },\n  "permissions": { "additionalDirectories": ["/data"], "deny": ["Read(.env)"] }\n}\n',
  ],
  [
    'codex',
    '.codex/hooks.json',
    'hook codex"',
    '{ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "x" }] }] } }',
  ],
  ['gemini', '.gemini/settings.json', 'hook gemini"', '{\r\n\t"general": {} // mine\r\n}\r\n'],
  ['qwen', '.qwen/settings.json', 'hook qwen"', '{ "tools": { "approvalMode": "yolo" } }'],
  [
    'copilot',
    '.copilot/hooks/spillway.json',
    'hook copilot preToolUse"',
    '{ "version": 1, "hooks": { "preToolUse": [] } }',
  ],
  ['cursor', '.cursor/hooks.json', 'hook cursor"', '{"version":1,"hooks":{"preToolUse":[{"command":"./mine.sh"}]}}'],
  [
    'opencode',
    '.config/opencode/opencode.json',
    '"plugin"',
    '{ "plugin": ["other"], /* mine */ "share": "disabled" }\n',
  ],
]

describe.each(CASES)('init %s', (agent, file, line, others) => {
  test('makes the file, and takes it away again', async () => {
    const { code, stdout } = await spillway('init', agent)
    expect(code).toBe(0)
    expect(stdout).toContain(join(home, file))
    expect(stdout).toMatch(/^\+ /m)
    expect(get(file)).toContain(line)
    expect((await spillway('doctor', agent)).stdout).toMatch(new RegExp(`^ok: ${agent} in `, 'm'))
    expect((await spillway('init', agent, '--undo')).code).toBe(0)
    expect(readdirSync(home)).not.toContain(file.split('/')[0])
  })

  test('leaves a folder with other files', async () => {
    const other = join(dirname(file), 'mine.txt')
    put(other, 'mine')
    await spillway('init', agent)
    await spillway('init', agent, '--undo')
    expect(readdirSync(dirname(join(home, file)))).toEqual(['mine.txt'])
  })

  test('keeps the settings of others, and gives them back to the byte', async () => {
    put(file, others)
    const dry = await spillway('init', agent, '--dry-run')
    expect(dry.stdout).toContain('Nothing was written')
    expect(get(file)).toBe(others)
    await spillway('init', agent)
    const wired = get(file)
    expect(wired).toContain(line)
    for (const comment of others.match(/\/\/ \w+|\/\* \w+ \*\//g) ?? []) expect(wired).toContain(comment)
    expect(get(`${file}.spillway-backup`)).toBe(others)
    const again = await spillway('init', agent, '--json')
    expect(JSON.parse(again.stdout)).toMatchObject({ agent, changed: false, written: false })
    expect(get(file)).toBe(wired)
    await spillway('init', agent, '--undo')
    expect(get(file)).toBe(others)
    expect(existsSync(join(home, `${file}.spillway-backup`))).toBe(false)
  })

  test('takes out only its own where the file was changed since', async () => {
    put(file, others)
    await spillway('init', agent)
    const marked = get(file).replace(/\{/, '{ "changed": true,')
    put(file, marked)
    await spillway('init', agent, '--undo')
    expect(get(file)).toContain('"changed": true')
    expect(get(file)).not.toContain(CLI)
  })

  test('leaves a file that cannot be read as it is', async () => {
    put(file, '{ "hooks": ')
    const { code, stderr } = await spillway('init', agent)
    expect(code).toBe(3)
    expect(stderr).toContain(join(home, file))
    expect(stderr).toContain('is not changed')
    expect(get(file)).toBe('{ "hooks": ')
  })
})

test('init claude-code takes the folder of the environment back out', async () => {
  env = { ...env, SPILLWAY_STORAGE_DIR: join(home, 'outputs') }
  const file = '.claude/settings.json'
  put(file, '{ "model": "x" }')
  await spillway('init', 'claude-code')
  const { permissions, hooks } = JSON.parse(get(file))
  expect(permissions.additionalDirectories).toEqual([join(home, 'outputs')])
  expect(JSON.stringify(hooks)).toContain(`--store ${join(home, 'outputs')}`)
  // Later, without the variable: the same folder, and nothing is left behind.
  env = { ...env, SPILLWAY_STORAGE_DIR: undefined }
  expect((await spillway('doctor')).stdout).toContain('ok: claude-code')
  await spillway('init', 'claude-code', '--undo')
  expect(get(file)).toBe('{ "model": "x" }')
})

test('init pi writes an extension of its own, and no other file is taken for it', async () => {
  const file = '.pi/agent/extensions/spillway.ts'
  await spillway('init', 'pi')
  expect(get(file)).toContain('export default extension(')
  expect((await spillway('doctor')).stdout).toContain('ok: pi in ')
  await spillway('init', 'pi', '--undo')
  expect(existsSync(join(home, file))).toBe(false)
  put(file, 'export default () => {}\n')
  expect((await spillway('init', 'pi')).code).toBe(3)
  expect(get(file)).toBe('export default () => {}\n')
})

describe('init mcp', () => {
  const file = '.mcp.json'
  const write = (text: string) => writeFileSync(join(cwd, file), text)
  const read = () => readFileSync(join(cwd, file), 'utf8')
  const lines = { command: 'node', args: ['server.js', '--', 'x'], env: { A: '1' } }
  const open = { url: 'https://example.com/mcp' }
  const withKey = { type: 'http', url: 'https://example.com/mcp', headers: { Authorization: 'Bearer x', 'X-A': 'b' } }
  const local = { url: 'http://localhost:3000/mcp' }

  test('puts the proxy before servers, once, and takes it out again', async () => {
    const text = JSON.stringify({ mcpServers: { lines, withKey, local, open } }, null, 2)
    write(text)
    expect((await spillway('init', 'mcp')).stdout).toContain('open is left as it is: a login of the host')
    expect((await spillway('init', 'mcp')).stdout).toContain('nothing to change')
    const { mcpServers } = JSON.parse(read())
    const own = [CLI, 'mcp', '--server']
    expect(mcpServers).toEqual({
      lines: { ...lines, command: process.execPath, args: [...own, 'lines', '--', 'node', 'server.js', '--', 'x'] },
      withKey: {
        type: 'stdio',
        command: process.execPath,
        args: [...own, 'withKey', '--url', withKey.url],
        // Arguments of a process can be read by other users.
        env: { SPILLWAY_MCP_HEADERS: 'Authorization: Bearer x\nX-A: b' },
      },
      local: { command: process.execPath, args: [...own, 'local', '--url', local.url] },
      open,
    })
    // Something else was changed since: the backup does not do.
    write(read().replace('{', '{ "changed": true,'))
    await spillway('init', 'mcp', '--undo')
    expect(JSON.parse(read())).toEqual({ changed: true, mcpServers: { lines, withKey, local, open } })
    write(text)
    await spillway('init', 'mcp', '--urls')
    expect(JSON.parse(read()).mcpServers.open.args).toEqual([...own, 'open', '--url', open.url])
    await spillway('init', 'mcp', '--undo')
    expect(read()).toBe(text)
    expect((await spillway('init', 'mcp', '--user')).stderr).toContain('--file')
  })

  test.each(['httpUrl', 'serverUrl'])(
    'puts the proxy before a server with %s, and the address back into it',
    async (member) => {
      const headers = { Authorization: 'Bearer x' }
      const docs = { [member]: open.url, headers, timeout: 30_000, env: { A: '1' } }
      const text = JSON.stringify({
        mcpServers: { docs, local: { [member]: local.url }, open: { [member]: open.url } },
      })
      write(text)
      expect((await spillway('init', 'mcp')).stdout).toContain('open is left as it is: a login of the host')
      const { mcpServers } = JSON.parse(read())
      const command = process.execPath
      const own = [CLI, 'mcp', '--server']
      expect(mcpServers).toEqual({
        docs: {
          timeout: 30_000,
          command,
          args: [...own, 'docs', '--url', open.url],
          env: { A: '1', SPILLWAY_MCP_HEADERS: 'Authorization: Bearer x', SPILLWAY_MCP_URL_MEMBER: member },
        },
        local: { command, args: [...own, 'local', '--url', local.url], env: { SPILLWAY_MCP_URL_MEMBER: member } },
        open: { [member]: open.url },
      })
      expect((await spillway('init', 'mcp')).stdout).toContain('nothing to change')
      write(read().replace('{', '{ "changed": true,'))
      await spillway('init', 'mcp', '--undo')
      expect(JSON.parse(read())).toEqual({ changed: true, ...JSON.parse(text) })
      write(text)
      await spillway('init', 'mcp', '--urls')
      await spillway('init', 'mcp', '--undo')
      expect(read()).toBe(text)
    },
  )

  test.each(['http', 'streamable-http', 'streamableHttp'])(
    'takes a server of the type %s at its word',
    async (type) => {
      write(JSON.stringify({ mcpServers: { a: { type, url: `${local.url}/sse` } } }))
      await spillway('init', 'mcp')
      expect(JSON.parse(read()).mcpServers.a.args).toContain('--url')
    },
  )

  test('takes a server with a program and an address for the program', async () => {
    write(JSON.stringify({ mcpServers: { lines: { ...lines, url: open.url }, open: { ...open, command: '' } } }))
    await spillway('init', 'mcp', '--urls')
    const { mcpServers } = JSON.parse(read())
    expect(mcpServers.lines.args).not.toContain('--url')
    expect(mcpServers.open.args).toContain('--url')
  })

  test('names the file that doctor is to try', async () => {
    const other = join(cwd, 'my servers.json')
    writeFileSync(other, JSON.stringify({ mcpServers: { lines } }))
    expect((await spillway('init', 'mcp', '--file', other)).stdout).toContain(` doctor mcp --file '${other}' tries it.`)
  })

  test('writes a server with an address as OpenCode has it', async () => {
    const before = { mcp: { docs: { type: 'remote', url: local.url, headers: { A: 'b' } } } }
    write(JSON.stringify(before))
    await spillway('init', 'mcp')
    expect(JSON.parse(read()).mcp.docs).toEqual({
      type: 'local',
      command: [process.execPath, CLI, 'mcp', '--server', 'docs', '--url', local.url],
      environment: { SPILLWAY_MCP_HEADERS: 'A: b' },
    })
    write(read().replace('{', '{ "changed": true,'))
    await spillway('init', 'mcp', '--undo')
    expect(JSON.parse(read())).toEqual({ changed: true, ...before })
  })

  test('puts the proxy before a server with a key, and takes a login that is switched off for none', async () => {
    const docs = { type: 'remote', url: open.url, headers: { A: 'b' }, oauth: false }
    write(JSON.stringify({ mcp: { docs } }))
    await spillway('init', 'mcp')
    expect(JSON.parse(read()).mcp.docs.command).toContain('--url')
  })

  test('gives the proxy a store and settings, in the place of earlier ones, and keeps its other options', async () => {
    write(JSON.stringify({ mcpServers: { lines: { command: 'node', args: ['server.js'] } } }))
    await spillway('init', 'mcp', '--store', 's3://bucket/a', '--config', writeConfig('{}'))
    write(read().replace('"--",', '"--permission","--",'))
    await spillway('init', 'mcp', '--store', 'b')
    const { args } = JSON.parse(read()).mcpServers.lines
    expect(args).toEqual([
      ...[CLI, 'mcp', '--server', 'lines', '--store', join(cwd, 'b'), '--config', join(cwd, 'agent.jsonc')],
      ...['--permission', '--', 'node', 'server.js'],
    ])
  })

  test.each([
    ['no server', '{ "mcpServers": {} }', '.mcp.json: has no server'],
    [
      'a transport that the proxy does not speak',
      '{ "mcpServers": { "a": { "type": "sse", "url": "http://localhost" } } }',
      'a is left as it is: the proxy does not speak the transport "sse"; the server may speak "http" as well',
    ],
    [
      'an address that is one of that transport by its path',
      '{ "mcpServers": { "a": { "url": "http://localhost/sse" } } }',
      'a is left as it is: by its path it speaks the transport "sse", and the proxy does not',
    ],
    [
      'an address of Windsurf that is one of that transport by its path',
      '{ "mcpServers": { "a": { "serverUrl": "http://localhost/sse" } } }',
      'a is left as it is: by its path it speaks the transport "sse", and the proxy does not',
    ],
    [
      'an address of OpenCode that is one of that transport by its path',
      '{ "mcp": { "a": { "type": "remote", "url": "http://localhost/sse" } } }',
      'a is left as it is: by its path it speaks the transport "sse", and the proxy does not',
    ],
    [
      'two addresses',
      '{ "mcpServers": { "a": { "url": "http://localhost/a", "httpUrl": "http://localhost/b" } } }',
      'a is left as it is: it has two URLs, "url" and "httpUrl"',
    ],
    [
      'a header that is no string',
      '{ "mcpServers": { "a": { "url": "http://localhost/a", "headers": { "X": 1 } } } }',
      'a is left as it is: its "headers" are not an object of strings',
    ],
    [
      'a login of the host beside a header',
      '{ "mcpServers": { "a": { "httpUrl": "https://a.b", "headers": { "X": "1" }, "authProviderType": "google_credentials" } } }',
      'a is left as it is: a login of the host',
    ],
  ])('with %s says so', async (_what, text, problem) => {
    write(text)
    const { code, stdout } = await spillway('init', 'mcp')
    expect([code, stdout, read()]).toEqual([0, expect.stringContaining(problem), text])
  })
})

describe('hooks and servers in one file', () => {
  test.each([
    '{\n  "mcpServers": {\n    "a": {\n      "command": "npx",\n      "args": [\n        "-y",\n        "x"\n      ]\n    }\n  }\n}\n',
    '{\n\t"mcpServers": {\n\t\t"a": { "command": "npx", "args": ["-y", "x"] }, // mine\n\t\t"b": { "command": "y" }\n\t}\n}',
    '{"mcpServers":{"a":{"command":"npx","args":["-y","x"]}}}',
  ])('are undone to the byte in %j, in any order', async (text) => {
    for (const [first, second] of [
      ['gemini', 'mcp'],
      ['mcp', 'gemini'],
    ] as const) {
      const file = join(home, 'settings.json')
      put('settings.json', text)
      for (const agent of ['gemini', 'mcp']) await spillway('init', agent, '--file', file)
      await spillway('init', first, '--file', file, '--undo')
      expect(get('settings.json')).not.toBe(text)
      await spillway('init', second, '--file', file, '--undo')
      expect(get('settings.json')).toBe(text)
      expect(existsSync(`${file}.spillway-backup`)).toBe(false)
    }
  })

  test('keep what the user changed since, and the spaces of before', async () => {
    const file = join(home, 'settings.json')
    const text =
      '{\n\t"mcpServers": {\n\t\t"a": { "command": "npx", "args": ["-y", "x"] },\n\t\t"b": { "command": "y" }\n\t}\n}\n'
    put('settings.json', text)
    await spillway('init', 'mcp', '--file', file)
    put('settings.json', get('settings.json').replace('{', '{\n\t"mine": 1, // added'))
    await spillway('init', 'mcp', '--file', file, '--undo')
    expect(get('settings.json')).toBe(text.replace('{', '{\n\t"mine": 1, // added'))
  })
})

test('paths of another place of the package are written again, and are not added', async () => {
  const old = {
    hooks: {
      PreToolUse: [{ hooks: [{ type: 'command', command: '/old/node /old/spillway/dist/cli/main.js hook codex' }] }],
    },
  }
  put('.codex/hooks.json', JSON.stringify(old))
  expect((await spillway('doctor')).code).toBe(1)
  await spillway('init', 'codex')
  expect(get('.codex/hooks.json')).not.toContain('/old/')
  expect(JSON.parse(get('.codex/hooks.json')).hooks.PreToolUse).toHaveLength(1)
  expect((await spillway('doctor')).code).toBe(0)
})

describe('settings that look like ours', () => {
  const program = (path: string, name: string) => {
    put(`${path}/package.json`, JSON.stringify({ name }))
    put(`${path}/dist/cli/main.js`, '')
    return join(home, path, 'dist/cli/main.js')
  }
  const hooks = (command: string) => ({ PostToolUse: [{ hooks: [{ type: 'command', command }] }] })

  test.each<[agent: string, file: string, make: () => object]>([
    [
      'claude-code',
      '.claude/settings.json',
      () => ({ hooks: hooks('node /opt/guard/dist/main.js hook claude-code --strict') }),
    ],
    [
      'claude-code',
      '.claude/settings.json',
      () => ({ hooks: hooks(`node ${program('guard', 'guard')} hook claude-code`) }),
    ],
    ['claude-code', '.claude/settings.json', () => ({ hooks: hooks('echo spillway hook claude-code') })],
    [
      'claude-code',
      '.claude/settings.json',
      () => ({ permissions: { additionalDirectories: ['/home/me/src/spillway/docs'] } }),
    ],
    ['opencode', '.config/opencode/opencode.json', () => ({ plugin: ['/home/me/plugins/spillway'] })],
    [
      'opencode',
      '.config/opencode/opencode.json',
      () => {
        put('plugins/spillway/package.json', '{ "name": "other" }')
        return { plugin: [join(home, 'plugins/spillway')] }
      },
    ],
    [
      'mcp',
      'servers.json',
      () => ({
        mcpServers: {
          one: { command: 'node', args: ['/opt/srv/main.js', 'mcp', '--', 'serve'] },
          two: { command: 'node', args: [program('srv', 'srv'), 'mcp', '--', 'serve'] },
        },
      }),
    ],
  ])('stay and are backed up: %s in %s', async (agent, file, make) => {
    const given = `${JSON.stringify(make(), null, 2)}\n`
    put(file, given)
    const args = [agent, '--file', join(home, file)]
    await spillway('init', ...args, '--undo')
    expect(get(file)).toBe(given)
    await spillway('init', ...args)
    expect(get(`${file}.spillway-backup`)).toBe(given)
    for (const word of given.match(/"[^"]{3,}"/g) ?? []) expect(get(file)).toContain(word)
    // Something else was changed since: the backup does not do.
    put(file, get(file).replace('{', '{ "changed": true,'))
    await spillway('init', ...args, '--undo')
    expect(JSON.parse(get(file))).toEqual({ changed: true, ...JSON.parse(given) })
  })
})

test('two at once both end, and the settings are whole', async () => {
  put('.claude/settings.json', '{ "model": "x" }\n')
  const all = await Promise.all(Array.from({ length: 4 }, () => spillway('init', 'claude-code')))
  expect(all.map(({ code }) => code)).toEqual([0, 0, 0, 0])
  const { model, hooks } = JSON.parse(get('.claude/settings.json'))
  expect(model).toBe('x')
  expect(hooks.PostToolUse).toHaveLength(1)
  await spillway('init', 'claude-code', '--undo')
  expect(get('.claude/settings.json')).toBe('{ "model": "x" }\n')
})

test('a home folder that cannot be written to is said, and nothing is left', async () => {
  if (process.getuid?.() === 0) writeFileSync(join(home, '.codex'), 'a file')
  else chmodSync(home, 0o500)
  const { code, stderr } = await spillway('init', 'codex')
  chmodSync(home, 0o700)
  expect(code).toBe(3)
  expect(stderr).toContain('.codex')
  if (process.getuid?.() !== 0) expect(stderr).toContain('--project or --file names another file')
  expect(readdirSync(home).filter((name) => name !== '.codex')).toEqual([])
})

test.each([
  ['codex', '.codex/hooks.json', '{ "hooks": { "PreToolUse": { "command": "x" } } }', 'hooks.PreToolUse is not a list'],
  ['codex', '.codex/hooks.json', '{ "hooks": 5 }', 'hooks is not an object'],
  ['claude-code', '.claude/settings.json', '{ "hooks": ["x"] }', 'hooks is not an object'],
  ['claude-code', '.claude/settings.json', '{ "permissions": [] }', 'permissions is not an object'],
])('init %s leaves %s alone if it is %s', async (agent, file, given, problem) => {
  put(file, given)
  const { code, stderr } = await spillway('init', agent)
  expect([code, stderr]).toEqual([3, expect.stringContaining(`${join(home, file)}: ${problem}; nothing was changed`)])
  expect([(await spillway('init', agent, '--undo')).code, get(file)]).toEqual([0, given])
})

test('the file keeps its mode, and options go into the command', async () => {
  put('.codex/hooks.json', '{}')
  chmodSync(join(home, '.codex/hooks.json'), 0o600)
  await spillway('init', 'codex', '--permission', 'deny', '--store', join(home, 'my store'))
  expect(statSync(join(home, '.codex/hooks.json')).mode & 0o777).toBe(0o600)
  expect(get('.codex/hooks.json')).toContain(`hook codex --permission deny --store '${join(home, 'my store')}'`)
  expect((await spillway('doctor', 'codex')).code).toBe(0)
})

test('init writes every option of the hook that init has too', async () => {
  const dry = await spillway('init', 'claude-code', '--dry-run', '--redact', '--no-fold')
  expect(dry.stdout).toContain('hook claude-code --redact --no-fold"')
  await spillway('init', 'claude-code', '--no-fold')
  expect(get('.claude/settings.json')).toContain('hook claude-code --no-fold"')
  expect((await spillway('doctor', 'claude-code')).code).toBe(0)
})

test('init says which agent asks nothing, and wraps the commands of Claude Code on demand', async () => {
  expect((await spillway('init', 'codex', '--permission', 'ask')).stdout).toContain('Codex lets no hook ask')
  await spillway('init', 'claude-code')
  expect(get('.claude/settings.json')).not.toContain('PreToolUse')
  await spillway('init', 'claude-code', '--wrap-commands')
  const { PreToolUse } = JSON.parse(get('.claude/settings.json')).hooks
  expect(PreToolUse).toMatchObject([
    { matcher: 'Bash', hooks: [{ command: expect.stringContaining('--wrap-commands') }] },
  ])
})

test.each([
  [['init', 'codex', '--wrap-commands'], 'Codex gets its commands wrapped without it'],
  [['init', 'cursor', '--wrap-commands'], 'Cursor takes no other command from a hook'],
  [['init'], 'missing argument <agent>'],
  [['init', 'claude-cod'], "did you mean 'claude-code'?"],
  [['init', 'codex', '--user', '--project'], '--user, --project and --file cannot be combined'],
  [['init', 'codex', '--permission', 'denny'], "did you mean 'deny'?"],
  [['doctor', 'codx'], "did you mean 'codex'?"],
  [['init', 'pi', '--permission', 'deny'], '--permission goes into the command of a hook, and pi has none'],
  [['init', 'opencode', '--redact'], '--redact goes into the command of a hook, and OpenCode has none'],
  [['init', 'pi', '--no-fold'], '--no-fold goes into the command of a hook, and pi has none'],
  [['init', 'mcp', '--redact'], '--redact goes into the command of a hook'],
  [['init', 'codex', '--urls'], '--urls is an option of spillway init mcp'],
  [['doctor', '--file', 'x'], '--file is for one agent'],
  [['doctor', 'codex', '--file', 'none.json'], '--file none.json: does not exist'],
])('%j is wrong usage', async (args, words) => {
  const { code, stderr } = await spillway(...args)
  expect(code).toBe(2)
  expect(stderr).toContain(words)
})

test('without a home folder no settings are written into the current one', async () => {
  env = { ...env, HOME: '', USERPROFILE: '' }
  const { code, stderr } = await spillway('init', 'codex')
  expect([code, stderr]).toEqual([2, expect.stringContaining('there is no home folder; give --project or --file')])
  expect(readdirSync(cwd)).toEqual([])
})

test.each([
  [
    'a folder in the place of the file',
    () => mkdirSync(join(home, '.claude/settings.json'), { recursive: true }),
    'settings.json: is a folder',
  ],
  ['a file in the place of the folder', () => put('.claude', ''), '.claude: is a file'],
])('%s is named', async (_what, make, problem) => {
  make()
  for (const args of [
    ['init', 'claude-code'],
    ['init', 'claude-code', '--dry-run'],
  ]) {
    const { code, stderr } = await spillway(...args)
    expect([code, stderr]).toEqual([3, expect.stringContaining(problem)])
  }
  expect((await spillway('doctor')).stdout).not.toContain('EISDIR')
})

test.each([[[]], [['--json']], [['--dry-run']], [['--file', 'none.json']]])(
  'init mcp %p without a file is wrong usage',
  async (options) => {
    const { code, stderr } = await spillway('init', 'mcp', ...options)
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/\.json: does not exist; --file names the file with the servers of a host/),
    ])
    expect((await spillway('init', 'mcp', '--undo')).code).toBe(0)
  },
)

test('leaves no files but the settings and their backup', async () => {
  put('.claude/settings.json', '{ "a": 1 }')
  for (const args of [[], [], ['--permission', 'ask']])
    expect((await spillway('init', 'claude-code', ...args)).code).toBe(0)
  expect(readdirSync(join(home, '.claude')).sort()).toEqual(['settings.json', 'settings.json.spillway-backup'])
  await spillway('init', 'gemini')
  expect(readdirSync(join(home, '.gemini'))).toEqual(['settings.json'])
})

onUnix('doctor says that nothing can be saved, also in a folder that can be written to', async () => {
  const outputs = join(home, 'outputs')
  mkdirSync(outputs)
  const line = `ulimit -f 0; exec ${HERE} doctor --store ${outputs}`
  const { code, stdout } = await ended(start('bash', ['-c', line], { env, cwd }))
  expect([code, stdout]).toEqual([1, expect.stringMatching(/^broken: saved outputs in .*outputs: .+/)])
  expect((await spillway('doctor', '--store', outputs)).stdout).toMatch(/^ok: saved outputs in .*outputs\n/)
  expect(readdirSync(outputs).filter((name) => name.endsWith('.txt'))).toEqual([])
})

test('a change that cannot be written names the file, and leaves no backup', async () => {
  put('.codex/hooks.json', '{}')
  // In the place of the lock, because root may write to any folder.
  mkdirSync(join(home, '.codex/.hooks.json.lock'))
  const { code, stderr } = await spillway('init', 'codex')
  expect([code, stderr]).toEqual([3, expect.stringContaining(join(home, '.codex/hooks.json'))])
  expect(readdirSync(join(home, '.codex')).sort()).toEqual(['.hooks.json.lock', 'hooks.json'])
})

describe('doctor', () => {
  test.each<[name: string, agent: string, file: string, change: (text: string) => string, problem: string]>([
    [
      'hooks that are switched off',
      ...(['claude-code', '.claude/settings.json'] as const),
      (text) => text.replace('{', '{ "disableAllHooks": true,'),
      'disableAllHooks is true: Claude Code does not call the hook',
    ],
    [
      'a hook that is switched off',
      ...(['gemini', '.gemini/settings.json'] as const),
      (text) => text.replace('{', '{ "hooksConfig": { "disabled": ["spillway"] },'),
      'hooksConfig.disabled is ["spillway"]: Gemini CLI does not call the hook',
    ],
    [
      'an option that the hook does not have',
      ...(['codex', '.codex/hooks.json'] as const),
      (text) => text.replaceAll('hook codex', 'hook codex --permision deny'),
      'did you mean --permission?',
    ],
    [
      'a store that cannot be made',
      ...(['cursor', '.cursor/hooks.json'] as const),
      (text) => text.replaceAll('hook cursor', 'hook cursor --store /dev/null/store'),
      'nothing can be saved in /dev/null/store: /dev/null is not a folder',
    ],
    [
      'a plugin that is gone',
      ...(['opencode', '.config/opencode/opencode.json'] as const),
      () => '{ "plugin": ["/gone/node_modules/spillway"] }',
      `/gone/node_modules/spillway does not exist; run ${HERE} init opencode again`,
    ],
    [
      'an extension that cannot be loaded',
      ...(['pi', '.pi/agent/extensions/spillway.ts'] as const),
      (text) => text.replace('extension({', 'extension({ trunctation: 1,'),
      'did you mean truncation?',
    ],
    [
      'an extension whose package is gone',
      ...(['pi', '.pi/agent/extensions/spillway.ts'] as const),
      (text) => text.replaceAll(/from "[^"]*\/dist/g, 'from "/gone/dist'),
      `/gone/dist/adapters/pi.mjs does not exist; run ${HERE} init pi again`,
    ],
  ])('finds %s', async (_name, agent, file, change, problem) => {
    await spillway('init', agent)
    expect((await spillway('doctor', agent)).stdout).toContain(`ok: ${agent} in `)
    put(file, change(get(file)))
    const { code, stdout } = await spillway('doctor', agent)
    expect([code, stdout]).toEqual([1, expect.stringContaining(`broken: ${agent} in ${join(home, file)}: `)])
    expect(stdout).toContain(problem)
  })

  test('counts the last of several files that switch hooks off', async () => {
    await spillway('init', 'claude-code')
    put('.claude/settings.json', get('.claude/settings.json').replace('{', '{ "disableAllHooks": true,'))
    mkdirSync(join(cwd, '.claude'))
    writeFileSync(join(cwd, '.claude/settings.json'), '{ "disableAllHooks": false }')
    expect((await spillway('doctor')).code).toBe(0)
    writeFileSync(join(cwd, '.claude/settings.json'), '{ "disableAllHooks": true }')
    put('.claude/settings.json', get('.claude/settings.json').replace('"disableAllHooks": true,', ''))
    expect((await spillway('doctor')).stdout).toContain(`disableAllHooks is true in ${cwd}/.claude/settings.json`)
  })

  test.each(['claude-code', 'codex', 'mcp'])('says where the settings that %s names are wrong', async (agent) => {
    const config = writeConfig('{ not json')
    writeFileSync(
      join(cwd, '.mcp.json'),
      JSON.stringify({ mcpServers: { lines: { command: 'node', args: [SERVER] } } }),
    )
    await spillway('init', agent, '--config', config)
    const { code, stdout } = await spillway('doctor', agent)
    expect([code, stdout]).toEqual([1, expect.stringContaining(`${config}:1:3: `)])
  })

  test('starts each server through its proxy', async () => {
    const mcpServers = {
      lines: { command: 'node', args: [SERVER], env: { X: `\${HOME}` } },
      gone: { command: 'no-such-program' },
      silent: { command: 'sh', args: ['-c', 'echo cannot find the key >&2; exit 3'] },
      web: { url: 'http://127.0.0.1:9/mcp' },
      qwen: { httpUrl: 'http://127.0.0.1:9/mcp' },
    }
    writeFileSync(join(cwd, '.mcp.json'), JSON.stringify({ mcpServers }))
    await spillway('init', 'mcp')
    const { code, stdout } = await spillway('doctor', 'mcp')
    expect(code).toBe(1)
    expect(stdout).toMatch(/^ok: mcp server lines in .*\(\d+ ms\)$/m)
    expect(stdout).toMatch(/^broken: mcp server gone in .*"no-such-program" cannot be started/m)
    expect(stdout).toMatch(/^broken: mcp server silent in .*cannot find the key/m)
    expect(stdout).toMatch(/^broken: mcp server web in .*ECONNREFUSED/m)
    expect(stdout).toMatch(/^broken: mcp server qwen in .*ECONNREFUSED/m)
    const { agents } = JSON.parse((await spillway('doctor', 'mcp', '--json')).stdout)
    expect(agents).toContainEqual(expect.objectContaining({ agent: 'mcp', server: 'gone', state: 'broken' }))
  })

  test('says what gives no answer, and after how long', async () => {
    // A package of the same name, whose command and plugin do not end.
    const silent = join(home, 'silent', 'dist', 'cli', 'main.js')
    put('silent/package.json', '{ "name": "spillway" }')
    put('silent/dist/cli/main.js', "require('node:net').createServer().listen(0)")
    put('server.js', "console.error('waiting for a login'); process.stdin.resume()")
    const mcpServers = { mute: { command: 'node', args: [join(home, 'server.js')] } }
    writeFileSync(join(cwd, '.mcp.json'), JSON.stringify({ mcpServers }))
    await Promise.all(['claude-code', 'copilot', 'mcp'].map((agent) => spillway('init', agent)))
    for (const file of ['.claude/settings.json', '.copilot/hooks/spillway.json']) {
      put(file, get(file).replaceAll(CLI, silent))
    }
    await spillway('init', 'opencode')
    put('silent/index.js', "exports.server = () => new Promise(() => require('node:net').createServer().listen(0))")
    put('silent/package.json', '{ "name": "spillway", "exports": { "./server": "./index.js" } }')
    const opencode = '.config/opencode/opencode.json'
    put(opencode, JSON.stringify({ plugin: [join(home, 'silent')] }))
    const { code, stdout } = await spillway('doctor', '--timeout', '3s')
    expect(code).toBe(1)
    const late = 'no answer within 3 s'
    for (const line of [
      `claude-code in ${join(home, '.claude/settings.json')}: its command for PostToolUse gave ${late}`,
      `copilot in ${join(home, '.copilot/hooks/spillway.json')}: its command for preToolUse gave ${late}`,
      `opencode in ${join(home, opencode)}: the process that loads it gave ${late}`,
      `mcp server mute in ${join(cwd, '.mcp.json')}: the server gave ${late}; it printed: waiting for a login; a server that`,
    ]) {
      expect(stdout).toContain(`broken: ${line}`)
    }
  })

  test('leaves nothing in the store', async () => {
    const store = join(home, 'store')
    await spillway('init', 'codex', '--store', store)
    await spillway('init', 'pi')
    expect((await spillway('doctor')).code).toBe(0)
    expect(existsSync(store)).toBe(false)
    expect(existsSync(join(home, '.local'))).toBe(false)
  })

  test('names the agents that were asked for and are not set up', async () => {
    await spillway('init', 'gemini')
    const { code, stdout } = await spillway('doctor', 'gemini', 'codex', 'pi')
    expect(code).toBe(0)
    expect(stdout).toContain('ok: gemini in ')
    expect(stdout).toContain(`codex is not set up; ${HERE} init codex does that.`)
    expect(stdout).toContain(`pi is not set up; ${HERE} init pi does that.`)
  })

  test('says once which file cannot be read', async () => {
    put('.gemini/settings.json', '{ "a": [1, 2 }')
    const { code, stdout } = await spillway('doctor')
    expect(code).toBe(1)
    expect(stdout).toContain(
      `broken: gemini in ${join(home, '.gemini/settings.json')}: line 1, column 14: unexpected close brace`,
    )
  })

  test('says what is missing where the package is gone', async () => {
    put(
      '.codex/hooks.json',
      JSON.stringify({ hooks: { PreToolUse: [{ hooks: [{ command: 'node /gone/dist/cli/main.js hook codex' }] }] } }),
    )
    expect((await spillway('doctor')).stdout).toMatch(/codex in .*Cannot find module '\/gone\/dist\/cli\/main\.js'/)
  })

  test('finds a folder of outputs that cannot be made', async () => {
    put('file', '')
    const { code, stdout } = await spillway('doctor', '--store', join(home, 'file', 'store'))
    expect([code, stdout]).toEqual([1, expect.stringContaining(`${join(home, 'file')} is not a folder`)])
  })
})
