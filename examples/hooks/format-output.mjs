// Formats what a tool gives back: `tool.after` sees all of it, before it is cut, and `tool.final` what the model reads.
//
//   node examples/hooks/format-output.mjs

import { guardTool, MemoryStorage, TruncationService } from 'spillway'
import { HookRunner } from 'spillway/extensions'

const hooks = new HookRunner({
  user: {
    // A table is shorter than JSON with the same names in every row.
    'tool.after': ({ tool, result }) => (tool === 'query' ? { output: tableOf(JSON.parse(result)) } : undefined),
    'tool.final': ({ args }) => ({ prepend: `-- ${args.sql}\n` }),
  },
})

function tableOf(rows) {
  const names = Object.keys(rows[0] ?? {})
  return [names, ...rows.map((row) => names.map((name) => row[name]))].map((cells) => cells.join('\t')).join('\n')
}

const query = {
  name: 'query',
  execute: () => JSON.stringify(Array.from({ length: 1000 }, (_, n) => ({ id: n, name: `row ${n}` }))),
}
const truncation = new TruncationService({ global: { maxLines: 4 }, storage: new MemoryStorage() })
const guarded = guardTool(query, { hooks, truncation })
console.log(await guarded.execute({ sql: 'select * from things' }))
