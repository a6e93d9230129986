import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'
import { exports as entries } from '../../package.json'

// Examples of the API reference are parts of programs: what Spillway exports is imported for them, and what else they name is `any`.
// So each must use our names, options and results as their types have them. The other pages are run, by `snippets.spec.ts`.
const ROOT = join(__dirname, '..', '..')
const PAGES = join(ROOT, 'docs', 'api')

/** The examples of a page, by the name they belong to: the blocks before its declaration, which is the last one. */
function examplesOf(page: string): { page: string; title: string; code: string }[] {
  const text = readFileSync(join(PAGES, page), 'utf8')
  return text.split(/^### /m).flatMap((section) => {
    const blocks = [...section.matchAll(/^```ts\n(.*?)\n```$/gms)].map(([, code = '']) => code)
    const title = `${page.replace('.md', '')}-${section.split('\n', 1)[0]}`
    return blocks
      .slice(0, -1)
      .map((code, at) => ({ page: page.replace('.md', ''), title: `${title}${at === 0 ? '' : `-${at}`}`, code }))
  })
}

const examples = readdirSync(PAGES).sort().flatMap(examplesOf)

/** Errors of TypeScript about a name that is declared nowhere. */
const UNKNOWN = new Set([2304, 2552, 18004])

let dir: string
beforeAll(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'spillway-api-examples-')))
  mkdirSync(join(dir, 'node_modules'))
  symlinkSync(ROOT, join(dir, 'node_modules', 'spillway'), 'dir')
  writeFileSync(join(dir, 'package.json'), '{ "type": "module" }')
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const fileOf = (title: string) => join(dir, `${title}.mts`)

function problemsOf(): { title: string; code: number; text: string; name: string }[] {
  const program = ts.createProgram(
    examples.map(({ title }) => fileOf(title)),
    {
      strict: true,
      exactOptionalPropertyTypes: true,
      noImplicitAny: false,
      noEmit: true,
      skipLibCheck: true,
      target: ts.ScriptTarget.ES2022,
      lib: ['lib.es2024.d.ts', 'lib.esnext.disposable.d.ts', 'lib.dom.d.ts'],
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      types: ['node'],
      typeRoots: [join(ROOT, 'node_modules', '@types')],
    },
  )
  return ts.getPreEmitDiagnostics(program).map(({ file, start = 0, length = 0, code, messageText }) => ({
    title: file?.fileName.split('/').at(-1)?.replace('.mts', '') ?? '',
    code,
    text: ts.flattenDiagnosticMessageText(messageText, ' '),
    name: file?.text.slice(start, start + length) ?? '',
  }))
}

/** Subpaths by the name of their pages; adapters are imported on their own pages only. */
const ENTRIES = Object.entries(entries as Record<string, { require?: { types?: string } }>).flatMap(
  ([subpath, { require: { types = '' } = {} }]) =>
    types === ''
      ? []
      : [{ name: `spillway${subpath.slice(1)}`, isAdapter: /adapters|ui/.test(types), path: join(ROOT, types) }],
)

/** Where a name is imported from: the page's own entry point first, then those of features. */
function importOf(name: string, page: string): string | undefined {
  const own = ({ name }: { name: string }) => name === `spillway/${page}`
  const isExported = ({ path }: { path: string }) =>
    new RegExp(
      `^export (?:declare )?(?:abstract )?(?:class|function|const) ${name}\\b|^export \\{[^}]*\\b${name}\\b[^}]*\\}`,
      'm',
    ).test(readFileSync(path, 'utf8'))
  return [...ENTRIES.filter(own), ...ENTRIES.filter(({ isAdapter }) => !isAdapter)].find(isExported)?.name
}

test('every example of the API reference compiles in the strictest mode', () => {
  expect(examples.length).toBeGreaterThan(50)
  for (const { title, code } of examples) writeFileSync(fileOf(title), `${code}\nexport {}\n`)
  const missing = new Map<string, Set<string>>()
  for (const { title, code, name } of problemsOf()) {
    if (UNKNOWN.has(code)) missing.set(title, (missing.get(title) ?? new Set()).add(name))
  }
  for (const { page, title, code } of examples) {
    const lines = [...(missing.get(title) ?? [])].map((name) => {
      const from = importOf(name, page)
      return from === undefined ? `declare let ${name}: any` : `import { ${name} } from '${from}'`
    })
    writeFileSync(fileOf(title), `${lines.join('\n')}\n${code}\nexport {}\n`)
  }
  expect(problemsOf().map(({ title, name, text }) => `${title}: ${name}: ${text}`)).toEqual([])
})
