// One worker of the fleet: takes a free session, and continues where the last worker stopped. All that it knows is in the bucket
// and on the server; its own folder may vanish with it.

import { PermissionGate, PermissionPolicy, runCommand, TruncationService, TruncationStorage } from 'spillway'
import { FleetApprovals, FleetSession, openCoordination, openStore } from 'spillway/remote'
import { nextMessage, RULES, TASKS, WORK_FOLDER } from './task.mjs'

const [, , name] = process.argv
/** Another worker takes a session over that long after its owner was killed. */
const LEASE_MS = 2000
/** Longest time between two looks for a free session. */
const LOOK_MS = 500

const storage = openStore()
const coordination = openCoordination()
const approvals = new FleetApprovals({ coordination })
const service = new TruncationService({ storage: [storage, new TruncationStorage()] })
const gate = new PermissionGate(new PermissionPolicy({ vault: WORK_FOLDER, rules: RULES }), {
  ask: approvals.ask,
  onEvent: ({ type, request }) => {
    if (type === 'asked') void tell(request.sessionId, 'waits', { command: request.args.command })
  },
})

/** Tells the process that started the worker, by its output, and the page, by the server. */
async function tell(sessionId, state, more = {}) {
  const status = { sessionId, worker: name, state, ...more }
  process.stdout.write(`${JSON.stringify(status)}\n`)
  await coordination.put(`status/${sessionId}`, JSON.stringify(status))
}

async function execute(sessionId, { id, function: { arguments: given } }) {
  const args = JSON.parse(given)
  const call = { tool: 'bash', args, toolCallId: id, sessionId, cwd: WORK_FOLDER, vault: WORK_FOLDER }
  const { decision, message } = await gate.request(call)
  if (decision === 'deny') return `The user denied it. ${message ?? ''}`
  await tell(sessionId, 'runs', args)
  const { output } = await runCommand(args.command, [], {
    shell: true,
    cwd: WORK_FOLDER,
    service,
    toolName: 'bash',
    sessionId,
    toolCallId: id,
  })
  return output.content
}

/** Continues a session until it is done. */
async function work(session, sessionId) {
  for (;;) {
    const messages = session.entries().map(({ message }) => message)
    const last = messages.at(-1)
    const call = last?.tool_calls?.[0]
    if (call !== undefined) {
      // Also that of a worker which was killed before it had a result.
      const content = await execute(sessionId, call)
      await session.append({ type: 'message', message: { role: 'tool', tool_call_id: call.id, content } })
    } else if (last?.role === 'assistant') return
    else await session.append({ type: 'message', message: nextMessage(sessionId, messages) })
  }
}

/** Takes a session, unless it is done or another worker has it. Returns whether it was taken. */
async function take(sessionId) {
  if ((await coordination.get(`done/${sessionId}`)) !== undefined) return false
  const session = await FleetSession.open({ coordination, sessionId, leaseMs: LEASE_MS }).catch((error) => {
    if (error.code !== 'CONFLICT') throw error
  })
  if (session === undefined) return false
  try {
    if ((await coordination.get(`done/${sessionId}`)) !== undefined) return false
    await tell(sessionId, 'took', { entries: session.entries().length })
    await work(session, sessionId)
    await coordination.put(`done/${sessionId}`, name)
    await tell(sessionId, 'done')
    return true
  } finally {
    await session.close()
  }
}

let isStopped = false
process.once('SIGTERM', () => {
  isStopped = true
})

while (!isStopped) {
  let hasWorked = false
  for (const sessionId of Object.keys(TASKS)) {
    if (!isStopped && (await take(sessionId))) hasWorked = true
  }
  if (!hasWorked) await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
}
await service.close()
await storage.close()
await coordination.close()
