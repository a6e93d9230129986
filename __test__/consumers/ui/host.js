// A server on this machine alone with the components and a few outputs, as an application would have it.

import { execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  AuditLog,
  ContextManager,
  PermissionGate,
  PermissionPolicy,
  runCommand,
  TruncationService,
  TruncationStorage,
} from 'spillway'
import { createAuditSource, createOutputHandler, LiveOutputs } from 'spillway/view'

const FILES = {
  '/': [new URL('page/index.html', import.meta.url), 'text/html; charset=utf-8'],
  '/page.js': [new URL('page/page.js', import.meta.url), 'text/javascript'],
  '/page.css': [new URL('page/page.css', import.meta.url), 'text/css'],
  '/ui.js': [new URL(import.meta.resolve('spillway/ui')), 'text/javascript'],
}
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'"

export async function startHost() {
  const dir = mkdtempSync(join(tmpdir(), 'spillway-ui-'))
  // However the check ends.
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }))
  const storage = new TruncationStorage(dir)
  const live = new LiveOutputs(storage)
  const service = new TruncationService({ global: { storageDir: dir } })
  const vault = join(dir, 'project')
  mkdirSync(vault)
  const gate = new PermissionGate(new PermissionPolicy({ vault, outsideEdit: 'ask' }))
  const audit = join(dir, 'audit')
  const handler = createOutputHandler({ outputs: live, approvals: gate, audit: createAuditSource({ dir: audit }) })
  const server = createServer((request, response) =>
    handler(request, response, async () => {
      const [file, type] = FILES[new URL(request.url, 'http://localhost').pathname] ?? []
      if (file === undefined) return response.writeHead(204).end()
      response.writeHead(200, { 'content-type': type, 'content-security-policy': POLICY })
      response.end(await readFile(fileURLToPath(file)))
    }),
  )
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}/#${handler.token}`,
    /** Saves an output; the rest of a large one is appended to its file. */
    async save(text, more = []) {
      const path = await storage.save(text, { toolName: 'bash' })
      for (const piece of more) appendFileSync(path, piece)
      return path
    },
    /** Saves the numbers from 1, one a line. */
    async saveNumbers(count) {
      const path = await storage.save('', { toolName: 'bash' })
      const file = openSync(path, 'a')
      execFileSync('seq', ['1', `${count}`], { stdio: ['ignore', file, 'inherit'] })
      closeSync(file)
      return path
    },
    /** Milliseconds that a search takes without a page. */
    async searchTime(path, pattern) {
      const began = performance.now()
      await storage.search(path, pattern, { literal: true, ignoreCase: true, maxMatches: 200 })
      return performance.now() - began
    },
    /** Starts a command that is followed; `go` lets it read on. */
    async start(command) {
      const gate = join(vault, 'gate')
      const line = command.replace('read go', `while [ ! -e '${gate}' ]; do sleep 0.05; done`)
      const { promise, resolve } = withResolvers()
      const onStart = (running) => resolve(live.start(running, { command }))
      const ended = runCommand(line, [], { shell: true, service, onStart }).then(async ({ output }) => {
        await live.finish(await promise, output)
        return output
      })
      return { path: await promise, go: () => writeFileSync(gate, ''), ended }
    },
    /** Asks about a call, and returns the decision when there is one. */
    ask: (tool, args) => gate.request({ tool, args, toolCallId: randomUUID(), sessionId: 'ui', cwd: vault, vault }),
    /** A request with two long results, as `<spillway-context>` shows it. */
    async context() {
      const manager = new ContextManager({ contextWindow: 20_000 })
      const results = [1, 2].flatMap((id) => [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: `${id}`, type: 'function', function: { name: 'bash', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: `${id}`, content: 'word '.repeat(8000) },
      ])
      const history = [{ role: 'user', content: 'hello' }, ...results]
      const prepared = await manager.prepare(history)
      return { report: prepared.report, messages: manager.listMessages(prepared) }
    },
    /** Writes an audit log that is whole and has several pages, and one that was changed. */
    async writeLogs() {
      const targets = ['bash:npm test', `read:${'folder/'.repeat(30)}file.ts`]
      for (const sessionId of ['changed', 'whole']) {
        const log = new AuditLog({ dir: audit, sessionId })
        for (let at = 1; at <= 150; at += 1)
          await log.append({ type: 'call', tool: `tool-${at}`, targets, decision: 'allow' })
        await log.close()
        if (sessionId === 'changed')
          writeFileSync(log.path, readFileSync(log.path, 'utf8').replace('tool-7"', 'tool-8"'))
      }
    },
    /** Starts the page of `spillway view` with the outputs of this host. */
    async startDesk() {
      const main = join(dirname(createRequire(import.meta.url).resolve('spillway')), 'cli', 'main.js')
      const child = spawn(process.execPath, [main, 'view', '--print', '--store', dir, '--audit', audit])
      const [line] = await once(child.stdout, 'data')
      return { url: String(line).trim(), stop: () => child.kill() }
    },
    /** The rules of answers "always". */
    approved: () => gate.toJSON().approvals.map(({ rule }) => rule),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await service.close()
      await storage.close()
    },
  }
}

function withResolvers() {
  let resolve
  const promise = new Promise((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
