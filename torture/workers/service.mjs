/** `node service.mjs FOLDER…`: gives one long output to a service, and prints the result and the events. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const { TruncationService } = createRequire(import.meta.url)('../../index.js')
const events = []
const onEvent = ({ type, error }) => events.push({ type, error })
const service = new TruncationService({ storageDirs: process.argv.slice(2), durability: 'full', onEvent })
const content = 'a line of an output that is much too long\n'.repeat(5000)
const result = await service.output(content, { toolName: 'bash' })
const saved = result.outputPath ? readFileSync(result.outputPath, 'utf8') === content : undefined
console.log(JSON.stringify({ truncated: result.truncated, shown: result.content.length, saved, events }))
