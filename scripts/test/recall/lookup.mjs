#!/usr/bin/env node
// How often is one fact out of a listing in the preview, with the question and without it? Measures the outputs of kind `lookup` in a
// folder of labelled ones, and the commands of listings.json as far as this machine has them; the last line with the answer counts.
//
//   node scripts/test/recall/lookup.mjs FOLDER TOOL     FOLDER and TOOL as in scripts/test/recall.mjs
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from '../../build/run.mjs'

const [folder, tool] = process.argv.slice(2)
if (!folder || !tool) {
  console.error('usage: node scripts/test/recall/lookup.mjs FOLDER [path of recall.mjs]')
  process.exit(2)
}
const { load, measure, summary } = await import(pathToFileURL(resolve(tool)).href)
const { MemoryStorage, TruncationService } = createRequire(import.meta.url)('../../..')
const service = new TruncationService({ strategy: 'smart', storage: new MemoryStorage() })

/** The listings that this machine can print, labelled as those of a folder. */
function listings() {
  const known = JSON.parse(readFileSync(new URL('listings.json', import.meta.url), 'utf8'))
  return known.flatMap(({ command, tool, question, answer }) => {
    const { stdout = '' } = spawnSync('bash', ['-c', command], { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 28 })
    const key = stdout.split('\n').findLast((line) => line.includes(answer))
    if (key !== undefined && stdout.length > 20_000) {
      return [{ label: { id: command, kind: 'lookup', tool, question, key_lines: [key] }, text: stdout }]
    }
    console.error(`skipped: ${command}: ${key === undefined ? 'it does not have the answer here' : 'it is short here'}`)
    return []
  })
}

const sets = { labelled: load(folder).filter(({ label }) => label.kind === 'lookup'), 'this machine': listings() }
console.log('| lookups | question | outputs | 50 KB | 16 KB | 4 KB |\n| --- | --- | --: | --: | --: | --: |')
for (const [name, logs] of Object.entries(sets)) {
  const questions = new Map(logs.map(({ label, text }) => [text, label.question]))
  for (const isAsked of [false, true]) {
    const rows = await measure(logs, async (text, { tool: toolName, maxLines, maxBytes }) => {
      const query = isAsked ? questions.get(text) : undefined
      const result = await service.output(text, { toolName, query, options: { skip: false, maxLines, maxBytes } })
      return result.truncated ? result.preview : text
    })
    const budgets = [...new Set(rows.map(({ budget }) => budget))]
    const share = (budget) => (100 * summary(rows.filter((row) => row.budget === budget)).full).toFixed(0)
    const cells = budgets.map((budget) => `${share(budget)} %`)
    console.log(`| ${name} | ${isAsked ? 'given' : 'not given'} | ${logs.length} | ${cells.join(' | ')} |`)
  }
}
