/**
 * Measures the package and prints a table. See README.md for how to read it.
 *
 *     node benchmark/run.mjs [--only=name,…] [--rounds=N] [--quick] [--self]
 *
 * It never fails a build: a target that is missed is a row that says so. Only a package that does not load is an error.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { chart } from './chart.mjs'
import { updateReadme } from './readme.mjs'
import { describeEnvironment, failedRow, markdown } from './report.mjs'
import { loadSubject } from './subject.mjs'
import { context } from './suites/context.mjs'
import { fold } from './suites/fold.mjs'
import { hook } from './suites/hook.mjs'
import { load } from './suites/load.mjs'
import { middleware } from './suites/middleware.mjs'
import { outdated } from './suites/outdated.mjs'
import { permission } from './suites/permission.mjs'
import { proxy } from './suites/proxy.mjs'
import { pruning } from './suites/pruning.mjs'
import { readBack } from './suites/read-back.mjs'
import { saved } from './suites/saved.mjs'
import { stall } from './suites/stall.mjs'
import { stream } from './suites/stream.mjs'
import { terminal } from './suites/terminal.mjs'
import { untouched } from './suites/untouched.mjs'

/** The tables, in the order they are printed. A table of peers is one more entry. */
const TABLES = [
  {
    title: 'Targets',
    suites: [
      load,
      hook,
      untouched,
      middleware,
      outdated,
      pruning,
      context,
      fold,
      permission,
      proxy,
      saved,
      terminal,
      stall,
      stream,
      readBack,
    ],
  },
]
const RESULTS = fileURLToPath(new URL('./results/', import.meta.url))

const { values: args } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string' },
    quick: { type: 'boolean', default: false },
    self: { type: 'boolean', default: false },
  },
})
const only = args.only?.split(',')
const rounds = args.rounds ? Math.max(1, Number.parseInt(args.rounds, 10)) : args.quick ? 3 : 9
const log = (text) => process.stderr.write(`${text}\n`)

const unknown = only?.filter((name) => !TABLES.some((table) => table.suites.some((suite) => suite.name === name)))
if (unknown?.length) log(`No suite is called ${unknown.join(' or ')}.`)

const started = Date.now()
const subject = loadPackage()
// A folder of the machine's own disk unless told otherwise: what is measured includes making files.
const folder = mkdtempSync(path.join(process.env.SPILLWAY_BENCH_DIR ?? os.tmpdir(), 'spillway-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const environment = describeEnvironment(folder, subject.version)
const tables = []
for (const { title, suites } of TABLES) {
  const table = { title, suites: [] }
  for (const suite of suites) {
    if (only && !only.includes(suite.name)) continue
    table.suites.push({ name: suite.name, title: suite.title, rows: await runSuite(suite) })
  }
  if (table.suites.length > 0) tables.push(table)
}
environment.loadAverageAfter = Number(os.loadavg()[0].toFixed(2))

const result = {
  startedAt: new Date(started).toISOString(),
  seconds: secondsSince(started),
  rounds,
  environment,
  tables,
}
print(result)
if (only || args.quick || args.self) {
  log('Not written: results are kept from whole runs only.')
} else {
  mkdirSync(RESULTS, { recursive: true })
  writeFileSync(path.join(RESULTS, 'latest.json'), toJson(result))
  writeFileSync(path.join(RESULTS, 'chart.svg'), chart(result))
  updateReadme(result)
}

function loadPackage() {
  try {
    return loadSubject({ self: args.self })
  } catch (error) {
    log(`The package does not load (is it built? \`npm run build\`): ${error.stack ?? error}`)
    process.exit(1)
  }
}

async function runSuite(suite) {
  const from = Date.now()
  try {
    return await suite.run({
      subject,
      self: args.self,
      folder,
      rounds,
      // Where a round takes milliseconds, more of them: a neighbour that is busy for a moment spoils a few, not half.
      shortRounds: args.rounds ? rounds : 3 * rounds,
      quick: args.quick,
      // How long one side's turn takes.
      tightMs: args.quick ? 4 : 8,
      fileMs: args.quick ? 15 : 40,
      log,
    })
  } catch (error) {
    log(`${suite.name}: ${error.stack ?? error}`)
    return [failedRow(suite.title, error)]
  } finally {
    log(`${suite.name}: ${secondsSince(from)} s`)
  }
}

function print({ environment: env, tables: printed, seconds }) {
  const lines = [
    `spillway ${env.spillway}, node ${env.node} (V8 ${env.v8}, libuv ${env.uv}, Node-API ${env.napi}), ` +
      `${env.cpu}, ${env.cores} cores, ${env.memoryGiB} GiB, ${env.os}, ${env.fileSystem}, ` +
      `load ${env.loadAverage} before and ${env.loadAverageAfter} after, ${rounds} rounds, ${seconds} s`,
  ]
  for (const table of printed) {
    lines.push('', `## ${table.title}`, '', markdown(table.suites.flatMap((suite) => suite.rows)))
  }
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** Five digits are more than any clock here is good for, and a list of samples belongs on one line. */
function toJson(value) {
  const rounded = (_, item) =>
    typeof item === 'number' && !Number.isInteger(item) ? Number(item.toPrecision(5)) : item
  return `${JSON.stringify(value, rounded, 2).replace(/\[[^[\]{}"]*\]/g, (list) => list.replace(/\s+/g, ' '))}\n`
}

function secondsSince(time) {
  return Math.round((Date.now() - time) / 100) / 10
}
