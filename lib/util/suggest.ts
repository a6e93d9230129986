/** Suggestions for misspelt names. */

/** Longer names are not compared: no known name is this long, and the comparison is quadratic. */
const MAX_LENGTH = 64

/**
 * Returns the name that `given` most probably means, upper and lower case taken as equal; `undefined` if none is near. A name is
 * near if a third of its letters differ at most, or if it alone begins with `given`, or `given` with it: `zh` means `zh-CN`.
 * The longest beginning in common decides between equally near names: `prun` means `prune` and not `run`.
 *
 * `nearest` in `src/util/suggest.rs` decides the same; `__test__/validation/suggestions.json` holds both to it.
 */
export function nearest(given: string, names: readonly string[]): string | undefined {
  const short = given.slice(0, MAX_LENGTH).toLowerCase()
  const all = names.map((name) => {
    const lower = name.toLowerCase()
    return [distance(short, lower), -commonLength(short, lower), name] as const
  })
  const [best] = all.sort((a, b) => a[0] - b[0] || a[1] - b[1])
  if (best === undefined) return undefined
  const letters = Math.max(letterCount(short), letterCount(best[2]))
  if (best[0] <= Math.max(1, Math.floor(letters / 3))) return best[2]
  const begun = names.filter((name) => isBeginning(short, name.toLowerCase()))
  return begun.length === 1 ? begun[0] : undefined
}

/** Counts the letters that two words have in common at their beginning. */
function commonLength(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length++
  return length
}

/** True if one begins with the other, which has two letters at least. */
function isBeginning(a: string, b: string): boolean {
  const [shorter, longer] = a.length < b.length ? [a, b] : [b, a]
  return letterCount(shorter) >= 2 && longer.startsWith(shorter)
}

function letterCount(name: string): number {
  return name.replace(/^-+/, '').length
}

/** Counts the letters that are added, removed, changed or swapped with the next one between two words. */
function distance(a: string, b: string): number {
  let [before, last]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, at) => at)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      row[j] = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (isSame ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        row[j] = Math.min(row[j]!, before[j - 2]! + 1)
    }
    ;[before, last] = [last, row]
  }
  return last[b.length]!
}
