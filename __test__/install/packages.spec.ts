import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'

const ROOT = join(__dirname, '..', '..')
const read = (...path: string[]) => readFileSync(join(ROOT, ...path), 'utf8')
const main = JSON.parse(read('package.json'))

/** The pages at a path of the package: itself, or all in the folder. */
function pagesOf(path: string): string[] {
  if (path.endsWith('.md')) return [path]
  if (!['docs', 'examples'].includes(path)) return []
  const inside = readdirSync(join(ROOT, path), { recursive: true }) as string[]
  const pages = inside.filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
  return pages.map((name) => `${path}/${name.replaceAll('\\', '/')}`)
}

test('the components, with their stylesheet, are a module of at most 40 KiB', () => {
  expect(statSync(join(ROOT, 'dist', 'ui', 'index.mjs')).size).toBeLessThanOrEqual(40 * 1024)
})

/** Crates of the lock file that are in no binary: ours, and those that build, expand macros, test, or serve a system that we do not. */
const NOT_LINKED = `
  ar_archive_writer autocfg bit-set bit-vec bon-macros borsh borsh-derive bumpalo bytes cached_proc_macro cc
  cfg_aliases chacha20 convert_case core_detect darling darling_core darling_macro find-msvc-tools fnv
  futures-macro ident_case indexmap js-sys libredox napi-build napi-derive napi-derive-backend num-traits object
  peg-macros pest_derive pest_generator pest_meta prettyplease proc-macro-crate proc-macro2 proptest quick-error
  quote r-efi rand rand_xorshift redox_syscall redox_users rustversion rusty-fork semver serde_derive shlex
  spillway-base spillway-core spillway-node syn thiserror-impl toml_datetime toml_edit toml_parser
  tracing-attributes unarray unicode-ident uuid version_check wait-timeout wasm-bindgen wasm-bindgen-macro
  wasm-bindgen-macro-support wasm-bindgen-shared winnow zerocopy-derive`
  .trim()
  .split(/\s+/)

/** The crates that a crate depends on, for whatever purpose and platform. */
function cratesBelow(first: string, lockFile: string): Set<string> {
  const lists = lockFile.split('[[package]]').map((each) => {
    const name = /^name = "(.+)"$/m.exec(each)?.[1]
    const list = /^dependencies = \[([^\]]*)\]/m.exec(each)?.[1] ?? ''
    return [name, [...list.matchAll(/"([\w-]+)/g)].map(([, below]) => below!)] as const
  })
  const found = new Set<string>()
  const add = (name: string) => {
    if (found.has(name)) return
    found.add(name)
    for (const [own, below] of lists) if (own === name) below.forEach(add)
  }
  add(first)
  return found
}

describe('one package per platform', () => {
  const folders = readdirSync(join(ROOT, 'npm')).sort()

  test('those that are supported', () => {
    expect(folders).toEqual([
      'darwin-arm64',
      'darwin-x64',
      'linux-arm64-gnu',
      'linux-arm64-musl',
      'linux-x64-gnu',
      'linux-x64-musl',
      'win32-arm64-msvc',
      'win32-x64-msvc',
    ])
  })

  test.each(folders)(
    '%s is installed where it fits, and holds the binary and the licences of its libraries',
    (folder) => {
      const manifest = JSON.parse(read('npm', folder, 'package.json'))
      const [os, cpu, abi] = folder.split('-')
      const file = `spillway.${folder}.node`
      const libc = { gnu: ['glibc'], musl: ['musl'] }[abi ?? '']
      expect(manifest).toMatchObject({ name: `spillway-${folder}`, version: main.version, license: main.license })
      expect(manifest).toMatchObject({ os: [os], cpu: [cpu], main: file, engines: main.engines })
      expect(manifest.libc).toEqual(libc)
      expect(manifest.files).toEqual([file, 'THIRD_PARTY_LICENSES'])
      for (const key of ['scripts', 'dependencies', 'optionalDependencies']) expect(manifest).not.toHaveProperty(key)
    },
  )

  test('the loader knows each of them by its literal name', () => {
    const source = read('lib', 'native', 'load-binary.ts')
    const known = [...source.matchAll(/'([\w-]+)': \(\) => require\('spillway-([\w-]+)'\)/g)]
    for (const [, key, name] of known) expect(key).toBe(name)
    expect(known.map(([, key]) => key).sort()).toEqual(folders)
  })

  test('the committed files are those of the table', () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/release/platforms.mjs', '--check'], { cwd: ROOT })
    expect(String(stderr)).toBe('')
    expect(status).toBe(0)
  })
})

describe('the main package', () => {
  test('needs nothing at run time, and runs nothing when it is installed', () => {
    for (const key of ['dependencies', 'optionalDependencies', 'bundleDependencies'])
      expect(main).not.toHaveProperty(key)
    const hooks = ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish']
    expect(Object.keys(main.scripts).filter((name) => hooks.includes(name))).toEqual([])
    expect(main.files.filter((name: string) => name.includes('.node'))).toEqual([])
  })

  test('has every file that one of its pages links to', () => {
    const packed: string[] = ['package.json', 'README.md', 'LICENSE', ...main.files]
    const isPacked = (path: string) => packed.some((each) => path === each || path.startsWith(`${each}/`))
    const pages = packed.flatMap((each) => pagesOf(each))
    expect(pages).toEqual(expect.arrayContaining(['README.md', 'README.zh-CN.md', 'docs/zh-CN/mcp.md']))
    const missing = pages.flatMap((page) => {
      const text = read(page).replaceAll(/```[\s\S]*?```|`[^`\n]*`/g, '')
      const links = [...text.matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g)].map(([, link]) => link!)
      return links.filter((link) => !isPacked(posix.join(posix.dirname(page), link))).map((link) => `${page}: ${link}`)
    })
    expect(missing).toEqual([])
  })

  test('has the licence of each library that is part of it, in the locked version', () => {
    expect(main.files).toContain('THIRD_PARTY_LICENSES')
    const named = [...read('THIRD_PARTY_LICENSES').matchAll(/^([\w-]+) (\d\S*) \(.+\)$/gm)]
    const [crates, lock, page] = [
      read('Cargo.lock'),
      JSON.parse(read('package-lock.json')),
      read('docs', 'dependencies.md'),
    ]
    const isLocked = (name: string, version: string) =>
      crates.includes(`name = "${name}"\nversion = "${version}"\n`) ||
      lock.packages[`node_modules/${name}`]?.version === version
    expect(named.filter(([, name, version]) => !isLocked(name!, version!)).map(([line]) => line)).toEqual([])

    const table = page.slice(page.indexOf('## In the binary'), page.indexOf('## In the facade'))
    const cells = [...table.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell]) => cell!.match(/[\w-]+/g) ?? [])
    const onlyBuildOrTest = ['napi-build', 'napi-derive', 'libfuzzer-sys', 'proptest']
    const linked = cells.filter((name) => !onlyBuildOrTest.includes(name))
    expect(linked.length).toBeGreaterThan(20)
    const names = named.map(([, name]) => name)
    expect([...linked, 'diff', 'yaml'].filter((name) => !names.includes(name))).toEqual([])
    const reached = [...cratesBelow('spillway-node', crates)]
    expect(reached.filter((name) => !names.includes(name)).sort()).toEqual(NOT_LINKED)
  })

  test('the lock file names no host', () => {
    expect(read('package-lock.json')).not.toMatch(/"resolved": "(?!file:|node_modules)/)
  })
})
