// Makes the committed files from the table of the configuration's keys: the JSON Schema for editors, and the table in
// docs/configuration.md. Needs the built binary.

import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { builtBinary, ROOT } from '../build/run.mjs'

const { configSchema, configTable } = createRequire(import.meta.url)(builtBinary())

writeFileSync(join(ROOT, 'schema', 'spillway.schema.json'), `${JSON.stringify(JSON.parse(configSchema()), null, 2)}\n`)

const page = join(ROOT, 'docs', 'configuration.md')
const [before, , after] = readFileSync(page, 'utf8').split(/<!-- (?:keys|end of keys) -->\n/)
writeFileSync(page, `${before}<!-- keys -->\n\n${configTable()}\n<!-- end of keys -->\n${after}`)
