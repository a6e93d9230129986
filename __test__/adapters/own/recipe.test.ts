import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turn } from './recipe-own.ts'
import { longText } from './support.ts'

test('the recipe: a loop and tools of your own', async () => {
  const long = longText(5000)
  const messages = [{ role: 'user', content: 'go' }]
  const sent: string[] = []
  const answers = [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function' as const, function: { name: 'run', arguments: '{}' } }],
    },
    { role: 'assistant', content: 'done' },
  ]
  const send = async (given: readonly object[]) => {
    sent.push(JSON.stringify(given))
    if (sent.length === 2) throw new Error('prompt is too long: 213462 tokens > 200000 maximum')
    return answers.shift()!
  }
  const answer = await turn(messages, send, [{ name: 'run', execute: async () => long }])
  assert.equal(answer, 'done')
  assert.equal(sent.length, 3)
  assert.ok((sent[2] as string).length < (sent[1] as string).length)
  const result = messages[2]?.content ?? ''
  assert.ok(result.length < long.length)
  assert.match(result, /Full output saved to/)
})

test('the recipe: every call gets an answer', async () => {
  const call = (id: string, name: string, args: string) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: args },
  })
  const messages = [{ role: 'user', content: 'go' }]
  const calls = [
    call('c1', 'quiet', '{}'),
    call('c2', 'nope', '{}'),
    call('c3', 'quiet', '{'),
    call('c4', 'rows', '{}'),
  ]
  const answers = [
    { role: 'assistant', content: null, tool_calls: calls },
    { role: 'assistant', content: 'done' },
  ]
  const tools = [
    { name: 'quiet', execute: async () => undefined },
    { name: 'rows', execute: async () => [1, 2] },
  ]
  assert.equal(await turn(messages, async () => answers.shift()!, tools), 'done')
  const [nothing, unknown, broken, rows] = messages.slice(2).map(({ content }) => content)
  assert.match(nothing as string, /nothing/)
  assert.match(unknown as string, /no tool nope/)
  assert.match(broken as string, /not JSON/)
  assert.equal(rows, '[1,2]')
})
