#!/usr/bin/env node
// Before and after, as Markdown: what `smart` (of JSON, `json`) keeps of the outputs in a folder, in a few lines.
//
//   node scripts/docs/gallery.mjs FOLDER [--lines 16] [--bytes 1100] [--only NAME,NAME]
//
// FOLDER holds outputs: NAME.txt, or NAME.raw.zst (needs the program `zstd`); NAME.json may say `command` and `tool`.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const { MemoryStorage, TruncationService } = createRequire(import.meta.url)('../..')
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    lines: { type: 'string', default: '16' },
    bytes: { type: 'string', default: '1100' },
    only: { type: 'string' },
  },
})
const [folder] = positionals
if (!folder || !existsSync(folder)) {
  console.error('usage: node scripts/docs/gallery.mjs FOLDER [--lines 16] [--bytes 1100] [--only NAME,NAME]')
  process.exit(2)
}
const limits = { maxLines: Number(values.lines), maxBytes: Number(values.bytes) }
const service = new TruncationService({ storage: new MemoryStorage() })
const ENDING = /\.(txt|raw\.zst)$/

for (const file of readdirSync(folder).filter((file) => ENDING.test(file))) {
  const name = file.replace(ENDING, '')
  if (values.only && !values.only.split(',').includes(name)) continue
  const path = join(folder, file)
  const bytes = file.endsWith('.zst')
    ? execFileSync('zstd', ['-dcq', path], { maxBuffer: 2 ** 30 })
    : readFileSync(path)
  const label = join(folder, `${name}.json`)
  const { command = name, tool = 'bash' } = existsSync(label) ? JSON.parse(readFileSync(label, 'utf8')) : {}
  const strategy = isJson(bytes) ? 'json' : 'smart'
  const result = await service.output(bytes, { toolName: tool, options: { ...limits, strategy, skip: false } })
  const text = result.truncated ? result.preview : result.content
  const lines = bytes.toString('latin1').split('\n').length - (bytes.at(-1) === 10 ? 1 : 0)
  const size = `${lines.toLocaleString('en')} lines, ${bytes.length.toLocaleString('en')} bytes`
  console.log(`### \`${command}\`\n\nBefore: ${size}. After, by \`${strategy}\`:\n\n\`\`\`text\n${text}\n\`\`\`\n`)
}

function isJson(bytes) {
  try {
    JSON.parse(bytes.toString())
    return true
  } catch {
    return false
  }
}
