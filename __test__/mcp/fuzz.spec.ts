import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { Puppet } from './echo'
import { LINE, MODES } from './hostile-modes'

/** Seconds of one run: `npm run fuzz -- --target mcp` asks for more. */
const SECONDS = Number(process.env.SPILLWAY_MCP_FUZZ_SECONDS ?? 5)
/** No line to a host that is not known is longer: 15,000 bytes of text, each of which may be six in JSON. */
const MAX = 100_000
const SLOWEST_MS = 5000
const CORPUS = join(__dirname, '..', '..', 'fuzz', 'corpus', 'mcp')

/** Ways to answer, short enough to try many, long enough to be cut. */
const LINES = [
  ...readdirSync(CORPUS).map((name) => readFileSync(join(CORPUS, name), 'utf8').trimEnd()),
  ...MODES.filter(({ line }) => line.includes(LINE)).map(({ line }) =>
    line.replaceAll(LINE.repeat(1000), LINE.repeat(50)),
  ),
]
const WORDS = [
  ...[
    '"id":5',
    '"id":"5"',
    '"result":',
    '"error":',
    '"method":null',
    '"content":[',
    '{"type":"text","text":"',
    '"_meta":{',
  ],
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '\\"',
    '\\ud800',
    'null',
    'NaN',
    '-Infinity',
    '1e999',
    '\r',
    '\ufeff',
    '\0',
    ' ',
  ],
]

type Change = [kind: 'cut' | 'copy' | 'put' | 'long', at: number, length: number, word: string]

/** The line with pieces cut out, copied and put in. */
function changed(line: string, changes: readonly Change[]): string {
  let text = line
  for (const [kind, at, length, word] of changes) {
    const from = Math.floor(at * text.length)
    const to = Math.min(text.length, from + length)
    if (kind === 'cut') text = text.slice(0, from) + text.slice(to)
    else if (kind === 'copy') text = text.slice(0, to) + text.slice(from, to) + text.slice(to)
    else if (kind === 'put') text = text.slice(0, from) + word + text.slice(from)
    else text = text.slice(0, from) + word.repeat(20_000) + text.slice(from)
  }
  return text.replaceAll('\n', ' ')
}

const change = fc.tuple(
  fc.constantFrom('cut', 'copy', 'put', 'put', 'long'),
  fc.double({ min: 0, max: 1, noNaN: true }),
  fc.integer({ min: 1, max: 200 }),
  fc.constantFrom(...WORDS),
) as fc.Arbitrary<Change>

test(
  'no changed line of a server brings more to a host than the limit',
  async () => {
    const server = new Puppet()
    const before = process.memoryUsage().rss
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...LINES), fc.array(change, { maxLength: 6 }), async (line, changes) => {
        server.ask('tools/call')
        const began = Date.now()
        const answers = await server.all(changed(line, changes), { isAnswered: false })
        expect(Date.now() - began).toBeLessThan(SLOWEST_MS)
        for (const answer of answers) expect(answer.length).toBeLessThan(MAX)
      }),
      { numRuns: 10_000_000, interruptAfterTimeLimit: SECONDS * 1000, markInterruptAsFailure: false },
    )
    expect(process.memoryUsage().rss - before).toBeLessThan(512 * 2 ** 20)
    await server.close()
  },
  (SECONDS + 60) * 1000,
)
