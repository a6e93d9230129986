/** Sessions that are metered while they run: the report of their logs has the same numbers. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { reportSessions } from 'spillway/report'
import { cli } from '../cli/support'
import { tempDir } from '../support/temp'

const MODEL = 'claude-opus-4-5'
/** Dollars for a million tokens of this model: read from the cache, written to it, neither, and of the answer. */
const DOLLARS = { read: 0.5, write: 6.25, input: 5, output: 25 }
const LIFETIME_MS = 300_000

type Usage = Record<'input' | 'cacheRead' | 'cacheWrite' | 'output', number>
type Call = { tool: string; argument: string; result: string }
type Event =
  | { is: 'user'; text: string }
  | { is: 'summary'; text: string }
  | { is: 'answer'; text: string; calls: Call[]; pauseMs: number; usage: Usage; isRepeated: boolean }

/** A message in view, and the tools that it is about. */
interface Part {
  tokens: number
  about: readonly { tool: string; calls: number; bytes: number }[]
}

/** Counts each request when it is made, and each answer when it comes. */
class Meter {
  requests = 0
  readonly usage: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 }
  readonly sent = { cached: 0, new: 0, expired: 0, rewritten: 0 }
  readonly tools = new Map<string, { calls: number; bytes: number }>()
  private view: Part[] = []
  private last: Part[] = []
  private readonly carried = new Set<Part>()

  add(units: number, about: Part['about'] = []): void {
    this.view.push({ tokens: Math.ceil(units / 4), about })
  }

  compact(units: number): void {
    this.view = []
    this.add(units)
  }

  answer({ text, calls, pauseMs, usage }: Extract<Event, { is: 'answer' }>): void {
    const known = this.view.findIndex((part, at) => part !== this.last[at]) >>> 0
    for (const [at, part] of this.view.entries()) {
      const paid = at >= this.last.length ? 'new' : this.requests > 0 && pauseMs > LIFETIME_MS ? 'expired' : undefined
      this.sent[paid ?? (at < known ? 'cached' : 'rewritten')] += part.tokens
      this.carry(part)
    }
    this.last = [...this.view]
    this.requests += 1
    for (const name of Object.keys(usage) as (keyof Usage)[]) this.usage[name] += usage[name]
    const units = calls.reduce((sum, call) => sum + call.tool.length + argumentsOf(call).length, text.length)
    this.add(
      units,
      calls.map(({ tool }) => ({ tool, calls: 1, bytes: 0 })),
    )
    for (const { tool, result } of calls)
      this.add(result.length, [{ tool, calls: 0, bytes: Buffer.byteLength(result) }])
  }

  /** A tool costs nothing before a request carries its call. */
  private carry(part: Part): void {
    if (this.carried.has(part)) return
    this.carried.add(part)
    for (const { tool, calls, bytes } of part.about) {
      const before = this.tools.get(tool) ?? { calls: 0, bytes: 0 }
      this.tools.set(tool, { calls: before.calls + calls, bytes: before.bytes + bytes })
    }
  }

  get dollars() {
    const { input, cacheRead, cacheWrite, output } = this.usage
    const of = (tokens: number, price: number) => (tokens * price) / 1e6
    const sent = of(input, DOLLARS.input) + of(cacheRead, DOLLARS.read) + of(cacheWrite, DOLLARS.write)
    return { input: sent, output: of(output, DOLLARS.output), total: sent + of(output, DOLLARS.output) }
  }
}

const argumentsOf = ({ argument }: Call) => JSON.stringify({ argument })

/** Meters a session, and writes it as Claude Code does: a record for each block of an answer, each with the usage of all. */
function run(events: readonly Event[]): { meter: Meter; log: string } {
  const meter = new Meter()
  const lines: string[] = []
  let time = Date.UTC(2026, 10, 1)
  const write = (type: 'user' | 'assistant', message: object, more: object = {}) => {
    const about = { uuid: `u${lines.length}`, sessionId: 's', timestamp: new Date(time).toISOString() }
    lines.push(JSON.stringify({ type, ...about, message: { role: type, ...message }, ...more }))
  }
  for (const [at, event] of [{ is: 'user', text: 'go' } as const, ...events].entries()) {
    if (event.is === 'user') {
      write('user', { content: event.text })
      meter.add(event.text.length)
    } else if (event.is === 'summary') {
      write('user', { content: event.text }, { isCompactSummary: true })
      meter.compact(event.text.length)
    } else {
      time += event.pauseMs
      meter.answer(event)
      const { input, cacheRead, cacheWrite, output } = event.usage
      const before = {
        input_tokens: input,
        cache_read_input_tokens: cacheRead,
        cache_creation_input_tokens: cacheWrite,
      }
      const calls = event.calls.map(({ tool, argument }, call) => {
        return { type: 'tool_use', id: `c${at}-${call}`, name: tool, input: { argument } }
      })
      const blocks = [{ type: 'text', text: event.text }, ...calls]
      for (const [block, content] of blocks.entries()) {
        const output_tokens = block === blocks.length - 1 ? output : 1
        write('assistant', { id: `m${at}`, model: MODEL, content: [content], usage: { ...before, output_tokens } })
      }
      // A session that is resumed repeats records.
      if (event.isRepeated) lines.push(lines.at(-1)!)
      for (const [call, { result }] of event.calls.entries()) {
        write('user', { content: [{ type: 'tool_result', tool_use_id: `c${at}-${call}`, content: result }] })
      }
    }
  }
  return { meter, log: lines.join('\n') }
}

const tokens = fc.nat({ max: 200_000 })
const text = fc
  .string({ minLength: 1, maxLength: 60, unit: fc.constantFrom('a', ' ', 'é', '"', '你') })
  .map((made) => `x${made}`)
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ is: fc.constant('user' as const), text }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('summary' as const), text }) },
  {
    weight: 6,
    arbitrary: fc.record({
      is: fc.constant('answer' as const),
      text,
      calls: fc.array(fc.record({ tool: fc.constantFrom('Bash', 'Read', 'mcp__a__b'), argument: text, result: text }), {
        maxLength: 3,
      }),
      pauseMs: fc.constantFrom(0, 1000, LIFETIME_MS, LIFETIME_MS + 1),
      usage: fc.record({
        input: tokens,
        cacheRead: tokens,
        cacheWrite: tokens,
        output: tokens.map((count) => count + 1),
      }),
      isRepeated: fc.boolean(),
    }),
  },
)
const session = fc.array(event, { maxLength: 12 }).filter((events) => events.some(({ is }) => is === 'answer'))

/** The numbers that a report and a meter share; dollars are sums of fractions. */
function expectSame(report: Awaited<ReturnType<typeof reportSessions>>, meters: readonly Meter[]): void {
  for (const [at, { requests, usage, sent, tools, dollars }] of meters.entries()) {
    const found = report.sessions[at]!
    expect([found.requests, found.usage, found.sentTokens]).toEqual([requests, { requests, ...usage }, sent])
    expect(found.bill.source).toBe('provider')
    const named = found.tools.filter(({ tool }) => !tool.startsWith('('))
    expect(new Map(named.map(({ tool, calls, bytes }) => [tool, { calls, bytes }]))).toEqual(tools)
    for (const part of ['input', 'output', 'total'] as const)
      expect(found.bill[part].dollars).toBeCloseTo(dollars[part], 9)
  }
  for (const part of ['input', 'output', 'total'] as const) {
    const all = meters.reduce((sum, { dollars }) => sum + dollars[part], 0)
    expect(report.bill[part].dollars).toBeCloseTo(all, 9)
  }
}

test('tokens, requests, calls and dollars of any sessions are those of their meters', async () => {
  const folder = tempDir()
  await fc.assert(
    fc.asyncProperty(fc.array(session, { minLength: 1, maxLength: 3 }), async (sessions) => {
      const ran = sessions.map(run)
      const paths = ran.map(({ log }, at) => {
        const path = join(folder, `${at}.jsonl`)
        writeFileSync(path, log)
        return path
      })
      expectSame(
        await reportSessions(paths, { observe: true }),
        ran.map(({ meter }) => meter),
      )
    }),
    { numRuns: 200 },
  )
})

test('spillway report --json prints the numbers of the meter, and so does the report with savings', async () => {
  const path = join(tempDir(), 'session.jsonl')
  const { meter, log } = run(fc.sample(session, { numRuns: 20, seed: 7 }).flat())
  writeFileSync(path, log)
  for (const args of [['--observe'], []]) {
    const { code, stdout } = await cli(['report', '--json', ...args, path])
    expect(code).toBe(0)
    expectSame(JSON.parse(stdout), [meter])
  }
})
