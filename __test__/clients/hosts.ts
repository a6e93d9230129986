/**
 * The treatment of long results by agent programs at the versions in `docs/clients.md`. Each is a function from
 * the text that a tool gave to the text that the model reads.
 */

const lines = (text: string) => text.split('\n')
const bytes = (text: string) => Buffer.byteLength(text)

/** As many first lines as fit both limits. */
function head(text: string, maxLines: number, maxBytes: number): string {
  const kept: string[] = []
  let size = 0
  for (const line of lines(text).slice(0, maxLines)) {
    size += bytes(line) + (kept.length > 0 ? 1 : 0)
    if (size > maxBytes) break
    kept.push(line)
  }
  return kept.join('\n')
}

/** The beginning and a file above a limit. */
function persisted(text: string, isTooLong: boolean, shownBytes: number): string {
  if (!isTooLong) return text
  return `Output too large. Full output saved to: /host/file\nPreview:\n${Buffer.from(text).subarray(0, shownBytes)}`
}

/** Both ends, and a word about what is missing between them. */
function ends(text: string, first: number, last: number): string {
  if (text.length <= first + last) return text
  return `${text.slice(0, first)}\n...[truncated]...\n${text.slice(text.length - last)}`
}

export const HOSTS: Readonly<Record<string, (text: string) => string>> = {
  /** `tool_output` of the configuration: 2,000 lines and 51,200 bytes. */
  opencode: (text) => {
    if (lines(text).length <= 2000 && bytes(text) <= 51_200) return text
    return `${head(text, 2000, 51_200)}\n\n... truncated...\n\nFull output saved to: /host/file`
  },
  /** 25,000 tokens, which it counts as bytes / 2 at most: 48,325 bytes came through, 51,241 did not. */
  'claude-code': (text) => persisted(text, bytes(text) > 48_325, 2048),
  'qwen-cli-mcp-client-lines': (text) => persisted(text, bytes(text) > 24_332, 2048),
  'copilot-cli': (text) => persisted(text, bytes(text) > 18_756, 500),
  'gemini-cli-mcp-client': (text) => (text.length <= 40_000 ? text : ends(text, 8_000, 32_000)),
  'codex-mcp-client': (text) => (bytes(text) <= 12_000 ? text : ends(text, 6_000, 6_000)),
  /** It reads the result as JSON. */
  '@cline/core': (text) => ends(JSON.stringify(text), 4_000, 4_000),
  openclaw: (text) => text.slice(0, 15_000),
  openhands: (text) => ends(text, 25_000, 25_000),
  'continue-cli-client': (text) => text,
}
