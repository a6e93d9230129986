// Makes the committed files from the table of the configuration's keys: the JSON Schema for editors, and the table in
// docs/configuration.md. Needs the built binary.

import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { builtBinary, ROOT } from '../build/run.mjs'
import { fillPage, formatFiles } from './fill-page.mjs'

const { configSchema, configTable } = createRequire(import.meta.url)(builtBinary())

writeFileSync(join(ROOT, 'schema', 'spillway.schema.json'), `${JSON.stringify(JSON.parse(configSchema()), null, 2)}\n`)

formatFiles('schema')
fillPage('docs/configuration.md', 'keys', configTable())
