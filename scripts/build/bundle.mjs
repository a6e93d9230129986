// A few files instead of a hundred: finding, reading and compiling each of them is most of what `require('spillway')` costs,
// and so is compiling what a program never uses. The modules that nearly every program uses are one file, loaded at once; each of the
// other rooms is one more, loaded with the first use of one of its names. Made from the sources, because modules of CommonJS
// would each be compiled twice. It takes the place of the `dist/index.js` that TypeScript wrote, which works
// as well and is what the next `tsc` leaves there. The command is bundled the same way. Adapters are entries of their own, and share those files, so that there is
// one copy of everything whichever is loaded.

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { rolldown } from 'rolldown'
import { main, ROOT } from './run.mjs'
import { TAKEN_IN } from './taken-in.mjs'
import { buildUi } from './ui.mjs'

const LIB = join(ROOT, 'lib')
const DIST = join(ROOT, 'dist')

/** Folders of `lib/` that nearly every program uses: they are loaded at once. Each other folder is a file of its own. */
const CORE = [
  'capture',
  'ingest',
  'native',
  'service',
  'settings',
  'storage',
  'tokens',
  'truncation',
  'util',
  'validation',
]

/** Modules that are loaded later than the folder they are in, or together with another folder. */
const APART = new Map([['storage/memory-storage', 'memory-storage']])
const TOGETHER = new Map([
  ['approval', 'permission'],
  ['compaction', 'history'],
  ['pruning', 'history'],
])

/** True for a file of ours, and for a package that becomes part of the files. */
const isTakenIn = (id) => /^[./]/.test(id) || isAbsolute(id) || TAKEN_IN.includes(id)

/** How sources are read, and how files are written, whichever they are. */
const READ = { platform: 'node', transform: { target: 'es2022' } }
const WRITTEN = { format: 'cjs', entryFileNames: '[name].js', comments: false, sourcemap: false, strict: true }

/** The room of a module that `lib/index.ts` exports from. */
function roomOf(module) {
  const path = module.slice(2)
  const [folder, ...rest] = path.split('/')
  if (rest.length === 0 || (CORE.includes(folder) && !APART.has(path))) return 'core'
  return APART.get(path) ?? TOGETHER.get(folder) ?? folder
}

/** The value exports of `lib/index.ts`, by room: the lines that export them. */
function rooms() {
  const found = new Map()
  const source = readFileSync(join(LIB, 'index.ts'), 'utf8')
  for (const [, names, module] of source.matchAll(/^export \{([^}]*)\} from '([^']+)'/gm)) {
    const values = names.split(',').filter((name) => name.trim() !== '' && !/^\s*type\s/.test(name))
    if (values.length === 0) continue
    const room = found.get(roomOf(module)) ?? { names: [], lines: [] }
    room.names.push(
      ...values.map((name) =>
        name
          .trim()
          .split(/\s+as\s+/)
          .at(-1),
      ),
    )
    room.lines.push(`export {${values.join(',')}} from '${module}'`)
    found.set(roomOf(module), room)
  }
  return found
}

/** All modules that this one needs when it is loaded. */
function reached(file, seen = new Set()) {
  if (seen.has(file)) return seen
  seen.add(file)
  for (const [, module] of readFileSync(file, 'utf8').matchAll(
    /^(?:import|export) (?!type\b)[^;]*?from '(\.[^']+)'/gm,
  )) {
    const path = join(dirname(file), module)
    const target = [`${path}.ts`, join(path, 'index.ts')].find((name) => isSource(name))
    if (target) reached(target, seen)
  }
  return seen
}

const sources = new Set(readdirSync(LIB, { recursive: true }).map((name) => join(LIB, name)))
const isSource = (path) => sources.has(path)

/** The entry: what is loaded at once, and a getter for each other name, which gives way to the value. */
function entry(found) {
  const lazy = [...found].filter(([room]) => room !== 'core')
  const lines = lazy.map(([room, { names }]) => `later(() => require('./room-${room}.js'), ${JSON.stringify(names)})`)
  return `'use strict'

const later = (load, names) => {
  for (const name of names) {
    Object.defineProperty(exports, name, {
      enumerable: true,
      configurable: true,
      get() {
        const value = load()[name]
        Object.defineProperty(exports, name, { enumerable: true, configurable: true, writable: true, value })
        return value
      },
    })
  }
}

Object.assign(exports, require('./room-core.js'))
${lines.join('\n')}
`
}

/** The entry points of the package besides its root, as `package.json` exports them, with the source of each. */
function entryPoints() {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  return Object.values(exports).flatMap((entry) => {
    const [, kind, name] = /^\.\/dist\/(adapters|entries)\/([\w-]+)\.js$/.exec(entry.require?.default ?? '') ?? []
    if (name === undefined) return []
    return [{ kind, name, source: kind === 'adapters' ? join(LIB, kind, `${name}.ts`) : join(LIB, name, 'index.ts') }]
  })
}

/** Named imports need an ES module; it only passes on what the CommonJS one has. Node's own lexer would not see all of it. */
function writeModule({ kind, name }) {
  const names = Object.keys(createRequire(import.meta.url)(join(DIST, kind, `${name}.js`))).sort()
  // OpenCode looks for its plugin in the default export. A default in the CommonJS module would hide its other names in Bun.
  const isPlugin = names.includes('id') && names.includes('server')
  const list = names.map((exported) => `  ${exported},\n`)
  const lines = [`import entry from './${name}.js'`, `export const {\n${list.join('')}} = entry`]
  if (isPlugin) lines.push('export default { id, server }')
  writeFileSync(join(DIST, kind, `${name}.mjs`), `${lines.join('\n\n')}\n`)
  const types = [`export * from './${name}.js'`]
  if (isPlugin) {
    types.push(`import { id, server } from './${name}.js'`)
    types.push('declare const plugin: { id: typeof id; server: typeof server }', 'export default plugin')
  }
  writeFileSync(join(DIST, kind, `${name}.d.mts`), `${types.join('\n')}\n`)
}

/** The licences of the packages in a file ask for their text beside every copy. */
function licences({ moduleIds }) {
  const inside = TAKEN_IN.filter((name) => moduleIds.some((id) => id.includes(join('node_modules', name, '/'))))
  const texts = inside.map((name) => {
    const text = readFileSync(join(ROOT, 'node_modules', name, 'LICENSE'), 'utf8').trim()
    return `/*!\n * With parts of ${name}:\n *\n * ${text.replace(/\n/g, '\n * ')}\n */`
  })
  return texts.join('\n')
}

/** True for a file that imports the package, or a file that does. */
function usesPackage(id) {
  if (!isSource(id)) return false
  return [...reached(id)].some((file) => /^import (?!type\b)[^;]*?from 'spillway/m.test(readFileSync(file, 'utf8')))
}

/** The modules that `spillway hook` loads, whichever event it is for. */
function modulesOfHook() {
  const folder = join(LIB, 'cli', 'hook')
  const parts = readdirSync(folder).map((name) => join(folder, name))
  const found = new Set()
  for (const file of [join(LIB, 'cli', 'router.ts'), join(LIB, 'cli', 'commands', 'hook.ts'), ...parts])
    reached(file, found)
  return found
}

/** The command: what every run of it needs is one file, and each subcommand another. It imports the package like any other program. */
async function bundleCommand() {
  const bundle = await rolldown({
    ...READ,
    input: join(LIB, 'cli', 'main.ts'),
    external: (id) => !isTakenIn(id) || id.endsWith('/package.json'),
  })
  const dir = join(DIST, 'cli')
  const hook = modulesOfHook()
  const paths = new Map(entryPoints().map(({ kind, name }) => [`spillway/${name}`, `../${kind}/${name}.js`]))
  paths.set('spillway', '../index.js')
  rmSync(dir, { recursive: true, force: true })
  await bundle.write({
    ...WRITTEN,
    dir,
    chunkFileNames: '[name].js',
    // By its path: the search for a package by its own name takes as long as compiling most of these files.
    paths: (id) => (id.endsWith('/package.json') ? '../../package.json' : (paths.get(id) ?? id)),
    // Modules of ES, which `import()` is for, take milliseconds to get ready. All that the command loads so is of CommonJS.
    dynamicImportInCjs: false,
    // Apart from each other, so that a hook that has nothing to do does not load the package, and none loads what only others need.
    codeSplitting: {
      groups: [
        { name: 'shared', minShareCount: 2, test: (id) => hook.has(id) && !usesPackage(id) },
        { name: 'package', minShareCount: 2, test: (id) => hook.has(id) },
        { name: 'shared-more', minShareCount: 2, test: (id) => !usesPackage(id) },
        { name: 'package-more', minShareCount: 2 },
      ],
    },
    banner: licences,
  })
  await bundle.close()
}

await main(async () => {
  const points = entryPoints()
  const found = rooms()
  const core = new Set(
    found.get('core').lines.flatMap((line) => [...reached(join(LIB, `${line.match(/'\.\/([^']+)'/)[1]}.ts`))]),
  )
  const name = (room) => join(LIB, `room of ${room}.ts`)
  const virtual = {
    name: 'rooms',
    resolveId: (id) => (found.has(id) ? name(id) : null),
    load: (id) => found.get(relative(LIB, id).match(/^room of (.*)\.ts$/)?.[1])?.lines.join('\n') ?? null,
  }
  const entries = [
    ...[...found.keys()].map((room) => [`room-${room}`, room]),
    ...points.map(({ kind, name, source }) => [`${kind}/${name}`, source]),
  ]
  const isOurs = (id) => isTakenIn(id) || found.has(id)
  const bundle = await rolldown({
    ...READ,
    input: Object.fromEntries(entries),
    external: (id) => !isOurs(id) || id.endsWith('/package.json'),
    treeshake: false,
    plugins: [virtual],
  })
  for (const file of readdirSync(DIST)) if (file.startsWith('room-')) rmSync(join(DIST, file))
  await bundle.write({
    ...WRITTEN,
    dir: DIST,
    exports: 'named',
    chunkFileNames: 'room-shared-[name].js',
    codeSplitting: {
      groups: [{ name: 'core', priority: 2, test: (id) => core.has(id) || id === name('core') }],
    },
    banner: licences,
    generatedCode: { symbols: false },
  })
  await bundle.close()
  writeFileSync(join(DIST, 'index.js'), entry(found))
  for (const point of points) writeModule(point)
  await bundleCommand()
  await buildUi()
})
