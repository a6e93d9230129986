// The limits that providers document: by whom a request is sent to, and by its format.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ContextManager } from 'spillway'
import type { Recipient } from 'spillway/history'
import { classifyOverflow, recoverFromOverflow } from 'spillway/overflow'
import { IMAGE_RULES, PAGE_RULES } from '../../lib/history/media-tokens'
import { PROVIDER_LIMITS } from '../../lib/overflow/provider-limits'
import { png } from '../support/images'
import { historyOf } from '../support/media-shapes'

const CLAUDE = 'claude-opus-5-5'
const history = (images: number) => historyOf('anthropic', 'a result', images, (at) => png(8, 8, 100, at))

/** Anthropic takes 100 images, and OpenAI 500. */
const ROWS: [name: string, recipient: Recipient, fits: boolean][] = [
  ['nothing: the format counts', {}, false],
  ['its provider', { provider: 'anthropic' }, false],
  ['its provider and a model of that', { provider: 'anthropic.messages', model: CLAUDE }, false],
  ['a model', { model: CLAUDE }, false],
  ['a model that names no provider', { model: 'k2-vision' }, false],
  ['a model of another provider', { model: 'gpt-5.5' }, true],
  ['a gateway', { provider: 'openrouter', model: `anthropic/${CLAUDE}` }, true],
  ['a gateway without a model', { provider: 'openrouter' }, true],
  ['another cloud', { provider: 'google-vertex-anthropic', model: CLAUDE }, true],
  ['its provider with a model of another', { provider: 'anthropic', model: 'k2-vision' }, true],
]

const sentTo = (messages: readonly object[], recipient: Recipient) =>
  new ContextManager<object>({ contextWindow: 1_000_000, budget: false, compaction: false }).prepare(
    messages,
    recipient,
  )

test.each(ROWS)('a request in the format of Anthropic to %s', async (_name, recipient, fits) => {
  const messages = history(120)
  const { messages: sent } = await sentTo(messages, recipient)
  expect(sent.every((message, at) => message === messages[at])).toBe(fits)
})

test.each(ROWS)('a refused request in the format of Anthropic to %s', async (_name, recipient, fits) => {
  const [first, call, result, ...rest] = history(160)
  const large = historyOf('anthropic', 'a result', 1, () => png(8, 8, 2_000_000)).slice(1, 3)
  const { messages: sent } = await recoverFromOverflow({
    messages: [first, ...large, call, result, ...rest] as object[],
    contextWindowTokens: 1_000_000,
    overflow: classifyOverflow({ status: 413, error: { type: 'request_too_large', message: 'Request too large' } }),
    ...recipient,
  })
  // Half of the bytes leave with the first; the other images only for the number of images.
  expect(JSON.stringify(sent).split('"image/png"').length - 1).toBe(fits ? 160 : 100)
})

test('provider and model of a recovery are checked', async () => {
  const options = { messages: history(1), contextWindowTokens: 1000, provider: 1 } as never
  await expect(recoverFromOverflow(options)).rejects.toThrow('"provider": expected a string')
})

test('the tables of the page are those of the code', () => {
  const page = readFileSync(join(__dirname, '../../docs/pruning.md'), 'utf8')
  const rows: unknown[][] = [
    ...PROVIDER_LIMITS.map(({ provider, limits, formats, source, day }) => [
      provider,
      `${(limits.bytes ?? 0) / 1e6} MB`,
      limits.images ?? 'no limit',
      formats.map((format) => `\`${format}\``).join(', ') || 'none',
      source,
      day,
    ]),
    ...[...Object.values(IMAGE_RULES), ...Object.values(PAGE_RULES)].map(({ source, day }) => [source, day]),
  ]
  for (const cells of rows) {
    const row = cells.map((cell) => String(cell).replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join(' *\\| *')
    expect(page).toMatch(new RegExp(`\\| *${row} *\\|`))
  }
})
