// `npm test`: installs, builds, and runs every test. The last lines are plain counts.

import { entries } from '../build/entries.mjs'
import { build, install, main, step } from '../build/run.mjs'
import { binarySize } from '../build/size.mjs'

const counts = { passed: 0, failed: 0, skipped: 0 }
const failures = []

/** Where each kind of test names one that failed: Jest, Cargo, the scripts here. */
const FAILED_TEST = /^\s*(?:● .+|---- .+ stdout ----|✗ .+)$/
const LINES_OF_A_FAILURE = 20

/** The failures, each once with its reason: Jest prints it twice. */
function failedTests(printed) {
  const lines = printed.split('\n')
  const found = new Map()
  for (const [at, line] of lines.entries()) {
    if (FAILED_TEST.test(line)) found.set(line.trim(), lines.slice(at, at + LINES_OF_A_FAILURE).join('\n'))
  }
  return [...found.values()]
}

/** Runs tests, adds up their counts, and continues after a failure: one run should report everything. */
async function count(title, command, args, read, options) {
  let printed = ''
  try {
    printed = await step(title, command, args, options)
  } catch (error) {
    printed = error.printed ?? ''
    failures.push(...failedTests(printed), error.message)
  }
  const found = read(printed)
  for (const key of Object.keys(counts)) counts[key] += found[key] ?? 0
  const { passed = 0, failed = 0, skipped = 0 } = found
  process.stderr.write(`  ${title}: ${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}\n`)
  if (passed === 0) failures.push(`${title}: no test ran`)
}

const sum = (text, pattern) => [...text.matchAll(pattern)].reduce((total, match) => total + Number(match[1]), 0)

const cargo = (text) => ({
  passed: sum(text, /test result: \w+\. (\d+) passed/g),
  failed: sum(text, /test result: .*?(\d+) failed/g),
  skipped: sum(text, /test result: .*?(\d+) ignored/g),
})
const jest = (text) => ({
  passed: sum(text, /^Tests:.*?(\d+) passed/gm),
  failed: sum(text, /^Tests:.*?(\d+) failed/gm),
  skipped: sum(text, /^Tests:.*?(\d+) skipped/gm),
})
const plain = (text) => ({
  passed: sum(text, /^\w+: (\d+) passed/gm),
  failed: sum(text, /^\w+: \d+ passed, (\d+) failed/gm),
  skipped: sum(text, /^\w+: \d+ passed, \d+ failed, (\d+) skipped/gm),
})

const RUST_TESTS = ['test', '--workspace', '--quiet']

/** The tests that depend on no clock. */
async function patientTests() {
  const isPatient = true
  await count('Rust tests', 'cargo', RUST_TESTS, cargo, { isPatient })
  await count('Consumers', process.execPath, ['scripts/test/consumers.mjs', '--quick'], plain, { isPatient })
}

await main(async () => {
  await install()
  // Linking the add-on keeps one core busy for two minutes; the other compiles tests. If that fails, the tests say it.
  const compiled = step('Compiling the Rust tests', 'cargo', [...RUST_TESTS, '--no-run']).catch(() => {})
  const built = build().then(() => entries({ check: true }))
  const [stale] = await Promise.all([built, compiled])
  for (const name of stale) failures.push(`${name} differs from lib/: run npm run build and commit it`)
  const { bytes, problem } = binarySize()
  process.stderr.write(`  The binary: ${bytes.toLocaleString('en')} bytes\n`)
  if (problem) failures.push(problem)
  // Specs often wait for processes and clocks: the others take what they leave.
  await Promise.all([count('Specs under Jest', 'npx', ['jest', '--ci'], jest), patientTests()])
  for (const failure of failures) process.stderr.write(`✗ ${failure}\n`)
  const { passed, failed, skipped } = counts
  console.log(`${passed} passed, ${Math.max(failed, failures.length > 0 ? 1 : 0)} failed, ${skipped} skipped`)
  if (failures.length > 0) process.exitCode = 1
})
