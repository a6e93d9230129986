// Every option that takes a name: a misspelt one is refused with the field, the value, the names that are allowed and the nearest.

import {
  AuditLog,
  compactHistory,
  createOutputTools,
  DoomLoopDetector,
  estimateTokens,
  guardTool,
  HistoryPruner,
  MemoryStorage,
  PermissionGate,
  PermissionPolicy,
  recoverFromOverflow,
  runCommand,
  SpillwayError,
  simplifyOutdatedTerminalResults,
  TruncationService,
  TruncationStorage,
} from 'spillway'
import { loadConfig } from 'spillway/config'
import { resolveModelSettings } from 'spillway/extensions'
import { repairToolPairs } from 'spillway/history'
import { startMcpProxy } from 'spillway/mcp'
import { calculateMaxToolResultChars, projectToolResults } from 'spillway/overflow'
import { ModeController } from 'spillway/permission'
import { RemoteStorage } from 'spillway/remote'
import { loadTokenCounter } from 'spillway/tokens'
import { subAgentResult } from 'spillway/tools'
import { nearest } from '../../lib/util/suggest'
import { cli } from '../cli/support'
import { memoryStorage } from '../support/outputs'
import { tempDir } from '../support/temp'
import suggestions from './suggestions.json'

const service = (options: object) => new TruncationService({ storage: memoryStorage(), ...options } as never)
const pruner = (options: object) => new HistoryPruner(options as never)
const policy = (options: object) => new PermissionPolicy(options as never)
const call = { tool: 'read_file', args: { path: 'a' }, cwd: '/tmp', sessionId: 's' }

/** A call with a wrong name, the field, the wrong name, the one that is meant, and others that are allowed. */
type Row = [make: (name: string) => unknown, field: string, wrong: string, meant: string, others: string[]]

const LANGUAGES: [string, string, string[]] = ['zh', 'zh-CN', ['en']]

const OPTIONS: Readonly<Record<string, Row>> = {
  'language of a service': [(language) => service({ language }), 'language', ...LANGUAGES],
  'profile of a service': [(profile) => service({ profile }), 'profile', 'opencod', 'opencode', ['openclaw', 'takumi']],
  'strategy of a service': [(strategy) => service({ strategy }), 'strategy', 'smrt', 'smart', ['line', 'json']],
  'direction of all tools': [
    (direction) => service({ global: { direction } }),
    'global.direction',
    'Head',
    'head',
    ['tail', 'both'],
  ],
  'strategy of a tool': [
    (strategy) => service({ tools: { bash: { strategy } } }),
    'tools.bash.strategy',
    'jsn',
    'json',
    ['diff'],
  ],
  'direction of a call': [
    (direction) => service({}).output('x', { toolName: 'bash', options: { direction } } as never),
    'options.direction',
    'tial',
    'tail',
    ['head'],
  ],
  'durability of a storage': [
    (durability) => new TruncationStorage({ storageDirs: [tempDir()], durability } as never),
    'durability',
    'fil',
    'file',
    ['process', 'full'],
  ],
  'acknowledgement of a remote storage': [
    (ack) => new RemoteStorage({ ack } as never),
    'ack',
    'remot',
    'remote',
    ['spool'],
  ],
  'end of a capture': [
    (onAbort) => service({}).capture({ toolName: 'x' }, { onAbort } as never),
    'options.onAbort',
    'kep',
    'keep',
    ['discard'],
  ],
  'stdin of a command': [
    (stdin) => runCommand('true', [], { stdin } as never),
    'options.stdin',
    'inherits',
    'inherit',
    ['ignore'],
  ],
  'measure of a page': [
    (pageCounts) => createOutputTools(new MemoryStorage(), { pageCounts } as never),
    'options.pageCounts',
    'jsonl',
    'json',
    ['text'],
  ],
  'status of a sub-agent': [
    (status) => subAgentResult({ agent: 'a', answer: 'x', status } as never, { truncation: service({}) } as never),
    'outcome.status',
    'complete',
    'completed',
    ['failed', 'aborted'],
  ],
  'mode of estimates': [(mode) => estimateTokens('x', { mode } as never), 'options.mode', 'uper', 'upper', ['typical']],
  'profile of estimates': [
    (profile) => estimateTokens('x', { profile } as never),
    'options.profile',
    'open-code',
    'opencode',
    ['openclaw'],
  ],
  'package of a tokenizer': [
    (name) => loadTokenCounter(name as never),
    'name',
    'tik-token',
    'tiktoken',
    ['gpt-tokenizer', 'js-tiktoken'],
  ],
  'schedule of pruning': [(schedule) => pruner({ schedule }), 'options.schedule', 'cach', 'cache', ['cold', 'always']],
  'profile of pruning': [(profile) => pruner({ profile }), 'options.profile', 'snwo', 'snow', ['opencode', 'openclaw']],
  'thinking of pruning': [
    (thinking) => pruner({ thinking }),
    'options.thinking',
    'keepPrefix',
    'keep-prefix',
    ['remove', 'ignore'],
  ],
  'index of pruning': [(index) => pruner({ index }), 'options.index', 'shrot', 'short', ['long']],
  'language of pruning': [(language) => pruner({ language }), 'options.language', ...LANGUAGES],
  'policy of pruning': [
    (name) => pruner({ policies: [name] }),
    'options.policies[0]',
    'result',
    'results',
    ['outdated', 'budget'],
  ],
  'type of a policy': [
    (type) => pruner({ policies: [{ type }] }),
    'options.policies[0].type',
    'buget',
    'budget',
    ['results', 'pressure'],
  ],
  'order of a budget': [
    (order) => pruner({ policies: [{ type: 'budget', order }] }),
    'options.policies[0].order',
    'large',
    'largest',
    ['oldest'],
  ],
  'provider of pruning': [
    (provider) => pruner({}).toProvider(provider as never),
    'provider',
    'antropic',
    'anthropic',
    ['openai'],
  ],
  'language of outdated results': [
    (language) => simplifyOutdatedTerminalResults([], { language } as never),
    'options.language',
    ...LANGUAGES,
  ],
  'format of repaired pairs': [
    (format) => repairToolPairs([], { format } as never),
    'options.format',
    'gemni',
    'gemini',
    ['openai-chat'],
  ],
  'running calls of repaired pairs': [
    (runningCalls) => repairToolPairs([], { runningCalls } as never),
    'options.runningCalls',
    'closed',
    'close',
    ['keep'],
  ],
  'profile of compaction': [
    (profile) => compactHistory([], { profile } as never),
    'options.profile',
    'moriflow',
    'moryflow',
    ['opencode', 'takumi'],
  ],
  'language of compaction': [(language) => compactHistory([], { language } as never), 'options.language', ...LANGUAGES],
  'thinking of compaction': [
    (thinking) => compactHistory([], { thinking } as never),
    'options.thinking',
    'ignored',
    'ignore',
    ['keep-prefix'],
  ],
  'profile of recovery': [
    (profile) => recoverFromOverflow({ profile } as never),
    'options.profile',
    'openclaw-2026',
    'openclaw-2026-02',
    ['openclaw'],
  ],
  'thinking of recovery': [
    (thinking) => recoverFromOverflow({ thinking } as never),
    'options.thinking',
    'keep_prefix',
    'keep-prefix',
    ['ignore'],
  ],
  'profile of projected results': [
    (profile) => projectToolResults([], { contextWindowTokens: 1, profile } as never),
    'options.profile',
    'openclow',
    'openclaw',
    ['openclaw-2026-02'],
  ],
  'profile of one result': [
    (profile) => calculateMaxToolResultChars(1000, { profile } as never),
    'options.profile',
    'OpenClaw',
    'openclaw',
    ['openclaw-2026-02'],
  ],
  'profile of a policy': [(profile) => policy({ profile }), 'profile', 'moryflo', 'moryflow', ['opencode']],
  'edits outside of a policy': [(outsideEdit) => policy({ outsideEdit }), 'outsideEdit', 'dney', 'deny', ['ask']],
  'domain of a rule': [
    (domain) => policy({ rules: [{ domain, pattern: 'x', decision: 'allow' }] }),
    'rules[0].domain',
    'bsh',
    'bash',
    ['read', 'edit', '*'],
  ],
  'decision of a rule': [
    (decision) => policy({ rules: [{ domain: 'bash', pattern: 'x', decision }] }),
    'rules[0].decision',
    'alow',
    'allow',
    ['ask', 'deny'],
  ],
  'domain of a tool': [
    (domain) => policy({ tools: { lint: { domain } } }),
    'tools.lint.domain',
    'bsh',
    'bash',
    ['read', 'edit', 'web_fetch', 'web_search', 'none'],
  ],
  'shape of a tool that reads': [
    (shape) => policy({ tools: { lint: { domain: 'read', shape } } }),
    'tools.lint.shape',
    'serch',
    'search',
    ['paths', 'folder', 'glob'],
  ],
  'shape of a tool that edits': [
    (shape) => policy({ tools: { lint: { domain: 'edit', shape } } }),
    'tools.lint.shape',
    'Patch',
    'patch',
    ['paths'],
  ],
  'tool that touches nothing': [(tool) => policy({ tools: { lint: tool } }), 'tools.lint', 'non', 'none', []],
  'domain that is closed': [
    (domain) => policy({ failClosed: ['mcp', domain] }),
    'failClosed[1]',
    'bsh',
    'bash',
    ['read', 'edit', 'tool'],
  ],
  'decision of a hard denial': [
    (decision) => policy({ hardDeny: [{ domain: 'bash', pattern: 'x', decision }] }),
    'hardDeny[0].decision',
    'dney',
    'deny',
    [],
  ],
  'decision of an approval': [
    (decision) => policy({}).approve({ domain: 'bash', pattern: 'x', decision } as never),
    'rule.decision',
    'alow',
    'allow',
    [],
  ],
  'mode of a tool': [
    (mode) => guardTool({ name: 'x', execute: async () => 1 } as never, { mode } as never),
    'controls.mode',
    'fullAccess',
    'full_access',
    ['agent'],
  ],
  'mode of a judged call': [
    (mode) => policy({}).evaluate({ ...call, mode } as never),
    'call.mode',
    'fullAccess',
    'full_access',
    ['agent'],
  ],
  'mode of a session': [
    (mode) => new ModeController().setMode('s', mode as never),
    'mode',
    'agnet',
    'agent',
    ['full_access'],
  ],
  'mode of all sessions': [
    (mode) => new ModeController({ default: mode } as never),
    'options.default',
    'full',
    'full_access',
    ['agent'],
  ],
  'scope of a gate': [
    (scope) => new PermissionGate(policy({}), { scope } as never),
    'options.scope',
    'sesion',
    'session',
    ['user'],
  ],
  'answer to a question': [
    (answer) => {
      const gate = new PermissionGate(policy({}))
      void gate.request({ tool: 'bash', args: { command: 'make' }, cwd: '/tmp', toolCallId: 'c' })
      return gate.respond(gate.pending()[0]!.id, answer as never)
    },
    'response',
    'allways',
    'always',
    ['once'],
  ],
  'mode of a prompt': [
    (mode) => resolveModelSettings({ defaultSystemPrompt: 'x', systemPrompt: { mode } } as never),
    'options.systemPrompt.mode',
    'costum',
    'custom',
    ['default'],
  ],
  'form of a refusal': [
    (refusal) => guardTool({ name: 'x', execute: async () => 1 } as never, { refusal } as never),
    'controls.refusal',
    'txt',
    'text',
    ['result', 'mcp'],
  ],
  'failure of an audit log': [
    (onFailure) => new AuditLog({ dir: tempDir(), onFailure } as never),
    'onFailure',
    'blok',
    'block',
    ['warn'],
  ],
  'language of loop detection': [(language) => new DoomLoopDetector({ language } as never), 'language', ...LANGUAGES],
  'profile of loop detection': [
    (profile) => new DoomLoopDetector({ profile } as never),
    'profile',
    'opencoed',
    'opencode',
    ['openclaw'],
  ],
  'approval of a loop': [
    (approval) => new DoomLoopDetector().approve('x', approval as never),
    'approval',
    'onec',
    'once',
    ['always'],
  ],
  'role of an observed message': [
    (role) => new DoomLoopDetector().observe({ role, text: 'x' } as never),
    'message.role',
    'asistant',
    'assistant',
    ['user'],
  ],
  'tools of the MCP proxy': [
    (tools) => startMcpProxy({ command: 'x', tools } as never),
    'options.tools',
    'lasy',
    'lazy',
    ['all'],
  ],
  'host of the MCP proxy': [
    (host) => startMcpProxy({ command: 'x', host } as never),
    'options.host',
    'gemni',
    'gemini',
    ['codex'],
  ],
  'structured content of the MCP proxy': [
    (structuredContent) => startMcpProxy({ command: 'x', structuredContent } as never),
    'options.structuredContent',
    'kepe',
    'keep',
    ['drop'],
  ],
}

const rule = { domain: 'bash', pattern: 'x', decision: 'ask' }

test.each<[options: object, field: string, problem: string]>([
  [{ tools: [] }, 'tools', 'an object of tools by their names, received an array'],
  [{ tools: { lint: 3 } }, 'tools.lint', "'none', or an object with domain, and perhaps shape and keys, received 3"],
  [{ tools: { lint: {} } }, 'tools.lint.domain', 'one of '],
  [{ tools: { lint: {} } }, 'tools.lint.domain', ', received undefined'],
  [{ tools: { lint: { domain: 'mcp' } } }, 'tools.lint.domain', ', received "mcp"'],
  [{ tools: { lint: { domain: 'bash', shape: 'paths' } } }, 'tools.lint.shape', '\'command\', received "paths"'],
  [{ tools: { lint: { domain: 'read', shape: 3 } } }, 'tools.lint.shape', ', received 3'],
  [
    { tools: { lint: { domain: 'none', keys: [] } } },
    'tools.lint.keys',
    'nothing for a tool that touches nothing, received an array',
  ],
  [
    { tools: { lint: { domain: 'read', keys: ['a', 3] } } },
    'tools.lint.keys[1]',
    'the name of an argument, received 3',
  ],
  [{ failClosed: 'bash' }, 'failClosed', 'an array of domains, received "bash"'],
  [{ failClosed: [3] }, 'failClosed[0]', ', received 3'],
  [{ hardDeny: [{ ...rule, decision: 'ask' }] }, 'hardDeny[0].decision', '\'deny\', received "ask"'],
  [{ rules: 3 }, 'rules', 'an array of rules, received 3'],
  [{ rules: [3] }, 'rules[0]', 'an object with domain, pattern and decision, received 3'],
  [{ rules: [{ ...rule, pattern: 3 }] }, 'rules[0].pattern', 'a string, received 3'],
  [{ rules: [{ ...rule, domain: undefined }] }, 'rules[0].domain', ', received undefined'],
  [{ rules: [{ ...rule, decision: 3 }] }, 'rules[0].decision', "one of 'allow', 'ask', 'deny', received 3"],
  [{ rules: [{ ...rule, approved: 1 }] }, 'rules[0].approved', 'true or false, received 1'],
  [
    { rules: [{ ...rule, approved: true }] },
    'rules[0].approved',
    'true only where the decision is \'allow\', received "ask"',
  ],
  [{ rules: [{ ...rule, examples: 3 }] }, 'rules[0].examples', 'an object with match and noMatch, received 3'],
  [{ rules: [{ ...rule, examples: { match: 'x' } }] }, 'rules[0].examples.match', 'an array of targets, received "x"'],
  [{ rules: [{ ...rule, examples: { match: [3] } }] }, 'rules[0].examples.match[0]', 'a string, received 3'],
  [{ mcpServers: ['a', 3] }, 'mcpServers[1]', 'a string that is not empty, received 3'],
  [{ sensitiveFiles: 'x' }, 'sensitiveFiles', 'an array of strings, received "x"'],
  [{ vault: 'src' }, 'vault', 'the absolute path of a folder, received "src"'],
  [{ vault: '/' }, 'vault', 'only with allowWideVault: true, received "/"'],
  [{ vault: 3 }, 'vault', 'the absolute path of a folder, received 3'],
  [{ scratchFolders: ['tmp'] }, 'scratchFolders[0]', 'a folder that is not the root, received "tmp"'],
])('a policy with %j', async (options, field, problem) => {
  const error = await refusal(() => policy(options))
  expect(error).toMatchObject({ code: 'INVALID_CONFIG', field })
  expect(error.message).toContain(`Invalid option "${field}": expected `)
  expect(error.message).toContain(problem)
})

test('an approval that allows nothing', async () => {
  const error = await refusal(() => policy({}).approve(rule as never))
  expect(error.message).toBe('Invalid option "rule.decision": expected \'allow\', received "ask"')
})

async function refusal(make: () => unknown): Promise<SpillwayError> {
  try {
    await make()
  } catch (error) {
    return error as SpillwayError
  }
  throw new Error('it was accepted')
}

test.each(Object.entries(OPTIONS))('%s', async (_, [make, field, wrong, meant, others]) => {
  const error = await refusal(() => make(wrong))
  expect(error).toBeInstanceOf(SpillwayError)
  expect(error).toMatchObject({ field })
  expect(error.message).toMatch(`Invalid option "${field.replace(/^options\./, '')}": expected `)
  expect(error.message).toMatch(`, received "${wrong}"; did you mean '${meant}'?`)
  for (const name of [meant, ...others]) expect(error.message).toMatch(`'${name}'`)
})

test.each([
  [{ mode: { default: 'fullAccess' } }, 'mode.default', 'full_access'],
  [{ fleet: { store: 's4://bucket' } }, 'fleet.store', 's3://'],
  [{ fleet: { coordination: 'rdis://:secret@host' } }, 'fleet.coordination', 'redis://'],
  [{ truncation: { direction: 'haed' } }, 'truncation.direction', 'head'],
  [{ truncation: { strategy: 'smar' } }, 'truncation.strategy', 'smart'],
  [{ permission: { outsideEdit: 'aks' } }, 'permission.outsideEdit', 'ask'],
  [{ permission: { rules: [{ domain: 'bsh', pattern: 'x', decision: 'ask' }] } }, 'permission.rules[0].domain', 'bash'],
  [
    { permission: { rules: [{ domain: 'bash', pattern: 'x', decision: 'aks' }] } },
    'permission.rules[0].decision',
    'ask',
  ],
])('a configuration with %j', (runtime, path, meant) => {
  const { problems } = loadConfig({ inline: { agents: { runtime } } } as never)
  expect(problems).toEqual([
    expect.objectContaining({
      message: expect.stringMatching(new RegExp(`received ".*"; did you mean '${meant}'\\?`)),
    }),
  ])
  expect(problems[0]?.message).toMatch(`agents.runtime.${path}`)
  expect(problems[0]?.message).not.toMatch('secret')
})

const HOOKED = JSON.stringify({ hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'ls' } })

test.each([
  [
    ['clip', '--direction', 'haed'],
    "--direction: expected one of 'head', 'tail', 'both', received \"haed\"; did you mean 'head'?",
  ],
  [['clip', '--strategy', 'smrt'], 'received "smrt"; did you mean \'smart\'?'],
  [['clip', '--language', 'zh'], "expected one of 'en', 'zh-CN', received \"zh\"; did you mean 'zh-CN'?"],
  [['mcp', '--host', 'gemni', '--', 'x'], 'received "gemni"; did you mean \'gemini\'?'],
  [['mcp', '--tools', 'lasy', '--', 'x'], "expected one of 'all', 'lazy', received \"lasy\"; did you mean 'lazy'?"],
  [['mcp', '--structured-content', 'kep', '--', 'x'], 'received "kep"; did you mean \'keep\'?'],
  [['mcp', '--language', 'zh', '--', 'x'], "did you mean 'zh-CN'?"],
  [
    ['permit', '--mode', 'full', 'x'],
    "expected one of 'agent', 'full_access', received \"full\"; did you mean 'full_access'?",
  ],
  [['prune', '--schedule', 'cach', '-'], 'received "cach"; did you mean \'cache\'?'],
  [['prune', '--policy', 'result', '-'], 'received "result"; did you mean \'results\'?'],
  [['prune', '--profile', 'snwo', '-'], 'received "snwo"; did you mean \'snow\'?'],
  [['prune', '--language', 'zh', '-'], "did you mean 'zh-CN'?"],
  [['hook', 'codex', '--permission', 'denny'], "did you mean 'deny'?"],
  [
    ['init', 'codex', '--permission', 'denny'],
    "expected one of 'deny', 'ask', 'none', received \"denny\"; did you mean 'deny'?",
  ],
  [['init', 'claude'], "Invalid argument <agent>: expected one of 'claude-code', 'codex'"],
  [['init', 'claude'], 'received "claude"; did you mean \'claude-code\'?'],
  [['hook', 'gemni'], 'received "gemni"; did you mean \'gemini\'?'],
  [['doctor', 'curser'], 'received "curser"; did you mean \'cursor\'?'],
  [
    ['audit', 'verfy', 'x'],
    "Invalid argument <action>: expected one of 'verify', 'show', received \"verfy\"; did you mean 'verify'?",
  ],
  [['config', 'lnt', 'x'], "Invalid argument <action>: expected 'lint', received \"lnt\"; did you mean 'lint'?"],
  [
    ['completion', 'fihs'],
    "Invalid argument <shell>: expected one of 'bash', 'zsh', 'fish', received \"fihs\"; did you mean 'fish'?",
  ],
  [['clp'], 'Unknown command "clp": did you mean clip?'],
  [['clip', '--max-line', '3'], 'Unknown option --max-line: did you mean --max-lines? (spillway clip --help)'],
])('spillway %j', async (args, message) => {
  const { stderr } = await cli(args, {
    input: args[0] === 'hook' ? HOOKED : '[]',
    env: { SPILLWAY_STORAGE_DIR: tempDir() },
  })
  expect(stderr).toContain(message)
})

test.each<[what: string, make: (options: object) => unknown, given: string, meant: string]>([
  ['a policy', policy, 'vaultt', 'vault'],
  ['a policy', policy, 'headles', 'headless'],
  ['a policy', policy, 'allowwidevault', 'allowWideVault'],
  ['a policy', policy, 'rulse', 'rules'],
  ['a detector', (options) => new DoomLoopDetector(options), 'identty', 'identity'],
])('%s with a misspelt option names the one that is meant', (_, make, given, meant) => {
  expect(() => make({ [given]: 'x' })).toThrow(
    expect.objectContaining({
      message: `Unknown option "${given}": did you mean ${meant}?`,
      field: given,
      code: 'INVALID_CONFIG',
    }),
  )
})

test('an option like no other is refused with all that are allowed', () => {
  expect(() => policy({ zzzzzz: 1 })).toThrow(
    /^Unknown option "zzzzzz": expected one of vault, .*, rules, .*scratchFolders$/,
  )
})

test.each(suggestions as [string, string[], string | null][])('%j of %j', (given, names, meant) => {
  expect(nearest(given, names) ?? null).toBe(meant)
})
