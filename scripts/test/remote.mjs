// `npm run test:remote [-- word…]`, or `-- --install` for the installation alone: object stores and shared state with real servers on the loopback interface. The clients that
// `__test__/remote/servers/package.json` pins, with Azurite, and moto, are installed into `target/remote`; s3s-fs, Redis and PostgreSQL are used if
// they are there. Needs the network the first time; tests of what is missing are skipped, and say why. `--quick` runs the suites that every
// server has to pass, without kills and outages.

import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { main, ROOT } from '../build/run.mjs'
import { useOwnTemporaryFolder } from './scratch.mjs'

const WORK = join(ROOT, 'target', 'remote')
/** The tests of `--quick`. */
const QUICK = ['s3.test', 'azure.test', 'coordination.test']

const MANIFEST = join(ROOT, '__test__', 'remote', 'servers', 'package.json')

/** Runs a command. Returns whether it succeeded. */
function run(command, args, cwd = ROOT) {
  return spawnSync(command, args, { cwd, stdio: 'inherit' }).status === 0
}

function installClients() {
  const installed = join(WORK, 'package.json')
  if (existsSync(installed) && readFileSync(installed, 'utf8') === readFileSync(MANIFEST, 'utf8')) return
  if (
    run('npm', ['install', '--prefix', WORK, '--no-audit', '--no-fund', '--no-package-lock', '--no-save', ...pinned()])
  ) {
    copyFileSync(MANIFEST, installed)
  }
}

/** The packages and versions of the manifest. */
function pinned() {
  const { dependencies } = JSON.parse(readFileSync(MANIFEST, 'utf8'))
  return Object.entries(dependencies).map(([name, version]) => `${name}@${version}`)
}

function installMoto() {
  const folder = join(WORK, 'moto')
  if (existsSync(join(folder, 'bin', 'moto_server'))) return
  if (run('python3', ['-m', 'venv', folder]))
    run(join(folder, 'bin', 'pip'), ['install', '-q', 'moto[server,s3]==5.2.5'])
}

await main(async () => {
  useOwnTemporaryFolder('remote')
  mkdirSync(WORK, { recursive: true })
  installClients()
  installMoto()
  if (process.argv.includes('--install')) return
  const jest = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js')
  const given = process.argv.slice(2)
  const words = given.flatMap((word) => (word === '--quick' ? QUICK : [word]))
  if (!run(process.execPath, [jest, '--config', 'jest.remote.config.js', '--forceExit', ...words])) process.exitCode = 1
})
