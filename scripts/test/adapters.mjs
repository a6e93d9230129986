// `npm run test:adapters [-- word…]`: every adapter with the real framework. Each folder of `__test__/adapters` has a
// `package.json` that pins what it needs; that is installed into `target/adapters`, the built package beside it, the
// tests are checked against the framework's own types and then run. Needs the network the first time; what cannot be
// installed is skipped, and says why. With words, only what has one of them in its name is run.

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
import { main, ROOT } from '../build/run.mjs'
import { installPacked } from '../release/packed.mjs'
import { installManifest, nodeOf } from './nodes.mjs'
import { endGroup, spawnGroup, useOwnTemporaryFolder } from './scratch.mjs'

const SOURCES = join(ROOT, '__test__', 'adapters')
const WORK = join(ROOT, 'target', 'adapters')
const TIME_LIMIT_MS = 180_000

/** Runs the tests, which are TypeScript, unless a folder asks for others. */
const USUAL_NODES = ['24']

const require = createRequire(join(ROOT, 'package.json'))
const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc')
const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'))
const writeJson = (path, value) => writeFileSync(path, JSON.stringify(value, null, 2))

/** Runs a command to its end, or to the end of its time with everything that it started. */
function run(command, args, { cwd = ROOT, env = {} } = {}) {
  const child = spawnGroup(command, args, {
    cwd,
    env: { ...process.env, ...env },
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
      endGroup(child)
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

/**
 * Every folder with each set of versions that it names in `spillway.variants`, the majors of Node that run it (`nodes`),
 * the recipes that its tests import (`recipes`), and the example in `examples/frameworks` (`example`).
 */
function suites() {
  const folders = readdirSync(SOURCES, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return folders
    .filter(({ name }) => existsSync(join(SOURCES, name, 'package.json')))
    .flatMap(({ name: folder }) => {
      const { spillway = {}, dependencies } = readJson(join(SOURCES, folder, 'package.json'))
      const { variants = { '': {} }, nodes = USUAL_NODES, recipes: uses = [], example } = spillway
      return Object.entries(variants).map(([variant, changed]) => ({
        name: variant || folder,
        source: join(SOURCES, folder),
        nodes,
        uses: changed.recipes ?? uses,
        example: changed.example ?? example,
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
async function prepare({ name, source, manifest, uses, example }) {
  const folder = join(WORK, name)
  installManifest(folder, manifest)
  for (const entry of readdirSync(folder)) {
    if (entry !== 'node_modules' && entry !== '.installed') rmSync(join(folder, entry), { recursive: true })
  }
  rmSync(join(folder, 'node_modules', 'spillway'), { recursive: true, force: true })
  installPacked(folder)
  for (const from of [join(SOURCES, 'support'), source]) if (existsSync(from)) cpSync(from, folder, { recursive: true })
  for (const recipe of uses)
    writeFileSync(join(folder, `recipe-${recipe}.ts`), recipes().get(recipe) ?? missing(recipe))
  if (example) cpSync(join(ROOT, 'examples', 'frameworks', `${example}.ts`), join(folder, 'example.ts'))
  writeJson(join(folder, 'package.json'), { name: `adapter-${name}`, version: '0.0.0', ...manifest })
  const types = join(folder, 'node_modules', '@types')
  mkdirSync(types, { recursive: true })
  const nodeTypes = join(types, 'node')
  rmSync(nodeTypes, { recursive: true, force: true })
  symlinkSync(dirname(require.resolve('@types/node/package.json')), nodeTypes, 'junction')
  writeJson(join(folder, 'tsconfig.json'), {
    compilerOptions: {
      target: 'es2023',
      lib: ['es2024', 'esnext.disposable', 'dom', 'dom.iterable'],
      types: ['node'],
      module: 'nodenext',
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      erasableSyntaxOnly: true,
      verbatimModuleSyntax: true,
    },
    include: ['*.ts'],
  })
  return realpathSync(folder)
}

function missing(recipe) {
  throw new Error(`docs/recipes.md has no recipe ${recipe}`)
}

const countOf = (printed, what) => Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(printed)?.[1] ?? 0)

/** The failed tests in a TAP report; the whole report if it names none. */
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
      node = nodeOf(major)
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
    useOwnTemporaryFolder('adapters')
    const { failed, passed, skipped } = await adapters(process.argv.slice(2))
    if (failed > 0 || passed + skipped === 0) process.exitCode = 1
  })
}
