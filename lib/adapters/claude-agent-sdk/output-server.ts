/**
 * The tools that read saved outputs as a server of MCP in this process, as `createSdkMcpServer` makes one. The SDK hands it a transport and
 * carries its messages; nothing of the SDK is loaded.
 */

import { native } from '../../native/native'
import type { OutputTool } from '../../tools/output-tools'
import { asText } from '../../util/guards'
import { isRecord } from '../../validation/validate'

/** The name of the server: its tools are `mcp__spillway__read_output` and `mcp__spillway__search_output`. */
export const SERVER = 'spillway'
const PROTOCOL = '2025-06-18'
const [UNKNOWN_METHOD, UNKNOWN_TOOL] = [-32601, -32602]

/** The transport of an SDK for MCP, as far as it is used here. */
interface Transport {
  start(): Promise<void>
  send(message: object): Promise<void>
  onmessage?: (message: unknown) => void
}

/** An entry of `mcpServers`. */
export interface OutputServer {
  type: 'sdk'
  name: string
  // biome-ignore lint/suspicious/noExplicitAny: the SDK names a class here, of which it calls `connect` only
  instance: any
}

/** Makes the server. It can be connected any number of times. */
export function outputServer(tools: readonly OutputTool[]): OutputServer {
  const instance = {
    async connect(transport: Transport): Promise<void> {
      transport.onmessage = (message) => {
        const { id, method, params } = Object(message) as { id?: unknown; method?: unknown; params?: unknown }
        // Notifications have no id, and answers no method.
        if (id === undefined || typeof method !== 'string') return
        void answerTo(tools, method, params).then((answer) =>
          transport.send({ jsonrpc: '2.0', id, ...answer }).catch(() => {}),
        )
      }
      await transport.start()
    },
    async close(): Promise<void> {},
  }
  return { type: 'sdk', name: SERVER, instance }
}

async function answerTo(tools: readonly OutputTool[], method: string, params: unknown): Promise<object> {
  const given = isRecord(params) ? params : {}
  if (method === 'initialize') {
    const protocolVersion = typeof given.protocolVersion === 'string' ? given.protocolVersion : PROTOCOL
    const serverInfo = { name: SERVER, version: native.nativeVersion() }
    return { result: { protocolVersion, capabilities: { tools: {} }, serverInfo } }
  }
  if (method === 'ping') return { result: {} }
  if (method === 'tools/list') return { result: { tools: tools.map(listed) } }
  if (method !== 'tools/call') return { error: { code: UNKNOWN_METHOD, message: `${method} is not known` } }
  const tool = tools.find(({ name }) => name === given.name)
  if (tool === undefined)
    return { error: { code: UNKNOWN_TOOL, message: `no tool ${asText(given.name).slice(0, 200)}` } }
  const { success, output } = await tool.execute(given.arguments ?? {})
  return { result: { content: [{ type: 'text', text: output }], ...(!success && { isError: true }) } }
}

/** The SDK searches for tools that are not always loaded: a notice names these. */
function listed({ name, description, inputSchema }: OutputTool): object {
  const annotations = { readOnlyHint: true, openWorldHint: false }
  return { name, description, inputSchema, annotations, _meta: { 'anthropic/alwaysLoad': true } }
}
