/** A server on this machine that speaks as much of the Messages API as the SDK's program needs, and answers in turn. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Any, tempDir } from './support.ts'

export type Turn = { text: string } | { calls: { id: string; name: string; input: object }[] }

/** A turn that depends on what the model was sent. */
export type Answer = Turn | ((asked: Any) => Turn)

export interface FakeApi {
  url: string
  /** The conversations that were sent, without the program's own side questions. */
  requests: Any[]
  close(): void
}

function eventsOf(turn: Turn): Any[] {
  const usage = { input_tokens: 10, output_tokens: 5 }
  const message = {
    id: 'msg',
    type: 'message',
    role: 'assistant',
    model: 'fake',
    content: [],
    stop_reason: null,
    usage,
  }
  const blocks =
    'text' in turn
      ? [{ type: 'text', text: '' }]
      : turn.calls.map(({ id, name }) => ({ type: 'tool_use', id, name, input: {} }))
  const deltas =
    'text' in turn
      ? [{ type: 'text_delta', text: turn.text }]
      : turn.calls.map(({ input }) => ({ type: 'input_json_delta', partial_json: JSON.stringify(input) }))
  return [
    { type: 'message_start', message },
    ...blocks.flatMap((content_block, index) => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_delta', index, delta: deltas[index] },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: 'text' in turn ? 'end_turn' : 'tool_use' }, usage },
    { type: 'message_stop' },
  ]
}

export async function fakeApi(...turns: Answer[]): Promise<FakeApi> {
  const requests: Any[] = []
  let at = 0
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      const asked = body === '' ? {} : JSON.parse(body)
      if (!request.url?.startsWith('/v1/messages') || request.url.includes('count_tokens')) {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ input_tokens: 10 }))
        return
      }
      const isMain = (asked.tools ?? []).length > 0
      if (isMain) requests.push(asked)
      const next: Answer = isMain ? (turns[Math.min(at++, turns.length - 1)] as Answer) : { text: 'ok' }
      const turn = typeof next === 'function' ? next(asked) : next
      const events = eventsOf(turn)
      if (asked.stream !== true) {
        response.writeHead(200, { 'content-type': 'application/json' })
        const content = 'text' in turn ? [{ type: 'text', text: turn.text }] : []
        response.end(JSON.stringify({ ...events[0].message, content, stop_reason: 'end_turn' }))
        return
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** The environment in which the SDK asks this server alone, with settings of its own. */
export const environmentOf = ({ url }: { url: string }) => ({
  ...process.env,
  ANTHROPIC_BASE_URL: url,
  ANTHROPIC_API_KEY: 'dummy',
  CLAUDE_CONFIG_DIR: tempDir(),
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
})
