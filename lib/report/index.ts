/** Reports of recorded sessions: the cost of each tool. */

export type { Shortened } from './entering'
export { reportPage } from './html-page'
export type { PaidAs } from './meter'
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
export type { Savings } from './savings'
export type { ToolCost } from './tool-costs'
export type { LoggedCall, LoggedMessage, LogProblem, SessionFormat, SessionLog, SessionUsage } from './types'
