import { spawnSync } from 'node:child_process'
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

// Every block of code in README and docs is a whole module: it compiles under `strict` and it runs. A block whose fence says
// `needs=<package>` is for a framework; `npm run test:adapters` has those, and here only its syntax is checked.
const ROOT = join(__dirname, '..', '..')
const PAGES = [
  ...['README.md', 'README.zh-CN.md', 'SECURITY.md'],
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !/(^|\/)api(\.md|\/)/.test(name))
    .map((name) => join('docs', name)),
]

interface Block {
  page: string
  line: number
  /** The words after the language: `needs=ai`, `file=name.mjs`. */
  info: string
  code: string
}

function blocksOf(page: string): Block[] {
  const lines = readFileSync(join(ROOT, page), 'utf8').split('\n')
  const blocks: Block[] = []
  for (let at = 0; at < lines.length; at++) {
    const [, info = ''] = /^```(?:ts|js|typescript|javascript|mjs)\b(.*)$/.exec(lines[at] ?? '') ?? []
    if (!/^```(?:ts|js|typescript|javascript|mjs)\b/.test(lines[at] ?? '')) continue
    const end = lines.indexOf('```', at)
    blocks.push({ page, line: at + 1, info: info.trim(), code: lines.slice(at + 1, end).join('\n') })
    at = end
  }
  return blocks
}

const blocks = PAGES.flatMap(blocksOf)
const nameOf = ({ page, line }: Block) => `${page.replace(/\W+/g, '-')}-${line}`
const isForFramework = ({ info, code }: Block) =>
  /\bneeds=/.test(info) || /from '(?!node:|spillway'|\.)[^']+'/.test(code)
const runs = blocks.filter((block) => !isForFramework(block))

let dir: string
beforeAll(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'spillway-snippets-')))
  mkdirSync(join(dir, 'node_modules', '@types'), { recursive: true })
  symlinkSync(ROOT, join(dir, 'node_modules', 'spillway'), 'dir')
  symlinkSync(join(ROOT, 'node_modules', '@types', 'node'), join(dir, 'node_modules', '@types', 'node'), 'dir')
  symlinkSync(join(ROOT, 'node_modules', 'undici-types'), join(dir, 'node_modules', 'undici-types'), 'dir')
  writeFileSync(join(dir, 'package.json'), '{ "type": "module" }')
  for (const block of runs) writeFileSync(join(dir, `${nameOf(block)}.ts`), `${block.code}\nexport {}\n`)
})

afterAll(() => rmSync(dir, { recursive: true, force: true }))

test('there are blocks to check', () => {
  expect(runs.length).toBeGreaterThan(20)
})

test.each([
  ['nodenext', ts.ModuleKind.NodeNext, ts.ModuleResolutionKind.NodeNext],
  ['bundler', ts.ModuleKind.ESNext, ts.ModuleResolutionKind.Bundler],
])('every block compiles under strict with module resolution %s', (_, module, moduleResolution) => {
  const program = ts.createProgram(
    runs.map((block) => join(dir, `${nameOf(block)}.ts`)),
    {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      target: ts.ScriptTarget.ES2022,
      module,
      moduleResolution,
      types: ['node'],
      typeRoots: [join(dir, 'node_modules', '@types')],
    },
  )
  const found = ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const line = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line + 1 : 0
    return `${file?.fileName.split('/').at(-1)}:${line} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
  })
  expect(found).toEqual([])
})

test.each(blocks.filter(isForFramework).map((block) => [nameOf(block), block] as const))(
  '%s has the syntax of TypeScript',
  (_, { code }) => {
    const { diagnostics } = ts.transpileModule(code, {
      reportDiagnostics: true,
      compilerOptions: { module: ts.ModuleKind.ESNext },
    })
    expect(diagnostics?.map(({ messageText }) => messageText)).toEqual([])
  },
)

test.each(runs.map((block) => [`${block.page}:${block.line}`, block] as const))('%s runs', (_, block) => {
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }
  const file = join(dir, `${nameOf(block)}.mjs`)
  writeFileSync(file, ts.transpileModule(block.code, { compilerOptions }).outputText)
  const cwd = join(dir, `run-${nameOf(block)}`)
  mkdirSync(cwd)
  const env = {
    ...process.env,
    // A policy refuses the home of the user, and a folder above it, as the vault.
    HOME: join(dir, 'home'),
    XDG_DATA_HOME: join(cwd, 'data'),
    SPILLWAY_STORAGE_DIR: join(cwd, 'outputs'),
  }
  const { status, stderr } = spawnSync(process.execPath, [file], { cwd, env, encoding: 'utf8', timeout: 30_000 })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})
