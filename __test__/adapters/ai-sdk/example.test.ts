import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { mocked, resultsOf } from './mock.ts'
import { longText } from './support.ts'

const example = './example.ts'

test('the example', { skip: !existsSync(example) && 'not for the oldest version' }, async () => {
  writeFileSync('build.log', longText(5000))
  const { answer } = await import(example)
  const { model, prompts } = mocked({ calls: [{ id: 'c1', name: 'build_log', input: {} }] }, { text: 'done' })
  assert.equal(await answer(model, 'go'), 'done')
  assert.match(resultsOf(prompts[1])[0].output.value, /Full output saved to/)
})
