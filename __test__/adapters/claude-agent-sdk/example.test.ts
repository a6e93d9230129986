import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answer } from './example.ts'
import { programMissing } from './program.ts'
import { environmentOf, fakeApi } from './server.ts'
import { tempDir } from './support.ts'

test('the example', { skip: programMissing() }, async () => {
  const api = await fakeApi({ text: 'done' })
  try {
    const env = environmentOf(api)
    const options = { cwd: tempDir(), model: 'claude-sonnet-4-5', settingSources: [], env }
    assert.equal(await answer('go', options), 'done')
  } finally {
    api.close()
  }
})
