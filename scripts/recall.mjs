#!/usr/bin/env node
// How much of what a reader needs do previews keep? Runs a `recall.mjs` over a folder of labelled outputs, with our
// strategies beside its baselines.
//
//   npm run recall -- FOLDER [TOOL] [options of the tool]
//
// FOLDER holds NAME.raw.zst and NAME.json; TOOL is the path of recall.mjs, by default ../tools/recall.mjs beside FOLDER.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const args = process.argv.slice(2)
const [folder, tool = folder && join(dirname(resolve(folder)), 'tools', 'recall.mjs')] = args.filter(
  (arg) => !arg.startsWith('--'),
)
if (!folder || !existsSync(tool)) {
  console.error('usage: npm run recall -- FOLDER [path of recall.mjs] [options of it, such as --per-log]')
  process.exit(2)
}
const options = args.filter((arg) => arg.startsWith('--'))
const ours = ['smart', 'json'].map((name) => fileURLToPath(new URL(`./recall/${name}.mjs`, import.meta.url)))
const { status } = spawnSync(process.execPath, [tool, folder, ...ours, 'head', 'tail', 'half', 'head20', ...options], {
  stdio: 'inherit',
})
process.exitCode = status ?? 1
