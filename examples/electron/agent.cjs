// The part of the application that has the package: in Electron the main process, here and in tests any Node process. A page
// reaches it through `bridge`, whose calls and answers are plain data.

const { mkdirSync, readFileSync, writeFileSync } = require('node:fs')
const { homedir } = require('node:os')
const { join, parse, resolve } = require('node:path')
const {
  AuditLog,
  PermissionGate,
  PermissionPolicy,
  runCommand,
  SpillwayError,
  TruncationService,
  TruncationStorage,
} = require('spillway')
const { ModeController } = require('spillway/permission')

const SESSION = 'window'

/**
 * @param {object} options
 * @param {string} options.dataDir the application's own folder; in Electron `app.getPath('userData')`
 * @param {string} options.cwd where commands run; in it files may be read and written without asking
 * @param {(path: string) => unknown} options.openPath opens a file with the system's program for it
 */
function createAgent({ dataDir, cwd, openPath }) {
  if (!isWorkFolder(cwd)) throw new Error(`${cwd}: the agent does not work in the home folder or the root`)
  // Never beside the code: in a packaged application that is inside an archive.
  const storageDir = join(dataDir, 'agent-output')
  const questions = join(dataDir, 'questions.json')
  mkdirSync(dataDir, { recursive: true })

  const listeners = new Set()
  const tell = (event) => {
    for (const listener of listeners) listener(event)
  }

  const service = new TruncationService({ global: { storageDir } })
  const storage = new TruncationStorage(storageDir)
  const audit = new AuditLog({ dir: join(dataDir, 'audit'), sessionId: SESSION })
  const modes = new ModeController()
  const policy = new PermissionPolicy()
  const gateOptions = {
    modes,
    onEvent(event) {
      // A question survives a restart of the application.
      writeFileSync(questions, JSON.stringify(gate))
      tell({ type: 'questions', pending: gate.pending() })
      if (event.type === 'rule_stored') tell({ type: 'rule', rule: event.rule })
    },
  }
  const gate = gateFrom(questions, policy, gateOptions)

  let count = 0
  /** A call of the model's shell tool: asked about, run, shortened. */
  async function runTool({ command }) {
    count += 1
    const toolCallId = `${Date.now()}-${count}`
    tell({ type: 'message', id: toolCallId, command, status: 'waiting' })
    const call = { tool: 'bash', args: { command }, toolCallId, sessionId: SESSION, cwd, vault: cwd }
    const decision = await gate.request(call)
    const { verdict, by } = decision
    const mode = modes.getMode(SESSION)
    const facts = { tool: 'bash', toolCallId, permissionDomain: 'bash', targets: verdict.targets, mode }
    await audit.append({ type: 'permission', ...facts, decision: decision.decision, approver: by })
    if (decision.decision === 'deny') {
      const text = decision.message ?? decision.verdict.reasons.join(' ')
      return finish({ id: toolCallId, command, status: 'denied', by: decision.by, text })
    }
    tell({ type: 'message', id: toolCallId, command, status: 'running' })
    const result = await runCommand(command, [], { shell: true, cwd, service, toolCallId })
    const { content, truncated, outputPath } = result.output
    const outcome = result.exitCode === 0 ? 'done' : 'failed'
    await audit.append({ type: 'outcome', tool: 'bash', toolCallId, outcome, bytes: result.totalBytes, outputPath })
    return finish({
      id: toolCallId,
      command,
      status: outcome,
      by: decision.by,
      text: content,
      truncated,
      outputPath,
      totalLines: result.totalLines,
      totalBytes: result.totalBytes,
    })
  }

  function finish(message) {
    tell({ type: 'message', ...message })
    return message
  }

  const owned = (path) => {
    // Whatever a page asks for, only files that this store saved are opened.
    if (!storage.owns(path))
      throw new SpillwayError('STORAGE_NOT_OWNED', `${path}: is not an output of this application`)
    return path
  }

  const bridge = {
    state: () => ({ mode: modes.getMode(SESSION), pending: gate.pending(), storageDir }),
    runTool,
    openOutput: async ({ path }) => {
      await openPath(owned(path))
    },
    readOutput: ({ path, fromLine, lineCount }) => storage.readRange(path, { fromLine, lineCount }),
    searchOutput: ({ path, pattern, literal, ignoreCase, after }) =>
      storage.search(path, pattern, { literal, ignoreCase, maxMatches: 50, ...(after && { after }) }),
    respond: ({ id, response }) => gate.respond(id, response),
    setMode: ({ mode }) => changed(modes.setMode(SESSION, mode)),
    confirmMode: ({ confirmationId }) => changed(modes.confirm(confirmationId)),
  }

  async function changed(change) {
    await audit.append({ type: 'mode', mode: change.mode })
    tell({ type: 'mode', mode: change.mode })
    return change
  }

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
    async close() {
      await audit.close()
      await service.close()
      await storage.close()
    },
  }
}

/** Whether a folder is one to work in: what it holds may be read and written without asking. */
function isWorkFolder(folder) {
  const path = resolve(folder)
  return path !== parse(path).root && path !== homedir()
}

/** The gate with the questions that an earlier run left, if there are any. */
function gateFrom(file, policy, options) {
  try {
    return PermissionGate.fromJSON(JSON.parse(readFileSync(file, 'utf8')), policy, options)
  } catch {
    return new PermissionGate(policy, options)
  }
}

module.exports = { createAgent, isWorkFolder }
