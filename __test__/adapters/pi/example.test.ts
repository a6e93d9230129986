import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { createFauxCore, fauxAssistantMessage, fauxToolCall } from '@earendil-works/pi-ai/providers/faux'
import { type Any, longText } from './support.ts'

const example = './example.ts'

test('the example', { skip: !existsSync(example) && 'not for the oldest version' }, async () => {
  writeFileSync('build.log', longText(5000))
  const { answer } = await import(example)
  const core = createFauxCore({})
  let seen: Any
  core.setResponses([
    fauxAssistantMessage(fauxToolCall('build_log', {}, { id: 'c1' }), { stopReason: 'toolUse' }),
    (context: Any) => {
      seen = context.messages.at(-1)
      return fauxAssistantMessage('done')
    },
  ])
  const initialState = { model: core.getModel(), systemPrompt: '' }
  assert.equal(await answer({ streamFn: core.streamSimple, initialState }, 'go'), 'done')
  assert.match(seen.content[0].text, /Full output saved to/)
})
