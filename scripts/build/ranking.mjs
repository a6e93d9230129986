#!/usr/bin/env node
// Learns the table by which `smart` ranks lines, src/truncation/smart/ranking.bin, from outputs whose important lines are marked.
//
//   node scripts/build/ranking.mjs CI_LOGS CORPUS [--projects=all|known|apart] [--folds=N] [--deals=N] [--without=FEATURE,...]
//                                                 [--misses] [--write] [--tool=PATH[,PATH]...]
//
// CI_LOGS holds NAME.log.gz and index.json ([{ name, project, chunk }]); CORPUS holds NAME.raw.zst and NAME.json with key_lines.
// Without --write it only measures. The projects are dealt to N folds (3 by default), each fold is ranked by trees that were
// learned from the others, and the figures are those of the rules of ci-logs; --deals does so for several ways of dealing.
// A third of the projects is apart: `known` leaves it out, so that ideas can be tried without looking at it, and `apart` measures
// it once with trees that were learned from the other two thirds. --without leaves features out, to see their worth; --misses
// names what is missed, and why.
// PATH is the example `previews` of the core: cargo build --release --example previews. With several, built with and without a change,
// each fold is shown by the one that keeps most of the other folds, so that no project is measured with what was chosen on it.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { add, BUDGETS, count, newFigures, report, worth } from './ranking/figures.mjs'
import { load } from './ranking/outputs.mjs'
import { FEATURES, learn, RECORD, sample, tableOf } from './ranking/trees.mjs'
import { ROOT } from './run.mjs'

const args = process.argv.slice(2)
const [ciLogs, corpus] = args.filter((arg) => !arg.startsWith('--'))
const option = (name, otherwise) =>
  args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3) ?? otherwise
const tools = option('tool', join(ROOT, 'target', 'release', 'examples', 'previews')).split(',')
const projects = option('projects', 'all')
const folds = Number(option('folds', '3'))
const deals = Number(option('deals', '1'))
const without = new Set(option('without', '').split(',').filter(Boolean).map(Number))
const misses = args.includes('--misses')
if (!ciLogs || !corpus || !['all', 'known', 'apart'].includes(projects)) {
  console.error(
    'usage: node scripts/build/ranking.mjs CI_LOGS CORPUS [--projects=all|known|apart] [--folds=N] [--deals=N] [--without=FEATURE,...] [--misses] [--write] [--tool=PATH[,PATH]...]',
  )
  process.exit(2)
}

/** Deals names to groups of the same size. The same names and salt give the same groups. */
function deal(names, groups, salt) {
  const hash = (name) => createHash('sha256').update(`${salt}/${name}`).digest('hex')
  const order = [...new Set(names)].sort((a, b) => (hash(a) < hash(b) ? -1 : 1))
  return new Map(order.map((name, at) => [name, at % groups]))
}

const into = mkdtempSync(join(tmpdir(), 'ranking-'))
process.on('exit', () => rmSync(into, { recursive: true, force: true }))
let calls = 0

/** The answers of the core's example for these outputs, one buffer after the other. */
function ask(mode, logs, tool, table) {
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

/** Counts what the previews of each tool keep of some outputs, ranked by trees that were learned from others. */
function measure(logs, others) {
  const forests = tools.map((_, at) => learn(sample(others, at), without))
  const kept = tools.map((tool, at) => {
    const table = join(into, 'table')
    writeFileSync(table, tableOf(forests[at]))
    const figures = newFigures()
    const previews = ask('preview', logs, tool, table)
    logs.forEach((log, place) => {
      count(figures, log, previews.slice(place * BUDGETS.length, (place + 1) * BUDGETS.length))
    })
    return figures
  })
  return { kept, trees: forests[0].trees }
}

/** The figures of each part by the tool that keeps most of the other parts. */
function chosenOn(parts) {
  const figures = newFigures()
  parts.forEach((part, own) => {
    const others = parts.filter((_, at) => at !== own)
    const scores = tools.map((_, at) => others.reduce((sum, kept) => sum + worth(kept[at]), 0))
    add(figures, part[scores.indexOf(Math.max(...scores))])
  })
  return figures
}

function addGains(gains, node) {
  if (node.feature === undefined) return
  gains[node.feature] += node.gain
  addGains(gains, node.below)
  addGains(gains, node.above)
}

function crossValidate(logs) {
  const figures = newFigures()
  const byTool = tools.map(newFigures)
  const gains = new Float64Array(FEATURES)
  for (let salt = 0; salt < deals; salt += 1) {
    const fold = deal(
      logs.map((log) => log.project),
      folds,
      `fold ${salt}`,
    )
    const parts = Array.from({ length: folds }, (_, own) => {
      const isIn = (log) => fold.get(log.project) === own
      const { kept, trees } = measure(
        logs.filter(isIn),
        logs.filter((log) => !isIn(log)),
      )
      for (const tree of trees) addGains(gains, tree)
      return kept
    })
    add(figures, chosenOn(parts))
    for (const kept of parts) kept.forEach((each, at) => void add(byTool[at], each))
  }
  if (tools.length > 1) tools.forEach((tool, at) => void report(tool, byTool[at], { misses: false }))
  report(`${folds} folds, dealt ${deals} times`, figures, { misses })
  const order = [...gains.keys()].sort((a, b) => gains[b] - gains[a]).slice(0, 25)
  console.log(`features by gain: ${order.map((feature) => `${feature} ${gains[feature].toFixed(0)}`).join(', ')}`)
}

const all = load(ciLogs, corpus)
const third = deal(
  all.filter((log) => !log.isCorpus).map((log) => log.project),
  3,
  'apart',
)
const isApart = (log) => third.get(log.project) === 0
const logs = projects === 'known' ? all.filter((log) => !isApart(log)) : all
logs.forEach((log, at) => {
  log.path = join(into, `${at}.txt`)
  writeFileSync(log.path, log.text)
})
const described = tools.map((tool) => ask('describe', logs, tool))
logs.forEach((log, at) => {
  log.described = described.map((each) => each[at])
  const [first] = log.described
  const records = Array.from({ length: first.length / RECORD }, (_, index) => index * RECORD)
  log.known = new Set(records.map((record) => first.readUInt32LE(record)))
})
if (args.includes('--write')) {
  const table = tableOf(learn(sample(logs, 0), without))
  writeFileSync(join(ROOT, 'src', 'truncation', 'smart', 'ranking.bin'), table)
  console.log(`${table.length} bytes`)
} else if (projects === 'apart') {
  const { kept } = measure(
    logs.filter(isApart),
    logs.filter((log) => !isApart(log)),
  )
  tools.forEach((tool, at) => void report(`projects that are apart, ${tool}`, kept[at], { misses }))
} else crossValidate(logs)
