/** Facts about an agent that people run: where its settings are, what its hooks say and accept. Data only. */

/** How Spillway gets into an agent. */
export type Wiring =
  /** Commands that the agent runs at its events, as JSON or JSON with comments. */
  | {
      kind: 'hooks'
      /** By event: the tools it is for, or nothing for all. */
      events: Readonly<Record<string, string | undefined>>
      /** `groups`: entries have a matcher and a list of commands. `flat`: an entry is a command. */
      shape: 'groups' | 'flat'
      /** Name of the field with the command line, and of the one with the limit of time, with its value. */
      command: 'command' | 'bash'
      timeout: readonly [name: string, value: number]
      /** Fields that each entry has besides. */
      fields?: Readonly<Record<string, unknown>>
      /** Fields that the file has to have. */
      file?: Readonly<Record<string, unknown>>
      /** The command line names the event: payloads do not. */
      namesEvent?: true
      /** Path of a list of folders that the agent may read without a question. */
      folders?: readonly [string, string]
      /** Members that switch hooks off by a value, or by a list that has it. */
      off?: readonly (readonly [path: readonly string[], value: unknown])[]
      /** Files of a project that the agent reads besides those in `files`. */
      alsoRead?: readonly string[]
    }
  /** The folder of the package in a list of plugins. */
  | { kind: 'plugin'; list: string }
  /** A file of our own that the agent loads. */
  | { kind: 'file' }
  /** Servers of MCP that are configured already, with the proxy in front of each. */
  | { kind: 'servers'; keys: readonly string[] }

/** Facts about the hooks of an agent. */
export interface HookFacts {
  /** Names of the fields of its payloads and answers. */
  dialect: 'claude' | 'codex' | 'gemini' | 'qwen' | 'copilot' | 'cursor'
  /** Names of events by what they mean. */
  events: Readonly<Record<string, HookEvent>>
  /** The tool that runs commands, if a hook may run its command in another way. */
  wraps?: {
    tool: string
    /** Only with `--wrap-commands`: the agent's own rules for commands would see another line. */
    onDemand?: true
    /** Each command is a process of its own: what it changes in its shell is gone with it. */
    fresh?: true
    /** The model reads what a command prints while it runs. On a terminal it talks with the command. */
    watched?: true
  }
  /** Tools whose results a hook may replace. */
  replaces: 'all' | 'mcp' | 'none'
  /** A hook is called after a compaction: until then the results of a session are in view of the model. */
  tellsCompaction?: true
  /** A hook may ask the user. */
  asks: boolean
  /** Tools that touch nothing but the state of the agent: lists of tasks, questions, plans, output of what runs. */
  harmless?: readonly string[]
  /** Tools that the rules know by another name, and the argument with a patch that they look for elsewhere. */
  judges?: Readonly<Record<string, { tool: string; patch?: string }>>
  /** Tools whose results are never replaced: what reads a file must be able to read a saved output, too. */
  leaves?: readonly string[]
  /** UTF-8 bytes of a preview, where the limit of the agent's servers of MCP is not the one to stay below. */
  maxBytes?: number
  /** Tools of the agent that search and read a saved output. Without them the notice names commands. */
  readers?: readonly string[]
}

/** `before` and `after` a tool, `started` for a session. */
export type HookEvent = 'before' | 'after' | 'started' | 'other'

export interface Agent {
  name: string
  title: string
  /** Where the facts are from. `version`: of the program that was run; without one they are from its documentation alone. */
  source: { from: string; date: string; version?: string }
  /** Files with settings below the home folder and below a project. The first that is there counts, else the first. */
  files: { user: readonly string[]; project: readonly string[] }
  /** A variable that names the folder of the user's settings: it takes the place of the beginning of the paths. */
  variable?: readonly [name: string, beginning: string]
  wiring: Wiring
  hook?: HookFacts
  /** Said after the agent was wired. */
  advice?: string
}

/** The settings in a file of an agent. */
export type AgentSettings = Readonly<Record<string, unknown>>

/** A merge patch: `null` removes. */
export type Patch = Record<string, unknown>

/** Values that the settings are to have. */
export interface Wanted {
  /** Options for the command line of the hook or the proxy. */
  options: readonly string[]
  /** The folder of saved outputs, for an agent that has a list of folders. */
  store: string
  /** The proxy is put before servers with an address that the host may log in to, too. */
  hasUrls?: boolean
}
