// The limit of a request in bytes, in every format and at every place of an image or a file.

import { ContextManager } from 'spillway'
import { detectFormat } from 'spillway/history'
import { png } from '../support/images'
import { bytesOf, historyOf, PLACES } from './media-shapes'

const options = { contextWindow: 1_000_000, budget: false, compaction: false } as const
const MEGABYTE = Array.from({ length: 40 }, (_, at) => png(1280, 800, 1_000_000, at))

const SMALL = Array.from({ length: 40 }, (_, at) => png(1280, 800, 20_000, at))

/** The first place of each format with screenshots of a megabyte, the others with smaller ones. */
const SIZES = PLACES.map(([format, place], at) => {
  const isFirst = PLACES[at - 1]?.[0] !== format
  return [format, place, isFirst ? MEGABYTE : SMALL, isFirst ? 20e6 : 400_000] as const
})

describe.each(SIZES)('%s, %s', (format, place, data, limit) => {
  test('forty go out within the limit', async () => {
    const messages = historyOf(format, place, 40, (at) => data[at] as string)
    expect(detectFormat(messages)).toBe(format)
    const manager = new ContextManager({ ...options, maxRequestBytes: limit })
    const { messages: sent, report } = await manager.prepare(messages, { now: 0 })
    expect(bytesOf(sent)).toBeLessThan(limit)
    expect(bytesOf(sent)).toBeGreaterThan(limit * 0.6)
    expect(report.fits).toBe(true)
    expect(sent).toHaveLength(messages.length)
    // The newest stay as they are.
    expect(sent.at(-1)).toBe(messages.at(-1))
    expect(sent.at(-3)).toBe(messages.at(-3))
  })
})
