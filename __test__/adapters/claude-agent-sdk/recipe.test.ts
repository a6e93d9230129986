import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { verifyAudit } from 'spillway'
import { programMissing } from './program.ts'
import { run } from './recipe-claude-agent-sdk.ts'
import { environmentOf, fakeApi } from './server.ts'
import { tempDir } from './support.ts'

test('the recipe: a run with permission and audit', { skip: programMissing() }, async () => {
  const call = { id: 'toolu_1', name: 'Bash', input: { command: 'echo hello', description: 'x' } }
  const api = await fakeApi({ calls: [call] }, { text: 'done' })
  try {
    const dir = tempDir()
    const env = environmentOf(api)
    const result = await run('go', dir, { cwd: tempDir(), model: 'claude-sonnet-4-5', settingSources: [], env })
    assert.equal(result, 'done')
    assert.match(JSON.stringify(api.requests.at(-1)?.messages), /hello/)
    const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'))
    const { ok, records } = await verifyAudit(join(dir, files[0] as string))
    assert.ok(ok && records >= 2)
  } finally {
    api.close()
  }
})
