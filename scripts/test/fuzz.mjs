// `npm run fuzz`: builds the fuzz targets, lets each look for inputs that break its promise, keeps what it learnt in
// fuzz/corpus and the figures in fuzz/results/latest.json.
//
//     npm run fuzz                                  # ten minutes a target
//     npm run fuzz -- --seconds 60 --target search  # one of them, for a minute
//     node scripts/test/fuzz.mjs --quick                 # five seconds a target, keeping nothing; part of .ci/run

import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, release, type } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { main, ROOT, step, yieldProcessor } from '../build/run.mjs'

const FUZZ = join(ROOT, 'fuzz')
/** Folder of what full runs build and find. */
const BUILT = join(ROOT, 'target', 'fuzz')
const CRASHES = join(FUZZ, 'crashes')
const RESULTS = join(FUZZ, 'results', 'latest.json')

/** The bars of a run. A quick one is too short for the number of inputs. */
const BARS = { crashes: 0, slowestMs: 100, peakRssMiB: 512, executions: 1_000_000 }

/**
 * A case of `search` may be a line of over a MiB, and Unicode word boundaries are searched at about 10 MiB/s. A preview by
 * `smart`, which `diff`, `json` and `csv` show other texts with, asks 300 trees about each line that it remembers: with every
 * comparison traced, as here, that takes several times as long. The promise of `smart` also asks what a terminal showed after each
 * letter of a line. A case of `permission` is judged under several policies: what takes 100 ms here takes 4 ms in a build without
 * traces.
 */
const SLOWEST_MS = { permission: 200, search: 1000, smart: 2000, diff: 2000, json: 2000, csv: 2000 }

/**
 * Inputs of a full run of targets whose checks take milliseconds an input: all rules of permission and redaction, and the trees of
 * `smart`.
 */
const EXECUTIONS = { permission: 100_000, redact: 100_000, smart: 100_000, diff: 100_000, json: 100_000, csv: 100_000 }

/**
 * Kibibytes of stack for targets whose inputs a model writes and a parser with a stack reads. A thread has 128 under musl; the
 * fuzzer and its checks take the rest.
 */
const STACK_KIB = { permission: 256, redact: 256 }

/**
 * Inputs of the corpus that a quick run of a target takes, every n-th, where the checks of all would take most of a minute.
 * For the others it takes all.
 */
const QUICK_INPUTS = { smart: 150, diff: 150, json: 150, csv: 150 }

/** Longer inputs find nothing more: what is long in a case is written as a short run. */
const MAX_INPUT_LENGTH = 2048
const QUICK_SECONDS = 5

const TARGETS = readdirSync(join(FUZZ, 'targets')).map((file) => file.replace(/\.rs$/, ''))

const { values: asked } = parseArgs({
  options: {
    seconds: { type: 'string' },
    target: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
})
const seconds = Number(asked.seconds ?? (asked.quick ? QUICK_SECONDS : 600))
const targets = asked.target === undefined ? TARGETS : TARGETS.filter((name) => name === asked.target)
/** Targets in TypeScript: specs that run for a given time. They are specs of `npm test` as well, so a quick run leaves them out. */
const SPECS = { mcp: '__test__/mcp/fuzz' }

/** Their limits: of the thread's stack in KiB, of the part of it that JavaScript takes, and of the heap in MiB. */
const SPEC_LIMITS = ['ulimit -s 1024; exec "$0" "$@"', process.execPath, '--stack-size=800', '--max-old-space-size=256']
const specs = Object.keys(SPECS).filter((name) => (asked.target === undefined ? !asked.quick : name === asked.target))

/**
 * Where the targets' programs are. A quick run is built beside the Rust tests, with their profile: it shares what others wrote with
 * them, which is most of what has to be compiled.
 */
const PROGRAMS = asked.quick ? join(ROOT, 'target', 'debug') : join(BUILT, 'release')

/** Starts a target's program; answers its exit code and what it printed. */
async function run(target, args, env = {}) {
  const program = join(PROGRAMS, target)
  const limit = STACK_KIB[target]
  const limited = ['-c', `ulimit -s ${limit}; exec "$0" "$@"`, program, ...args]
  const [command, given] = limit === undefined ? [program, args] : ['sh', limited]
  const child = spawn(command, given, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  yieldProcessor(child.pid)
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('latin1').on('data', (text) => {
      printed += text
    })
  }
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve))
  return { code, printed }
}

const last = (text, pattern) => Number([...text.matchAll(pattern)].at(-1)?.[1] ?? 0)

/** Milliseconds that an input takes when nothing else is measured: the least of a few runs, each in a fresh process. */
async function timeOf(target, input) {
  const times = []
  for (let round = 0; round < 3; round += 1) {
    const { printed } = await run(target, [input])
    times.push(last(printed, /^slowest: (\d+) us/gm) / 1000)
  }
  return Math.min(...times)
}

/** Lets one target run; answers its figures. */
async function fuzz(target) {
  const kept = join(FUZZ, 'corpus', target)
  const found = join(BUILT, 'corpus', target)
  const temporary = join(BUILT, 'tmp', target)
  const slowest = join(temporary, 'slowest')
  rmSync(temporary, { recursive: true, force: true })
  for (const dir of [CRASHES, kept, found, temporary]) mkdirSync(dir, { recursive: true })
  const dictionary = join(FUZZ, 'dictionaries', `${target}.dict`)
  // The finds of earlier runs are not in every clone: a quick run starts from the corpus.
  const corpora = asked.quick ? [temporary, ...seeds(target, kept)] : [found, kept]
  const began = Date.now()
  const { code, printed } = await run(
    target,
    [
      `-max_total_time=${seconds}`,
      `-max_len=${MAX_INPUT_LENGTH}`,
      `-rss_limit_mb=${BARS.peakRssMiB}`,
      '-timeout=10',
      '-print_final_stats=1',
      '-entropic_scale_per_exec_time=1',
      ...(asked.quick ? ['-seed=1'] : []),
      ...(existsSync(dictionary) ? [`-dict=${dictionary}`] : []),
      `-artifact_prefix=${join(CRASHES, target)}-`,
      ...corpora,
    ],
    { TMPDIR: temporary, SPILLWAY_FUZZ_SLOWEST: slowest, RUST_BACKTRACE: '1' },
  )
  const took = (Date.now() - began) / 1000
  writeFileSync(join(BUILT, `${target}.log`), printed, 'latin1')
  const crash = printed.match(/Test unit written to (.*)/)?.[1]
  if (code !== 0) explain(target, printed, crash)
  const figures = {
    seconds: Math.round(took),
    executions: last(printed, /^stat::number_of_executed_units: (\d+)/gm),
    edges: last(printed, /\bcov: (\d+)/g),
    features: last(printed, /\bft: (\d+)/g),
    slowestMs: existsSync(slowest) ? await timeOf(target, slowest) : 1,
    peakRssMiB: last(printed, /^stat::peak_rss_mb:\s+(\d+)/gm),
    crashes: code === 0 ? 0 : 1,
  }
  const slowestAllowed = SLOWEST_MS[target] ?? BARS.slowestMs
  if (figures.slowestMs > slowestAllowed) renameSync(slowest, join(CRASHES, `${target}-slow`))
  rmSync(temporary, { recursive: true, force: true })
  return { ...figures, missed: missed(figures, slowestAllowed, EXECUTIONS[target] ?? BARS.executions) }
}

/** Arguments with the inputs that a quick run starts from: the corpus, or a list of some of it in a file. */
function seeds(target, kept) {
  const most = QUICK_INPUTS[target]
  if (most === undefined) return [kept]
  const all = readdirSync(kept).sort()
  const every = Math.ceil(all.length / most)
  const some = all.filter((_, at) => at % every === 0).map((name) => join(kept, name))
  const list = join(BUILT, `${target}.seeds`)
  writeFileSync(list, some.join(','))
  return [`-seed_inputs=@${list}`]
}

function missed({ crashes, slowestMs, peakRssMiB, executions, edges }, slowestAllowed, fewest) {
  const isShort = asked.quick || seconds < 600
  return [
    edges === 0 && 'the core was built without coverage',
    crashes > BARS.crashes && 'an input broke the promise',
    slowestMs > slowestAllowed && `an input took ${slowestMs} ms`,
    peakRssMiB > BARS.peakRssMiB && `${peakRssMiB} MiB of memory`,
    !isShort && executions < fewest && `only ${executions} inputs`,
  ].filter(Boolean)
}

/** Says what broke and how to see it again. */
function explain(target, printed, crash) {
  const at = printed.indexOf(' panicked at ')
  const why = at === -1 ? printed.slice(-1500) : printed.slice(at, at + 1500)
  process.stderr.write(`\n${target}:${why}\n`)
  if (crash) process.stderr.write(`Again: ${relative(ROOT, join(PROGRAMS, target))} ${relative(ROOT, crash)}\n`)
}

/** Replaces the kept corpus by the fewest inputs that take every way that was found. */
async function minimise(target) {
  const kept = join(FUZZ, 'corpus', target)
  const fresh = join(BUILT, 'minimised', target)
  rmSync(fresh, { recursive: true, force: true })
  mkdirSync(fresh, { recursive: true })
  const found = join(BUILT, 'corpus', target)
  const { code, printed } = await run(target, [
    '-set_cover_merge=1',
    `-max_len=${MAX_INPUT_LENGTH}`,
    fresh,
    found,
    kept,
  ])
  if (code !== 0) throw new Error(`${target}: the corpus could not be minimised:\n${printed.slice(-1000)}`)
  rmSync(kept, { recursive: true })
  cpSync(fresh, kept, { recursive: true })
  return readdirSync(kept).length
}

function record(results) {
  const before = existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')).targets : {}
  const known = Object.fromEntries(TARGETS.flatMap((name) => (before[name] ? [[name, before[name]]] : [])))
  const environment = { cpu: cpus()[0]?.model, cores: cpus().length, os: `${type()} ${release()}` }
  const all = { endedAt: new Date().toISOString(), environment, bars: BARS, targets: { ...known, ...results } }
  mkdirSync(join(FUZZ, 'results'), { recursive: true })
  writeFileSync(RESULTS, `${JSON.stringify(all, null, 2)}\n`)
}

/** Builds the targets. Answers why not, where that cannot be done. */
async function build() {
  const profile = asked.quick ? ['--target-dir', join(ROOT, 'target')] : ['--release', '--target-dir', BUILT]
  const args = ['build', '--locked', '--bins', '--manifest-path', 'fuzz/Cargo.toml', ...profile]
  if (process.platform === 'win32') return 'the wrapper around rustc is a shell script'
  try {
    await step('Building the fuzz targets', 'cargo', args, { env: { RUSTC_WRAPPER: join(FUZZ, 'rustc.sh') } })
  } catch (error) {
    return error.message
  }
}

/** The same promises, tried with random inputs by the tests of the core. */
async function withoutCoverage(reason) {
  process.stderr.write(`fuzz: without coverage guidance, because ${reason}\n`)
  const cases = asked.quick ? 2_000 : BARS.executions
  await step('Trying the promises with random inputs', 'cargo', ['test', '--test', 'promises'], {
    env: { SPILLWAY_PROPERTY_RUNS: String(cases) },
  })
  console.log(`fuzz: ${TARGETS.length} passed, 0 failed (random inputs, no coverage guidance)`)
}

await main(async () => {
  if (!(seconds > 0)) throw new Error(`Invalid option --seconds: expected a number above 0, received ${asked.seconds}`)
  if (targets.length + specs.length === 0) {
    throw new Error(
      `Invalid option --target: expected one of ${[...TARGETS, ...Object.keys(SPECS)].join(', ')}, received ${asked.target}`,
    )
  }
  for (const name of specs) {
    const spec = ['node_modules/jest/bin/jest.js', '--runInBand', SPECS[name]]
    await step(`Fuzzing ${name} for ${seconds} s`, 'sh', ['-c', ...SPEC_LIMITS, ...spec], {
      env: { SPILLWAY_MCP_FUZZ_SECONDS: String(seconds) },
    })
  }
  if (targets.length === 0) return
  const reason = await build()
  if (reason) return withoutCoverage(reason)
  let failed = 0
  const waiting = [...targets]
  const work = async () => {
    for (let target = waiting.shift(); target !== undefined; target = waiting.shift()) {
      const figures = await fuzz(target)
      const { executions, edges, slowestMs, peakRssMiB, missed } = figures
      const kept = asked.quick || figures.crashes > 0 ? undefined : await minimise(target)
      process.stderr.write(
        `${missed.length > 0 ? '✗' : '✓'} ${target}: ${executions} inputs in ${figures.seconds} s, ${edges} edges, ` +
          `slowest ${slowestMs} ms, ${peakRssMiB} MiB${missed.map((each) => `; ${each}`).join('')}\n`,
      )
      if (missed.length > 0) failed += 1
      if (!asked.quick) record({ [target]: { ...figures, corpus: kept } })
    }
  }
  // A full run measures, so nothing else runs at the same time.
  await Promise.all(asked.quick ? [work(), work()] : [work()])
  console.log(`fuzz: ${targets.length - failed} passed, ${failed} failed`)
  if (failed > 0) process.exitCode = 1
})
