/** A server of the SDK, over whatever transport it is given. */

import { setTimeout } from 'node:timers/promises'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'

const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}`).join('\n')
const text = (value: string) => [{ type: 'text' as const, text: value }]

export function makeServer(): McpServer {
  const server = new McpServer({ name: 'real', version: '1.0.0' })
  server.registerTool('lines', { inputSchema: { count: z.number() } }, ({ count }) => ({ content: text(lines(count)) }))

  const rows = { rows: z.array(z.object({ at: z.number() })) }
  server.registerTool('rows', { inputSchema: { count: z.number() }, outputSchema: rows }, ({ count }) => {
    const structuredContent = { rows: Array.from({ length: count }, (_, at) => ({ at })) }
    return { content: text(JSON.stringify(structuredContent)), structuredContent }
  })

  server.registerTool('steps', { inputSchema: { count: z.number() } }, async ({ count }, extra) => {
    const progressToken = extra._meta?.progressToken
    for (let progress = 1; progress <= 3 && progressToken !== undefined; progress += 1) {
      await extra.sendNotification({
        method: 'notifications/progress',
        params: { progressToken, progress, total: 3 },
      })
    }
    return { content: text(lines(count)) }
  })

  server.registerTool('forever', {}, async (extra) => {
    await new Promise((resolve) => extra.signal.addEventListener('abort', resolve))
    process.stderr.write('the call was cancelled\n')
    return { content: [] }
  })

  server.registerTool('throws', {}, () => {
    throw new Error(lines(5000))
  })

  server.registerTool('asks', {}, async () => {
    const requestedSchema = { type: 'object' as const, properties: { name: { type: 'string' as const } } }
    const { content } = await server.server.elicitInput({ message: 'Who?', requestedSchema })
    return { content: text(String(content?.name)) }
  })

  server.registerTool('closes', {}, async (extra) => {
    extra.closeSSEStream?.()
    await setTimeout(50)
    return { content: text('after the stream was closed') }
  })
  return server
}
