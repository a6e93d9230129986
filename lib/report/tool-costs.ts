/** The cost of each tool: the tokens of its results and of its arguments, at every request that carried them. */

import { type PricedCost, pricedCost, type SessionPrices, sumOfCosts } from './prices'
import type { PaidAs, RequestPart } from './request-cost'
import { type ChatMessage, tokensOf, tokensOfText } from './requests'

/** The cost of a tool, or of the texts of messages. */
export interface ToolCost {
  /** Name of the tool; `(system)`, `(user)` and `(assistant)` for texts of messages. */
  tool: string
  calls: number
  /** UTF-8 bytes of its results. */
  bytes: number
  /** Tokens of its results and arguments, each counted once. */
  tokens: number
  /** The same tokens, counted at every request that carried them. */
  sentTokens: { cached: number; paid: number }
  /** Number of requests that carried a token of it, on average. */
  turns: number
  cost: PricedCost
}

/** A part of the tokens of a message. */
interface Share {
  owner: Tally
  tokens: number
}

interface Tally {
  calls: number
  bytes: number
  tokens: number
  cached: number
  paid: number
}

/** Counts the costs of the tools of one session. */
export class ToolCosts {
  private readonly tallies = new Map<string, Tally>()
  private readonly names = new Map<string, string>()
  private readonly shares = new Map<object, readonly Share[]>()

  /** Books a part of a request: a message of the session. */
  book({ of }: RequestPart, as: PaidAs): void {
    let shares = this.shares.get(of)
    if (shares === undefined) {
      shares = this.read(of as ChatMessage)
      this.shares.set(of, shares)
    }
    for (const { owner, tokens } of shares) owner[as === 'cached' ? 'cached' : 'paid'] += tokens
  }

  /** Divides the tokens of a message among the tools that it is about: their sum is that of the message. */
  private read(message: ChatMessage): Share[] {
    const { role, content, tool_calls: calls = [], tool_call_id: id = '', name } = message
    const tokens = tokensOf(message)
    if (role === 'tool') {
      const owner = this.tally(name ?? this.names.get(id) ?? '(unknown)')
      owner.bytes += Buffer.byteLength(content)
      owner.tokens += tokens
      return [{ owner, tokens }]
    }
    const shares = calls.map((call): Share => {
      const { name: tool, arguments: args } = call.function
      const owner = this.tally(tool)
      this.names.set(call.id, tool)
      owner.calls++
      return { owner, tokens: Math.floor(tokensOfText(tool) + tokensOfText(args)) }
    })
    const said = tokens - shares.reduce((sum, share) => sum + share.tokens, 0)
    shares.push({ owner: this.tally(`(${role})`), tokens: said })
    for (const share of shares) share.owner.tokens += share.tokens
    return shares
  }

  private tally(tool: string): Tally {
    let tally = this.tallies.get(tool)
    if (tally === undefined) {
      tally = { calls: 0, bytes: 0, tokens: 0, cached: 0, paid: 0 }
      this.tallies.set(tool, tally)
    }
    return tally
  }

  /** The costs, the most expensive first. */
  costs(prices: SessionPrices): ToolCost[] {
    const costs = [...this.tallies].map(([tool, { calls, bytes, tokens, cached, paid }]): ToolCost => {
      const cost = pricedCost(cached * prices.read + paid * prices.write, prices)
      return { tool, calls, bytes, tokens, sentTokens: { cached, paid }, turns: turnsOf(tokens, cached + paid), cost }
    })
    return costs.sort(byCost)
  }
}

const turnsOf = (tokens: number, sent: number): number => (tokens === 0 ? 0 : sent / tokens)

const byCost = (a: ToolCost, b: ToolCost): number =>
  b.cost.pricedTokens - a.cost.pricedTokens || (a.tool < b.tool ? -1 : 1)

/** The costs of several sessions together. */
export function sumOfTools(sessions: readonly (readonly ToolCost[])[]): ToolCost[] {
  const byTool = new Map<string, ToolCost[]>()
  for (const cost of sessions.flat()) byTool.set(cost.tool, [...(byTool.get(cost.tool) ?? []), cost])
  const summed = [...byTool].map(([tool, costs]): ToolCost => {
    const sum = (of: (cost: ToolCost) => number) => costs.reduce((total, cost) => total + of(cost), 0)
    const tokens = sum((each) => each.tokens)
    const [cached, paid] = [sum((each) => each.sentTokens.cached), sum((each) => each.sentTokens.paid)]
    return {
      tool,
      calls: sum(({ calls }) => calls),
      bytes: sum(({ bytes }) => bytes),
      tokens,
      sentTokens: { cached, paid },
      turns: turnsOf(tokens, cached + paid),
      cost: sumOfCosts(costs.map(({ cost }) => cost)),
    }
  })
  return summed.sort(byCost)
}
