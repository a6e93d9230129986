// The main job on a real command: a shell tool prints more than a model should read, the model gets a preview, nothing
// is lost, and an old result leaves the conversation.
//
//   npm start                     a command that every machine with Node has
//   npm start -- <command>        yours

import { spawn } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  AuditLog,
  createTruncation,
  DoomLoopDetector,
  guardTool,
  PermissionGate,
  PermissionPolicy,
  simplifyOutdatedTerminalResults,
  ToolRegistry,
  TruncationStorage,
  verifyAudit,
} from 'spillway'

const command = process.argv.slice(2).join(' ') || `"${process.execPath}" --v8-options`

/** A tool as an agent has it: runs a command and gives back everything that it printed. */
const shell = {
  name: 'bash',
  execute({ command }) {
    return new Promise((resolve, reject) => {
      const started = performance.now()
      const child = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] })
      const chunks = []
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(chunk))
      child.on('error', reject)
      child.on('close', (exitCode) => {
        const output = Buffer.concat(chunks)
        resolve({ success: exitCode === 0, output, metadata: { exitCode, ms: performance.now() - started } })
      })
    })
  },
}

const storageDir = join(tmpdir(), 'spillway-demo')
const { middleware } = createTruncation({ storageDir, availableTools: ['grep', 'read'] })
const registry = new ToolRegistry()
registry.register(shell)

const steps = []
async function timed(step, work) {
  const started = performance.now()
  const result = await work()
  steps.push({ step, ms: performance.now() - started })
  return result
}
const note = (bytes) => Object.assign(steps.at(-1), { bytes })

heading(`1  The tool runs: ${command}`)
const call = { id: 'call_1', function: { name: 'bash', arguments: JSON.stringify({ command }) } }
const [{ result: full }] = await timed('run the command', () => registry.execute([call]))
note(full.output.length)
const lines = full.output.toString('utf8').split('\n').length - 1
console.log(`exit code ${full.metadata.exitCode}, ${size(full.output.length)}, ${lines} lines`)

heading('2  What the model reads')
const bounded = await timed('shorten and save', () =>
  middleware('bash', full, { toolName: 'bash', toolCallId: call.id }),
)
const seen = typeof bounded.output === 'string' ? bounded.output : Buffer.from(bounded.output).toString('utf8')
note(Buffer.byteLength(seen))
console.log(excerpt(seen))
if (!bounded.metadata.truncated) {
  console.log('\nWithin the limits: the model reads all of it. Try `npm start -- <a command that prints more>`.')
} else {
  const path = bounded.metadata.truncationPath
  heading('3  Where the rest is')
  const saved = await stat(path)
  const same = (await readFile(path)).equals(full.output) ? 'byte for byte what was printed' : 'NOT what was printed'
  console.log(`${path}\n${size(saved.size)}, mode ${(saved.mode & 0o777).toString(8)}, ${same}`)

  heading('4  The lines just before the preview, read back')
  const text = await timed('read it back', () => new TruncationStorage(storageDir).read(path))
  note(Buffer.byteLength(text))
  const missing = bounded.metadata.truncationRemovedLines
  const from = Math.max(missing - 4, 1)
  for (const [i, line] of text
    .split('\n')
    .slice(from - 1, missing)
    .entries())
    console.log(`${from + i}  ${line.slice(0, 100)}`)
}

heading('5  An hour later, in the conversation')
const conversation = conversationOf(seen)
const before = Buffer.byteLength(JSON.stringify(conversation))
const sent = await timed('simplify outdated results', () =>
  simplifyOutdatedTerminalResults(conversation, {
    onSimplified: ({ count }) => console.log(`${count} outdated results replaced`),
  }),
)
const after = Buffer.byteLength(JSON.stringify(sent))
note(after)
const same = sent.filter((message, i) => message === conversation[i]).length
console.log(
  `${size(before)} to send before, ${size(after)} after; ${same} of ${sent.length} messages are the same objects`,
)

heading('6  What may run, who is asked, and when it is a loop')
await timed('guard a tool', guarded)
note(0)

heading('Time and bytes of each step')
for (const { step, ms, bytes } of steps) {
  console.log(`${step.padEnd(28)}${`${ms.toFixed(1)} ms`.padStart(12)}${size(bytes).padStart(14)}`)
}

/** A tool with controls around it. Nothing here runs a command: the tool only answers. */
async function guarded() {
  const policy = new PermissionPolicy({ rules: [{ domain: 'bash', pattern: 'git status', decision: 'allow' }] })
  const gate = new PermissionGate(policy, {
    onEvent: ({ type, request }) => {
      if (type !== 'asked') return
      const [rule] = request.suggestedRules
      console.log(`   asked: ${request.targets.join(', ')}; a person answers "always" (stores ${rule?.pattern})`)
      queueMicrotask(() => gate.respond(request.id, rule ? 'always' : 'once'))
    },
  })
  const audit = new AuditLog({ dir: join(storageDir, 'audit'), sessionId: `demo-${process.pid}` })
  const controls = { permission: gate, doomLoop: new DoomLoopDetector(), audit }
  const tool = guardTool({ name: 'bash', execute: () => 'done' }, controls)
  const commands = ['git status', 'git status && rm -rf /', 'npm test', ...Array(4).fill('npm test')]
  for (const [at, command] of commands.entries()) {
    const result = await tool.execute({ command }, { toolCallId: `guarded_${at}` })
    const [told] = (result.message ?? result).split('\n')
    console.log(`${command.padEnd(26)}${told.length > 90 ? `${told.slice(0, 89)}…` : told}`)
  }
  await audit.close()
  const { ok, records } = await verifyAudit(audit.path)
  console.log(`${records} records in ${audit.path}, ${ok ? 'unbroken' : 'NOT as they were written'}`)
}

/** The same command three times in the last hours, and five newer results that keep their places. */
function conversationOf(output) {
  const minute = 60_000
  const turn = (age, name, content, index) => {
    const id = `call_${index}`
    return [
      { role: 'assistant', tool_calls: [{ id, type: 'function', function: { name, arguments: '{}' } }] },
      { role: 'tool', tool_call_id: id, content, timestamp: Date.now() - age * minute },
    ]
  }
  const old = [180, 120, 60].map((age) => [age, 'bash', output])
  const recent = [9, 7, 5, 3, 1].map((age) => [age, 'read', `file content, ${age} minutes ago`])
  return [...old, ...recent].flatMap(([age, name, content], index) => turn(age, name, content, index))
}

/** As much of a text as fits a screen; the notice is at one of its ends. */
function excerpt(text) {
  const all = text.split('\n').map((line) => `│ ${line.length > 110 ? `${line.slice(0, 109)}…` : line}`)
  if (all.length <= 24) return all.join('\n')
  return [
    ...all.slice(0, 12),
    `┊ (${all.length - 20} lines that the model reads and this screen leaves out)`,
    ...all.slice(-8),
  ].join('\n')
}

function heading(text) {
  const line = `── ${text} `
  console.log(`\n${process.stdout.isTTY ? `\x1b[1m${line}\x1b[0m` : line}`)
}

function size(bytes) {
  if (bytes < 10_000) return `${bytes} B`
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}
