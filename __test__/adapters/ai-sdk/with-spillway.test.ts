import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateText, stepCountIs, streamText, tool } from 'ai'
import { createOutputTools, guardTool, runCommand, TruncationService } from 'spillway'
import { withSpillway } from 'spillway/ai-sdk'
import { z } from 'zod'
import { mocked, overflowError, resultsOf } from './mock.ts'
import { type Any, longText, smallService, tempDir } from './support.ts'

const command = z.object({ command: z.string() })
const call = (id: string, name = 'bash', input: object = { command: 'make' }) => ({ calls: [{ id, name, input }] })
const go: Any[] = [{ role: 'user', content: 'go' }]
const stopWhen = stepCountIs(10)
const bashOf = (execute: (input: { command: string }) => Promise<unknown>) => ({
  bash: tool({ description: 'runs', inputSchema: command, execute }),
})

test('the model reads a saved output to its end with the tools that it is given', async () => {
  const truncation = { maxLines: 10, storageDir: tempDir() }
  const tools = bashOf(async () => longText(300))
  let path = ''
  const scripted = mocked(call('c1'), call('c2', 'search_output', { path: 'later', pattern: 'line 150 ' }), {
    text: 'done',
  })
  const base = scripted.model as Any
  const doGenerate = base.doGenerate
  // The model copies the path from the notice, as a real one does.
  base.doGenerate = async (options: Any) => {
    path ||= /(\/\S+\.txt)/.exec(JSON.stringify(resultsOf(options.prompt)))?.[1] ?? ''
    const answer = await doGenerate(options)
    return JSON.parse(JSON.stringify(answer).replace('later', path))
  }
  const agent = withSpillway({ model: scripted.model as Any, tools, truncation, sessionId: 's' })
  const result = await generateText({ ...agent, messages: go, stopWhen })
  assert.equal(result.text, 'done')
  assert.notEqual(path, '')
  assert.match(resultsOf(scripted.prompts[2])[1].output.value, /150:line 150 of some length/)
})

test('folding, pruning and recovery in a stream', async () => {
  const text = Array.from({ length: 60 }, (_, at) => `export const value${at} = compute(${at})`).join('\n')
  const { model, prompts } = mocked(
    call('c1'),
    call('c2', 'bash', { command: 'cat' }),
    call('c3', 'bash', { command: 'ls' }),
    { streamError: overflowError() },
    { text: 'done' },
  )
  const tools = bashOf(async ({ command }) => (command === 'ls' ? 'src' : `${text}\n// ${command}`))
  const events: string[] = []
  const onEvent = ({ type }: { type: string }) => events.push(type)
  const agent = withSpillway({ model: model as Any, tools, sessionId: 's', contextWindow: 200_000, onEvent })
  assert.equal(await streamText({ ...agent, messages: go, stopWhen }).text, 'done')
  const shown = prompts.map((prompt) => resultsOf(prompt).map(({ output }: Any) => output.value))
  assert.equal(shown[2]!.filter((result: string) => /same as lines/.test(result)).length, 1)
  assert.match(shown[4]![0], /^\[.*(left out|elided)/)
  assert.equal(shown[4]![2], 'src')
  assert.ok(events.includes('recovered'), events.join())
})

test('a preview is never truncated again, in any sequence of calls', async () => {
  const { service, files } = smallService()
  const inner = async () =>
    (await runCommand(process.execPath, ['-e', 'for (let i = 0; i < 99; i++) console.log("row", i)'], { service }))
      .output.content
  const preview = await inner()
  const saved = files().length
  const guarded = guardTool(
    { name: 'bash', execute: async () => preview },
    { truncation: new TruncationService({ maxLines: 5, storageDir: tempDir() }) },
  )
  const { model, prompts } = mocked(call('c1'), { text: 'done' })
  const tools = bashOf(async () => guarded.execute(undefined))
  const agent = withSpillway({ model: model as Any, tools, truncation: { maxLines: 5, storageDir: tempDir() } })
  await generateText({ ...agent, messages: go, stopWhen })
  assert.equal(resultsOf(prompts[1])[0].output.value, preview)
  assert.equal(files().length, saved)
  const [read] = createOutputTools(service)
  const path = /(\/\S+\.txt)/.exec(preview)?.[1]
  assert.match((await read!.execute({ path })).output, /row 0\nrow 1\n/)
})

test('an outer call around an inner one changes nothing more', async () => {
  const { model, prompts } = mocked(call('c1'), { text: 'done' })
  const truncation = { maxLines: 10, storageDir: tempDir() }
  const inner = withSpillway({ model: model as Any, tools: bashOf(async () => longText(300)), truncation })
  const outer = withSpillway({ ...inner, truncation: { maxLines: 5, storageDir: tempDir() }, outputTools: false })
  await generateText({ ...(outer as Any), messages: go, stopWhen })
  const once = mocked(call('c1'), { text: 'done' })
  const alone = withSpillway({ model: once.model as Any, tools: bashOf(async () => longText(300)), truncation })
  await generateText({ ...alone, messages: go, stopWhen })
  const plain = (prompt: Any) => resultsOf(prompt)[0].output.value.replaceAll(/\/\S+\.txt/g, 'PATH')
  assert.equal(plain(prompts[1]), plain(once.prompts[1]))
})
