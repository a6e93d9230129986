import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Plugin } from '@opencode-ai/plugin'
import { Spillway } from './example.ts'
import { longText } from './support.ts'

test('the example: a plugin, called as OpenCode would call it', async () => {
  const plugin: Plugin = Spillway
  const hooks = await plugin({} as never)
  const output = { title: '', output: longText(5000), metadata: {} }
  await hooks['tool.execute.after']?.({ tool: 'bash', sessionID: 's', callID: 'c', args: {} }, output)
  assert.ok(output.output.split('\n').length < 520)
})
