// What every consumer does with the package, however it was loaded: a long output is truncated, saved and read back, a history
// is pruned, tokens are counted, a rule is asked, and a mistake is an error of the one class.

const assert = require('node:assert')
const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')

const LONG = Array.from({ length: 5000 }, (_, index) => `line ${index + 1}: 水は𝄞\n`).join('')

/** Twenty calls with a result of 40,000 characters each, and a call without a result. */
function history() {
  const calls = Array.from({ length: 20 }, (_, index) => `call_${index + 1}`)
  const call = (id) => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name: 'bash', arguments: `{"command":"make ${id}"}` } }],
  })
  const result = (id) => ({ role: 'tool', tool_call_id: id, content: `${id} `.repeat(5000) })
  return [
    { role: 'user', content: 'Build it.' },
    ...calls.flatMap((id) => [call(id), result(id)]),
    call('unanswered'),
    { role: 'user', content: 'Go on.' },
  ]
}

/** What the binary answers with arrays of numbers: it must arrive in every runtime. */
function numbersArrive({ HistoryPruner, estimateTokens }) {
  const messages = history()
  const { messages: sent } = new HistoryPruner({ schedule: 'always' }).prune(messages, { now: 0 })
  const size = (some) => JSON.stringify(some).length
  assert.ok(size(sent) < size(messages) / 2, `pruned to ${size(sent)} of ${size(messages)}`)
  assert.ok(estimateTokens('some words') > 0)
}

module.exports = async function use(spillway) {
  const storageDir = mkdtempSync(join(tmpdir(), 'spillway-consumer-'))
  try {
    const service = new spillway.TruncationService({ global: { storageDir } })
    const short = await service.output('short', { toolName: 'bash' })
    assert.deepStrictEqual(short, { content: 'short', truncated: false })
    const result = await service.output(LONG, { toolName: 'test' })
    assert.strictEqual(result.truncated, true)
    assert.ok(Buffer.byteLength(result.preview) <= 51_200)
    const storage = new spillway.TruncationStorage(storageDir)
    assert.strictEqual(await storage.read(result.outputPath), LONG)
    const range = await storage.readRange(result.outputPath, { fromLine: 4711, lineCount: 1 })
    assert.strictEqual(range.text, 'line 4711: 水は𝄞\n')
    assert.ok(result.content.includes(result.outputPath))

    const policy = new spillway.PermissionPolicy()
    assert.strictEqual(
      policy.evaluate({ cwd: storageDir, tool: 'bash', args: { command: 'rm -rf /' } }).decision === 'allow',
      false,
    )
    const messages = [{ role: 'user', content: 'hello' }]
    assert.strictEqual(spillway.simplifyOutdatedTerminalResults(messages), messages)
    numbersArrive(spillway)
    assert.throws(
      () => new spillway.TruncationService({ global: { maxLine: 1 } }),
      (error) => error instanceof spillway.SpillwayError && error.code === 'INVALID_CONFIG',
    )
    await storage.close()
    await service.close()
  } finally {
    rmSync(storageDir, { recursive: true, force: true })
  }
  return Object.keys(spillway).length
}
