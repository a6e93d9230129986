/** Adds up the cost of each tool, and of complete sessions. */

import { messageOf } from '../util/message-of'
import { takeTurns } from '../util/take-turns'
import { checkOptions, flag, signal as signalCheck, strings } from '../validation/options'
import { wrong } from '../validation/validate'
import { logFilesOf } from './log-files'
import { type PricedCost, pricedCost, type SessionPrices, sessionPrices, sumOfCosts } from './prices'
import { readSession } from './read-session'
import { type PaidAs, RequestMeter } from './request-cost'
import { type LoggedRequest, requestsOf, tokensOf } from './requests'
import { type Savings, savingsOf, sumOfSavings } from './savings'
import { simulate } from './simulation'
import { sumOfTools, type ToolCost, ToolCosts } from './tool-costs'
import type { SessionLog, SessionUsage } from './types'

/** The cost of a session. */
export interface Bill {
  /** `provider`: by the provider's counts in the log. `estimate`: by the texts in the log. */
  source: 'provider' | 'estimate'
  input: PricedCost
  output: PricedCost
  total: PricedCost
}

/** Report of one session. */
export interface SessionReport extends Omit<SessionLog, 'messages'> {
  requests: number
  /** Tokens of the texts in the log, at every request that carried them, by how they were paid. */
  sentTokens: Readonly<Record<PaidAs, number>>
  prices: SessionPrices
  bill: Bill
  /** The most expensive first. */
  tools: ToolCost[]
  /** Missing if only what happened is reported. */
  savings?: Savings
}

/** Options of {@link reportSessions}. */
export interface ReportOptions {
  /**
   * Reports only what happened, without a simulation of what Spillway would have saved.
   * @default false
   */
  observe?: boolean
  /** Stops the report, which is then rejected with the reason of the signal. */
  signal?: AbortSignal | undefined
}

/** A file that was left out. */
export interface SkippedFile {
  path: string
  problem: string
}

/** Report of {@link reportSessions}. */
export interface UsageReport {
  sessions: SessionReport[]
  skipped: SkippedFile[]
  /** The cost of all sessions. */
  bill: Omit<Bill, 'source'>
  /** The tools of all sessions, the most expensive first. */
  tools: ToolCost[]
  /** The savings in all sessions; missing if only what happened is reported. */
  savings?: Savings
}

/** Reports one session that was read. */
async function reportSession(log: SessionLog, observe: boolean, signal?: AbortSignal): Promise<SessionReport> {
  const { messages, ...about } = log
  const prices = sessionPrices(log.model)
  const meter = new RequestMeter(prices.lifetimeMs)
  const tools = new ToolCosts()
  const turn = takeTurns(signal)
  let output = 0
  for (const request of requestsOf(messages)) {
    await turn()
    meter.request(partsOf(request), request.pause, (part, as) => tools.book(part, as))
    output += tokensOf(request.answer)
  }
  const bill = billOf(log.usage, meter, output, prices)
  return {
    ...about,
    requests: meter.requests,
    sentTokens: meter.tokens,
    prices,
    bill,
    tools: tools.costs(prices),
    ...(!observe && { savings: savingsOf(await simulate(log, prices, signal), meter, prices, bill) }),
  }
}

const partsOf = ({ messages }: LoggedRequest) => messages.map((of) => ({ of, tokens: tokensOf(of) }))

function billOf(usage: SessionUsage | undefined, meter: RequestMeter, said: number, prices: SessionPrices): Bill {
  const { read, write } = prices
  const input =
    usage === undefined ? meter.cost(prices) : usage.input + read * usage.cacheRead + write * usage.cacheWrite
  const output = prices.output * (usage?.output ?? said)
  const cost = (pricedTokens: number) => pricedCost(pricedTokens, prices)
  const source = usage === undefined ? 'estimate' : 'provider'
  return { source, input: cost(input), output: cost(output), total: cost(input + output) }
}

/**
 * Reads the logs of sessions, and reports what each tool cost and what Spillway would have saved. Folders are searched for files that end in `.jsonl`,
 * `.json` or either with `.gz`. A file that is not a session log is skipped and listed.
 *
 * @throws SpillwayError `INVALID_ARGUMENT` if the paths or an option are not allowed
 * @example
 * const { bill, tools } = await reportSessions(['session.jsonl'])
 */
export async function reportSessions(paths: readonly string[], options: ReportOptions = {}): Promise<UsageReport> {
  if (!strings[1](paths)) throw wrong('paths', paths, strings[0])
  checkOptions('options', options, { observe: flag, signal: signalCheck })
  const { observe = false, signal } = options
  const sessions: SessionReport[] = []
  const skipped: SkippedFile[] = []
  const orSkip = async <T>(path: string, work: () => Promise<T>): Promise<T | undefined> => {
    signal?.throwIfAborted()
    return work().catch((error: unknown) => {
      signal?.throwIfAborted()
      skipped.push({ path, problem: messageOf(error) })
      return undefined
    })
  }
  for (const path of paths) {
    const files = await orSkip(path, () => logFilesOf(path))
    for (const file of files ?? []) {
      const session = await orSkip(file, async () => reportSession(await readSession(file), observe, signal))
      if (session !== undefined) sessions.push(session)
    }
  }
  return summaryOf(sessions, skipped)
}

function summaryOf(sessions: SessionReport[], skipped: SkippedFile[]): UsageReport {
  const sum = (of: 'input' | 'output' | 'total') => sumOfCosts(sessions.map(({ bill }) => bill[of]))
  const total = sum('total')
  const savings = sessions.flatMap((session) => session.savings ?? [])
  return {
    sessions,
    skipped,
    bill: { input: sum('input'), output: sum('output'), total },
    tools: sumOfTools(sessions.map(({ tools }) => tools)),
    ...(savings.length > 0 && { savings: sumOfSavings(savings, total) }),
  }
}
