/** Reports of recorded sessions: the cost of each tool. */

export { reportPage } from './html-page'
export type { PricedCost, SessionPrices } from './prices'
export { readSession } from './read-session'
export {
  type Bill,
  type ReportOptions,
  reportSessions,
  type SessionReport,
  type SkippedFile,
  type UsageReport,
} from './report'
export type { PaidAs } from './request-cost'
export type { Savings } from './savings'
export type { Shortened } from './simulated-results'
export type { ToolCost } from './tool-costs'
export type { LoggedCall, LoggedMessage, LogProblem, SessionFormat, SessionLog, SessionUsage } from './types'
