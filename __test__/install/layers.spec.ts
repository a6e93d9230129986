// The layers of `lib/`, as docs/architecture.md states them: a room imports from rooms below it and from nowhere else. Biome's
// `noImportCycles` holds that no files import each other in a circle.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'

const ROOT = join(__dirname, '..', '..')
const LIB = join(ROOT, 'lib')

/** From the ground up. Each line is one layer; its rooms do not know each other. */
const LAYERS = [
  ['types', 'util'],
  ['errors'],
  ['native'],
  ['validation'],
  ['settings', 'tokens'],
  ['audit', 'ingest'],
  ['storage'],
  ['truncation'],
  ['capture', 'history'],
  ['service', 'overflow', 'permission', 'loop-detection'],
  ['config', 'command', 'fold', 'session', 'pruning'],
  ['approval', 'compaction', 'tools'],
  ['hooks', 'context', 'coordination', 'remote'],
  ['azure', 'guard', 'postgres', 'redis', 'report', 's3', 'view'],
  ['extensions', 'fleet', 'ui'],
  ['adapters'],
  ['cli'],
]
const layerOf = new Map(LAYERS.flatMap((rooms, layer) => rooms.map((room) => [room, layer] as const)))

/** The entry points of subpaths export from several rooms, and no module imports them. */
const isEntry = (file: string) => /^(\w[\w-]*\/)?index\.ts$/.test(file)
const roomOf = (file: string) => file.split('/')[0]!.replace(/\.ts$/, '')

const files = readdirSync(LIB, { recursive: true, encoding: 'utf8' })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))

/** Modules that a file names, as paths in `lib/` without their ending. */
function importsOf(file: string): string[] {
  const source = readFileSync(join(LIB, file), 'utf8')
  return [...source.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)]
    .map(([, name]) => relative(LIB, join(LIB, dirname(file), name!)).replaceAll('\\', '/'))
    .filter((name) => !name.startsWith('..'))
}

test('every room has a layer', () => {
  const rooms = new Set(files.filter((file) => !isEntry(file)).map(roomOf))
  expect([...rooms].filter((room) => !layerOf.has(room))).toEqual([])
  expect([...layerOf.keys()].filter((room) => !rooms.has(room))).toEqual([])
})

test('a room imports only from layers below it', () => {
  const upward = files
    .filter((file) => !isEntry(file))
    .flatMap((file) =>
      importsOf(file)
        .filter((name) => roomOf(name) !== roomOf(file) && layerOf.get(roomOf(name))! >= layerOf.get(roomOf(file))!)
        .map((name) => `${file} -> ${name}`),
    )
  expect(upward).toEqual([])
})

test('no module imports the entry point of a subpath', () => {
  const entries = new Set(files.filter(isEntry).map((file) => file.replace(/\.ts$/, '')))
  const users = files.flatMap((file) =>
    importsOf(file)
      .filter((name) => entries.has(name) || entries.has(posix.join(name, 'index')))
      .map((name) => `${file} -> ${name}`),
  )
  expect(users).toEqual([])
})

test('scripts, benchmarks and examples import files that are there', () => {
  const sources = ['scripts', 'benchmark', 'examples'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      // The server of a page gives the modules that the page imports.
      .filter((name) => /\.m?[jt]s$/.test(name) && !/node_modules|[\\/](dist|page)[\\/]/.test(name))
      .map((name) => join(ROOT, folder, name)),
  )
  const named = sources.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/^(?:import|export) [^'"]*'(\.[^'"]+)'$/gm)].map(([, name]) =>
      join(dirname(file), name!),
    ),
  )
  const isThere = (path: string) => ['', '.ts', '.js', '.mjs'].some((end) => existsSync(path + end))
  expect(named.length).toBeGreaterThan(100)
  expect(named.filter((path) => !isThere(path))).toEqual([])
})
