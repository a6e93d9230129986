// The declarations of each entry point: one file for the root and one for each subpath. Every name is declared once, so that a
// class of one entry point is the same type in another: at the root if the root exports it, else in the subpath that does.
// Helper types that no entry point exports stay in `dist/entries/shared.d.ts`, which is not exported.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import ts from 'typescript'
import { ROOT, step } from './run.mjs'

const SHARED = 'shared'

/** Path of the declarations of an entry point in the package; the root has no name. */
const pathOf = (name) => (name === '' ? 'index.d.ts' : `dist/entries/${name}.d.ts`)

/** The features that are subpaths, in the order of `package.json`. */
export function subpaths() {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  return Object.values(exports).flatMap((entry) => {
    const [, name] = /^\.\/dist\/entries\/([\w-]+)\.js$/.exec(entry.require?.default ?? '') ?? []
    return name === undefined ? [] : [name]
  })
}

/** The names that a list of exports in `lib/` has. */
function exportedNames(name) {
  const file = join(ROOT, 'lib', name, 'index.ts')
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  return source.statements.flatMap(
    ({ exportClause }) => exportClause?.elements.map((element) => element.name.text) ?? [],
  )
}

/** All declarations of the package in one text. */
async function collect(names) {
  const folder = mkdtempSync(join(ROOT, 'dist', '.types-'))
  try {
    const everything = join(folder, 'everything.d.ts')
    const bundled = join(folder, 'bundled.d.ts')
    writeFileSync(everything, names.map((name) => `export * from '../${posix.join(name, 'index')}'\n`).join(''))
    await step('Collecting the types', 'npx', [
      ...['dts-bundle-generator', '--silent', '--no-banner', '--export-referenced-types=false'],
      ...['--project', 'tsconfig.json', '-o', bundled, everything],
    ])
    return readFileSync(bundled, 'utf8')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const declaredNames = (node) =>
  ts.isVariableStatement(node)
    ? node.declarationList.declarations.map(({ name }) => name.text)
    : node.name
      ? [node.name.text]
      : []

/** The identifiers in a node that may be references: not the names of its members and parameters. */
function identifiersOf(node, found = new Set()) {
  if (ts.isIdentifier(node)) found.add(node.text)
  const isOwnName = (child) => child === node.name && ts.isIdentifier(child)
  ts.forEachChild(node, (child) => void (isOwnName(child) || identifiersOf(child, found)))
  return found
}

/** A declaration with its own comment: the bundler leaves the comment of the source file in front of the first one. */
function textOf(node, source, isExported) {
  const from = node.jsDoc?.at(-1)?.pos ?? node.getStart(source)
  const comment = source.text.slice(from, node.getStart(source))
  const code = source.text.slice(node.getStart(source), node.end).replace(/^export (?=\w)/, '')
  return `${comment}${isExported ? 'export ' : ''}${code}`
}

/** The text of each declaration file, by its path in the package, and the names that each entry point exports. */
export async function declarations() {
  const names = ['', ...subpaths()]
  const exported = new Map(names.map((name) => [name, exportedNames(name)]))
  const source = ts.createSourceFile('all.d.ts', await collect(names), ts.ScriptTarget.Latest, true)
  const nodes = source.statements.filter((node) => declaredNames(node).length > 0)
  const imports = source.statements.filter(ts.isImportDeclaration)

  const homes = new Map()
  for (const [entry, list] of exported) for (const name of list) if (!homes.has(name)) homes.set(name, entry)
  // A helper belongs to the one file that uses it, or to the shared one.
  const helpers = nodes.flatMap(declaredNames).filter((name) => !homes.has(name))
  const usersOf = (helper, seen = new Set()) => {
    if (seen.has(helper)) return new Set()
    seen.add(helper)
    const users = nodes.filter((node) => !declaredNames(node).includes(helper) && identifiersOf(node).has(helper))
    return new Set(
      users
        .flatMap(declaredNames)
        .flatMap((name) => (helpers.includes(name) ? [...usersOf(name, seen)] : [homes.get(name)])),
    )
  }
  const placed = new Map(
    helpers.map((helper) => {
      const users = [...usersOf(helper)]
      return [helper, users.length === 1 ? users[0] : SHARED]
    }),
  )
  const publicNames = new Set(homes.keys())
  for (const [helper, home] of placed) homes.set(helper, home)

  const files = new Map()
  for (const name of [...names, SHARED]) {
    const own = nodes.filter((node) => homes.get(declaredNames(node)[0]) === name)
    if (name === SHARED && own.length === 0) continue
    const used = new Set(own.flatMap((node) => [...identifiersOf(node)]))
    const needed = new Map()
    for (const one of used) {
      const home = homes.get(one)
      if (home !== undefined && home !== name) needed.set(home, [...(needed.get(home) ?? []), one])
    }
    const passedOn = new Map()
    for (const one of exported.get(name) ?? []) {
      const home = homes.get(one)
      if (home !== name) passedOn.set(home, [...(passedOn.get(home) ?? []), one])
    }
    const specifier = (home) => {
      const path = posix.relative(posix.dirname(pathOf(name)), pathOf(home)).replace(/\.d\.ts$/, '.js')
      return path.startsWith('.') ? path : `./${path}`
    }
    const lines = [
      ...imports.flatMap((node) => {
        const wanted = node.importClause.namedBindings?.elements?.filter((element) => used.has(element.name.text)) ?? []
        const from = node.moduleSpecifier.text
        return wanted.length > 0
          ? [`import { ${wanted.map((one) => one.getText(source)).join(', ')} } from '${from}';`]
          : []
      }),
      ...[...needed].map(([home, list]) => `import { ${list.sort().join(', ')} } from '${specifier(home)}';`),
      ...[...passedOn].map(([home, list]) => `export { ${list.sort().join(', ')} } from '${specifier(home)}';`),
    ]
    const parts = own.map((node) => {
      const [first] = declaredNames(node)
      return textOf(node, source, name === SHARED || publicNames.has(first))
    })
    files.set(pathOf(name), `${[...lines, '', ...parts, '', 'export {};'].join('\n').trimStart()}\n`)
  }
  return { files, exported }
}

/** The declarations of each adapter and of the components, by the name of its subpath: `Map` from a name to `{ node, source }`. */
export function adapterDeclarations() {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const entries = Object.entries(exports).flatMap(([subpath, { require }]) => {
    const types = require?.types
    return types && !types.startsWith('./dist/entries/') && subpath !== '.'
      ? [[subpath.slice(2), join(ROOT, types)]]
      : []
  })
  const program = ts.createProgram(
    entries.map(([, file]) => file),
    {
      skipLibCheck: true,
      module: ts.ModuleKind.Node16,
      moduleResolution: ts.ModuleResolutionKind.Node16,
      noResolve: false,
    },
  )
  const checker = program.getTypeChecker()
  return entries.map(([entry, file]) => {
    const found = new Map()
    for (const symbol of checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)))) {
      const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
      const nodes = target.declarations.map((node) => (ts.isVariableDeclaration(node) ? node.parent.parent : node))
      found.set(
        symbol.name,
        nodes.map((node) => ({ node, source: node.getSourceFile() })),
      )
    }
    return [entry, found]
  })
}
