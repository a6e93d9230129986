// Reads outputs whose important lines are marked: logs of failed builds, and labelled outputs.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import zlib from 'node:zlib'

export const ESCAPES = /\p{Cc}\[[0-9;?]*[ -/]*[@-~]|\p{Cc}\][^\p{Cc}]*(?:\p{Cc}\\?)|\[[0-9;]*[mK]|\r/gu
export const clean = (line) => line.replace(ESCAPES, '').trim()
const bytesOf = (text) => Buffer.byteLength(text)
/** The place where most lines of a chunk stand together, as numbers of lines. */
function placeOf(rows, want, span) {
  const wanted = new Set(want)
  let best = { seen: 0, from: -1 }
  rows.forEach((row, from) => {
    if (row !== want[0]) return
    const seen = new Set(rows.slice(from, from + span + 5).filter((each) => wanted.has(each))).size
    if (seen >= best.seen) best = { seen, from }
  })
  const near = rows.slice(best.from, best.from + span + 5)
  return near.flatMap((row, at) => (wanted.has(row) ? [best.from + at + 1] : []))
}

/** A file in Zstandard, by the command where Node.js cannot. */
const unpack = (file) =>
  zlib.zstdDecompressSync?.(readFileSync(file)) ?? execFileSync('zstd', ['-dcq', file], { maxBuffer: 2 ** 30 })

/** All outputs, with the numbers of the lines that are marked. */
export function load(ciLogs, corpus) {
  const logs = []
  for (const { name, project, chunk } of JSON.parse(readFileSync(join(ciLogs, 'index.json'), 'utf8'))) {
    const text = zlib.gunzipSync(readFileSync(join(ciLogs, `${name}.log.gz`))).toString('utf8')
    const rows = text.split('\n').map(clean)
    const there = new Set(rows)
    const marked = [
      ...new Set(
        chunk
          .split('\n')
          .map(clean)
          .filter((line) => line.length > 2),
      ),
    ]
    const want = marked.filter((line) => there.has(line))
    if (want.length === 0 || want.length < marked.length / 2) continue
    const lines = placeOf(rows, want, chunk.split('\n').length)
    logs.push({ name, project, text, want, rows, size: want.reduce((sum, line) => sum + bytesOf(line) + 1, 0), lines })
  }
  for (const file of readdirSync(corpus)
    .filter((file) => file.endsWith('.json'))
    .sort()) {
    const label = JSON.parse(readFileSync(join(corpus, file), 'utf8'))
    if (label.kind !== 'diagnose') continue
    const text = unpack(join(corpus, file.replace(/json$/, 'raw.zst'))).toString('utf8')
    const rows = text.split('\n').map(clean)
    const want = label.key_lines.map(clean)
    const lines = want.map((line) => rows.findLastIndex((row) => row.includes(line)) + 1).filter((line) => line > 0)
    logs.push({ name: label.id, project: `corpus/${label.id}`, text, want, isCorpus: true, lines })
  }
  return logs
}
