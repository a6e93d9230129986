/** `spillway permit`: tells what the rules decide about a call, and why. */

import { PermissionPolicy, type PermissionVerdict } from 'spillway'
import { type Command, type Parsed, UsageError } from '../command'
import { choice, text } from '../parse-values'
import { configOf, openStorage, WIDE_VAULT } from '../shared-options'
import { CONFIG, STORE } from '../store-options'
import { EXIT, green, print, printable, printJson, red, yellow } from '../terminal'

const command: Command = {
  name: 'permit',
  summary: 'Tells whether a command or a tool call may run, and why.',
  usage: '[options] <command>',
  about: 'The command is not run. With --tool, the argument is a JSON object with the arguments of the tool.',
  options: {
    tool: { type: 'string', value: 'NAME', help: 'The tool. Default: bash.' },
    cwd: { type: 'string', value: 'DIR', help: 'The working directory of the command.' },
    vault: {
      type: 'string',
      value: 'DIR',
      help: 'The folder that the agent works in (vault). Default: the current one.',
    },
    ...WIDE_VAULT,
    mode: { type: 'string', value: 'MODE', help: 'agent or full_access. Default: that of the settings, else agent.' },
    headless: { type: 'boolean', help: 'Deny calls that need approval.' },
    session: { type: 'string', value: 'ID', help: 'The session, whose saved outputs may be read.' },
    ...CONFIG,
    ...STORE,
  },
  positionals: [1, 1],
  takesText: true,
  exits: [
    ['0', 'allowed'],
    ['1', 'denied'],
    ['2', 'wrong usage'],
    ['3', 'the operation failed'],
    ['4', 'a person has to be asked'],
  ],
  examples: [
    ['spillway permit "git status && rm -rf build"', 'a command'],
    ['spillway permit --config agent.jsonc "npm publish"', 'with your own rules'],
    ['spillway permit --tool read \'{"path":".env"}\'', 'another tool'],
  ],
  run,
}

export default command

const CODES = { allow: EXIT.ok, deny: EXIT.no, ask: EXIT.ask } as const
const COLORS = { allow: green, deny: red, ask: yellow } as const

async function run({ values, positionals, json }: Parsed): Promise<number> {
  const [given = ''] = positionals
  const { options } = configOf(values)
  const tool = text(values, 'tool') ?? 'bash'
  const policy = new PermissionPolicy({
    ...options.permission,
    vault: text(values, 'vault'),
    allowWideVault: values['allow-wide-vault'] === true,
    headless: values.headless === true,
    storage: openStorage(values),
  })
  const verdict = policy.explain({
    tool,
    args: text(values, 'tool') === undefined ? { command: given } : argumentsOf(given),
    cwd: text(values, 'cwd'),
    mode: choice(values, 'mode', ['agent', 'full_access']) ?? options.mode,
    sessionId: text(values, 'session'),
  })
  if (json) await printJson(verdict)
  else await print(`${linesOf(verdict).join('\n')}\n`)
  return CODES[verdict.decision]
}

function argumentsOf(given: string): unknown {
  try {
    return JSON.parse(given)
  } catch (error) {
    throw new UsageError(`the arguments of the tool are not JSON: ${(error as Error).message}`)
  }
}

function linesOf({ decision, reasons, targets, rule, shadowed, suggestedRules }: PermissionVerdict): string[] {
  const said = ({ domain, pattern, decision: which, source }: NonNullable<PermissionVerdict['rule']>) =>
    `${which} ${domain} ${printable(pattern)} (${source})`
  return [
    COLORS[decision](decision),
    ...reasons.map((reason) => `  why: ${printable(reason)}`),
    ...targets.map((target) => `  target: ${printable(target)}`),
    ...(rule === null ? [] : [`  rule: ${said(rule)}`]),
    ...shadowed.map((other) => `  not counted: ${said(other)}`),
    ...suggestedRules.map(({ domain, pattern }) => `  would settle it: allow ${domain} ${printable(pattern)}`),
  ]
}
