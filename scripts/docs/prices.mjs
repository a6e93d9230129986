// Writes the table of prices in docs/pruning.md from `lib/pruning/price-table.ts`. Needs the built package.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import prices from '../../dist/pruning/price-table.js'
import { ROOT } from '../build/run.mjs'

const { TABLE } = prices

const head = '| model | read | write | lifetime | source | day |\n| --- | ---: | ---: | ---: | --- | --- |'
const rows = TABLE.map(({ models, read, write, lifetimeMs, source, day }) => {
  const names = Object.keys(models)
    .map((model) => `\`${model}\``)
    .join(', ')
  return `| ${[names, read, write, `${lifetimeMs / 60_000} min`, source, day].join(' | ')} |`
})
const page = join(ROOT, 'docs/pruning.md')
const [before, , after] = readFileSync(page, 'utf8').split(/<!-- (?:prices|end of prices) -->\n/)
writeFileSync(page, `${before}<!-- prices -->\n\n${[head, ...rows].join('\n')}\n\n<!-- end of prices -->\n${after}`)
