import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answer } from './example.ts'
import { programMissing } from './program.ts'
import { fakeApi } from './server.ts'
import { tempDir } from './support.ts'

test('the example', { skip: programMissing() }, async () => {
  const api = await fakeApi({ text: 'done' })
  try {
    const env = {
      ...process.env,
      ANTHROPIC_BASE_URL: api.url,
      ANTHROPIC_API_KEY: 'dummy',
      CLAUDE_CONFIG_DIR: tempDir(),
    }
    const options = { cwd: tempDir(), model: 'claude-sonnet-4-5', settingSources: [], env }
    assert.equal(await answer('go', options), 'done')
  } finally {
    api.close()
  }
})
