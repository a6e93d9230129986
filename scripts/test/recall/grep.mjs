// A yardstick: what an agent would do by itself, `grep -iE 'error|fail|exception' -C3` cut to the budget.
const CONTEXT = 3

export async function preview(text, { maxLines, maxBytes }) {
  const lines = text.split('\n')
  if (lines.length <= maxLines && Buffer.byteLength(text) <= maxBytes) return text
  const kept = new Set()
  lines.forEach((line, at) => {
    if (!/error|fail|exception/i.test(line)) return
    for (let near = Math.max(0, at - CONTEXT); near <= Math.min(lines.length - 1, at + CONTEXT); near += 1)
      kept.add(near)
  })
  const shown = []
  let bytes = 0
  let last = -1
  for (const at of kept) {
    const own = last >= 0 && at > last + 1 ? ['--', lines[at]] : [lines[at]]
    bytes += own.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0)
    if (bytes > maxBytes || shown.length + own.length > maxLines) break
    shown.push(...own)
    last = at
  }
  return shown.join('\n')
}
