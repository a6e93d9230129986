/** Images count as their provider counts them, by the size in their header, and PDFs by their pages. */

import { HistoryPruner } from 'spillway'
import { gif, jpeg, pdf, png, webp } from '../support/images'

const ask = { role: 'user', content: 'Look.' }

/** A message with an image, in each format; `like` stands in front of it where the format needs that to be recognised. */
const FORMATS: Record<string, { like?: object; message(data: string, detail?: string): object }> = {
  anthropic: {
    message: (data) => ({
      role: 'user',
      content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }],
    }),
    like: { role: 'assistant', content: [{ type: 'tool_use', id: 'x', name: 'y', input: {} }] },
  },
  'openai-chat': {
    message: (data, detail) => ({
      role: 'user',
      content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${data}`, ...(detail && { detail }) } }],
    }),
    like: {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'x', type: 'function', function: { name: 'y', arguments: '{}' } }],
    },
  },
  'openai-responses': {
    message: (data, detail) => ({
      type: 'message',
      role: 'user',
      content: [{ type: 'input_image', image_url: `data:image/png;base64,${data}`, ...(detail && { detail }) }],
    }),
    like: { type: 'function_call', call_id: 'x', name: 'y', arguments: '{}' },
  },
  gemini: {
    message: (data) => ({ role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data } }] }),
    like: { role: 'model', parts: [{ functionCall: { id: 'x', name: 'y', args: {} } }] },
  },
  'ai-sdk': {
    message: (data) => ({ role: 'user', content: [{ type: 'file', mediaType: 'image/png', data }] }),
    like: { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'x', toolName: 'y', input: {} }] },
  },
}

/** The tokens of a message without its role and delimiters, which are four. */
function tokensOf(format: string, data: string, detail?: string): number {
  const { like, message } = FORMATS[format]!
  const start = format === 'gemini' ? { role: 'user', parts: [{ text: 'Look.' }] } : ask
  const before = [start, like as object]
  const count = (messages: object[]) => {
    const { report } = new HistoryPruner().prune(messages, { now: 1 })
    expect(report.format).toBe(format)
    return report.tokensBefore
  }
  return count([...before, message(data, detail)]) - count(before) - 4
}

test.each<[string, number, number, number]>([
  ['anthropic', 1000, 750, 1000],
  ['anthropic', 200, 200, 54],
  ['anthropic', 1, 1, 1],
  // Scaled to 2,576 pixels, and no more than 4,784 tokens.
  ['anthropic', 5152, 1000, 1718],
  ['anthropic', 8000, 8000, 4784],
  // Six tiles are 1,105, and 60 times 34 patches are 2,040, of which 1,536 count.
  ['openai-chat', 1920, 1080, 1536],
  ['openai-responses', 512, 512, 256],
  ['openai-responses', 100, 100, 255],
  // Tiles: scaled to 1,024 by 2,048 and then to 768 by 1,536.
  ['openai-responses', 2048, 4096, 1536],
  ['gemini', 384, 384, 258],
  ['gemini', 385, 100, 258],
  ['gemini', 1920, 1080, 1548],
  ['ai-sdk', 1000, 750, 1000],
])('%s: %i × %i are %i tokens', (format, width, height, expected) => {
  expect(tokensOf(format, png(width, height))).toBe(expected)
})

test.each([
  ['openai-chat', 85],
  ['openai-responses', 85],
  ['anthropic', 4784],
])('%s: the detail `low`', (format, expected) => {
  expect(tokensOf(format, png(8000, 8000), 'low')).toBe(expected)
})

test.each<[string, string]>([
  ['PNG', png(600, 500)],
  ['PNG of a megabyte', png(600, 500, 1e6, 7)],
  ['GIF', gif(600, 500)],
  ['JPEG', jpeg(600, 500)],
  ['JPEG with a preview in front', jpeg(600, 500, 90_000)],
  ['WebP with losses', webp(600, 500, 'VP8 ')],
  ['WebP without losses', webp(600, 500, 'VP8L')],
  ['WebP with an alpha channel', webp(600, 500, 'VP8X')],
])('%s: the size is read from the header', (_, data) => {
  expect(tokensOf('anthropic', data)).toBe(400)
})

test('an address in front of a JPEG with a preview does not hide its size', () => {
  // Two tiles are 425, and 19 times 16 patches are 304.
  expect(tokensOf('openai-chat', jpeg(600, 500, 90_000))).toBe(425)
})

test.each<[string, string]>([
  ['no base64', 'not base64!'],
  ['nothing', ''],
  ['another kind of image', Buffer.from('<svg width="600" height="500"/>').toString('base64')],
  ['a header that is cut off', png(600, 500).slice(0, 20)],
  ['a size of nothing', png(0, 500)],
  ['a JPEG without a frame', jpeg(600, 500, 300_000).slice(0, 1000)],
  ['an address', 'https://example.org/a.png'],
])('%s counts as a megapixel', (_, data) => {
  expect(tokensOf('anthropic', data)).toBe(1500)
})

test.each<[string, string, number]>([
  ['anthropic', pdf(1), 3000],
  ['anthropic', pdf(40), 120_000],
  // The pages are behind what is read of an image.
  ['anthropic', pdf(2, 1e6), 6000],
  ['openai-responses', pdf(3), 9000],
  ['gemini', pdf(3), 774],
  ['ai-sdk', pdf(3), 9000],
  // Page objects that are compressed.
  ['anthropic', pdf(0), 1500],
  ['anthropic', `${pdf(3)}?`, 1500],
])('%s: the pages of a PDF', (format, data, expected) => {
  expect(tokensOf(format, data)).toBe(expected)
})

test('several images in a result count one by one', () => {
  const image = (data: string) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } })
  const history = (content: object[]) => [
    ask,
    { role: 'assistant', content: [{ type: 'tool_use', id: 'x', name: 'shot', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x', content }] },
  ]
  const tokens = (content: object[]) => new HistoryPruner().prune(history(content), { now: 1 }).report.tokensBefore
  const all = [image(png(1000, 750)), image(png(200, 200)), image('?')]
  expect(tokens(all) - tokens([])).toBe(1000 + 54 + 1500)
})

test('an image that is replaced by a larger one is counted again', () => {
  const history = (data: string) => [
    FORMATS.anthropic!.message(data),
    { role: 'assistant', content: [{ type: 'text', text: 'Seen.' }] },
    { role: 'user', content: [{ type: 'text', text: 'And?' }] },
  ]
  const pruner = new HistoryPruner()
  const small = pruner.prune(history(png(100, 75)), { now: 1 }).report.tokensBefore
  const large = pruner.prune(history(png(1000, 750)), { now: 2 }).report.tokensBefore
  expect(large - small).toBe(990)
})
