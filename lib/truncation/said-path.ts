/** Where a result says that its full output was saved. */

/** Names under which tools and hosts say it. The first is ours and counts most. */
const KEYS = ['truncationPath', 'outputPath', 'fullOutputPath', 'persistedOutputPath'] as const

/** Returns the paths that an object beside a result says, the one that counts most first. Throws if a field cannot be read. */
export function saidPaths(holder: unknown): string[] {
  if (typeof holder !== 'object' || holder === null) return []
  return KEYS.map((key) => (holder as Record<string, unknown>)[key]).filter(isPath)
}

function isPath(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
