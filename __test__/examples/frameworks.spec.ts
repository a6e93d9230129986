import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { tempDir } from '../support/temp'

// Here run the examples that need no framework, with packages whose model is scripted: it calls the tool, and repeats what it read
// as its answer. `npm run test:adapters` compiles the others against the real frameworks and runs them with the frameworks' own mocks.
const ROOT = join(__dirname, '..', '..')
const EXAMPLES = join(ROOT, 'examples', 'frameworks')
const files = readdirSync(EXAMPLES).filter((name) => name.endsWith('.ts'))

const SCRIPTED: Record<string, string> = {
  '@anthropic-ai/sdk': `export default class Anthropic {
    messages = {
      create: async ({ tools, messages }) => {
        const read = messages.at(-1).content
        if (typeof read === 'string') return { content: [{ type: 'tool_use', id: 'c1', name: tools[0].name, input: {} }] }
        return { content: [{ type: 'text', text: read[0].content }] }
      },
    }
  }`,
  openai: `export default class OpenAI {
    chat = {
      completions: {
        create: async ({ tools, messages }) => {
          const { role, content } = messages.at(-1)
          const call = { id: 'c1', type: 'function', function: { name: tools[0].function.name, arguments: '{}' } }
          const asked = { role: 'assistant', content: null, tool_calls: [call] }
          return { choices: [{ message: role === 'user' ? asked : { role: 'assistant', content } }] }
        },
      },
    }
  }`,
  '@google/genai': `export class GoogleGenAI {
    models = {
      generateContent: async ({ contents, config }) => {
        const [part] = contents.at(-1).parts
        const functionCall = { name: config.tools[0].functionDeclarations[0].name, args: {} }
        const content = { role: 'model', parts: [{ functionCall }] }
        if (part.text !== undefined) return { candidates: [{ content }], functionCalls: [functionCall] }
        return { candidates: [{ content }], text: part.functionResponse.response.output }
      },
    }
  }`,
}

/** A folder with the examples as Node 20 runs them, and a long log. */
function folder(): string {
  const dir = tempDir()
  mkdirSync(join(dir, 'node_modules'))
  symlinkSync(ROOT, join(dir, 'node_modules', 'spillway'), 'junction')
  for (const [name, code] of Object.entries(SCRIPTED)) {
    mkdirSync(join(dir, 'node_modules', name), { recursive: true })
    writeFileSync(join(dir, 'node_modules', name, 'package.json'), '{ "exports": "./index.mjs" }')
    writeFileSync(join(dir, 'node_modules', name, 'index.mjs'), code)
  }
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }
  for (const file of files) {
    const { outputText } = ts.transpileModule(readFileSync(join(EXAMPLES, file), 'utf8'), { compilerOptions })
    writeFileSync(join(dir, file.replace('.ts', '.mjs')), outputText.replaceAll(/'(\.\/\w+)\.ts'/g, "'$1.mjs'"))
  }
  writeFileSync(
    join(dir, 'build.log'),
    Array.from({ length: 5000 }, (_, at) => `step ${at + 1} of the build`).join('\n'),
  )
  return dir
}

function run(args: string[], input = '') {
  const cwd = folder()
  const env = { ...process.env, NODE_OPTIONS: '', SPILLWAY_STORAGE_DIR: join(cwd, 'outputs') }
  return spawnSync(process.execPath, args, { cwd, env, input, encoding: 'utf8', timeout: 60_000 })
}

test('every framework that has an adapter has an example, and each is short and imports the package', () => {
  const adapters = readdirSync(join(ROOT, 'lib', 'adapters')).filter(
    (name) => name.endsWith('.ts') && name !== 'otel.ts',
  )
  const of = (name: string) => files.includes(name) || files.includes(name.replace('.ts', '-proxy.ts'))
  expect(adapters.filter((name) => !of(name))).toEqual([])
  for (const file of files) {
    const code = readFileSync(join(EXAMPLES, file), 'utf8')
    expect([file, code.trimEnd().split('\n').length <= 30]).toEqual([file, true])
    expect([file, /from 'spillway/.test(code)]).toEqual([file, true])
  }
})

test.each(['anthropic', 'openai', 'gemini'])('%s: the model reads a preview that names the saved log', (name) => {
  const { status, stdout, stderr } = run([`${name}.mjs`, 'Why did the build fail?'])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toMatch(/^step 1 of the build\n[\s\S]*truncated[\s\S]*Full output saved to: .*build_log_/)
  expect(stdout).not.toContain('step 4000 ')
})

test('mcp-proxy: a long result of a server is truncated', () => {
  const server = `process.stdin.on('data', (line) => {
    const { id } = JSON.parse(line)
    const content = [{ type: 'text', text: 'open issue\\n'.repeat(50_000) }]
    console.log(JSON.stringify({ jsonrpc: '2.0', id, result: { content } }))
  })`
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'issues', arguments: {} } }
  const { status, stdout } = run(['mcp-proxy.mjs', process.execPath, '-e', server], `${JSON.stringify(call)}\n`)
  expect(status).toBe(0)
  const { result } = JSON.parse(stdout)
  expect(result.content[0].text.length).toBeLessThan(40_000)
  expect(result.content[0].text).toContain('Full output saved to')
})
