#!/usr/bin/env node
// Learns the table by which `smart` ranks lines, src/truncation/smart/ranking.bin, from outputs whose important lines are marked.
//
//   node scripts/build/ranking.mjs CI_LOGS CORPUS [--folds=N] [--write] [--without=FEATURE,...] [--tool=PATH]
//
// CI_LOGS holds NAME.log.gz and index.json ([{ name, project, chunk }]); CORPUS holds NAME.raw.zst and NAME.json with key_lines.
// Without --write it only measures: the projects are dealt to N folds (3 by default), each fold is ranked by trees that were
// learned from the others, and the figures are those of the rules of ci-logs. --without leaves features out, to see their worth.
// PATH is the example `previews` of the core: cargo build --release --example previews
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import zlib from 'node:zlib'
import { ROOT } from './run.mjs'

const BUDGETS = [
  [2000, 51_200],
  [500, 16_384],
  [100, 4096],
]
const FEATURES = 74
const RECORD = 6 + 2 * FEATURES
const TREES = 100
const DEPTH = 4
const RATE = 0.1
const LEAST_WEIGHT = 15
const SHRINK = 20
const BINS = 64
/** Share of the lines that are not marked that are learned from. */
const NEGATIVES = 0.12

const args = process.argv.slice(2)
const [ciLogs, corpus] = args.filter((arg) => !arg.startsWith('--'))
const option = (name, otherwise) =>
  args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3) ?? otherwise
const tool = option('tool', join(ROOT, 'target', 'release', 'examples', 'previews'))
const folds = Number(option('folds', '3'))
const without = new Set(option('without', '').split(',').filter(Boolean).map(Number))
if (!ciLogs || !corpus) {
  console.error(
    'usage: node scripts/build/ranking.mjs CI_LOGS CORPUS [--folds=N] [--write] [--without=FEATURE,...] [--tool=PATH]',
  )
  process.exit(2)
}

const ESCAPES = /\p{Cc}\[[0-9;?]*[ -/]*[@-~]|\p{Cc}\][^\p{Cc}]*(?:\p{Cc}\\?)|\[[0-9;]*[mK]|\r/gu
const clean = (line) => line.replace(ESCAPES, '').trim()
const bytesOf = (text) => Buffer.byteLength(text)
/** A number from 0 to 1 that depends on the name alone. */
const dealt = (name) => createHash('sha256').update(name).digest().readUInt32LE(0) / 2 ** 32

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

function load() {
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
    logs.push({ name, project, text, want, size: want.reduce((sum, line) => sum + bytesOf(line) + 1, 0), lines })
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

const into = mkdtempSync(join(tmpdir(), 'ranking-'))
process.on('exit', () => rmSync(into, { recursive: true, force: true }))
let calls = 0

/** The answers of the core's example for these outputs, one buffer after the other. */
function ask(mode, logs, table) {
  const [list, out] = [join(into, `list-${calls}`), join(into, `out-${calls}`)]
  calls += 1
  writeFileSync(list, logs.map((log) => log.path).join('\n'))
  execFileSync(tool, [mode, list, out, ...(table ? [table] : [])])
  const all = readFileSync(out)
  const answers = []
  for (let at = 0; at < all.length; ) {
    const end = at + 4 + all.readUInt32LE(at)
    answers.push(all.subarray(at + 4, end))
    at = end
  }
  return answers
}

/** The lines to learn from: features by column, labels and weights. */
function sample(logs) {
  const rows = []
  for (const log of logs) {
    const positive = new Set(log.lines)
    const count = log.described.length / RECORD
    for (let at = 0; at < count; at += 1) {
      const record = log.described.subarray(at * RECORD, (at + 1) * RECORD)
      const number = record.readUInt32LE(0)
      const is = positive.has(number)
      if (!is && ((number * 2654435761) >>> 0) / 2 ** 32 > NEGATIVES) continue
      const own = is ? Math.min(log.isCorpus ? 8 : 3, 25 / positive.size) : Math.min(1, 2500 / count) / NEGATIVES
      rows.push({ record, is, weight: own })
    }
  }
  const labels = Uint8Array.from(rows, (row) => Number(row.is))
  const weights = Float64Array.from(rows, (row) => row.weight)
  const columns = Array.from({ length: FEATURES }, (_, feature) =>
    Uint16Array.from(rows, (row) => row.record.readUInt16LE(6 + 2 * feature)),
  )
  return { labels, weights, columns, count: rows.length }
}

/** Borders between bins: a value is in the bin of how many borders it reaches. */
function bordersOf(column) {
  const sorted = column.slice().sort()
  const borders = new Set()
  for (let bin = 1; bin < BINS; bin += 1) borders.add(sorted[Math.floor((bin * sorted.length) / BINS)])
  const distinct = [...new Set(sorted)]
  const all = distinct.length <= BINS ? distinct : [...borders]
  return all.filter((border) => border > sorted[0]).sort((a, b) => a - b)
}

/** Gradient-boosted trees on log loss. The same data give the same trees. */
function learn({ labels, weights, columns, count }) {
  const borders = columns.map(bordersOf)
  const bins = columns.map((column, feature) => {
    const own = borders[feature]
    const lookup = new Uint8Array(65_536)
    for (let value = 0, bin = 0; value < 65_536; value += 1) {
      while (bin < own.length && value >= own[bin]) bin += 1
      lookup[value] = bin
    }
    return Uint8Array.from(column, (value) => lookup[value])
  })
  const usable = columns.map((_, feature) => feature).filter((f) => borders[f].length > 0 && !without.has(f))
  const [total, positive] = labels.reduce(
    ([all, yes], label, at) => [all + weights[at], yes + label * weights[at]],
    [0, 0],
  )
  const base = Math.log(positive / (total - positive))
  const scores = new Float64Array(count).fill(base)
  const trees = []
  let seed = 12345
  const random = () => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
    return seed / 2 ** 32
  }
  const [gradient, hessian] = [new Float64Array(count), new Float64Array(count)]
  for (let round = 0; round < TREES; round += 1) {
    const used = []
    for (let at = 0; at < count; at += 1) {
      const p = 1 / (1 + Math.exp(-scores[at]))
      gradient[at] = weights[at] * (labels[at] - p)
      hessian[at] = weights[at] * p * (1 - p)
      if (random() < 0.6) used.push(at)
    }
    const features = usable.filter(() => random() < 0.25)
    const tree = grow(Uint32Array.from(used), features, { bins, borders, gradient, hessian })
    trees.push(tree)
    for (let at = 0; at < count; at += 1) {
      let node = tree
      while (node.feature !== undefined) node = bins[node.feature][at] <= node.bin ? node.below : node.above
      scores[at] += node.score
    }
  }
  return { base, trees }
}

function grow(rows, features, data, depth = 0) {
  const { bins, borders, gradient, hessian } = data
  let [g, h] = [0, 0]
  for (const row of rows) {
    g += gradient[row]
    h += hessian[row]
  }
  const leaf = { score: (RATE * g) / (h + SHRINK) }
  if (depth === DEPTH || h < 2 * LEAST_WEIGHT) return leaf
  let best = { gain: 1 }
  const [sumG, sumH] = [new Float64Array(BINS + 1), new Float64Array(BINS + 1)]
  for (const feature of features) {
    sumG.fill(0)
    sumH.fill(0)
    const own = bins[feature]
    for (const row of rows) {
      sumG[own[row]] += gradient[row]
      sumH[own[row]] += hessian[row]
    }
    let [left, weight] = [0, 0]
    for (let bin = 0; bin < borders[feature].length; bin += 1) {
      left += sumG[bin]
      weight += sumH[bin]
      if (weight < LEAST_WEIGHT || h - weight < LEAST_WEIGHT) continue
      const gain = left ** 2 / (weight + SHRINK) + (g - left) ** 2 / (h - weight + SHRINK) - g ** 2 / (h + SHRINK)
      if (gain > best.gain) best = { gain, feature, bin }
    }
  }
  if (best.feature === undefined) return leaf
  const own = bins[best.feature]
  const parts = [rows.filter((row) => own[row] <= best.bin), rows.filter((row) => own[row] > best.bin)]
  const [below, above] = parts.map((part) => grow(part, features, data, depth + 1))
  return {
    feature: best.feature,
    bin: best.bin,
    threshold: borders[best.feature][best.bin],
    gain: best.gain,
    below,
    above,
  }
}

/** The table that ranking.rs reads. */
function tableOf({ base, trees }) {
  const word = (value) => [value & 255, (value >> 8) & 255]
  const bytes = word(Math.round(base * 256))
  for (const tree of trees) {
    const [nodes, leaves] = [[], []]
    const number = (node) => {
      if (node.feature === undefined) return 128 + leaves.push(Math.round(node.score * 256)) - 1
      const own = nodes.push(undefined) - 1
      nodes[own] = [node.feature, ...word(node.threshold), number(node.below), number(node.above)]
      return own
    }
    number(tree)
    bytes.push(nodes.length, ...nodes.flat(), ...leaves.flatMap(word))
  }
  return Buffer.from(bytes)
}

/** The figures of these outputs: chunks kept whole among those that fill at most half of a budget, and their first lines. */
function measure(logs, table, totals) {
  const previews = ask('preview', logs, table)
  logs.forEach((log, index) => {
    BUDGETS.forEach(([maxLines, maxBytes], at) => {
      const preview = previews[index * BUDGETS.length + at].toString('utf8')
      const total = totals[at]
      if (log.isCorpus) {
        const shown = preview.replace(ESCAPES, '')
        total.corpus += 1
        if (log.want.every((line) => shown.includes(line))) total.full += 1
        else total.missed.push(log.name)
        return
      }
      const got = new Set(preview.split('\n').map(clean))
      const kept = log.want.filter((line) => got.has(line)).length
      total.logs += 1
      total.first += Number(got.has(log.want[0]))
      total.lines += kept / log.want.length
      if (log.size <= maxBytes / 2 && log.want.length <= maxLines / 2) {
        total.fit += 1
        if (kept === log.want.length) total.fits += 1
        else total.missed.push(log.name)
      }
    })
  })
}

const logs = load()
logs.forEach((log, at) => {
  log.path = join(into, `${at}.txt`)
  writeFileSync(log.path, log.text)
})
ask('describe', logs).forEach((described, at) => {
  logs[at].described = described
})
const newTotals = () =>
  BUDGETS.map(() => ({ logs: 0, lines: 0, first: 0, fit: 0, fits: 0, corpus: 0, full: 0, missed: [] }))
const percent = (a, b) => `${((100 * a) / b).toFixed(1)} %`
function report(title, totals) {
  console.log(title)
  totals.forEach((total, at) => {
    const [maxLines, maxBytes] = BUDGETS[at]
    const { logs, lines, fit, fits, first, corpus, full } = total
    console.log(
      `  ${maxLines} lines / ${maxBytes / 1024} KB: whole ${percent(fits, fit)}, first ${percent(first, logs)}, lines ${percent(lines, logs)}, corpus ${percent(full, corpus)}`,
    )
  })
}
if (!args.includes('--write')) {
  const totals = newTotals()
  const gains = new Float64Array(FEATURES)
  for (let fold = 0; fold < folds; fold += 1) {
    const isIn = (log) => Math.floor(dealt(log.project) * folds) === fold
    const model = learn(sample(logs.filter((log) => !isIn(log))))
    const table = join(into, `table-${fold}`)
    writeFileSync(table, tableOf(model))
    measure(logs.filter(isIn), table, totals)
    const walk = (node) => {
      if (node.feature === undefined) return
      gains[node.feature] += node.gain
      walk(node.below)
      walk(node.above)
    }
    model.trees.forEach(walk)
    report(`after fold ${fold + 1} of ${folds}`, totals)
  }
  const order = [...gains.keys()].sort((a, b) => gains[b] - gains[a])
  console.log(
    `features by gain: ${order
      .slice(0, 25)
      .map((f) => `${f} ${gains[f].toFixed(0)}`)
      .join(', ')}`,
  )
  if (args.includes('--missed')) for (const total of totals) console.log(total.missed.join(' '))
} else {
  const table = tableOf(learn(sample(logs)))
  writeFileSync(join(ROOT, 'src', 'truncation', 'smart', 'ranking.bin'), table)
  console.log(`${table.length} bytes`)
}
