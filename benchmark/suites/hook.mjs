/**
 * The time that `spillway hook` adds to a call of a tool, without the start of Node, which any program in Node pays: that of the
 * processors, and what a clock on the wall says. The target is for the processors: beside other work the clock measures the queue for them.
 */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { makeRow } from '../report.mjs'

/** Rounds at least: a process is short, and the machine is shared. */
const ROUNDS = 31

const command = (lines) => ({
  hook_event_name: 'PostToolUse',
  tool_name: 'Bash',
  tool_input: { command: 'make' },
  tool_response: {
    stdout: Array.from({ length: lines }, (_, at) => `line ${at} of an output`).join('\n'),
    stderr: '',
    interrupted: false,
  },
})

const listing = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'ls -la src' } }

/** Payloads of Claude Code. */
const CALLS = [
  { work: 'before a tool', payload: listing },
  { work: 'before a tool, judged', payload: listing, options: ['--permission', 'deny'] },
  { work: 'after a tool, a short result', payload: command(10) },
  {
    work: 'after a tool, a file that was read',
    payload: {
      hook_event_name: 'PostToolUse',
      tool_name: 'Read',
      tool_input: { file_path: '/tmp/a' },
      tool_response: {},
    },
  },
  { work: 'after a tool, a result of 3,000 lines', payload: command(3000) },
  { work: 'after a compaction', payload: { hook_event_name: 'SessionStart', source: 'compact' } },
]

/** Prints seconds: by the clock, of the program, of the system for it. Node measures no child. */
const TIMED = `cat "$0" | { TIMEFORMAT='%R %U %S'; time "$@" > /dev/null; }`

export const hook = {
  name: 'hook',
  title: 'The hook of agents',

  async run({ subject, folder, rounds: asked, quick, log }) {
    if (!subject.command || process.platform === 'win32') {
      log('hook: skipped, the reference has no command, or there is no bash')
      return []
    }
    const rounds = quick ? asked : Math.max(asked, ROUNDS)
    let sessions = 0
    const file = path.join(folder, 'payload.json')
    const timed = (...args) => {
      const { stderr } = spawnSync('bash', ['-c', TIMED, file, process.execPath, ...args], { encoding: 'utf8' })
      const [wall, user, system] = stderr
        .trim()
        .split('\n')
        .at(-1)
        .split(' ')
        .map((seconds) => 1000 * Number(seconds))
      if (!Number.isFinite(wall)) throw new Error(`the shell said ${JSON.stringify(stderr)}`)
      return { wall, cpu: user + system }
    }
    const store = path.join(folder, 'hook')
    const over = ({ payload, options = [] }) => {
      // A session of its own: lines of an earlier result would be folded.
      const about = { session_id: `s${++sessions}`, tool_use_id: 't', cwd: folder }
      writeFileSync(file, JSON.stringify({ ...about, ...payload }))
      const node = timed('-e', '0')
      const ours = timed(subject.command, 'hook', 'claude-code', '--store', store, ...options)
      return { wall: ours.wall - node.wall, cpu: ours.cpu - node.cpu }
    }
    for (const call of CALLS) over(call)
    const samples = CALLS.map(() => [])
    for (let round = 0; round < rounds; round++) for (const [at, call] of CALLS.entries()) samples[at].push(over(call))
    return CALLS.flatMap(({ work }, at) => [
      makeRow({
        work: `\`spillway hook\`, over \`node -e 0\`: ${work}`,
        ours: samples[at].map(({ cpu }) => cpu),
        target: 25,
        unit: 'ms',
      }),
      makeRow({ work: `the same by the clock`, ours: samples[at].map(({ wall }) => wall) }),
    ])
  },
}
