// `npm run pack [-- --out DIR] [--binaries DIR]`: one tarball with the binaries that are there, which depends on nothing.
//
// With `--release`: the tarballs that are published, with their checksums: the main package and one for each platform whose
// binary is there; with `--all` a missing binary is an error. Only here the main package names its platforms as optional
// dependencies: an install of this repository, or of a tarball made of it, would ask registries for packages that
// are not published yet, and take what they answer.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, posix, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { main, ROOT } from '../build/run.mjs'
import { binaryName, PLATFORMS, packageName, platformManifest, platforms } from './platforms.mjs'

const npm = (args, cwd) =>
  execFileSync('npm', [...args, '--json', '--ignore-scripts'], {
    cwd,
    encoding: 'utf8',
    shell: process.platform === 'win32',
    stdio: ['ignore', 'pipe', 'pipe'],
  })

/** The files that npm would publish of the main package, without those in `dist/` that are never loaded: they were bundled. */
export function mainFiles() {
  const files = JSON.parse(npm(['pack', '--dry-run'], ROOT))[0].files.map(({ path }) => path)
  const missing = [...new Set(entryFiles())].filter((path) => !files.includes(path))
  if (missing.length > 0) throw new Error(`${missing.join(', ')}: not built; run npm run build`)
  const loaded = new Set()
  for (const file of entryFiles()) addLoaded(file, loaded)
  return files.filter((path) => !path.startsWith('dist/') || loaded.has(path))
}

/** The files that the package's manifest names. */
function entryFiles(value = readManifest()) {
  const { main, types, bin, exports } = value
  const named = JSON.stringify([main, types, bin, exports]).match(/"\.?\/?[^"]+\.[cm]?[jt]s"/g) ?? []
  return named.map((name) => JSON.parse(name).replace(/^\.\//, ''))
}

const CODE = (name) => [name, `${name}.js`, `${name}/index.js`]
/** A module that a declaration names as `.js` is declared beside it. */
const DECLARATION = (name) => [`${name}.d.ts`, `${name}/index.d.ts`, name.replace(/\.([cm]?)js$/, '.d.$1ts')]

/** Adds a file and all that it loads, or that its types come from. */
function addLoaded(file, loaded, spellings = CODE) {
  const path = spellings(file).find(isFile)
  if (!path || loaded.has(path)) return
  loaded.add(path)
  if (/\.(json|node)$/.test(path)) return
  const source = readFileSync(join(ROOT, path), 'utf8')
  const add = (name) =>
    addLoaded(posix.join(posix.dirname(path), name), loaded, /\.d\.[cm]?ts$/.test(path) ? DECLARATION : CODE)
  for (const [, quoted] of source.matchAll(/(?:require|import)\(\s*['"](\.[^'"]+)['"]\s*\)/g)) add(quoted)
  for (const [, quoted] of source.matchAll(/\b(?:from|import)\s*['"](\.[^'"]+)['"]/g)) add(quoted)
}

function isFile(path) {
  try {
    return statSync(join(ROOT, path)).isFile()
  } catch {
    return false
  }
}

const readManifest = () => JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

/** The main package as it is published: with its platforms, and without what only this repository needs. */
export function mainManifest() {
  const { devDependencies: _, scripts: __, napi: ___, ...rest } = readManifest()
  const optionalDependencies = Object.fromEntries(PLATFORMS.map((one) => [packageName(one), rest.version]))
  return { ...rest, ...repository(), optionalDependencies }
}

/** Where the sources are: a registry that attests provenance compares it. */
function repository() {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = process.env
  return server && name ? { repository: { type: 'git', url: `git+${server}/${name}.git` } } : {}
}

function packFolder(folder, manifest, out) {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  const [{ filename }] = JSON.parse(npm(['pack', folder, '--pack-destination', out], out))
  return join(out, filename)
}

/** Makes one tarball with the binaries that are there; answers its path, and the platforms without a binary. */
export function packComplete({ out, binaries = ROOT }) {
  mkdirSync(out, { recursive: true })
  const scratch = mkdtempSync(join(tmpdir(), 'spillway-pack-'))
  try {
    const there = PLATFORMS.filter((platform) => existsSync(join(binaries, binaryName(platform))))
    if (there.length === 0) throw new Error(`No binary in ${binaries}: run npm run build`)
    for (const path of mainFiles()) cpSync(join(ROOT, path), join(scratch, path))
    for (const platform of there)
      copyFileSync(join(binaries, binaryName(platform)), join(scratch, binaryName(platform)))
    const { optionalDependencies: _, files, ...manifest } = mainManifest()
    const path = packFolder(scratch, { ...manifest, files: [...files, ...there.map(binaryName)] }, out)
    return {
      made: { spillway: path },
      missing: PLATFORMS.filter((one) => !there.includes(one)).map(({ name }) => name),
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Makes the tarballs of a release; answers their paths, and the platforms without one. */
export function pack({ out, binaries = ROOT, only = PLATFORMS.map(({ name }) => name) }) {
  const stale = platforms({ check: true })
  if (stale.length > 0) throw new Error(`${stale.join(', ')}: run node scripts/release/platforms.mjs`)
  mkdirSync(out, { recursive: true })
  const scratch = mkdtempSync(join(tmpdir(), 'spillway-pack-'))
  try {
    const folder = join(scratch, 'spillway')
    for (const path of mainFiles()) cpSync(join(ROOT, path), join(folder, path))
    const made = { spillway: packFolder(folder, mainManifest(), out) }
    const missing = []
    for (const platform of PLATFORMS.filter(({ name }) => only.includes(name))) {
      const binary = join(binaries, binaryName(platform))
      if (!existsSync(binary)) {
        missing.push(platform.name)
        continue
      }
      const folder = join(scratch, platform.name)
      mkdirSync(folder)
      copyFileSync(binary, join(folder, binaryName(platform)))
      copyFileSync(join(ROOT, 'npm', platform.name, 'README.md'), join(folder, 'README.md'))
      for (const file of ['LICENSE', 'THIRD_PARTY_LICENSES']) copyFileSync(join(ROOT, file), join(folder, file))
      made[packageName(platform)] = packFolder(folder, { ...platformManifest(platform), ...repository() }, out)
    }
    return { made, missing }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

const checksum = (path) => createHash('sha256').update(readFileSync(path)).digest('hex')

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    const { values } = parseArgs({
      options: {
        out: { type: 'string' },
        binaries: { type: 'string', default: ROOT },
        release: { type: 'boolean', default: false },
        all: { type: 'boolean', default: false },
      },
    })
    // Both have a tarball of the same name.
    const out = resolve(values.out ?? join(ROOT, 'packages', values.release ? 'release' : ''))
    const { made, missing } = (values.release ? pack : packComplete)({ out, binaries: resolve(values.binaries) })
    if (values.all && missing.length > 0) throw new Error(`No binary for ${missing.join(', ')} in ${values.binaries}`)
    const sums = Object.values(made).map((path) => `${checksum(path)}  ${basename(path)}\n`)
    writeFileSync(join(out, 'SHA256SUMS'), sums.join(''))
    process.stdout.write(sums.join(''))
    for (const name of missing) console.log(`- ${name}: skipped (no ${binaryName({ name })} in ${values.binaries})`)
  })
}
