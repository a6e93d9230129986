import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { AIMessage, fakeModel } from 'langchain'
import { answer } from './example.ts'
import { longText } from './support.ts'

test('the example', async () => {
  writeFileSync('build.log', longText(5000))
  const model = fakeModel()
    .respondWithTools([{ id: 'c1', name: 'build_log', args: {} }])
    .respond((messages) => new AIMessage(String(messages.at(-1)?.content)))
  assert.match(await answer(model, 'go'), /Full output saved to/)
})
