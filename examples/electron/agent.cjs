// The part of the application that has the package: in Electron the main process, here and in tests any Node process. A page
// reaches it through `call` and `listen`, whose arguments and answers are plain data.

const { mkdirSync } = require('node:fs')
const { join } = require('node:path')
const {
  AuditLog,
  PermissionPolicy,
  runCommand,
  SpillwayError,
  TruncationService,
  TruncationStorage,
} = require('spillway')
const { ModeController } = require('spillway/permission')
const { createAuditSource, LiveOutputs } = require('spillway/view')
const { Conversation } = require('./conversation.cjs')
const { folderProblem } = require('./work-folder.cjs')

const SESSION = 'window'

/**
 * @param {object} options
 * @param {string} options.dataDir the application's own folder; in Electron `app.getPath('userData')`
 * @param {string} options.cwd where commands run; in it files may be read and written without asking
 * @param {(path: string) => unknown} options.openPath opens a file with the system's program for it
 */
function createAgent({ dataDir, cwd, openPath }) {
  const problem = folderProblem(cwd)
  if (problem) throw new Error(`The agent does not work in ${cwd}. ${problem}`)
  mkdirSync(dataDir, { recursive: true })
  // Never beside the code: in a packaged application that is inside an archive.
  const storageDir = join(dataDir, 'agent-output')
  const auditDir = join(dataDir, 'audit')
  const service = new TruncationService({ global: { storageDir } })
  const storage = new TruncationStorage(storageDir)
  const live = new LiveOutputs(storage)
  const audit = new AuditLog({ dir: auditDir, sessionId: SESSION })
  const logs = createAuditSource({ dir: auditDir })
  const modes = new ModeController()

  const listeners = new Set()
  const tell = (event) => {
    for (const listener of listeners) listener(event)
  }

  const conversation = new Conversation(dataDir, cwd)
  const gate = conversation.openGate(new PermissionPolicy(), {
    modes,
    onEvent() {
      conversation.save()
      tell({ type: 'questions' })
    },
  })
  const say = (message) => {
    conversation.put(message)
    tell({ type: 'message', message })
  }

  /** What ends the calls that wait or run, by their ids. */
  const stops = new Map()
  const running = new Set()
  let count = 0

  /** A call of the model's shell tool: asked about, run, shortened, recorded. */
  async function runTool({ command, id }) {
    const stop = new AbortController()
    stops.set(id, stop)
    try {
      say({ id, command, status: 'waiting' })
      const decision = await decide({ command, id, signal: stop.signal })
      if (decision.decision === 'deny') return say({ id, command, status: 'denied', text: whyDenied(decision) })
      const ended = execute({ command, id, signal: stop.signal })
      running.add(ended)
      say(await ended.finally(() => running.delete(ended)))
    } catch (error) {
      say({ id, command, status: 'failed', text: error.message })
    } finally {
      stops.delete(id)
    }
  }

  async function decide({ command, id, signal }) {
    const call = { tool: 'bash', args: { command }, toolCallId: id, sessionId: SESSION, cwd, vault: cwd, signal }
    const decision = await gate.request(call)
    await audit.append({
      type: 'permission',
      tool: 'bash',
      toolCallId: id,
      permissionDomain: 'bash',
      targets: decision.verdict.targets,
      mode: decision.mode,
      decision: decision.decision,
      approver: decision.by,
    })
    return decision
  }

  /** Runs a command, whose output can be followed meanwhile. Returns the message about how it ended. */
  async function execute({ command, id, signal }) {
    let livePath
    const result = await runCommand(command, [], {
      shell: true,
      cwd,
      service,
      toolCallId: id,
      signal,
      truncation: { terminal: true },
      onStart(running) {
        livePath = live.start(running, { command, cwd })
        say({ id, command, status: 'running', livePath })
      },
    })
    if (livePath !== undefined) await live.finish(livePath, result)
    const { exitCode, durationMs, totalBytes, totalLines, aborted, output } = result
    const { content: text, truncated, outputPath } = output
    const outcome = exitCode === 0 ? 'done' : 'failed'
    await audit.append({ type: 'outcome', tool: 'bash', toolCallId: id, outcome, bytes: totalBytes, outputPath })
    const status = aborted ? 'stopped' : outcome
    return { id, command, status, text, truncated, outputPath, exitCode, durationMs, totalBytes, totalLines }
  }

  const followed = new Set()
  const bridge = {
    state: () => ({ mode: modes.getMode(SESSION), cwd, messages: conversation.messages }),
    runTool: ({ command }) => {
      count += 1
      return runTool({ command, id: `${Date.now()}-${count}` })
    },
    stop: ({ id }) => stops.get(id)?.abort(),
    readRange: ({ path, range }) => live.readRange(path, range),
    search: ({ path, pattern, options }) => live.search(path, pattern, options),
    follow: ({ path }) => {
      if (followed.has(path)) return
      followed.add(path)
      live.follow(path, (progress) => {
        if (progress.isFinished) followed.delete(path)
        tell({ type: 'progress', path, progress })
      })
    },
    open: async ({ path }) => {
      // Whatever a page asks for, only files that this store saved are opened.
      if (!live.owns(path))
        throw new SpillwayError('STORAGE_NOT_OWNED', `${path}: is not an output of this application`)
      await openPath(path)
    },
    pending: () => gate.pending(),
    respond: ({ id, response, rule }) => gate.respond(id, response, rule),
    auditList: () => logs.list(),
    auditRead: ({ file, range }) => logs.read(file, range),
    setMode: ({ mode }) => changed(modes.setMode(SESSION, mode)),
    confirmMode: ({ confirmationId }) => changed(modes.confirm(confirmationId)),
  }

  async function changed(change) {
    await audit.append({ type: 'mode', mode: change.mode })
    tell({ type: 'mode', mode: change.mode })
    return change
  }

  // Questions of an earlier run: the calls wait for their answers again.
  for (const { status, id, command } of [...conversation.messages])
    if (status === 'waiting') void runTool({ command, id })

  return {
    /** Answers a call of the page: a value, or an error as data, because neither bridge keeps classes. */
    async call(name, args = {}) {
      try {
        if (!Object.hasOwn(bridge, name))
          throw new SpillwayError('INVALID_ARGUMENT', `${name}: is not a call of the bridge`)
        return { value: (await bridge[name](args)) ?? null }
      } catch (error) {
        return { error: { code: error.code ?? 'INTERNAL', message: error.message } }
      }
    },
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    /** Ends what runs and closes the stores. Questions wait for the next run. */
    async close() {
      for (const { id, status } of conversation.messages) if (status === 'running') stops.get(id)?.abort()
      await Promise.allSettled(running)
      await audit.close()
      await service.close()
      await storage.close()
    },
  }
}

function whyDenied({ by, message, verdict }) {
  if (by === 'reject') return message === undefined ? 'You denied it.' : `You denied it: ${message}`
  if (by === 'abort') return 'It was stopped before it ran.'
  return verdict.reasons.join('\n')
}

module.exports = { createAgent }
