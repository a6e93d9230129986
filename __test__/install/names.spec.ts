// One name, one thing: no two modules of `lib/` export different things under one name, and no two entry points do.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

const ROOT = join(__dirname, '..', '..')
const LIB = join(ROOT, 'lib')

/** Modules of these folders do the same for another framework, agent, log or message format each, under the same names. */
const FAMILIES = [/^adapters\/(?!mcp\/|shared\/)[\w-]+\//, /^cli\/agents\//, /^report\/logs\//, /^history\/formats\//]
/** Functions and types that each framework's entry point has for that framework. */
const PER_FRAMEWORK = ['HostToolsOptions', 'SpillwaySettings', 'hostTools', 'outputTools', 'withSpillway']

const parse = (file: string) =>
  ts.createSourceFile(file, readFileSync(join(LIB, file), 'utf8'), ts.ScriptTarget.Latest, true)

/** Names that a module declares and exports. */
function declaredIn(file: string): string[] {
  return parse(file).statements.flatMap((node) => {
    const modifiers = ts.canHaveModifiers(node) ? ts.getModifiers(node) : undefined
    if (!modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return []
    if (ts.isVariableStatement(node)) return node.declarationList.declarations.map(({ name }) => name.getText())
    const { name } = node as ts.DeclarationStatement
    return name === undefined ? [] : [name.getText()]
  })
}

/** Names that an entry point passes on, each with the module that declares it. */
function passedOnBy(entry: string): [name: string, module: string][] {
  return parse(entry).statements.flatMap((node) => {
    if (!ts.isExportDeclaration(node) || !node.exportClause || !ts.isNamedExports(node.exportClause)) return []
    const from = (node.moduleSpecifier as ts.StringLiteral).text
    if (!from.startsWith('.')) return []
    const module = join(entry, '..', from).replaceAll('\\', '/')
    return node.exportClause.elements.map(({ name, propertyName }): [string, string] => [
      name.text,
      `${module}#${(propertyName ?? name).text}`,
    ])
  })
}

/** Keys that have more than one value, with their values. */
function ambiguous(pairs: readonly (readonly [string, string])[]): [string, string[]][] {
  const all = new Map<string, Set<string>>()
  for (const [key, value] of pairs) all.set(key, (all.get(key) ?? new Set()).add(value))
  return [...all].filter(([, values]) => values.size > 1).map(([key, values]) => [key, [...values].sort()])
}

const modules = readdirSync(LIB, { recursive: true, encoding: 'utf8' })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))

test('no two modules export different things under one name', () => {
  const exported = modules.flatMap((file) => declaredIn(file).map((name) => [name, file] as const))
  const familyOf = (file: string) => (FAMILIES.some((folder) => folder.test(file)) ? 'a family' : file)
  expect(exported.length).toBeGreaterThan(1000)
  expect(ambiguous(exported).filter(([, files]) => new Set(files.map(familyOf)).size > 1)).toEqual([])
})

test('a name means the same in every entry point', () => {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { exports: object }
  const entries = Object.keys(exports).flatMap((subpath) => {
    const name = subpath.slice(2)
    return [join(name, 'index.ts'), `adapters/${name}.ts`].filter((file) => existsSync(join(LIB, file))).slice(0, 1)
  })
  expect(entries.length).toBeGreaterThan(20)
  const names = entries.flatMap(passedOnBy).filter(([name]) => !PER_FRAMEWORK.includes(name))
  expect(ambiguous(names)).toEqual([])
})
