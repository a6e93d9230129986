// The entry points that are made from `lib/` and committed, so that a change of the public API shows in a review:
// `index.d.ts` has every type, `index.mjs` every name, `docs/api.md` what the types say. With `--check` nothing is written, and a difference fails.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { main, ROOT, step } from './run.mjs'

/** Writes the entry points, or names those that are not as they should be. */
export async function entries({ check = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-types-'))
  try {
    const types = join(folder, 'index.d.ts')
    await step('Collecting the types', 'npx', [
      ...[
        'dts-bundle-generator',
        '--silent',
        '--no-banner',
        '--project',
        'tsconfig.json',
        '-o',
        types,
        'dist/index.d.ts',
      ],
    ])
    const declarations = readFileSync(types, 'utf8')
    // It needs TypeScript, which is not there before something is installed.
    const { apiPage } = await import('./api.mjs')
    const made = { 'index.d.ts': declarations, 'index.mjs': esModule(), 'docs/api.md': apiPage(declarations) }
    const stale = Object.entries(made).filter(([name, text]) => {
      const path = join(ROOT, name)
      return !existsSync(path) || readFileSync(path, 'utf8') !== text
    })
    if (!check) for (const [name, text] of stale) writeFileSync(join(ROOT, name), text)
    return stale.map(([name]) => name)
  } finally {
    rmSync(folder, { recursive: true })
  }
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
