/** The shapes of permission. */

import type { OutputOwner } from '../storage/saved-outputs'

/** Kind of access that a rule covers. */
export type PermissionDomain = 'read' | 'edit' | 'bash' | 'web_fetch' | 'web_search' | 'mcp' | 'tool'

const DOMAINS: Readonly<Record<PermissionDomain, true>> = {
  read: true,
  edit: true,
  bash: true,
  web_fetch: true,
  web_search: true,
  mcp: true,
  tool: true,
}

/** @internal */
export const PERMISSION_DOMAINS = Object.keys(DOMAINS) as readonly PermissionDomain[]

/** Decision about a target, from the mildest to the strictest. */
export type PermissionDecision = 'allow' | 'ask' | 'deny'

/**
 * A rule. The last one that matches a target counts.
 *
 * Patterns are globs: `vault:**\/*.md`, `fs:/etc/**`, `url:https://*.example.com/**`, `mcp:server/*`, in which `*` does not match
 * `/`; in `shell:git *` and `query:*` a star matches anything. The scheme may be omitted. A pattern that begins with `regex:` is a
 * regular expression of linear time, searched for in the target; use `^` and `$` to match the whole target.
 */
export interface PermissionRule {
  domain: PermissionDomain | '*'
  /** At most 1,024 bytes. */
  pattern: string
  decision: PermissionDecision
  /** Targets that the pattern must match and must not match, checked when the rule is read. */
  examples?: { match?: readonly string[]; noMatch?: readonly string[] }
  /** True for a stored answer "always": such a rule turns questions into permissions and never overrides a deny, at any position. */
  approved?: boolean
}

/** A rule in a verdict. */
export interface AppliedRule {
  domain: PermissionDomain | '*'
  pattern: string
  decision: PermissionDecision
  /** Source of the rule: the defaults, the user, the user's answer "always", or `hardDeny`. */
  source: 'default' | 'user' | 'approval' | 'hard'
}

/** Declares the targets of a custom tool; `none` means that it has none. */
export interface PermissionTool {
  domain: Exclude<PermissionDomain, 'mcp' | 'tool'> | 'none'
  /**
   * Form of its arguments.
   * @default 'paths' for read and edit, else what the domain says
   */
  shape?: 'paths' | 'folder' | 'glob' | 'search' | 'patch' | 'command' | 'address' | 'query'
  /**
   * The names of the arguments that contain targets; others are ignored.
   * @default the usual ones, such as `path`, `file_path`, `command`, `url`, `query`
   */
  keys?: readonly string[]
}

/** Options of {@link PermissionPolicy}. */
export interface PermissionPolicyOptions {
  /** The user's rules, after the defaults; at most 10,000. */
  rules?: readonly PermissionRule[]
  /** Denies that no rule, mode or approval overrides. Some are built in: `rm -rf /`, `mkfs*`, disks. */
  hardDeny?: readonly PermissionRule[]
  /**
   * True if the default rules apply, before the user's.
   * @default true
   */
  defaults?: boolean
  /** The default rules and the pattern syntax of another system. */
  profile?: 'opencode' | 'moryflow'
  /**
   * Decision about edits outside the vault.
   * @default 'deny'
   */
  outsideEdit?: 'deny' | 'ask'
  /**
   * Folders outside the vault that may be read and edited like it; `true` stands for the folders of temporary files. Without it,
   * edits of temporary files are asked about.
   */
  scratchFolders?: true | readonly string[]
  /**
   * True if commands that only read (`ls`, `cat`, `grep`, `git status`, `find` without `-exec` …) are allowed unless a rule of the
   * user says otherwise. The files that they read are checked as usual.
   * @default false
   */
  readOnlyCommands?: boolean
  /** MCP servers whose tools are allowed; calls to other servers are asked about. */
  mcpServers?: readonly string[]
  /**
   * Custom tools by name; they take precedence over the known ones. `'none'` declares that a tool does not access anything: it is
   * allowed unless a rule for `tool:NAME` asks about it or denies it.
   */
  tools?: Readonly<Record<string, PermissionTool | 'none'>>
  /**
   * Names of files with secrets, with at most one `*` each; `!` excludes names again. Reading and editing them is asked about. They
   * replace the built-in list: `.env`, `.env.*` but not `.env.example`, keys, key stores, and files of credentials
   * (docs/permission.md).
   */
  sensitiveFiles?: readonly string[]
  /** Domains in which nothing is allowed without asking, because one of their rules could not be read; `loadConfig` returns them. */
  failClosed?: readonly PermissionDomain[]
  /**
   * True if upper and lower case of paths differ.
   * @default false on Windows and macOS, else true
   */
  caseSensitive?: boolean
  /**
   * The folder that the agent works in. Its files are read and edited without asking, so a home folder, a folder above it and the
   * root of a drive are refused unless `allowWideVault` is set.
   * @default the current directory of the process
   */
  vault?: string
  /**
   * True if the vault may be a home folder, a folder above it or the root of a drive.
   * @default false
   */
  allowWideVault?: boolean
  /**
   * True if the user cannot be asked: calls that would be asked about are denied.
   * @default false
   */
  headless?: boolean
  /** Files that this storage saved for the session of a call may be read, unless the user denies it. It needs a function `owns`. */
  storage?: OutputOwner
}

/** The mode of a session. */
export type PermissionMode = 'agent' | 'full_access'

/** @internal */
export const PERMISSION_MODES: readonly PermissionMode[] = ['agent', 'full_access']

/** A tool call. */
export interface PermissionCall {
  tool: string
  /** Arguments of the tool: an object, a JSON string, or its single argument as a string. */
  args?: unknown
  sessionId?: string | undefined
  /** @default 'agent' */
  mode?: PermissionMode
  /** Declares that this tool does not access anything: it is allowed unless a rule for `tool:NAME` asks about it or denies it. */
  touchesNothing?: boolean
  /** Base folder of relative paths. @default the vault */
  cwd?: string
  /** @default the policy's */
  vault?: string
  /** @default the policy's */
  headless?: boolean
}

/** A suggested rule that may be stored as shown. */
export interface SuggestedRule {
  domain: PermissionDomain
  pattern: string
  decision: 'allow'
}

/** Decision about a call. */
export interface PermissionVerdict {
  /** The strictest for any target; `ask` if there are none. */
  decision: PermissionDecision
  /** The domain of the target that decided, if there is one. */
  domain: PermissionDomain | null
  /** Targets of the call: `vault:/…`, `fs:/…`, `shell:…`, `url:…`, `query:…`, `mcp:server/tool`, `tool:name`. At most 256. */
  targets: string[]
  /** The rule that decided; `null` if none matched, or in full access. */
  rule: AppliedRule | null
  /** Overridden rules that match too, newest first; at most 16. */
  shadowed: AppliedRule[]
  /** The reason, in sentences for a person. */
  reasons: string[]
  /** Rules that would make this question unnecessary, the narrowest first. Empty if none would be safe. */
  suggestedRules: SuggestedRule[]
}

/** One target of {@link PermissionPolicy.explain}. */
export interface ExplainedTarget {
  domain: PermissionDomain
  target: string
  decision: PermissionDecision
  rule: AppliedRule | null
  shadowed: AppliedRule[]
  reasons: string[]
}
