#!/usr/bin/env node
// How much of what a reader needs do previews keep? Runs a `recall.mjs` over a folder of labelled outputs, with our
// strategies beside its baselines, a sketch of forty lines, and other packages.
//
//   npm run recall -- FOLDER [TOOL] [--peers] [--held-out] [--more=FOLDER] [options of the tool]
//
// FOLDER holds NAME.raw.zst and NAME.json; TOOL is the path of recall.mjs, by default ../tools/recall.mjs beside FOLDER.
// The held-out third of the outputs follows, and failed builds with the chunk that says why, if there is a folder `ci-logs` beside
// FOLDER (or `--ci-logs=FOLDER`) and a tool ci-logs.mjs beside TOOL.
// --peers      also packages of others, which are installed into target/peers when they are not there
// --held-out   only the third of the outputs whose name hashes to it, which rules are not made with
// --more       another such folder, whose outputs come on top
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOT } from '../build/run.mjs'
import { install, open, PEERS } from './recall/peers.mjs'
import { useOwnTemporaryFolder } from './scratch.mjs'

const args = process.argv.slice(2)
const [folder, tool = folder && join(dirname(resolve(folder)), 'tools', 'recall.mjs')] = args.filter(
  (arg) => !arg.startsWith('--'),
)
if (!folder || !existsSync(tool)) {
  console.error(
    'usage: npm run recall -- FOLDER [path of recall.mjs] [--peers] [--held-out] [options of it, such as --per-log]',
  )
  process.exit(2)
}
const OWN = ['--peers', '--held-out']
const options = args.filter(
  (arg) => arg.startsWith('--') && !OWN.includes(arg) && !arg.startsWith('--more=') && !arg.startsWith('--ci-logs='),
)
const module = (name) => fileURLToPath(new URL(`./recall/${name}.mjs`, import.meta.url))

/** The peers that can be called. The others are named with the reason. */
async function peers(into) {
  const reasons = install(into)
  const found = []
  for (const [name, { package: spec }] of Object.entries(PEERS)) {
    try {
      if (reasons.has(spec)) throw new Error(reasons.get(spec))
      await open(name, into)
      found.push(name)
    } catch (error) {
      console.error(`recall: without ${name} (${spec}): ${String(error.message).split('\n')[0]}`)
    }
  }
  return found
}

/** A folder with links to the outputs that count. */
function chosen(folders, isHeldOut) {
  const into = mkdtempSync(join(tmpdir(), 'recall-'))
  for (const from of folders) {
    for (const file of readdirSync(from).filter((file) => /\.(json|raw\.zst)$/.test(file))) {
      const name = file.replace(/\.(json|raw\.zst)$/, '')
      const third = createHash('sha256').update(name).digest()[0] % 3
      if (!isHeldOut || third === 0) symlinkSync(resolve(from, file), join(into, file))
    }
  }
  return into
}

useOwnTemporaryFolder('recall')
const target = join(ROOT, 'target', 'peers')
const others = args.includes('--peers') ? await peers(target) : []
const more = args.filter((arg) => arg.startsWith('--more=')).map((arg) => arg.slice('--more='.length))
const ours = ['smart', 'json', 'diff', 'csv', 'sketch', 'grep', ...others].map(module)
const env = { ...process.env, SPILLWAY_PEERS: target }
let failures = 0

function call(...argv) {
  const { status } = spawnSync(process.execPath, argv, { stdio: 'inherit', env })
  if (status !== 0) failures += 1
}

/** Measures one set of labelled outputs: all of them, or the third that is held out. */
function measure(isHeldOut) {
  const isPart = isHeldOut || more.length > 0
  const outputs = isPart ? chosen([folder, ...more], isHeldOut) : folder
  call(tool, outputs, ...ours, 'head', 'tail', 'half', 'head20', ...options)
}

if (!args.includes('--held-out')) measure(false)
measure(true)
if (!args.includes('--held-out')) call(module('lookup'), folder, tool)
const ciLogs =
  args.find((arg) => arg.startsWith('--ci-logs='))?.slice('--ci-logs='.length) ??
  join(dirname(resolve(folder)), 'ci-logs')
const ciTool = join(dirname(tool), 'ci-logs.mjs')
if (existsSync(ciLogs) && existsSync(ciTool) && !args.includes('--held-out')) {
  for (const name of ['smart', 'sketch', 'grep', ...others]) call(ciTool, ciLogs, module(name))
  for (const name of ['head', 'tail', 'half', 'head20']) call(ciTool, ciLogs, name)
}
process.exitCode = failures > 0 ? 1 : 0
