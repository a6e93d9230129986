import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { exports as entries } from '../../package.json'
import { ROOT, strictProblems, strictProject } from './strict-project'

// Examples of the API reference are parts of programs: what Spillway exports is imported for them, and names of the reader's
// own are `any`. So each must use our names, options and results as their types have them. The other pages are run, by `snippets.spec.ts`.
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

/** Names that examples leave to the reader. A name of ours that is misspelt is not among them. */
const OF_READER = [
  ...'Agent api askTheUser base bash checkpointer config contextWindowTokens controls conversationId coordination'.split(
    ' ',
  ),
  ...'createAgent createServer cwd gate generateText handler heads homedir humanInTheLoopMiddleware initialState'.split(
    ' ',
  ),
  ...'inputSchema join ledger log message messages model modes myTools next objects outputs overflow permission'.split(
    ' ',
  ),
  ...'policy query rawClient registry response server service session sessionId show sql stepCountIs storage stored'.split(
    ' ',
  ),
  ...'streamFn summarize systemPrompt text token toolCallId tools truncation vault wrapLanguageModel'.split(' '),
]

/** Errors of TypeScript about a name that is declared nowhere. */
const UNKNOWN = new Set([2304, 2552, 18004])

let dir: string
beforeAll(() => {
  dir = strictProject('api-examples')
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const fileOf = (title: string) => `${title}.mts`
const write = (title: string, code: string) => writeFileSync(join(dir, fileOf(title)), `${code}\nexport {}\n`)
const problems = () =>
  strictProblems(
    dir,
    examples.map(({ title }) => fileOf(title)),
    { noImplicitAny: false },
  )

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
  for (const { title, code } of examples) write(title, code)
  const unknown = problems().filter(({ code }) => UNKNOWN.has(code))
  const ofReader = new Set<string>()
  for (const { page, title, code } of examples) {
    const names = new Set(unknown.flatMap(({ file, about }) => (file === fileOf(title) ? [about] : [])))
    const lines = [...names].map((name) => {
      const from = importOf(name, page)
      if (from === undefined) ofReader.add(name)
      return from === undefined ? `declare let ${name}: any` : `import { ${name} } from '${from}'`
    })
    write(title, [...lines, code].join('\n'))
  }
  expect(problems().map(({ file, about, message }) => `${file}: ${about}: ${message}`)).toEqual([])
  expect([...ofReader].sort()).toEqual(OF_READER)
})
