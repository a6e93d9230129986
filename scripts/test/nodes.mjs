// Other versions of Node, from npm, where each comes as a package without scripts.
//
// `npm run test:node -- 24 [options of Jest]`: the specs under that major version; all that are known without one.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { main, ROOT } from '../build/run.mjs'

/** The package works under these until they are raised here; the oldest is the one that runs `npm test`. */
export const NODES = { 22: '22.23.3', 24: '24.21.0', 26: '26.12.1' }

const INSTALL = ['install', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error']
const isWindows = process.platform === 'win32'

/**
 * Installs what a manifest says, unless that is there already; throws with npm's last word if it cannot. Scripts of packages
 * run only with `scripts`.
 */
export function installManifest(folder, manifest, { scripts = false } = {}) {
  const stamp = join(folder, '.installed')
  const wanted = createHash('sha256').update(JSON.stringify(manifest.dependencies)).digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest, null, 2))
  const options = { cwd: folder, encoding: 'utf8', shell: isWindows, timeout: 600_000 }
  const { status, stdout, stderr, error } = spawnSync(
    'npm',
    scripts ? INSTALL : [...INSTALL, '--ignore-scripts'],
    options,
  )
  if (status !== 0) throw new Error(lastLine(`${stdout}\n${stderr}`) || error?.message || 'npm install failed')
  writeFileSync(stamp, wanted)
}

function lastLine(text) {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.findLast((line) => line !== '' && !line.includes('A complete log of this run'))
}

/** The program of a Node of this major version: ours, or one that is installed below `target`. */
export function nodeOf(major) {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath
  const version = NODES[major]
  if (version === undefined)
    throw new Error(`Unknown version ${major}: expected one of ${Object.keys(NODES).join(', ')}`)
  const name = `node-${isWindows ? 'win' : process.platform}-${process.arch}`
  const folder = join(ROOT, 'target', 'nodes', String(major))
  installManifest(folder, { private: true, dependencies: { [name]: version } })
  return join(folder, 'node_modules', name, 'bin', isWindows ? 'node.exe' : 'node')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    const [first, ...rest] = process.argv.slice(2)
    const isMajor = /^\d+$/.test(first ?? '')
    const options = isMajor ? rest : process.argv.slice(2)
    const require = createRequire(join(ROOT, 'package.json'))
    const jest = join(dirname(require.resolve('jest/package.json')), 'bin', 'jest.js')
    for (const major of isMajor ? [first] : Object.keys(NODES)) {
      const node = nodeOf(major)
      console.log(`Node ${major}`)
      const { status } = spawnSync(node, [jest, ...options], { cwd: ROOT, stdio: 'inherit' })
      if (status !== 0) throw new Error(`The specs failed under Node ${major}.`)
    }
  })
}
