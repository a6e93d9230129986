import { MemoryStorage, type TruncationResult, TruncationService } from 'spillway'

// A document on one line has no lines to choose from: `smart` and `auto` show the items and tests that are unlike the others.

const LIMITS = { maxLines: 500, maxBytes: 4096 }
const ODD = [777, 1500]
const items = <T>(make: (at: number, isOdd: boolean) => T) =>
  Array.from({ length: 2000 }, (_, at) => make(at, ODD.includes(at)))

const report = JSON.stringify({
  numFailedTests: 2,
  testResults: [
    {
      name: '/a.test.ts',
      assertionResults: items((at, isOdd) => ({
        fullName: `handles case ${at}`,
        status: isOdd ? 'failed' : 'passed',
        failureMessages: isOdd ? [`Error: expected ${at}`] : [],
      })),
    },
  ],
})
const eslint = JSON.stringify(
  items((at, isOdd) => ({
    filePath: `/src/file${at}.ts`,
    messages: isOdd ? [{ ruleId: 'no-undef', severity: 2, message: `'value${at}' is not defined.` }] : [],
    errorCount: isOdd ? 1 : 0,
  })),
)
const events = items((at, isOdd) => JSON.stringify({ at, level: isOdd ? 'error' : 'info', message: `step ${at}` }))
const cases = items(
  (at, isOdd) =>
    `<testcase classname="pkg" name="case ${at}"${isOdd ? `><failure message="expected ${at}"/></testcase>` : '/>'}`,
)
const junit = `<?xml version="1.0"?><testsuites><testsuite name="pkg" tests="2000" failures="2">${cases.join('')}</testsuite></testsuites>`
const page = `<!doctype html><html><body>${items((at) => `<p>${at}</p>`).join('')}</body></html>`

const service = () => new TruncationService({ storage: new MemoryStorage() })
const options = { strategy: 'smart' as const, ...LIMITS }

const TEXTS: [name: string, text: string, shows: string[], isDocument: boolean][] = [
  ['a report of Jest in JSON', report, ['"handles case 777"', 'Error: expected 1500'], true],
  ['a report of ESLint in JSON, and a line feed', `${eslint}\n`, ["'value777' is", "'value1500' is"], true],
  [
    'an answer of an interface',
    JSON.stringify({ items: items((id, isOdd) => ({ id, ok: !isOdd })) }),
    ['777', '1500'],
    true,
  ],
  ['JSON after a byte order mark and white space', `\ufeff \n${report}\n \n`, ['"handles case 777"'], true],
  ['a report of JUnit', junit, ['case 777', 'expected 777', 'case 1500', 'expected 1500'], true],
  ['another document in XML', page, ['<!doctype html>'], false],
  ['JSON that was cut off', report.slice(0, -5), ['{"numFailedTests":2'], false],
  ['JSON with a line of text behind it', `${report}\nDone in 3 s\n`, ['{"numFailedTests":2', 'Done in 3 s'], false],
  [
    'lines of JSON',
    `${events.join('\n')}\n`,
    [events[0] as string, events[777] as string, events[1500] as string],
    false,
  ],
  [
    'a log with words in brackets',
    `[INFO] ${'x'.repeat(9000)}\n[ERROR] it broke\n[INFO] end\n`,
    ['[ERROR] it broke'],
    false,
  ],
]

const shown = (result: TruncationResult) => {
  if (!result.truncated) throw new Error('nothing was cut')
  return result.preview ?? ''
}

test.each(TEXTS)('%s', async (_, text, shows) => {
  const preview = shown(await service().output(text, { toolName: 'bash', options }))
  for (const part of shows) expect(preview).toContain(part)
  expect(Buffer.byteLength(preview)).toBeLessThanOrEqual(LIMITS.maxBytes)
})

test.each(TEXTS)('%s that comes in pieces is shown the same way', async (_, text) => {
  const whole = shown(await service().output(text, { toolName: 'bash', options }))
  for (const size of [1, 1000, 70_000]) {
    // The first bytes one by one: what the text is must not depend on where a piece ends.
    const starts = size === 1 ? [...Array(100).keys()] : []
    for (let at = starts.length; at < text.length; at += size === 1 ? 60_000 : size) starts.push(at)
    const capture = service().capture({ toolName: 'bash', options })
    for (const [place, at] of starts.entries()) await capture.write(text.slice(at, starts[place + 1]))
    capture.end()
    expect(shown(await capture.result)).toBe(whole)
  }
})

describe.each(['head', 'tail', 'both'] as const)('by auto, with the direction %s', (direction) => {
  test.each(TEXTS)('%s', async (_, text, _shows, isDocument) => {
    const by = async (strategy: 'auto' | 'default' | 'smart') => {
      const { content } = await service().output(text, {
        toolName: 'bash',
        options: { ...options, strategy, direction },
      })
      return content.replace(/saved to: .*/, '')
    }
    expect(await by('auto')).toBe(await by(isDocument ? 'smart' : 'default'))
  })
})

test('by auto, texts of several parts stay in their parts, and a document beside an empty text is one', async () => {
  const auto = { toolName: 'query', options: { ...LIMITS, strategy: 'auto' as const } }
  const texts = (content: unknown) => (content as { text: string }[]).map(({ text }) => text)
  const parts = (...texts: string[]) => texts.map((text) => ({ type: 'text' as const, text }))
  const both = { ...auto, options: { ...auto.options, direction: 'both' as const } }
  const apart = texts((await service().output(parts('first', report), both)).content)
  expect(apart).toHaveLength(2)
  expect(apart[0]).toMatch(/^first\n/)
  const document = texts((await service().output(parts(report, ''), auto)).content).join('')
  expect(document).toContain('"handles case 777"')
})

test('JSON on one line stays JSON', async () => {
  const items = JSON.parse(shown(await service().output(eslint, { toolName: 'bash', options })))
  expect(JSON.parse(eslint)).toEqual(expect.arrayContaining(items))
})

test('a line feed at the end changes nothing where tokens are limited', async () => {
  const tokens = { strategy: 'smart' as const, maxTokens: 1000 }
  for (const text of [report, `${report}\n`]) {
    const preview = shown(await service().output(text, { toolName: 'bash', options: tokens }))
    expect(preview).toContain('handles case 777')
  }
})
