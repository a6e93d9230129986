import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTracingDisabled } from '@openai/agents'
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing'
import { answer } from './example.ts'
import { longText } from './support.ts'

setTracingDisabled(true)

test('the example', async () => {
  writeFileSync('build.log', longText(5000))
  const call = functionCall('build_log', {}, { callId: 'c1' })
  const model = new ScriptedModel([[call], [assistantMessage('done')]])
  assert.equal(await answer(model, 'go'), 'done')
  assert.match(JSON.stringify(model.lastCall?.request.input), /Full output saved to/)
})
