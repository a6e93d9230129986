import fc from 'fast-check'
import { Labels } from '../../lib/command/stream-labels'

const NAMES = ['stdout', 'stderr'] as const
type Piece = [name: (typeof NAMES)[number], text: string]

/** The whole output, and its counts. */
function render(pieces: readonly [name: string, bytes: Uint8Array][]): { text: string; bytes: number; lines: number } {
  const labels = new Labels()
  const out = pieces.map(([name, bytes]) => labels.label(name, bytes))
  const text = Buffer.concat([...out, labels.rest()]).toString('utf8')
  const { totalBytes, totalLines } = labels.size()
  return { text, bytes: totalBytes, lines: totalLines }
}

const write = (...all: Piece[]) => render(all.map(([name, text]) => [name, Buffer.from(text)]))

test('writes a label whenever the stream changes', () => {
  expect(write(['stdout', 'a\nb'], ['stderr', 'x\n'], ['stdout', 'c\nd'])).toEqual({
    text: '[stdout]\na\n[stderr]\nx\n[stdout]\nbc\nd',
    bytes: 8,
    lines: 4,
  })
  expect(write()).toEqual({ text: '', bytes: 0, lines: 0 })
})

test('a piece of any length ends with a whole line', () => {
  const line = `${'x'.repeat(99)}\n`
  const { text } = write(['stdout', `${line.repeat(1000)}be`], ['stderr', 'other\n'], ['stdout', 'gin\n'])
  expect(text).toBe(`[stdout]\n${line.repeat(1000)}[stderr]\nother\n[stdout]\nbegin\n`)
})

test('a line that is too long to wait for is emitted in pieces, and no character is torn', () => {
  const long = '你'.repeat(30_000)
  const bytes = Buffer.from(`${long}\n`)
  for (const cut of [66_000, 66_001, 66_002]) {
    const { text } = render([
      ['stdout', bytes.subarray(0, cut)],
      ['stderr', Buffer.from('other\n')],
      ['stdout', bytes.subarray(cut)],
    ])
    expect(text).not.toContain('\ufffd')
    expect(text.replace('\n[stderr]\nother\n[stdout]\n', '')).toBe(`[stdout]\n${long}\n`)
  }
})

test("keeps each stream's bytes in order", () => {
  const piece = fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom('a', 'b\n', '\n', 'c\nd', ''))
  const property = fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
    const { text, bytes, lines } = write(...pieces)
    const perStream: Record<string, string> = { stdout: '', stderr: '' }
    let current = ''
    for (const line of text.split(/(?<=\n)/)) {
      const label = /^\[(stdout|stderr)\]\n$/.exec(line)
      if (label) current = label[1]!
      else perStream[current] += line
    }
    const whole = (name: string) => pieces.map(([of, text]) => (of === name ? text : '')).join('')
    for (const name of NAMES) expect(perStream[name]!.replace(/\n$/, '')).toBe(whole(name).replace(/\n$/, ''))
    const linesOf = (all: string) => all.split('\n').length - (all.endsWith('\n') || all === '' ? 1 : 0)
    const sizes = NAMES.map((name) => [whole(name).length, linesOf(whole(name))] as const)
    expect([bytes, lines]).toEqual([sizes[0]![0] + sizes[1]![0], sizes[0]![1] + sizes[1]![1]])
  })
  fc.assert(property, { numRuns: Number(process.env.SPILLWAY_PROPERTY_RUNS ?? 500) })
})
