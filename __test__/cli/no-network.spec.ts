/** Tests that no command reaches for a network. Each runs in a network namespace without one, whose kernel counts the attempts. */

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AuditLog } from 'spillway'
import { LOGS } from '../report/logs'
import { testIf } from '../support/only'
import { filesIn, tempDir } from '../support/temp'
import { CLI } from './support'

const UNSHARE = ['unshare', '-r', '-n']

const canUnshare =
  process.platform === 'linux' &&
  spawnSync(UNSHARE[0]!, [...UNSHARE.slice(1), 'true'], { stdio: 'ignore' }).status === 0
const isolated = testIf(canUnshare, 'needs the right to make a network namespace')

interface Isolated {
  code: number
  stdout: string
  stderr: string
  /** Packets that found no way out. */
  attempts: number
}

/** Runs a command without a network. */
function isolatedRun(command: readonly string[], input: string, env: NodeJS.ProcessEnv, cwd: string): Isolated {
  // The file is the namespace's own: it has counted nothing before.
  const script = '"$@"; echo $? >&3; cat /proc/net/snmp >&3'
  const { output } = spawnSync(UNSHARE[0]!, [...UNSHARE.slice(1), 'sh', '-c', script, 'sh', ...command], {
    input,
    cwd,
    encoding: 'utf8' as const,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'] as const,
    env: { ...process.env, NODE_OPTIONS: undefined, ...env },
  })
  const [, stdout, stderr, told] = output as [null, string, string, string]
  const [code, ...counts] = told.split('\n')
  const [names, values] = counts.filter((line) => line.startsWith('Ip:')).map((line) => line.split(' '))
  return { code: Number(code), stdout, stderr, attempts: Number(values![names!.indexOf('OutNoRoutes')]) }
}

let home: string
let env: NodeJS.ProcessEnv
let log: string
let audit: string

beforeEach(async () => {
  home = tempDir()
  env = { HOME: home, XDG_CONFIG_HOME: join(home, '.config'), SPILLWAY_STORAGE_DIR: join(home, 'store') }
  log = join(home, 'session.jsonl')
  const [, , claudeCode] = LOGS[0]!
  writeFileSync(log, claudeCode)
  const records = new AuditLog({ dir: home, sessionId: 's' })
  await records.append({ type: 'decision', tool: 'bash' })
  await records.close()
  audit = join(home, filesIn(home).find((name) => name.endsWith('.jsonl') && name !== 'session.jsonl')!)
})

const LONG = Array.from({ length: 5000 }, (_, at) => `line ${at} of https://example.com/${at}\n`).join('')
const hook = (event: object) => JSON.stringify({ session_id: 's', tool_use_id: 'c', tool_name: 'Bash', ...event })

/** Each command, after a long output was saved. */
const commands: [args: () => string[], input?: string, code?: number][] = [
  [() => ['run', '--', 'seq', '100000']],
  [() => ['clip'], LONG],
  [() => ['ls']],
  [() => ['last']],
  [() => ['show', '-1']],
  [() => ['read', '-1']],
  [() => ['tail', '-1']],
  [() => ['search', '-1', 'https://example.com/7$']],
  [() => ['open', '--with', 'cat', '-1']],
  [() => ['usage']],
  [() => ['sweep']],
  [() => ['report', '--html', join(home, 'report.html'), log]],
  [() => ['prune', log]],
  [() => ['classify', 'prompt is too long: 213462 tokens > 200000 maximum']],
  [() => ['permit', 'curl https://example.com'], '', 2],
  [() => ['audit', 'verify', audit]],
  [() => ['completion', 'bash']],
  [() => ['init', 'claude-code', '--user']],
  [() => ['doctor']],
  [
    () => ['hook', 'claude-code'],
    hook({ hook_event_name: 'PreToolUse', tool_input: { command: 'curl https://x.org' } }),
  ],
  [
    () => ['hook', 'claude-code'],
    hook({ hook_event_name: 'PostToolUse', tool_response: { stdout: LONG, stderr: '' } }),
  ],
  [() => ['rm', '-1']],
]

isolated('an attempt is counted', () => {
  const fetching = 'fetch("http://192.0.2.1").catch(() => {})'
  expect(isolatedRun([process.execPath, '-e', fetching], '', env, home).attempts).toBeGreaterThan(0)
})

isolated('no command makes one', () => {
  for (const [args, input = '', code = 0] of commands) {
    const saved = isolatedRun([process.execPath, CLI, 'clip'], LONG, env, home)
    expect(saved.code).toBe(0)
    const ran = isolatedRun([process.execPath, CLI, ...args()], input, env, home)
    expect({ args: args(), ...ran }).toMatchObject({ args: args(), code, attempts: 0 })
  }
})
