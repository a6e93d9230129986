import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { ROOT, strictProblems, strictProject } from './strict-project'

// Every block of code in README and docs is a whole module: it compiles under `strict` and it runs. A block that imports a
// framework compiles and runs here with a stand-in (`stand-ins/`), and the test's title says so; `npm run test:adapters` compiles
// the blocks of `docs/recipes.md` against the real frameworks and runs an agent with each.
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

/** Packages that the pages import, and the file of the stand-in for each. */
const STAND_INS: Record<string, string> = {
  '@anthropic-ai/claude-agent-sdk': 'claude-agent-sdk',
  '@aws-sdk/client-s3': 'aws-sdk-client-s3',
  pg: 'pg',
  redis: 'redis',
  '@earendil-works/pi-agent-core': 'pi-agent-core',
  '@langchain/langgraph': 'langchain-langgraph',
  '@opentelemetry/api': 'opentelemetry-api',
  '@openai/agents': 'openai-agents',
  ai: 'ai',
  esbuild: 'esbuild',
  langchain: 'langchain',
}
const frameworksOf = ({ code }: Block) =>
  [...code.matchAll(/from '(?!node:|spillway['/]|\.)([^']+)'/g)].map(([, name = '']) => name)
const howRun = (block: Block) => {
  const names = frameworksOf(block)
  return names.length === 0 ? 'with Node alone' : `with a stand-in for ${names.join(' and ')}`
}

const JS = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }
const jsOf = (code: string) => ts.transpileModule(code, { compilerOptions: JS }).outputText

let dir: string
beforeAll(() => {
  dir = strictProject('snippets')
  for (const [name, file] of Object.entries(STAND_INS)) {
    const folder = join(dir, 'node_modules', name)
    const code = readFileSync(join(__dirname, 'stand-ins', `${file}.ts`), 'utf8')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'index.mts'), code)
    writeFileSync(join(folder, 'index.mjs'), jsOf(code))
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, exports: './index.mjs' }))
  }
  for (const block of blocks) writeFileSync(join(dir, `${nameOf(block)}.ts`), `${block.code}\nexport {}\n`)
})

afterAll(() => rmSync(dir, { recursive: true, force: true }))

test('there are blocks to check, and each framework that they import has a stand-in', () => {
  expect(blocks.length).toBeGreaterThan(50)
  expect([...new Set(blocks.flatMap(frameworksOf))].sort()).toEqual(Object.keys(STAND_INS).sort())
})

test('a tool that runs a command saves its output where the tools that read outputs look', () => {
  const tools = blocks.filter(
    ({ code }) => /runCommand\(/.test(code) && /guardTool\(/.test(code) && /sessionId: '/.test(code),
  )
  expect(tools.map(nameOf)).not.toEqual([])
  for (const { code } of tools) expect(code).toMatch(/\bservice: \w+, sessionId\b/)
})

test.each([
  ['nodenext', ts.ModuleKind.NodeNext, ts.ModuleResolutionKind.NodeNext],
  ['bundler', ts.ModuleKind.ESNext, ts.ModuleResolutionKind.Bundler],
])('every block compiles in the strictest mode with module resolution %s', (_, module, moduleResolution) => {
  const files = blocks.map((block) => `${nameOf(block)}.ts`)
  const found = strictProblems(dir, files, { module, moduleResolution }).map(
    ({ file, line, message }) => `${file}:${line} ${message}`,
  )
  expect(found).toEqual([])
})

test.each(blocks.map((block) => [`${block.page}:${block.line}`, howRun(block), block] as const))(
  '%s runs %s',
  (_, __, block) => {
    const file = join(dir, `${nameOf(block)}.mjs`)
    writeFileSync(file, jsOf(block.code))
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
  },
)
