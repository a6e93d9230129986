import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { TruncationService } from 'spillway'
import { tempDir } from '../support/temp'

const ROOT = join(__dirname, '..', '..')
const read = (...path: string[]) => readFileSync(join(ROOT, ...path), 'utf8')

describe('docs/errors.md', () => {
  const page = read('docs', 'errors.md')
  const chapters = [...page.matchAll(/^## ([A-Z_]+)$/gm)].map(([, code]) => code).sort()
  const publicCodes = [...read('lib', 'errors.ts').matchAll(/^ {2}\| '([A-Z_]+)'$/gm)].map(([, code]) => code)
  const nativeCodes = [...read('src', 'error.rs').matchAll(/Code::\w+ => "([A-Z_]+)"/g)].map(([, code]) => code)

  test('has a chapter for every code, and none for another', () => {
    expect(publicCodes.length).toBeGreaterThan(10)
    expect(chapters).toEqual([...publicCodes].sort())
    expect(nativeCodes.length).toBeGreaterThan(5)
    expect(nativeCodes.filter((code) => !chapters.includes(code))).toEqual([])
  })

  test('lists each of them in the table', () => {
    const rows = [...page.matchAll(/^\| \[`([A-Z_]+)`\]\(#([a-z_]+)\)/gm)]
    expect(rows.map(([, code]) => code).sort()).toEqual(chapters)
    for (const [, code, anchor] of rows) expect(anchor).toBe(code!.toLowerCase())
  })

  test('quotes what the loader really says', () => {
    const loader = read('lib', 'native', 'load-binary.ts')
    for (const words of [
      'is not installed',
      'but this Node.js runs on',
      'It needs glibc',
      'It was made for another processor',
      'The file is damaged',
      'spillway has no binary for',
      'is of version',
    ]) {
      expect({ words, page: page.includes(words), loader: loader.includes(words) }).toEqual({
        words,
        page: true,
        loader: true,
      })
    }
  })
})

const skipped = /(^|[\\/])(node_modules|target|dist|results|corpus|fixtures|npm)([\\/]|$)/
const pages = ['.', 'docs', 'examples', 'benchmark', 'torture', 'fuzz', '__test__'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: folder !== '.', encoding: 'utf8' })
    .filter((name) => /\.md$|^llms\.txt$/.test(name) && !skipped.test(name))
    .map((name) => (folder === '.' ? name : `${folder}/${name.replaceAll('\\', '/')}`)),
)

const rustFiles = new Set(
  ['src', 'tests', 'torture/src', 'fuzz']
    .flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }))
    .filter((name) => name.endsWith('.rs'))
    .map((name) => name.replace(/^.*[\\/]/, '')),
)

/** The anchors of a page: its headings as GitHub names them. */
function anchorsOf(page: string): Set<string> {
  const seen = new Map<string, number>()
  const headings = read(page)
    .replaceAll(/^```[\s\S]*?^```/gm, '')
    .matchAll(/^#{1,6} +(.+)$/gm)
  return new Set(
    [...headings].map(([, heading]) => {
      const text = heading!.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').trim()
      const name = text
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
        .replaceAll(' ', '-')
      const before = seen.get(name) ?? 0
      seen.set(name, before + 1)
      return before === 0 ? name : `${name}-${before}`
    }),
  )
}

describe('links', () => {
  test('are looked for in every page', () => {
    expect(pages).toEqual(
      expect.arrayContaining(['README.md', 'llms.txt', 'docs/faq.md', 'docs/zh-CN/mcp.md', 'docs/api/fold.md']),
    )
  })

  test.each(pages)('lead from %s to files and headings that exist', (page) => {
    const text = read(page)
      .replaceAll(/```[\s\S]*?```/g, '')
      .replaceAll(/`[^`\n]*`/g, '')
    const links = [...text.matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)/g)]
    const missing = links.filter(([, link, anchor]) => {
      const target = link ? join(dirname(page), decodeURI(link)) : page
      if (!existsSync(join(ROOT, target))) return true
      return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).has(decodeURIComponent(anchor))
    })
    expect(missing.map(([link]) => link)).toEqual([])
  })
})

test.each(pages.filter((page) => !page.startsWith('docs/api/')))(
  '%s names only files of the tree that exist',
  (page) => {
    const text = read(page).replaceAll(/```[\s\S]*?```/g, '')
    const paths = [...text.matchAll(/`((?:src|lib|scripts|__test__|benchmark|torture|fuzz)\/[\w./-]+?\/?)`/g)].map(
      ([, path]) => path!,
    )
    const built = /^src\/a(\.ts)?$|^(benchmark|torture|fuzz)\/(results|target|node_modules|corpus)/ // the pages' own example, and what runs make
    const exists = (path: string) => [ROOT, join(ROOT, dirname(page))].some((folder) => existsSync(join(folder, path)))
    expect(paths.filter((path) => !built.test(path) && !exists(path))).toEqual([])
    const modules = [...text.matchAll(/`([\w-]+\.rs)`/g)].map(([, name]) => name!)
    expect(modules.filter((name) => !rustFiles.has(name))).toEqual([])
  },
)

test.each(pages.filter((page) => page.startsWith('docs/api/')))(
  '%s shows no private member, only constructors',
  (page) => {
    const privates = read(page).match(/^ *(private|#)\b.*$/gm) ?? []
    expect(privates.filter((line) => !line.includes('private constructor('))).toEqual([])
  },
)

test('both glossaries have the same words', () => {
  const english = [...read('docs', 'glossary.md').matchAll(/^\| (\*\*.*?) +\|/gm)].map(([, words]) =>
    words!.replaceAll('**', ''),
  )
  const chinese = [...read('docs', 'glossary.zh-CN.md').matchAll(/^\| [^|]+\| ([a-z][^|]*?) +\|/gm)].map(
    ([, words]) => words,
  )
  expect(english.length).toBeGreaterThan(40)
  expect(chinese).toEqual(english)
})

test('the recorded session of README is what the commands print', () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/docs/session.mjs', '--check'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})

test.each([
  ['README.md', 'en'],
  ['README.zh-CN.md', 'zh-CN'],
] as const)('the notice in %s is the one that a model reads', async (page, language) => {
  const availableTools = ['read_output', 'search_output']
  const service = new TruncationService({ language, availableTools, global: { storageDir: tempDir() } })
  const printed = Array.from({ length: 3843 }, (_, index) => `line ${index + 1}`).join('\n')
  const { content } = await service.output(printed, { toolName: 'bash', failed: true })
  const notice = content.slice(0, content.indexOf('\n\nline 3344\n'))
  const path = /\/\S*tool-output\/bash_\S+\.txt/
  expect(read(page).replace(path, 'PATH')).toContain(`\n${notice.replace(/(: ?|：)\S+\.txt$/m, '$1PATH')}\n\n…\n`)
})

test.each([
  ['README.md', 'ms', 'ns'],
  ['README.zh-CN.md', '毫秒', '纳秒'],
])('the speeds in %s are those of the kept benchmark', (page, ms, ns) => {
  const kept: { tables: { suites: { rows: { work: string; ours: { median: number; max: number } }[] }[] }[] } =
    JSON.parse(read('benchmark', 'results', 'latest.json'))
  const rows = kept.tables.flatMap(({ suites }) => suites.flatMap((suite) => suite.rows))
  const timesOf = (name: string) => rows.find(({ work }) => work === name)!.ours
  const stall = timesOf('longest stall, 100 MB string, ASCII')
  const text = read(page)
  expect(text).toContain(`**${stall.median.toFixed(2)} ${ms}**`)
  expect(text).toContain(`${stall.max.toFixed(2)} ${ms}`)
  expect(text).toContain(`**${(timesOf('nothing to do, 100 B ASCII').median * 1e6).toFixed(0)} ${ns}**`)
})

// The package is on no registry: a package with this name there belongs to others.
describe('no page, help or error names our package on a registry', () => {
  const names = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter(
    (path) =>
      /^(docs|lib|examples|npm|schema)[\\/].*\.(md|ts|mjs|cjs|js|json|html)$|^[^\\/]+\.(md|txt)$/.test(path) &&
      !/node_modules|CONTRIBUTING/.test(path),
  )
  const runners = /\b(?:npx|bunx|pnpm dlx|yarn dlx|npm exec)\s+(?!--no-install\b)(?:-\S+\s+)*spillway\b(?!-)/
  const installs =
    /\b(?:npm|pnpm|yarn|bun|deno)[ \t]+(?:install|i|add)\b(?:[ \t]+(?!&&|with\b|it\b|in\b)\S+)*?[ \t]+(?:npm:)?spillway(?:-\w+)*(?:@\S*)?(?=[\s`'",;)]|$)/m
  const asList = /['"]npx['"],\s*(?:["']?args["']?\s*[:=]\s*)?\[?\s*(?:['"]-y['"],\s*)?['"]spillway['"]/
  const plugins = /["']?plugin["']?\s*:\s*\[\s*\[?\s*["']spillway["']/

  test.each([
    ['npx spillway run', true],
    ['npx -y spillway run', true],
    ['npm install spillway', true],
    ['npm install --save spillway-linux-x64-gnu@0.1.0', true],
    ['"command": "npx", "args": ["spillway", "mcp"]', true],
    ['"plugin": ["spillway"]', true],
    ['npx --no-install spillway run', false],
    ['npm install /path/to/spillway', false],
    ['npm install ./packages/spillway-0.1.0.tgz', false],
    ['npm install && npm run build', false],
  ])('%s: %p', (text, isFound) => {
    expect([runners, installs, asList, plugins].some((each) => each.test(text))).toBe(isFound)
  })

  test('in none of the files', () => {
    expect(names.length).toBeGreaterThan(50)
    const found = names.flatMap((name) =>
      [runners, installs, asList, plugins]
        .flatMap((each) => each.exec(read(name))?.[0] ?? [])
        .map((text) => `${name}: ${text}`),
    )
    expect(found).toEqual([])
  })
})
