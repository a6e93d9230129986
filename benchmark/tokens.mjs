// How near estimateTokens() comes to real tokenizers.
//
//   npm install --prefix benchmark && node benchmark/tokens.mjs FOLDER…
//
// Reads every file of the folders (`.zst` with the zstd command), takes pieces of 200, 1000 and 4000 characters at even
// distances, and adds made-up texts of the kinds that an output may hold. Prints a table for docs/tokens.md.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { getTokenizer } from '@anthropic-ai/tokenizer'
import { encode as cl100k } from 'gpt-tokenizer/encoding/cl100k_base'
import { encode as o200k } from 'gpt-tokenizer/encoding/o200k_base'
import llama3 from 'llama3-tokenizer-js'

const { estimateTokens } = createRequire(import.meta.url)('..')
const claude = getTokenizer()

const PLAIN = { disallowedSpecial: new Set() }
const COUNTERS = {
  o200k_base: (text) => o200k(text, PLAIN).length,
  cl100k_base: (text) => cl100k(text, PLAIN).length,
  'Llama 3': (text) => llama3.encode(text, { bos: false, eos: false }).length,
  'Claude 2': (text) => claude.encode(text.normalize('NFKC'), 'all').length,
}

/** Reads only the start of a longer file. */
const MAX_BYTES = 4e6
const SIZES = [200, 1000, 4000]
const PIECES = 6

const texts = [...madeUp(), ...process.argv.slice(2).flatMap(filesOf)]
const rows = new Map()
for (const [kind, text] of texts) {
  for (const piece of piecesOf(text)) {
    const counts = Object.values(COUNTERS).map((count) => count(piece))
    const errors = counts.map((count) => Math.abs(estimateTokens(piece) - count) / count)
    const upper = estimateTokens(piece, { mode: 'upper' })
    const row = rows.get(kind) ?? rows.set(kind, []).get(kind)
    row.push({
      newest: errors[0],
      upper: upper / Math.max(...counts),
      exceeded: counts.some((count) => count > upper),
      quarter: Math.abs(piece.length / 4 - counts[0]) / counts[0],
    })
  }
}

const percent = (value) => `${Math.round(100 * value)} %`
const quantile = (values, share) =>
  values.sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(share * values.length))]
console.log('| kind | pieces | median error | p95 | characters / 4 | upper / highest count | upper exceeded |')
console.log('| --- | --: | --: | --: | --: | --: | --: |')
const all = [...rows.values()].flat()
for (const [kind, row] of [...rows, ['all', all]]) {
  const of = (key) => row.map((piece) => piece[key])
  const cells = [
    ...[kind, row.length],
    ...[quantile(of('newest'), 0.5), quantile(of('newest'), 0.95), quantile(of('quarter'), 0.5)].map(percent),
    `× ${quantile(of('upper'), 0.5).toFixed(2)}`,
    row.filter((piece) => piece.exceeded).length,
  ]
  console.log(`| ${cells.join(' | ')} |`)
}

function piecesOf(text) {
  return SIZES.filter((size) => text.length >= size).flatMap((size) => {
    const step = Math.max(1, Math.floor((text.length - size) / PIECES))
    const starts = Array.from({ length: PIECES }, (_, index) => index * step)
    return starts.filter((at) => at + size <= text.length).map((at) => text.slice(at, at + size).toWellFormed())
  })
}

function filesOf(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => {
      const path = join(folder, name)
      const bytes = name.endsWith('.zst')
        ? execFileSync('zstd', ['-dcq', path], { maxBuffer: 2 ** 31 - 1 })
        : readFileSync(path)
      return [name.split('.')[0], bytes.subarray(0, MAX_BYTES).toString('utf8')]
    })
}

/** The same on every run. */
function madeUp() {
  const bytes = Buffer.concat(
    Array.from({ length: 400 }, (_, index) => createHash('sha256').update(`${index}`).digest()),
  )
  const many = (text) => text.repeat(Math.ceil(5000 / text.length))
  const of = (from, count) =>
    Array.from(bytes, (byte, at) => String.fromCodePoint(from + ((byte * 257 + at) % count))).join('')
  const regions = ['US', 'DE', 'FR', 'CN', 'JP', 'IN', 'BR', 'EG', 'GR', 'TH', 'IL', 'KR', 'RU', 'ET', 'VN', 'PL']
  const names = (locale) => {
    const display = new Intl.DisplayNames([locale], { type: 'region' })
    const date = new Intl.DateTimeFormat(locale, { dateStyle: 'full' })
    return many(regions.map((region, at) => `${display.of(region)} ${date.format(1.6e12 + at * 1e10)}, `).join(''))
  }
  const locales = [
    'ar',
    'bn',
    'de',
    'el',
    'fa',
    'fr',
    'he',
    'hi',
    'ja',
    'ko',
    'pl',
    'ru',
    'ta',
    'th',
    'tr',
    'uk',
    'vi',
    'zh',
  ]
  return [
    ['base64', bytes.toString('base64')],
    ['hexadecimal', bytes.toString('hex')],
    ['decimal digits', BigInt(`0x${bytes.subarray(0, 3000).toString('hex')}`).toString()],
    ['random ASCII', of(33, 94)],
    ['random letters', of(97, 26)],
    ['random Chinese', of(0x4e00, 0x5000)],
    ['emoji', of(0x1f300, 0x300)],
    ['white space', many(`${' '.repeat(37)}\n\n\t\t\n${' '.repeat(8)}`)],
    ['box drawing', many('┌────┬────┐\n│ a  │ b  │\n└────┴────┘\n')],
    ['escape sequences', many('\x1b[32mok\x1b[0m \x1b[1;31merror\x1b[0m\n')],
    ['progress', many('\r 10% [==>   ]\r|\r/\r[####....] 57%\r\n')],
    ['empty columns', many('12\t\t\t36\t\t\t\t\tx\t\t\t\n\t\t\t}\n')],
    ...locales.map((locale) => [`language ${locale}`, names(locale)]),
  ]
}
