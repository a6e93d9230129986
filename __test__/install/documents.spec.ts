import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

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
    const loader = read('lib', 'binary.ts')
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

const pages = ['README.md', 'README.zh-CN.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md']
const docs = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'))

test.each([...pages, ...docs.map((name) => `docs/${name}`)])('%s links only to what is there', (page) => {
  const text = read(page).replaceAll(/```[\s\S]*?```/g, '')
  const links = [...text.matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g)].map(([, link]) => link!)
  const missing = links.filter((link) => !existsSync(join(ROOT, dirname(page), decodeURI(link))))
  expect(missing).toEqual([])
})

test('the recorded session of README is what the commands print', () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/session.mjs', '--check'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})
