/** The savings of a replayed session, and the page that shows them. */

import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { reportPage, reportSessions, type Savings } from 'spillway/report'
import { cli } from '../cli/support'
import { tempDir } from '../support/temp'

let folder: string
beforeEach(() => {
  folder = tempDir()
})

interface Step {
  /** Result of the call. */
  result: string
  /** The text of the answer with the call. */
  says?: string
}

/** A session in which each step is a read of another file. */
function sessionOf(steps: readonly Step[], tool = 'read'): string {
  const messages: object[] = [{ role: 'user', content: 'Go on.', timestamp: 0 }]
  for (const [at, { result, says = '' }] of steps.entries()) {
    const [id, time] = [`call_${at}`, { timestamp: at * 1000 }]
    const toolCalls = [{ id, name: tool, args: { path: `src/f${at}.ts` } }]
    messages.push({ role: 'assistant', content: says, toolCalls, ...time })
    messages.push({ role: 'tool', content: result, toolCallId: id, toolName: tool, ...time })
  }
  messages.push({ role: 'assistant', content: 'Done.', timestamp: steps.length * 1000 })
  return messages.map((message) => JSON.stringify(message)).join('\n')
}

async function savingsOf(text: string): Promise<Savings> {
  const path = join(folder, 'session.jsonl')
  writeFileSync(path, text)
  return (await reportSessions([path])).savings!
}

/** A name that is too long for the index in a placeholder. */
const nameOf = (seed: number, at: number) => `value_with_a_${'very_'.repeat(50)}long_name_${seed}_${at}`

/** Lines that no other file has, with a name of their own in every fortieth. */
const linesOf = (seed: number, count = 200) =>
  Array.from({ length: count }, (_, at) => {
    const name = at % 40 === 17 ? nameOf(seed, at) : 'total'
    return `const ${name} = compute(${name}, ${seed * 7919 + at})`
  }).join('\n')

const long = (last = '') =>
  Array.from({ length: 60 }, (_, at): Step => ({ result: linesOf(at), ...(at === 59 && { says: last }) }))

function expectSum({ gross, refetches, rewrites, declarations, net }: Savings): void {
  const rest = gross.pricedTokens - refetches.pricedTokens - rewrites.pricedTokens - declarations.pricedTokens
  expect(rest).toBeCloseTo(net.pricedTokens, 3)
}

/** The same in the log of Claude Code, whose answers have these counts of the provider. */
function claudeLogOf(steps: readonly Step[], usage: object): string {
  const ids = { sessionId: 's1', cwd: '/w', version: '2.1.331' }
  const of = (type: string, at: number, message: object) =>
    JSON.stringify({ ...ids, type, uuid: `${type}${at}`, timestamp: new Date(at * 1000).toISOString(), message })
  const records = steps.flatMap(({ result }, at) => {
    const content = [{ type: 'tool_use', id: `t${at}`, name: 'Read', input: { file_path: `src/f${at}.ts` } }]
    return [
      of('assistant', at, { id: `m${at}`, role: 'assistant', model: 'claude-opus-4-5', content, usage }),
      of('user', at, { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${at}`, content: result }] }),
    ]
  })
  return [of('user', -1, { role: 'user', content: 'Go on.' }), ...records].join('\n')
}

describe('the savings', () => {
  test.each([1, 100, 100_000])(
    'are no more than was paid, where the provider counted %d tokens in each request',
    async (read) => {
      const usage = { input_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: read, output_tokens: 1 }
      const path = join(folder, 'session.jsonl')
      writeFileSync(path, claudeLogOf(long(), usage))
      const { bill, savings } = await reportSessions([path])
      expect(savings!.net.pricedTokens).toBeGreaterThan(0)
      expect(savings!.net.pricedTokens).toBeLessThan(bill.input.pricedTokens)
      expect(savings!.share).toBeCloseTo(savings!.net.pricedTokens / bill.total.pricedTokens, 9)
      expectSum(savings!)
      expect((await cli(['report', path])).stdout).toMatch(/with Spillway \d\d?\.\d % less/)
    },
  )

  test('are negative for a session with nothing to save: the tools were declared', async () => {
    const savings = await savingsOf(sessionOf([{ result: 'ok' }, { result: 'fine' }]))
    expect(savings).toMatchObject({ refetched: 0, pruned: 0, truncated: { results: 0 }, folded: { results: 0 } })
    expect(savings.declarations.pricedTokens).toBeGreaterThan(100)
    expect(savings.net.pricedTokens).toBeCloseTo(-savings.declarations.pricedTokens, 6)
    expect(savings.share).toBeLessThan(0)
  })

  test('come from pruned results in a long session, and pay for the tokens that are written again', async () => {
    const savings = await savingsOf(sessionOf(long()))
    expect(savings.pruned).toBeGreaterThan(20)
    expect(savings).toMatchObject({ refetched: 0, refetches: { pricedTokens: 0 } })
    expect(savings.rewrites.pricedTokens).toBeGreaterThan(0)
    expect(savings.share).toBeGreaterThan(0.1)
    // Nothing is pruned in a hook.
    expect(savings.entering.net.pricedTokens).toBeCloseTo(-savings.declarations.pricedTokens, 0)
    expectSum(savings)
  })

  test('are less by what the model would have fetched again', async () => {
    const without = await savingsOf(sessionOf(long('I change value_of_nothing_here.')))
    const savings = await savingsOf(sessionOf(long(`I change ${nameOf(3, 17)} as well.`)))
    expect([without.refetched, savings.refetched]).toEqual([0, 1])
    // At least the result itself, and one more request.
    const tokens = linesOf(3).length / 4
    expect(savings.refetches.pricedTokens).toBeGreaterThan(1.25 * tokens)
    expect(without.net.pricedTokens - savings.net.pricedTokens).toBeGreaterThan(1.25 * tokens)
    expectSum(savings)
  })

  test('count a file that is read again and folded, and an output that is cut', async () => {
    const file = linesOf(1)
    const huge = Array.from({ length: 5000 }, (_, at) => `line ${at} ${'x'.repeat(60)}`).join('\n')
    const savings = await savingsOf(sessionOf([{ result: file }, { result: file }, { result: huge }, ...long()]))
    expect(savings.folded.results).toBeGreaterThanOrEqual(1)
    expect(savings.folded.bytes).toBeGreaterThan(0.9 * file.length)
    expect(savings.truncated.results).toBe(1)
    expect(savings.truncated.bytes).toBeGreaterThan(0.8 * huge.length)
    expect(savings.entering.net.pricedTokens).toBeGreaterThan(0)
    expectSum(savings)
  })

  test('add up in every session', async () => {
    const step = fc.record({
      result: fc.oneof(
        fc.string(),
        fc.integer({ min: 0, max: 5 }).map((n) => linesOf(n)),
      ),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) =>
        expectSum(await savingsOf(sessionOf(steps))),
      ),
      { numRuns: 30 },
    )
  })

  test('are left out with observe', async () => {
    const path = join(folder, 'a.jsonl')
    writeFileSync(path, sessionOf(long()))
    const report = await reportSessions([path], { observe: true })
    expect(report).not.toHaveProperty('savings')
    expect(report.sessions[0]).not.toHaveProperty('savings')
    const { stdout } = await cli(['report', '--observe', path])
    expect(stdout).not.toContain('with Spillway')
  })

  test('are one number against the whole bill', async () => {
    const path = join(folder, 'a.jsonl')
    writeFileSync(path, sessionOf(long()))
    const { bill, savings } = await reportSessions([path])
    expect(savings!.share).toBeCloseTo(savings!.net.pricedTokens / bill.total.pricedTokens, 9)
    const { stdout } = await cli(['report', path])
    expect(stdout).toContain(`with Spillway ${(100 * savings!.share).toFixed(1)} % less`)
  })
})

describe('the page', () => {
  const pageOf = async (text: string, observe = false) => {
    const path = join(folder, 'a.jsonl')
    writeFileSync(path, text)
    return reportPage(await reportSessions([path], { observe }))
  }

  test('needs nothing from elsewhere, and allows nothing but its own style', async () => {
    const page = await pageOf(sessionOf(long()))
    const style = /<style>([\s\S]*)<\/style>/.exec(page)![1]!
    const hash = createHash('sha256').update(style).digest('base64')
    expect(page).toContain(`content="default-src 'none'; style-src 'sha256-${hash}'"`)
    expect(page).not.toMatch(/<script|<link|<img|\bsrc=|\bhref=|\bstyle=|\bon\w+=|url\(|https?:/i)
    expect(style).toContain('prefers-color-scheme:dark')
    expect(page).toContain('<meta name="viewport"')
    expect(page.match(/<svg /g)).toHaveLength(3)
  })

  test('has room for what costs more than it saves', async () => {
    const page = await pageOf(sessionOf([{ result: 'ok' }]))
    expect(page).toMatch(/<p class="big">[\d.,]+ % more/)
    const bars = [...page.matchAll(/<rect [^>]*? x="([-\d.]+)"[^>]*? width="([\d.]+)"/g)]
    expect(bars.length).toBeGreaterThan(5)
    for (const [, x, width] of bars) {
      expect(Number(x)).toBeGreaterThanOrEqual(0)
      expect(Number(x) + Number(width)).toBeLessThanOrEqual(760)
    }
  })

  test('shows names from the log as text', async () => {
    const name = `<script>alert("1")</script>'&\u202e`
    const page = await pageOf(sessionOf([{ result: 'ok' }], name))
    expect(page).not.toContain('<script')
    expect(page).not.toContain('\u202e')
    expect(page).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&amp;\ufffd')
  })

  test('has no savings without a comparison', async () => {
    const page = await pageOf(sessionOf(long()), true)
    expect(page).not.toContain('Savings')
    expect(page.match(/<svg /g)).toHaveLength(2)
  })

  test('is written where the command is asked to', async () => {
    const [path, page] = [join(folder, 'a.jsonl'), join(folder, 'report.html')]
    writeFileSync(path, sessionOf(long()))
    const { code, stdout } = await cli(['report', '--html', page, path])
    expect(code).toBe(0)
    expect(stdout).toContain('1 session')
    expect(existsSync(page) && readFileSync(page, 'utf8')).toMatch(/^<!doctype html>/)
  })
})
