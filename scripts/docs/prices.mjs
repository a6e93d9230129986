// Writes the table of prices in docs/pruning.md from `lib/pruning/price-table.ts`. Needs the built package.

import prices from '../../dist/pruning/price-table.js'
import { fillPage } from './fill-page.mjs'

const { TABLE } = prices

const head = '| model | read | write | lifetime | source | day |\n| --- | ---: | ---: | ---: | --- | --- |'
const rows = TABLE.map(({ models, read, write, lifetimeMs, source, day }) => {
  const names = Object.keys(models)
    .map((model) => `\`${model}\``)
    .join(', ')
  return `| ${[names, read, write, `${lifetimeMs / 60_000} min`, source, day].join(' | ')} |`
})
fillPage('docs/pruning.md', 'prices', [head, ...rows].join('\n'))
