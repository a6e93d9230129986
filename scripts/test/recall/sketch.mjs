// A baseline of forty lines. Terms have scores, a line gains by being rare, and three lines of
// context come with each.
const TERMS = [
  [/\b(panic|fatal|traceback|segmentation fault|uncaught|unhandled)\b/i, 10],
  [/\b(errors?|exception|ERR!)\b|error\[|Error:/i, 8],
  [/\b(fail(ed|ure|ures|s)?|FAIL|assert\w*|undefined reference|not found|denied|refused|conflict)\b/i, 6],
  [/\b(cannot|could not|unable|unexpected|invalid|missing|timed? ?out|aborted|killed)\b/i, 4],
  [/\bwarn(ing)?\b/i, 1],
]
const CONTEXT = 3
const ESCAPES = /\p{Cc}\[[0-?]*[ -/]*[@-~]|\r/gu
const template = (line) =>
  line
    .replace(ESCAPES, '')
    .replace(/\S*\/\S*/g, '/')
    .replace(/\d+/g, '0')
    .slice(0, 200)

export async function preview(text, { maxLines, maxBytes }) {
  const lines = text.split('\n')
  if (lines.length <= maxLines && Buffer.byteLength(text) <= maxBytes) return text
  const counts = new Map()
  const templates = lines.map(template)
  for (const each of templates) counts.set(each, (counts.get(each) ?? 0) + 1)
  const scoreOf = (line, at) => {
    const term = TERMS.reduce((most, [words, score]) => Math.max(most, words.test(line) ? score : 0), 0)
    return term === 0 ? 0 : term + 4 / (1 + Math.log2(counts.get(templates[at])))
  }
  const scored = lines.map((line, at) => [scoreOf(line.slice(0, 1000), at), at]).filter(([score]) => score > 0)
  scored.sort(([a, i], [b, j]) => b - a || i - j)
  const kept = new Set()
  let [bytes, rows] = [0, 0]
  const add = (at) => {
    if (at < 0 || at >= lines.length || kept.has(at)) return true
    // Room for a gap before each line.
    const size = Buffer.byteLength(lines[at]) + 1 + 32
    if (bytes + size > maxBytes || rows + 2 > maxLines) return false
    bytes += kept.has(at - 1) || kept.has(at + 1) ? size - 32 : size
    rows += kept.has(at - 1) || kept.has(at + 1) ? 1 : 2
    return kept.add(at)
  }
  for (let n = 0; n < maxLines / 10; n += 1) if (!add(n) || !add(lines.length - 1 - n)) break
  for (const [, at] of scored) for (let by = 0; by <= CONTEXT; by += 1) if (add(at - by)) add(at + by)
  const order = [...kept].sort((a, b) => a - b)
  const gap = (from, to) => (to > from ? [`... ${to - from} lines left out ...`] : [])
  return order.flatMap((at, n) => [...gap((order[n - 1] ?? -1) + 1, at), lines[at]]).join('\n')
}
