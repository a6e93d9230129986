// `npm run test:adapters [-- word…]`: every adapter with the real framework. Each folder of `__test__/adapters` has a
// `package.json` that pins what it needs; that is installed into `target/adapters`, the built package beside it, the
// tests are checked against the framework's own types and then run. Needs the network the first time; what cannot be
// installed is skipped, and says why. With words, only what has one of them in its name is run.

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installPacked } from './packed.mjs'
import { main, ROOT } from './run.mjs'

const SOURCES = join(ROOT, '__test__', 'adapters')
const WORK = join(ROOT, 'target', 'adapters')
const TIME_LIMIT_MS = 180_000
const INSTALL = ['install', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts', '--loglevel=error']

/** What runs the tests: they are TypeScript, which these take as it is. The newest is enough unless a folder asks. */
const NODES = { 24: '24.21.0', 22: '22.23.3' }

const require = createRequire(join(ROOT, 'package.json'))
const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc')
const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'))
const writeJson = (path, value) => writeFileSync(path, JSON.stringify(value, null, 2))

/** Runs a command to its end, or to the end of its time with everything that it started. */
function run(command, args, { cwd = ROOT, env = {} } = {}) {
  const posix = process.platform !== 'win32'
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    detached: posix,
    shell: !posix && command === 'npm',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8')
    stream.on('data', (text) => {
      printed += text
    })
  }
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      printed += `\nIt did not end within ${TIME_LIMIT_MS / 1000} s.\n`
      try {
        posix ? process.kill(-child.pid, 'SIGKILL') : child.kill()
      } catch {
        // It has just ended.
      }
    }, TIME_LIMIT_MS)
    const done = (code) => {
      clearTimeout(timer)
      resolve({ ok: code === 0, printed })
    }
    child.on('error', (error) => {
      printed += error.message
      done(1)
    })
    child.on('close', done)
  })
}

/** Installs what a manifest says, unless that is there already; throws with npm's last word if it cannot. */
async function install(folder, manifest) {
  const stamp = join(folder, '.installed')
  const wanted = createHash('sha256').update(JSON.stringify(manifest.dependencies)).digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  mkdirSync(folder, { recursive: true })
  writeJson(join(folder, 'package.json'), manifest)
  const { ok, printed } = await run('npm', INSTALL, { cwd: folder })
  if (!ok) throw new Error(lastLine(printed) || 'npm install failed')
  writeFileSync(stamp, wanted)
}

function lastLine(text) {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.findLast((line) => line !== '' && !line.includes('A complete log of this run'))
}

/** A Node of this major version: ours, or one from npm, where it comes as a package without scripts. */
async function nodeOf(major) {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const folder = join(WORK, 'nodes', String(major))
  await install(folder, { private: true, dependencies: { [name]: NODES[major] } })
  const binary = process.platform === 'win32' ? 'node.exe' : 'node'
  return join(folder, 'node_modules', name, 'bin', binary)
}

/**
 * Every folder with each set of versions that it names in `spillway.variants`, the majors of Node that run it (`nodes`), and
 * the recipes that its tests import (`recipes`).
 */
function suites() {
  const folders = readdirSync(SOURCES, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return folders
    .filter(({ name }) => existsSync(join(SOURCES, name, 'package.json')))
    .flatMap(({ name: folder }) => {
      const { spillway = {}, dependencies } = readJson(join(SOURCES, folder, 'package.json'))
      const { variants = { '': {} }, nodes = Object.keys(NODES).slice(-1), recipes: uses = [] } = spillway
      return Object.entries(variants).map(([variant, changed]) => ({
        name: variant || folder,
        source: join(SOURCES, folder),
        nodes,
        uses: changed.recipes ?? uses,
        manifest: { private: true, type: 'module', dependencies: { ...dependencies, ...changed.dependencies } },
      }))
    })
}

/** The recipes of `docs/recipes.md`: each block is a module, named by the comment above it. */
function recipes() {
  const text = readFileSync(join(ROOT, 'docs', 'recipes.md'), 'utf8')
  const found = [...text.matchAll(/^<!-- recipe: ([\w-]+) -->\n\n```ts\n([\s\S]*?)^```$/gm)]
  const blocks = text.match(/^```ts$/gm) ?? []
  if (found.length !== blocks.length) throw new Error('docs/recipes.md has a block that no test runs')
  return new Map(found.map(([, name, code]) => [name, code]))
}

/** Puts the tests and the built package to the framework. */
async function prepare({ name, source, manifest, uses }) {
  const folder = join(WORK, name)
  await install(folder, manifest)
  for (const entry of readdirSync(folder)) {
    if (entry !== 'node_modules' && entry !== '.installed') rmSync(join(folder, entry), { recursive: true })
  }
  rmSync(join(folder, 'node_modules', 'spillway'), { recursive: true, force: true })
  installPacked(folder)
  for (const from of [join(SOURCES, 'support'), source]) if (existsSync(from)) cpSync(from, folder, { recursive: true })
  for (const recipe of uses)
    writeFileSync(join(folder, `recipe-${recipe}.ts`), recipes().get(recipe) ?? missing(recipe))
  writeJson(join(folder, 'package.json'), { name: `adapter-${name}`, version: '0.0.0', ...manifest })
  const types = join(folder, 'node_modules', '@types')
  mkdirSync(types, { recursive: true })
  const nodeTypes = join(types, 'node')
  rmSync(nodeTypes, { recursive: true, force: true })
  symlinkSync(dirname(require.resolve('@types/node/package.json')), nodeTypes, 'junction')
  writeJson(join(folder, 'tsconfig.json'), {
    compilerOptions: {
      ...{ target: 'es2023', lib: ['es2024', 'esnext.disposable', 'dom', 'dom.iterable'], types: ['node'] },
      ...{ module: 'nodenext', strict: true, noEmit: true, skipLibCheck: true },
      ...{ allowImportingTsExtensions: true, erasableSyntaxOnly: true, verbatimModuleSyntax: true },
    },
    include: ['*.ts'],
  })
  return realpathSync(folder)
}

function missing(recipe) {
  throw new Error(`docs/recipes.md has no recipe ${recipe}`)
}

const countOf = (printed, what) => Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(printed)?.[1] ?? 0)

/** What TAP says of the tests that failed; all of it if it says nothing. */
function failuresOf(printed) {
  const failed = printed.match(/^not ok [\s\S]*?^ {2}\.\.\.$/gm) ?? [printed]
  return failed.join('\n').replaceAll(/^/gm, '    ')
}

/** The tests of one folder, and how many passed, failed and were skipped. */
async function suite(one, counts) {
  const note = (mark, what, detail = '') => console.log(`${mark} ${one.name}${what}${detail}`)
  const skip = (what, reason) => {
    counts.skipped += 1
    note('-', what, `: skipped (${reason})`)
  }
  let folder
  try {
    folder = await prepare(one)
  } catch (error) {
    skip('', error.message)
    return
  }
  const types = await run(process.execPath, [tsc, '--project', '.'], { cwd: folder })
  counts[types.ok ? 'passed' : 'failed'] += 1
  note(types.ok ? '✓' : '✗', ', types', types.ok ? '' : `\n${types.printed}`)
  const files = readdirSync(folder).filter((name) => name.endsWith('.test.ts'))
  for (const major of one.nodes) {
    let node
    try {
      node = await nodeOf(major)
    } catch (error) {
      skip(`, Node ${major}`, error.message)
      continue
    }
    const storage = join(folder, 'storage')
    mkdirSync(storage, { recursive: true })
    const args = ['--no-warnings', '--test', '--test-reporter=tap', ...files]
    const { ok, printed } = await run(node, args, { cwd: folder, env: { SPILLWAY_STORAGE_DIR: storage } })
    const [passed, failed, skipped] = ['pass', 'fail', 'skipped'].map((what) => countOf(printed, what))
    counts.passed += passed
    counts.failed += ok ? 0 : Math.max(failed, 1)
    counts.skipped += skipped
    const fine = ok && passed + skipped > 0
    if (ok && !fine) counts.failed += 1
    note(fine ? '✓' : '✗', `, Node ${major}: `, `${passed} passed, ${failed} failed, ${skipped} skipped`)
    for (const [, title, reason] of printed.matchAll(/^\s*ok \d+ - (.*?) # SKIP ?(.*)$/gm)) {
      console.log(`    skipped: ${title}${reason ? ` (${reason})` : ''}`)
    }
    if (!fine) console.log(failuresOf(printed))
  }
}

/** Runs what there is, and answers how many passed, failed and were skipped. */
export async function adapters(words = []) {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  for (const one of suites()) {
    if (words.length === 0 || words.some((word) => one.name.includes(word))) await suite(one, counts)
  }
  console.log(`adapters: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
  return counts
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    const { failed, passed, skipped } = await adapters(process.argv.slice(2))
    if (failed > 0 || passed + skipped === 0) process.exitCode = 1
  })
}
