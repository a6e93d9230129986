/** The options of the proxy. */

import type { Readable, Writable } from 'node:stream'
import type { PermissionGateOptions, PermissionPolicy, TruncationStorage, UserTruncationConfig } from 'spillway'
import type { RemoteStorage } from 'spillway/remote'
import type { StructuredContent } from './truncate-result'

/** Settings of truncation without those of a storage. */
export type McpTruncation = Omit<
  UserTruncationConfig,
  | ('storage' | 'storageDir' | 'storageDirs' | 'durability' | 'maxStoreBytes' | 'maxStoreFiles' | 'maxFileBytes')
  | ('sweepOnSave' | 'retentionDays' | 'availableTools' | 'skipTools' | 'shouldTruncate' | 'ledger')
>

/** A server that is a program. */
export interface McpProcessOptions {
  /** The program of the server. */
  command: string
  /** @default [] */
  args?: readonly string[]
  /** The folder it runs in. Default: that of this process. */
  cwd?: string
  /** Variables on top of this process's environment; `undefined` removes one. */
  env?: Readonly<Record<string, string | undefined>>
}

/** Where a server is: either `command` or `url` says it. */
export interface McpServerOptions extends Partial<McpProcessOptions> {
  /** The address of a server that speaks Streamable HTTP. No request is sent to another host. */
  url?: string | URL
  /** Sent with each request to {@link url}, such as `Authorization`. */
  headers?: Readonly<Record<string, string>>
}

/** Options of {@link startMcpProxy}: `command`, `url` or `servers` says where the server is, or the servers are. */
export interface McpProxyOptions extends McpServerOptions {
  /**
   * Several servers for one host, by name: files and permissions know each by its name. Tools keep their names, unless several
   * servers have one of the same name: those are listed as `server_tool`. A program that crashes is started
   * again, a few times; a server that ends, or cannot be started, leaves the others.
   */
  servers?: Readonly<Record<string, McpServerOptions>>
  /**
   * The list of tools. `all`: with all definitions. `lazy`: a tool `describe_tool` with the names and a line about each, and
   * `call_tool`, which calls them; a tool that was described is in the list, too.
   * @default 'all'
   */
  tools?: 'all' | 'lazy'
  /** Where the host's messages come from. @default process.stdin */
  input?: Readable
  /** Where the host reads. @default process.stdout */
  output?: Writable
  /**
   * Name of the server: files know its tools as `mcp__name__tool`, permissions as `mcp:name/tool`. Needed with
   * {@link permission}: a server could report the name of one that is trusted.
   * @default the name that it gives itself
   */
  server?: string
  /**
   * Limits of results. Storage settings belong to {@link storage}. `maxBytes` and `maxLines` are the limits of the host by
   * default, and apply to the whole text, notice included.
   */
  truncation?: McpTruncation
  /**
   * The host whose limits hold, such as `claude-code`, `codex`, `opencode`; `other` for 15,000 bytes. Default: by the name that the host
   * gives itself.
   */
  host?: string
  /** Where whole outputs are kept. Default: a storage with default settings. */
  storage?: TruncationStorage | RemoteStorage
  /** Outputs are kept for this session, and the tools show no others. Default: none. */
  sessionId?: string | undefined
  /**
   * True if the tools `read_output` and `search_output` are listed for the host.
   * @default true
   */
  outputTools?: boolean
  /**
   * Handling of `structuredContent` when the texts are truncated. `drop`: it is removed, and what it says besides them is kept
   * with them; no schemas for it are listed. `keep`: it stays as it is, however long.
   * @default 'drop'
   */
  structuredContent?: StructuredContent
  /** Judges calls. A question is put to the user by elicitation, or denied if the host has none. */
  permission?: PermissionPolicy
  /**
   * A folder in which questions wait for an answer from another process, where the host has no elicitation: see `createSharedApprovals` of
   * `spillway/view`. Default: such calls are denied.
   */
  approvalsDir?: string
  /**
   * Answers a question where the host has no elicitation, such as `ask` of `FleetApprovals` of `spillway/remote`. With
   * {@link approvalsDir} the first answer counts. A call is denied if it throws. Default: such calls are denied.
   */
  ask?: NonNullable<PermissionGateOptions['ask']>
  /** Where an answer "always" is written, as a file of `loadConfig`. Default: it holds as long as the proxy. */
  configFile?: string
}

/** How the server ended. One over HTTP ends with code 0 when the host does. */
export interface McpServerExit {
  code: number | null
  signal: NodeJS.Signals | null
}

/** A proxy that runs. */
export interface McpProxy {
  /** The id of the server's process; `undefined` for a server over HTTP, or one that could not be started. */
  readonly pid: number | undefined
  /** Resolves when the server has ended and everything that it said has been handed over. */
  readonly ended: Promise<McpServerExit>
  /** Ends the server: asks it first, and does not wait for more than five seconds. */
  stop(signal?: NodeJS.Signals): void
}
