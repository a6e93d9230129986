/**
 * The limits of hosts: how much of a tool's result a host hands to the model before it cuts the result itself.
 *
 * A host that truncates a preview loses the notice, or saves the preview and calls it the full output. So an answer has to
 * stay below the limit of the host, notice included. The figures were measured by running each host against a server that answers
 * with more and more; they are a little below the largest result that came through whole.
 */

/** Key in the `_meta` of a listed tool: the length of a result, in characters, that the host accepts. */
export const SIZE_KEY = 'anthropic/maxResultSizeChars'

/** The limits of one host. */
export interface HostProfile {
  /** The name for `--host`. */
  name: string
  /** The names by which the host calls itself in `clientInfo`; a `*` at the end stands for anything. */
  clients: readonly string[]
  /** Units of a result that reach the model whole. */
  maxBytes: number
  /** Lines of a result that reach the model whole. Default: as many as there are without a host. */
  maxLines?: number
  /** `json`: the host counts the JSON of the blocks, in which a line feed is two characters. Default: the text. */
  counts?: 'json'
  /** The longest result, in characters, that a tool can ask the host to accept: {@link SIZE_KEY} in its `_meta`. */
  maxDeclared?: number
  /** Characters of a tool's description that reach the model. */
  maxDescription?: number
  /** The version that was measured, and when. Hosts without either were not measured. */
  version?: string
  measured?: string
}

/** The limit where nothing is known of the host: it fits the hosts that were measured, but for two that keep both ends. */
const UNKNOWN: HostProfile = { name: 'other', clients: [], maxBytes: 15_000 }

export const HOSTS: readonly HostProfile[] = [
  {
    name: 'claude-code',
    clients: ['claude-code'],
    maxBytes: 40_000,
    maxDeclared: 500_000,
    maxDescription: 2000,
    version: '2.1.331',
    measured: '2026-11',
  },
  {
    name: 'opencode',
    clients: ['opencode'],
    maxBytes: 48_000,
    maxLines: 1900,
    version: '1.18.33',
    measured: '2026-11',
  },
  { name: 'qwen', clients: ['qwen-cli-mcp-client*'], maxBytes: 24_000, version: '0.24.4', measured: '2026-11' },
  {
    name: 'copilot',
    clients: ['copilot-cli', 'github-copilot-developer', 'copilot-cli*'],
    maxBytes: 18_000,
    version: '1.0.102',
    measured: '2026-11',
  },
  { name: 'gemini', clients: ['gemini-cli-mcp-client*'], maxBytes: 38_000, version: '0.61.0', measured: '2026-11' },
  {
    name: 'openclaw',
    clients: ['openclaw*'],
    maxBytes: 15_000,
    counts: 'json',
    version: '2026.9.6',
    measured: '2026-11',
  },
  {
    name: 'codex',
    clients: ['codex-mcp-client*'],
    maxBytes: 11_500,
    counts: 'json',
    version: '0.169.0',
    measured: '2026-11',
  },
  {
    name: 'cline',
    clients: ['cline*', '@cline/*'],
    maxBytes: 7600,
    counts: 'json',
    version: '3.0.65',
    measured: '2026-11',
  },
  // Nothing was cut at all; the model gets the JSON of the blocks.
  {
    name: 'continue',
    clients: ['continue-cli-client*'],
    maxBytes: 48_000,
    counts: 'json',
    version: '1.5.47',
    measured: '2026-11',
  },
  // Its client calls itself `mcp`, as every client of the Python SDK does that gives no name.
  { name: 'openhands', clients: [], maxBytes: 48_000, version: '1.16.0', measured: '2026-11' },
  UNKNOWN,
]

/** True for the profile of a host of which nothing is known. */
export function isUnknown(host: HostProfile): boolean {
  return host === UNKNOWN
}

/** Returns the profile of a host by the name for `--host`, or by the name that the host gives itself. */
export function hostOf(name: string): HostProfile | undefined {
  const wanted = name.trim().toLowerCase()
  return (
    HOSTS.find((host) => host.name === wanted) ?? HOSTS.find(({ clients }) => clients.some((one) => fits(one, wanted)))
  )
}

/** Returns the profile of what a client calls itself; that of an unknown host where there is none. */
export function hostOfClient(name: unknown): HostProfile {
  const wanted = typeof name === 'string' ? name.trim().toLowerCase() : ''
  return HOSTS.find(({ clients }) => clients.some((one) => fits(one, wanted))) ?? UNKNOWN
}

function fits(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
}

/** Given limits win; the returned warnings say where the host truncates results within them. */
export function limitsAbove(profile: HostProfile, given: { maxBytes?: number; maxLines?: number } = {}): string[] {
  const { maxBytes, maxLines } = given
  const { name, maxLines: allowedLines } = profile
  // Each listed tool declares its limit where the host reads that.
  const allowedBytes = profile.maxDeclared ?? profile.maxBytes
  if (name === 'other') return []
  const above = [
    maxBytes !== undefined && maxBytes > allowedBytes && `--max-bytes ${maxBytes}: ${name} accepts ${allowedBytes}`,
    allowedLines !== undefined &&
      maxLines !== undefined &&
      maxLines > allowedLines &&
      `--max-lines ${maxLines}: ${name} accepts ${allowedLines}`,
  ].filter((each) => each !== false)
  return above.map((each) => `${each}, and truncates what is longer itself`)
}
