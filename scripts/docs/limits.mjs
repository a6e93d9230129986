// Writes the tables of limits and of the tokens of images and PDFs in docs/pruning.md from `lib/overflow/provider-limits.ts` and
// `lib/history/media-tokens.ts`. Needs the built package.

import media from '../../dist/history/media-tokens.js'
import limits from '../../dist/overflow/provider-limits.js'
import { fillPage } from './fill-page.mjs'

const formatsIn = (formats) => formats.map((format) => `\`${format}\``).join(', ') || 'none'
const rowOf = (cells) => `| ${cells.join(' | ')} |`

const limited = limits.PROVIDER_LIMITS.map(({ provider, limits: { bytes, images }, formats, source, day }) =>
  rowOf([provider, `${bytes / 1e6} MB`, images ?? 'no limit', formatsIn(formats), source, day]),
)
const limitsHead = [
  rowOf(['provider', 'bytes', 'images', 'formats', 'source', 'day']),
  '| --- | ---: | ---: | --- | --- | --- |',
]
fillPage('docs/pruning.md', 'limits', [...limitsHead, ...limited].join('\n'))

/** Rules by the formats that have them; those of Anthropic hold for formats without one. */
const counted = (what, rules) =>
  [...new Set(Object.values(rules))].map((rule) => {
    const formats = Object.keys(rules).filter((format) => rules[format] === rule)
    const others = rule === rules.anthropic ? ' and all others' : ''
    return rowOf([what, formatsIn(formats) + others, rule.source, rule.day])
  })
const tokens = [...counted('image', media.IMAGE_RULES), ...counted('PDF', media.PAGE_RULES)]
const tokensHead = [rowOf(['medium', 'formats', 'source of its tokens', 'day']), '| --- | --- | --- | --- |']
fillPage('docs/pruning.md', 'media tokens', [...tokensHead, ...tokens].join('\n'))
