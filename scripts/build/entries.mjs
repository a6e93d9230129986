// The entry points that are made from `lib/`: the declarations of the root and of each subpath, `index.mjs`, and `docs/api/`.
// Those outside `dist/` are committed, so that a change of the public API shows in a review. With `--check` nothing that is
// committed is written, and a difference fails.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { main, ROOT } from './run.mjs'

const PAGES = 'docs/api'

/** Writes the entry points, or returns the names of those that are out of date. */
export async function entries({ check = false } = {}) {
  // They need TypeScript, which is not there before something is installed.
  const [{ declarations }, { apiPages }] = await Promise.all([import('./declarations.mjs'), import('./api.mjs')])
  const { files, exported } = await declarations()
  // The declarations of adapters import these.
  for (const [name, text] of files) if (isBuilt(name)) write(name, text)
  const pages = apiPages(files, exported)
  const made = new Map([...files, ['index.mjs', esModule()], ...pages])
  const stale = [...made].filter(([name, text]) => {
    const path = join(ROOT, name)
    return !existsSync(path) || readFileSync(path, 'utf8') !== text
  })
  const pagesFolder = join(ROOT, PAGES)
  const old = existsSync(pagesFolder)
    ? readdirSync(pagesFolder).flatMap((name) => (made.has(`${PAGES}/${name}`) ? [] : [`${PAGES}/${name}`]))
    : []
  if (!check) {
    for (const [name, text] of stale) write(name, text)
    for (const name of old) rmSync(join(ROOT, name))
  }
  return [...stale.map(([name]) => name), ...old]
}

const isBuilt = (name) => name.startsWith('dist/')

function write(name, text) {
  mkdirSync(dirname(join(ROOT, name)), { recursive: true })
  writeFileSync(join(ROOT, name), text)
}

/** The ES module only passes on what the CommonJS one has, so that there is one copy of every class. */
function esModule() {
  const names = Object.keys(createRequire(import.meta.url)('../../index.js')).sort()
  return `import spillway from './index.js'\n\nexport const {\n${names.map((name) => `  ${name},\n`).join('')}} = spillway\n\nexport default spillway\n`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    const check = process.argv.includes('--check')
    const stale = await entries({ check })
    if (check && stale.length > 0)
      throw new Error(`${stale.join(', ')} differ from lib/: run npm run build and commit them`)
  })
}
