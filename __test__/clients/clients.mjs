// The programs that `npm run test:clients` runs, as npm has them: which package, how one is set up in a folder of its own, and
// the command that asks it one thing without a terminal.

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const QUESTION = 'Print the lines.'
const MODEL = 'mock-1'

function write(path, value) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value, null, 2))
}

/** Variables that keep a program inside its folder. */
const homeOf = (folder) => ({
  HOME: join(folder, 'home'),
  XDG_DATA_HOME: join(folder, 'home', 'data'),
  XDG_CONFIG_HOME: join(folder, 'home', 'config'),
  XDG_CACHE_HOME: join(folder, 'home', 'cache'),
  XDG_STATE_HOME: join(folder, 'home', 'state'),
})

/** OpenCode with a provider of its own, and what is given of MCP servers and plugins. */
function openCode({ bin, folder, work, origin }, more) {
  const options = { baseURL: `${origin}/v1`, apiKey: 'none' }
  const models = { [MODEL]: { name: MODEL, limit: { context: 1_000_000, output: 8_000 } } }
  write(join(work, 'opencode.json'), {
    provider: { mock: { npm: '@ai-sdk/openai-compatible', name: 'mock', options, models } },
    model: `mock/${MODEL}`,
    autoupdate: false,
    share: 'disabled',
    ...more,
  })
  return {
    command: bin('opencode-ai', 'opencode'),
    args: ['run', '--model', `mock/${MODEL}`, QUESTION],
    env: { ...homeOf(folder), OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' },
  }
}

function claudeCode({ bin, folder, origin }, more) {
  return {
    command: bin('@anthropic-ai/claude-code', 'claude'),
    args: ['-p', QUESTION, ...more],
    env: {
      ...homeOf(folder),
      ANTHROPIC_BASE_URL: origin,
      ANTHROPIC_API_KEY: 'none',
      ENABLE_TOOL_SEARCH: 'false',
      CLAUDE_CONFIG_DIR: join(folder, 'home', '.claude'),
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
  }
}

function codex({ bin, folder, origin }, settings, more = []) {
  const home = join(folder, 'home', '.codex')
  const lines = [
    ...[`model = "${MODEL}"`, 'model_provider = "mock"', 'approval_policy = "never"'],
    ...['[model_providers.mock]', 'name = "mock"', `base_url = "${origin}/v1"`, 'wire_api = "responses"'],
    ...settings,
  ]
  write(join(home, 'config.toml'), `${lines.join('\n')}\n`)
  return {
    command: bin('@openai/codex', 'codex'),
    args: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', ...more, QUESTION],
    env: { ...homeOf(folder), CODEX_HOME: home, OPENAI_API_KEY: 'none' },
  }
}

function gemini({ bin, folder, work, origin }, settings) {
  write(join(folder, 'home', '.gemini', 'settings.json'), {
    ...settings,
    security: { auth: { selectedType: 'gemini-api-key' } },
    privacy: { usageStatisticsEnabled: false },
    general: { disableAutoUpdate: true },
    telemetry: { enabled: false },
  })
  write(join(work, '.keep'), '')
  return {
    command: bin('@google/gemini-cli', 'gemini'),
    args: ['-p', QUESTION, '--yolo', '--model', 'gemini-2.5-pro', '--skip-trust'],
    env: {
      ...homeOf(folder),
      GOOGLE_GEMINI_BASE_URL: origin,
      GEMINI_API_KEY: 'none',
      GEMINI_CLI_NO_RELAUNCH: 'true',
    },
  }
}

function copilot({ bin, folder, origin }, more) {
  return {
    command: bin('@github/copilot', 'copilot'),
    args: ['-p', QUESTION, '--allow-all', '--no-auto-update', ...more],
    env: {
      ...homeOf(folder),
      COPILOT_PROVIDER_BASE_URL: `${origin}/v1`,
      COPILOT_PROVIDER_API_KEY: 'none',
      COPILOT_MODEL: MODEL,
    },
  }
}

/**
 * `way` is how Spillway gets in: `mcp` is the proxy, `plugin` the adapter, `hook` what `spillway init` with `init` writes, so that
 * commands run under `spillway run`. `shell` and `read` are the client's own tools.
 * `cut` names the function of `hosts.mjs` that does what the client does to a result.
 */
export const CLIENTS = [
  {
    name: 'opencode',
    title: 'OpenCode',
    packages: { 'opencode-ai': '1.18.33' },
    way: 'mcp',
    scripts: true,
    set: (at) => openCode(at, { mcp: { lines: { type: 'local', command: at.proxy, enabled: true } } }),
  },
  {
    name: 'opencode-plugin',
    title: 'OpenCode',
    packages: { 'opencode-ai': '1.18.33' },
    way: 'plugin',
    scripts: true,
    set(at) {
      const mcp = { lines: { type: 'local', command: at.server, enabled: true } }
      return openCode(at, { mcp, plugin: [at.packageFolder] })
    },
  },
  {
    name: 'pi',
    title: 'pi',
    packages: { '@earendil-works/pi-coding-agent': '1.6.0' },
    way: 'plugin',
    // Results that pi has saved by itself are left alone.
    notice: /Full output: (\S+?)\]/,
    set({ bin, folder, work, origin, packageFolder }) {
      const models = [{ id: MODEL, contextWindow: 1_000_000, maxTokens: 8_000 }]
      write(join(folder, 'home', '.pi', 'agent', 'models.json'), {
        providers: { mock: { baseUrl: `${origin}/v1`, api: 'openai-completions', apiKey: 'none', models } },
      })
      const extension = join(work, 'spillway-extension.ts')
      write(
        extension,
        `import { HistoryPruner, TruncationService } from '${packageFolder}/index.js'
         import { extension } from '${packageFolder}/dist/adapters/pi.js'
         export default extension({ truncation: new TruncationService({ availableTools: ['read', 'grep'] }), history: () => new HistoryPruner() })`,
      )
      return {
        command: bin('@earendil-works/pi-coding-agent', 'pi'),
        args: ['-p', QUESTION, '--provider', 'mock', '--model', MODEL, '-e', extension],
        env: { ...homeOf(folder), PI_OFFLINE: '1', PI_SKIP_VERSION_CHECK: '1' },
      }
    },
  },
  {
    name: 'claude-code',
    title: 'Claude Code',
    packages: { '@anthropic-ai/claude-code': '2.1.332' },
    way: 'mcp',
    scripts: true,
    set(at) {
      const [command, ...args] = at.proxy
      const config = join(at.work, '.mcp.json')
      write(config, { mcpServers: { lines: { command, args } } })
      return claudeCode(at, ['--mcp-config', config, '--strict-mcp-config', '--allowedTools', 'mcp__lines'])
    },
  },
  {
    name: 'claude-code-hook',
    title: 'Claude Code',
    packages: { '@anthropic-ai/claude-code': '2.1.332' },
    way: 'hook',
    scripts: true,
    init: ['claude-code', '--wrap-commands'],
    set: (at) => claudeCode(at, ['--allowedTools', 'Bash']),
  },
  {
    name: 'codex',
    title: 'Codex',
    packages: { '@openai/codex': '0.171.0' },
    way: 'mcp',
    set(at) {
      const [command, ...args] = at.proxy
      const server = [`command = ${JSON.stringify(command)}`, `args = ${JSON.stringify(args)}`]
      return codex(at, ['[mcp_servers.lines]', ...server])
    },
  },
  {
    name: 'codex-hook',
    title: 'Codex',
    packages: { '@openai/codex': '0.171.0' },
    way: 'hook',
    init: ['codex'],
    set: (at) => codex(at, [], ['--dangerously-bypass-hook-trust']),
  },
  {
    name: 'gemini-cli',
    title: 'Gemini CLI',
    packages: { '@google/gemini-cli': '0.61.0' },
    way: 'mcp',
    set(at) {
      const [command, ...args] = at.proxy
      return gemini(at, { mcpServers: { lines: { command, args, trust: true } } })
    },
  },
  {
    name: 'gemini-cli-hook',
    title: 'Gemini CLI',
    packages: { '@google/gemini-cli': '0.61.0' },
    way: 'hook',
    init: ['gemini'],
    set: (at) => gemini(at, {}),
  },
  {
    name: 'qwen-code',
    title: 'Qwen Code',
    packages: { '@qwen-code/qwen-code': '0.24.4' },
    way: 'mcp',
    set({ bin, folder, origin, proxy: [command, ...args] }) {
      write(join(folder, 'home', '.qwen', 'settings.json'), {
        mcpServers: { lines: { command, args, trust: true } },
        security: { auth: { selectedType: 'openai' } },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        general: { disableAutoUpdate: true, enableAutoUpdate: false },
        tools: { toolSearch: { enabled: false } },
      })
      const provider = ['--auth-type', 'openai', '--openai-api-key', 'none', '--openai-base-url', `${origin}/v1`]
      return {
        command: bin('@qwen-code/qwen-code', 'qwen'),
        args: ['-p', QUESTION, '--yolo', '--model', MODEL, ...provider],
        env: {
          ...homeOf(folder),
          QWEN_CODE_NO_RELAUNCH: 'true',
          OPENAI_API_KEY: 'none',
          OPENAI_BASE_URL: `${origin}/v1`,
        },
      }
    },
  },
  {
    name: 'copilot',
    title: 'Copilot CLI',
    packages: { '@github/copilot': '1.0.102' },
    way: 'mcp',
    set(at) {
      const [command, ...args] = at.proxy
      const config = join(at.work, 'mcp.json')
      write(config, { mcpServers: { lines: { type: 'local', command, args, tools: ['*'] } } })
      return copilot(at, ['--additional-mcp-config', `@${config}`])
    },
  },
  {
    name: 'copilot-hook',
    title: 'Copilot CLI',
    packages: { '@github/copilot': '1.0.102' },
    way: 'hook',
    init: ['copilot'],
    set: (at) => copilot(at, []),
  },
  {
    name: 'cline',
    title: 'Cline',
    packages: { cline: '3.0.65' },
    way: 'mcp',
    scripts: true,
    set({ bin, folder, origin, proxy }) {
      const provider = ['-p', 'openai', '-k', 'none', '-m', MODEL, '-b', `${origin}/v1`]
      return {
        command: bin('cline', 'cline'),
        before: [
          ['auth', ...provider],
          ['mcp', 'add', 'lines', '--yes', '--', ...proxy],
        ],
        args: ['--auto-approve', 'true', '--timeout', '120', QUESTION],
        env: homeOf(folder),
      }
    },
  },
]
