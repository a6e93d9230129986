// The components of `spillway/ui`: one module for browsers, with its stylesheet in it, the same in CommonJS, and its declarations.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { ROOT, step } from './run.mjs'

const OUT = join(ROOT, 'dist', 'ui')

/** A stylesheet as a module: its text without comments and needless spaces. */
const stylesheet = {
  name: 'stylesheet',
  load(id) {
    if (!id.endsWith('.css')) return null
    const text = readFileSync(id, 'utf8').replaceAll(/\/\*.*?\*\//gs, '')
    const lines = text.replaceAll(/\s*\n\s*/g, '')
    const code = `export default ${JSON.stringify(lines.replaceAll(/([:,]) | (?={)/g, '$1').replaceAll(';}', '}'))}`
    return { code, moduleType: 'js' }
  },
}

async function bundleOne(name, { format = 'esm', file = `${name}.mjs` } = {}) {
  const bundle = await rolldown({
    input: join(ROOT, 'lib', 'ui', `${name}.ts`),
    platform: 'browser',
    transform: { target: 'es2022' },
    plugins: [stylesheet],
  })
  await bundle.write({ file: join(OUT, file), format, minify: true })
  await bundle.close()
}

export async function buildUi() {
  await step('Checking the components', 'npx', ['tsc', '-p', 'lib/ui'])
  await bundleOne('index')
  // For tests in CommonJS, and pages of Electron that call `require`.
  await bundleOne('index', { format: 'cjs', file: 'index.js' })
  await bundleOne('view-page')
  writeFileSync(join(OUT, 'index.d.mts'), "export * from './index.js'\n")
}
