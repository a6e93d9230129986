// `node scripts/runners.mjs [word…]`: the package as users have it, installed in a folder of its own, under every test
// runner that users have, and under TypeScript in every way that it resolves packages. Needs no network. With words, only
// what has one of them in its name is run.

import { execFile, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { main, ROOT } from './run.mjs'

const WINDOWS = process.platform === 'win32'
/** Far more than any of them takes; what is still running then does not exit by itself. */
const TIME_LIMIT_MS = 40_000
/** What runners say, and then succeed, when something of ours outlives the tests. */
const LEFT_OPEN = /did not exit|failed to exit|open handle|close timed out|unhandled|force exited/i

const require = createRequire(join(ROOT, 'package.json'))
const jest = join(dirname(require.resolve('jest/package.json')), 'bin', 'jest.js')
const vitest = join(dirname(require.resolve('vitest/package.json')), 'vitest.mjs')
const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc')

/** The file of a package that need not be there: jsdom is large, so it is used where `NODE_PATH` or the host has it. */
function optional(name) {
  try {
    return require.resolve(name)
  } catch {
    return undefined
  }
}

/** A folder with the package in `node_modules`, made of exactly the files that npm would publish, and the specs. */
async function makeConsumer() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'spillway-runners-')))
  const installed = join(folder, 'node_modules', 'spillway')
  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
    shell: WINDOWS,
  })
  const packed = JSON.parse(stdout)[0].files.map(({ path }) => path)
  // Published packages get the binary from one of its own for each platform; here it lies where the loader looks first.
  const binaries = readdirSync(ROOT).filter((name) => name.endsWith('.node'))
  if (binaries.length === 0 || !packed.includes('dist/index.js')) throw new Error('Nothing is built: run npm run build')
  for (const path of new Set([...packed, ...binaries])) cpSync(join(ROOT, path), join(installed, path))

  cpSync(join(ROOT, '__test__', 'runners'), folder, { recursive: true })
  write(folder, 'package.json', { name: 'consumer', private: true })
  for (const type of ['commonjs', 'module']) {
    cpSync(join(ROOT, '__test__', 'types'), join(folder, type), { recursive: true })
    write(folder, join(type, 'package.json'), { name: type, private: true, type })
  }
  mkdirSync(join(folder, 'node_modules', '@types'))
  const nodeTypes = dirname(require.resolve('@types/node/package.json'))
  symlinkSync(nodeTypes, join(folder, 'node_modules', '@types', 'node'), 'junction')
  mkdirSync(join(folder, 'storage'))
  return folder
}

function write(folder, name, value) {
  writeFileSync(join(folder, name), JSON.stringify(value, null, 2))
}

// Jest ---------------------------------------------------------------------------------------------------------------

/** Several projects of one run: everything in the realm of the tests, and timers faked in each way that Jest has. */
function jestProjects(testEnvironment) {
  const common = {
    rootDir: '.',
    testEnvironment,
    transform: { '\\.mjs$': [require.resolve('@swc/jest'), { module: { type: 'commonjs' } }] },
  }
  const timers = (displayName, options) => ({
    ...common,
    displayName,
    testMatch: ['<rootDir>/timers.spec.mjs'],
    setupFilesAfterEnv: ['<rootDir>/setup.jest.cjs'],
    ...options,
  })
  return [
    { ...common, displayName: 'realm', testMatch: ['<rootDir>/realm.spec.mjs', '<rootDir>/modules.spec.cjs'] },
    timers('timers faked in each test', { globals: { fakeTimers: {} } }),
    timers('legacy timers', { globals: { fakeTimers: { legacyFakeTimers: true } } }),
    timers('timers faked everywhere', { fakeTimers: { enableGlobally: true } }),
  ]
}

/** In one process, because Jest would end its workers by force and hide what keeps them alive. */
function jestRun(folder, name, config, { nodeArgs = [], args = [] } = {}) {
  write(folder, `${name}.json`, { cacheDirectory: join(folder, '.jest'), testTimeout: 10_000, ...config })
  return [...nodeArgs, jest, '--rootDir', folder, '--config', `${name}.json`, '--runInBand', ...args]
}

function jestRunners(folder) {
  const jsdom = optional('jest-environment-jsdom')
  const node = { projects: jestProjects('node') }
  const esm = { rootDir: '.', transform: {}, testEnvironment: 'node', testMatch: ['<rootDir>/realm.spec.mjs'] }
  return [
    { name: 'jest, node', args: jestRun(folder, 'jest-node', node) },
    { name: 'jest, open handles', args: jestRun(folder, 'jest-handles', node, { args: ['--detectOpenHandles'] }) },
    {
      name: 'jest, ES modules',
      args: jestRun(folder, 'jest-esm', esm, { nodeArgs: ['--experimental-vm-modules', '--no-warnings'] }),
    },
    jsdom
      ? { name: 'jest, jsdom', args: jestRun(folder, 'jest-jsdom', { projects: jestProjects(jsdom) }) }
      : { name: 'jest, jsdom', skipped: 'jest-environment-jsdom is not installed' },
  ]
}

// Vitest and Node's own runner ---------------------------------------------------------------------------------------

function vitestRunners() {
  return ['threads', 'forks', 'vmThreads', 'vmForks'].map((pool) => ({
    name: `vitest, ${pool}`,
    args: [vitest, 'run', '--root', '.'],
    env: { POOL: pool },
  }))
}

function nodeRunners() {
  const run = (name, file, env = {}) => ({ name, args: ['--import', './setup.node.mjs', '--no-warnings', file], env })
  return [
    run('node:test', 'realm.spec.mjs'),
    run('node:test, mock.timers', 'timers.spec.mjs', { FAKE_TIMERS: 'node' }),
    run('node:test, mock.timers before the package is loaded', 'timers.spec.mjs', {
      FAKE_TIMERS: 'node',
      FAKE_BEFORE: '1',
    }),
    run('node:test, sinon timers', 'timers.spec.mjs', { FAKE_TIMERS: 'sinon' }),
  ]
}

// TypeScript ---------------------------------------------------------------------------------------------------------

/** The types as the compilers of users see them. The same files are there twice: as CommonJS and as ES modules. */
function typeRunners(folder) {
  const lib = ['es2023', 'esnext.disposable']
  const strictest = {
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    noImplicitOverride: true,
    isolatedModules: true,
  }
  const check = (name, folders, options) => {
    const compilerOptions = { target: 'es2022', lib, types: ['node'], strict: true, noEmit: true, skipLibCheck: true }
    const file = `types-${name.replaceAll(/\W/g, '-')}.json`
    const include = folders.map((type) => `${type}/*.ts`)
    write(folder, file, { compilerOptions: { ...compilerOptions, ...options }, include })
    return { name: `types, ${name}`, args: [tsc, '--project', file] }
  }
  const both = ['commonjs', 'module']
  return [
    // Our own declarations are checked for themselves once, which takes as long as all else.
    check('node16', both, { module: 'node16', skipLibCheck: false }),
    check('nodenext, strictest', both, { module: 'nodenext', ...strictest }),
    check('bundler, DOM', ['module'], {
      ...{ module: 'esnext', moduleResolution: 'bundler', verbatimModuleSyntax: true },
      lib: [...lib, 'dom'],
    }),
    check('node10', ['commonjs'], { module: 'commonjs', moduleResolution: 'node10', ignoreDeprecations: '6.0' }),
  ]
}

// Running ------------------------------------------------------------------------------------------------------------

/** Runs a child process to its end, or to the end of its time with everything that it started. */
function run(folder, { args, env = {} }) {
  const child = spawn(process.execPath, args, {
    cwd: folder,
    // A group of its own, so that the workers of a runner that hangs end with it.
    detached: !WINDOWS,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      CI: '1',
      NO_COLOR: '1',
      FORCE_COLOR: '0',
      NODE_ENV: 'test',
      SPILLWAY_STORAGE_DIR: join(folder, 'storage'),
      RUNNERS_ROOT: pathToFileURL(join(ROOT, 'package.json')).href,
      ...env,
    },
  })
  const end = () => {
    try {
      if (WINDOWS) child.kill()
      else process.kill(-child.pid, 'SIGKILL')
    } catch {
      // It has ended at the same moment.
    }
  }
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8')
    stream.on('data', (text) => {
      printed += text
      // Jest says so after a second and then waits for ever.
      if (text.includes('Jest did not exit')) end()
    })
  }
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      printed += `\nIt did not exit within ${TIME_LIMIT_MS / 1000} s.\n`
      end()
    }, TIME_LIMIT_MS)
    child.on('error', reject)
    child.on('close', (code) => {
      clearTimeout(timer)
      resolve({ passed: code === 0 && !LEFT_OPEN.test(printed), printed })
    })
  })
}

/** Runs what there is, prints a line for each, and answers how many passed, failed and were skipped. */
export async function runners(words = []) {
  const folder = await makeConsumer()
  const counts = { passed: 0, failed: 0, skipped: 0 }
  const runOne = async (runner) => {
    const started = Date.now()
    if (runner.skipped) {
      counts.skipped += 1
      console.log(`- ${runner.name}: skipped (${runner.skipped})`)
      return
    }
    const { passed, printed } = await run(folder, runner)
    counts[passed ? 'passed' : 'failed'] += 1
    console.log(`${passed ? '✓' : '✗'} ${runner.name} (${((Date.now() - started) / 1000).toFixed(1)} s)`)
    if (!passed) console.log(printed.replaceAll(/^/gm, '    '))
  }
  try {
    const all = [...jestRunners(folder), ...vitestRunners(), ...nodeRunners(), ...typeRunners(folder)]
    const left = all.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)))
    const worker = async () => {
      for (let next = left.shift(); next; next = left.shift()) await runOne(next)
    }
    await Promise.all(Array.from({ length: Math.min(availableParallelism(), 3) }, worker))
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
  const { passed, failed, skipped } = counts
  console.log(`runners: ${passed} passed, ${failed} failed, ${skipped} skipped`)
  return counts
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    const { passed, failed } = await runners(process.argv.slice(2))
    if (failed > 0 || passed === 0) process.exitCode = 1
  })
}
