/** Serving outputs, approvals and audit logs to the components of `spillway/ui`. */

export { type AuditSourceOptions, createAuditSource } from './audit-source'
export { LiveOutputs, type StartedCommand } from './live-outputs'
export { createOutputHandler, type OutputHandler, type OutputHandlerOptions } from './output-handler'
export {
  createSharedApprovals,
  type SharedApprovals,
  type SharedApprovalsOptions,
  shareApprovals,
} from './shared-approvals'
export type {
  ApprovalSource,
  AuditRecords,
  AuditSource,
  ListedAuditLog,
  ListedOutput,
  OutputProgress,
  OutputSource,
} from './sources'
