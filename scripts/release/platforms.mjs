// The platforms that have a binary, and the packages that hold them: `npm/<platform>/` is made from this table and
// committed. `node scripts/release/platforms.mjs` writes them; with `--check` nothing is written, and a difference fails.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { main, ROOT } from '../build/run.mjs'

/** The oldest glibc that the binaries for Linux are linked against, which is that of CentOS 7. */
export const GLIBC_FLOOR = '2.17'

/** For each: what npm installs it for, what the compiler calls it, and what people do. */
export const PLATFORMS = [
  { name: 'linux-x64-gnu', target: 'x86_64-unknown-linux-gnu', libc: 'glibc', title: 'Linux on x64 with glibc' },
  { name: 'linux-arm64-gnu', target: 'aarch64-unknown-linux-gnu', libc: 'glibc', title: 'Linux on arm64 with glibc' },
  { name: 'linux-x64-musl', target: 'x86_64-unknown-linux-musl', libc: 'musl', title: 'Linux on x64 with musl' },
  { name: 'linux-arm64-musl', target: 'aarch64-unknown-linux-musl', libc: 'musl', title: 'Linux on arm64 with musl' },
  { name: 'darwin-x64', target: 'x86_64-apple-darwin', title: 'macOS on Intel' },
  { name: 'darwin-arm64', target: 'aarch64-apple-darwin', title: 'macOS on Apple silicon' },
  { name: 'win32-x64-msvc', target: 'x86_64-pc-windows-msvc', title: 'Windows on x64' },
  { name: 'win32-arm64-msvc', target: 'aarch64-pc-windows-msvc', title: 'Windows on arm64' },
]

export const packageName = ({ name }) => `spillway-${name}`
export const binaryName = ({ name }) => `spillway.${name}.node`

/** The platform of this process. */
export function ownPlatform() {
  const isMusl = process.platform === 'linux' && !process.report.getReport().header.glibcVersionRuntime
  const libc = { linux: isMusl ? '-musl' : '-gnu', win32: '-msvc' }[process.platform] ?? ''
  return PLATFORMS.find(({ name }) => name === `${process.platform}-${process.arch}${libc}`)
}

const readJson = (...path) => JSON.parse(readFileSync(join(ROOT, ...path), 'utf8'))

/** The manifest of a platform's package. */
export function platformManifest(platform) {
  const { version, license, engines } = readJson('package.json')
  const [os, cpu] = platform.name.split('-')
  return {
    name: packageName(platform),
    version,
    description: `The binary of spillway for ${platform.title}.`,
    license,
    type: 'commonjs',
    main: binaryName(platform),
    files: [binaryName(platform), 'THIRD_PARTY_LICENSES'],
    engines,
    os: [os],
    cpu: [cpu],
    ...(platform.libc && { libc: [platform.libc] }),
  }
}

function readme(platform) {
  const needs = platform.libc === 'glibc' ? ` It needs glibc ${GLIBC_FLOOR} or newer.` : ''
  return `# ${packageName(platform)}

The binary of \`spillway\` for ${platform.title} (\`${platform.target}\`).${needs}
Install \`spillway\`: it depends on this package and loads it.
`
}

/** Writes the packages, or names the files that are not as they should be. */
export function platforms({ check = false } = {}) {
  const stale = []
  for (const platform of PLATFORMS) {
    const made = {
      'package.json': `${JSON.stringify(platformManifest(platform), null, 2)}\n`,
      'README.md': readme(platform),
    }
    for (const [file, text] of Object.entries(made)) {
      const path = join(ROOT, 'npm', platform.name, file)
      // The formatter decides where a list breaks.
      const same = file.endsWith('.json')
        ? (now) => JSON.stringify(JSON.parse(now)) === JSON.stringify(JSON.parse(text))
        : (now) => now === text
      if (existsSync(path) && same(readFileSync(path, 'utf8'))) continue
      stale.push(join('npm', platform.name, file))
      if (check) continue
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text)
    }
  }
  const targets = PLATFORMS.map(({ target }) => target)
  if (JSON.stringify(readJson('package.json').napi.targets) !== JSON.stringify(targets))
    stale.push('package.json (napi.targets)')
  return stale
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    const check = process.argv.includes('--check')
    const stale = platforms({ check })
    if (check && stale.length > 0)
      throw new Error(`${stale.join(', ')}: run node scripts/release/platforms.mjs and commit them`)
  })
}
