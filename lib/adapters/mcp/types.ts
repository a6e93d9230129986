/** The shapes of the Model Context Protocol that matter here, structurally: no SDK is needed, and any of them fits. */

/** A block of a tool's result. Blocks of other types pass through. */
export interface McpContentBlock {
  type: string
  text?: unknown
  resource?: unknown
  [key: string]: unknown
}

/** Result of a tool. */
export interface McpToolResult {
  content?: unknown
  structuredContent?: unknown
  isError?: boolean
  _meta?: Record<string, unknown>
  [key: string]: unknown
}

/** The arguments of `callTool`. */
export interface McpCallParams {
  name: string
  arguments?: Record<string, unknown>
  [key: string]: unknown
}

/** The part of a client that is guarded: of version 1 and 2 of the TypeScript SDK, and of anything like them. */
export interface McpClientLike {
  // biome-ignore lint/suspicious/noExplicitAny: what follows the first argument differs between versions, and is passed on
  callTool(params: any, ...rest: any[]): Promise<any>
}

/** A message of JSON-RPC, as far as it was looked at. */
export interface Message {
  jsonrpc?: unknown
  id?: unknown
  method?: unknown
  params?: unknown
  result?: unknown
  error?: unknown
}

/** Key of the facts about a truncation in the `_meta` of a result. */
export const META_KEY = 'spillway/truncation'

/** Key of the facts that requests and results carry in the protocol of July 2026, and `initialize` carried before. */
export const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo'
export const CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
export const PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion'
export const SERVER_INFO = 'io.modelcontextprotocol/serverInfo'
export const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId'
