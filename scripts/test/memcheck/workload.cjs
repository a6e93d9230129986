// The workload of `npm run memcheck`: the steps of every consumer, an output that comes in pieces, a search, a history, and every
// entry of the binary with arguments that make no sense.

const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const spillway = require('../../..')
const use = require('../../../__test__/consumers/use.cjs')

const dir = mkdtempSync(join(tmpdir(), 'spillway-memcheck-'))

async function ordinary() {
  await use(spillway)
  const service = new spillway.TruncationService({ storageDirs: [dir], strategy: 'smart', redact: { known: true } })
  const text = 'error: 水 𝄞 \ud800 something\n'.repeat(3000)
  const capture = service.capture({ toolName: 'x', toolCallId: 'c' })
  for (let at = 0; at < text.length; at += 4999) capture.write(Buffer.from(text.slice(at, at + 4999)))
  capture.end()
  const { outputPath } = await capture.result
  await spillway.runCommand('seq 1 5000', [], { shell: true, service })
  const storage = new spillway.TruncationStorage(dir)
  await storage.search(outputPath, '(?i)ERROR.*水')
  await storage.readRange(outputPath, { fromByte: 7, byteCount: 1000 })
  await storage.sweep()
  const messages = Array.from({ length: 50 }, (_, at) => ({
    role: 'tool',
    tool_call_id: `c${at}`,
    name: at % 2 ? 'bash' : 'x',
    timestamp: at,
    content: JSON.stringify({ stdout: text, stderr: '', exitCode: 0 }),
  }))
  spillway.simplifyOutdatedTerminalResults(messages, { now: 1e9 })
  new spillway.HistoryPruner().prune(messages, { now: 1e9 })
  await storage.close()
  await service.close()
}

/** The binary's own functions, with whatever comes. */
async function nonsense(file, rounds) {
  const odd = [undefined, null, true, -1, Number.NaN, 2 ** 53, 1n, '', '{}', '[]', '\0', '\ud800', 'x'.repeat(1e4)]
  odd.push(
    [],
    ['x'],
    {},
    () => {},
    Symbol('x'),
    new Uint8Array(9),
    new Float64Array(3),
    new Uint16Array(3),
    Buffer.alloc(10),
  )
  let seed = 7
  const next = (most) => {
    seed = (seed * 48271) % 2147483647
    return seed % most
  }
  for (const entry of Object.values(require(file))) {
    if (typeof entry !== 'function') continue
    for (let round = 0; round < rounds; round += 1) {
      const args = Array.from({ length: next(6) }, () => odd[next(odd.length)])
      try {
        await Promise.race([Promise.resolve(entry(...args)).catch(() => {}), new Promise(setImmediate)])
      } catch {
        // Most of it is refused.
      }
    }
  }
}

ordinary()
  // Nonsense may be taken for a relative path.
  .then(() => process.chdir(dir))
  .then(() => nonsense(process.argv[2], 10))
  // A run that nonsense started may still write there, and must not keep the process from ending.
  .finally(() => rmSync(dir, { recursive: true, force: true, maxRetries: 20 }))
  .then(() => process.exit(0))
