import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSdkMcpServer, type Options, query, tool } from '@anthropic-ai/claude-agent-sdk'
import { PermissionPolicy } from 'spillway'
import { type ClaudeSpillwayOptions, withSpillway } from 'spillway/claude-agent-sdk'
import { programMissing } from './program.ts'
import { type Answer, environmentOf, fakeApi } from './server.ts'
import { type Any, longText, tempDir } from './support.ts'

const skip = programMissing()
const LONG = longText(300)

const resultsOf = ({ messages = [] }: Any): Any[] =>
  messages
    .flatMap(({ content }: Any) => (Array.isArray(content) ? content : []))
    .filter(({ type }: Any) => type === 'tool_result')

const textOf = ({ content }: Any): string =>
  typeof content === 'string' ? content : content.map(({ text = '' }: Any) => text).join('\n')

/** A whole run of the SDK against a server on this machine: the last request of it. */
async function run(spillway: ClaudeSpillwayOptions<Options>, turns: Answer[]) {
  const api = await fakeApi(...turns, { text: 'done' })
  try {
    const env = environmentOf(api)
    const base: Options = { cwd: tempDir(), model: 'claude-sonnet-4-5', maxTurns: 8, settingSources: [], env }
    const options = withSpillway({ ...spillway, options: { ...base, ...spillway.options } })
    for await (const _ of query({ prompt: 'go', options }));
    return api.requests.at(-1)
  } finally {
    api.close()
  }
}

const look = () => {
  const looks = tool('look', 'looks', {}, async () => ({ content: [{ type: 'text', text: LONG }] }))
  return { files: createSdkMcpServer({ name: 'files', version: '1', tools: [looks] }) }
}
const calls = (id: string, name: string, input: object) => ({ calls: [{ id, name, input }] })

/** Calls the tool that the notice of the first result names. */
const reading = (asked: Any) => {
  const [, path] = /saved to[^/]*(\/\S+\.txt)/.exec(textOf(resultsOf(asked)[0])) ?? []
  return calls('toolu_2', 'mcp__spillway__read_output', { path, from_line: 150, line_count: 2 })
}

for (const permission of [
  undefined,
  new PermissionPolicy({ rules: [{ domain: 'mcp', pattern: 'mcp:files/look', decision: 'allow' }] }),
]) {
  const title = permission === undefined ? 'without permission' : 'with a policy'
  test(`a model reads the rest of a preview, ${title}`, { skip }, async () => {
    const request = await run(
      {
        truncation: { maxLines: 20, storageDir: tempDir() },
        ...(permission !== undefined && { permission }),
        options: { mcpServers: look(), allowedTools: ['mcp__files__look'] },
      },
      [calls('toolu_1', 'mcp__files__look', {}), reading],
    )
    const [preview, page] = resultsOf(request).map(textOf)
    assert.match(preview ?? '', /read_output/)
    assert.doesNotMatch(preview ?? '', /line 150 of/)
    assert.match(page ?? '', /line 150 of some length\nline 151 of some length/)
    // The tools are in the list from the first request on: the SDK does not make a model search for them.
    const names = request.tools.map(({ name }: Any) => name)
    assert.ok(
      names.includes('mcp__spillway__read_output') && names.includes('mcp__spillway__search_output'),
      names.join(),
    )
  })
}

test('canUseTool of the options answers for the user', { skip }, async () => {
  const asked: string[] = []
  const request = await run(
    {
      permission: new PermissionPolicy(),
      options: {
        canUseTool: async (name, input) => {
          asked.push(name)
          return { behavior: 'allow', updatedInput: input }
        },
      },
    },
    [calls('toolu_1', 'Bash', { command: 'echo $((40 + 2))', description: 'x' })],
  )
  assert.deepEqual(asked, ['Bash'])
  assert.match(textOf(resultsOf(request)[0]), /^42/)
})
