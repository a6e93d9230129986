/** The difference of two short texts, as lines. */

/** More lines than any settings have: the table of the comparison grows with the square. */
const MOST_LINES = 2000
const CONTEXT = 2

/** Returns the lines that differ, with `-` or `+` before them and the lines around them. */
export function diffOf(before = '', after = ''): string[] {
  const [old, now] = [linesOf(before), linesOf(after)]
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start++
  let end = 0
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++
  const middle = compared(old.slice(start, old.length - end), now.slice(start, now.length - end))
  const all = [
    ...old.slice(0, start).map((line) => `  ${line}`),
    ...middle,
    ...old.slice(old.length - end).map((line) => `  ${line}`),
  ]
  const isNear = (at: number) =>
    all.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some((line) => !line.startsWith('  '))
  return all.filter((_, at) => isNear(at))
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/))

/** By the longest common subsequence. */
function compared(old: readonly string[], now: readonly string[]): string[] {
  const removed = (line: string) => `- ${line}`
  const added = (line: string) => `+ ${line}`
  if (old.length > MOST_LINES || now.length > MOST_LINES) return [...old.map(removed), ...now.map(added)]
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1))
  const at = (i: number, j: number) => lengths[i]?.[j] ?? 0
  for (let i = old.length - 1; i >= 0; i--) {
    const row = lengths[i] as Uint16Array
    for (let j = now.length - 1; j >= 0; j--) {
      row[j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const lines: string[] = []
  let [i, j] = [0, 0]
  while (i < old.length || j < now.length) {
    const [one, other] = [old[i], now[j]]
    if (one !== undefined && one === other) {
      lines.push(`  ${one}`)
      i++
      j++
    } else if (one !== undefined && (other === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push(removed(one))
      i++
    } else {
      lines.push(added(other as string))
      j++
    }
  }
  return lines
}
