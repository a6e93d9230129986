// The package as users get it: tarballs, installed by npm into an empty folder without a network, with every consumer
// beside them.

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ROOT } from '../../build/run.mjs'
import { pack, packComplete } from '../../release/pack.mjs'
import { ownPlatform } from '../../release/platforms.mjs'

export const CONSUMERS = join(ROOT, '__test__', 'consumers')
export const require = createRequire(join(ROOT, 'package.json'))

/** How long npm may take to install the tarballs, in milliseconds, on a machine that does nothing else. */
const INSTALL_LIMIT_MS = 5000

const QUIET = ['--no-audit', '--no-fund', '--loglevel=error']

export const NPM = process.platform === 'win32' ? 'npm.cmd' : 'npm'

/** A tool of this repository's own, as a script for Node. */
export const tool = (name, ...path) => join(dirname(require.resolve(`${name}/package.json`)), ...path)

export function write(folder, name, value) {
  writeFileSync(join(folder, name), JSON.stringify(value, null, 2))
}

/** An empty folder with the tarballs of the package and of this platform. */
export function makeTarballs() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'spillway-consumers-')))
  const platform = ownPlatform()
  const { made, missing } = pack({ out: join(folder, 'tarballs'), only: platform ? [platform.name] : [] })
  if (missing.length > 0) throw new Error('Nothing is built: run npm run build')
  return { folder, tarballs: Object.values(made), platformPackage: `spillway-${platform.name}` }
}

/** The checks of the installation itself; `root` is where consumers then find the package. */
export function installation({ folder, tarballs }) {
  const root = join(folder, 'installed')
  mkdirSync(root)
  write(root, 'package.json', { name: 'consumers', private: true })
  return {
    root,
    consumer: {
      name: 'npm install, offline',
      command: NPM,
      // With its own cache: npm reads what it has of the optional peers, and some of their documents are tens of megabytes.
      args: ['install', '--offline', `--cache=${join(folder, 'cache')}`, ...QUIET, ...tarballs],
      cwd: root,
      check({ milliseconds, cpuMs }) {
        // Others may use the machine at the same time; the time of its own processors counts then.
        if (Math.min(milliseconds, cpuMs ?? milliseconds) > INSTALL_LIMIT_MS) {
          return `it took ${milliseconds} ms, and ${INSTALL_LIMIT_MS} are allowed`
        }
      },
    },
  }
}

/** One tarball with the binary in it: its installation has no name to ask a registry for. */
export function completeTarball({ folder }) {
  const root = join(folder, 'alone')
  mkdirSync(root)
  write(root, 'package.json', { name: 'alone', private: true })
  const { made } = packComplete({ out: join(folder, 'complete') })
  return {
    name: 'npm install of one tarball, no registry',
    command: NPM,
    args: ['install', '--registry=http://127.0.0.1:9', '--fetch-retries=0', ...QUIET, made.spillway],
    cwd: root,
    check() {
      const at = join(root, 'node_modules', 'spillway')
      const { dependencies, optionalDependencies } = createRequire(join(at, 'package.json'))('./package.json')
      if (dependencies ?? optionalDependencies)
        return `it depends on ${JSON.stringify({ dependencies, optionalDependencies })}`
      const code = "process.stdout.write(typeof require('spillway').estimateTokens('text'))"
      const printed = execFileSync(process.execPath, ['-e', code], { cwd: root, encoding: 'utf8' })
      return printed === 'number' ? undefined : printed
    },
  }
}

/** Puts the consumers beside the installed package, with the types that their compilers need. */
export function addConsumers(root) {
  cpSync(CONSUMERS, root, { recursive: true })
  for (const type of ['commonjs', 'module']) {
    const folder = join(root, `types-${type}`)
    cpSync(join(CONSUMERS, 'types'), folder, { recursive: true })
    write(folder, 'package.json', { name: type, private: true, type })
  }
  rmSync(join(root, 'types'), { recursive: true })
  mkdirSync(join(root, 'node_modules', '@types'), { recursive: true })
  const nodeTypes = dirname(require.resolve('@types/node/package.json'))
  symlinkSync(nodeTypes, join(root, 'node_modules', '@types', 'node'), 'junction')
  mkdirSync(join(root, 'storage'))
}
