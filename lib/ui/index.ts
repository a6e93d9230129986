/** Components that show outputs, questions, contexts and audit logs to a person. */

import { SpillwayApprovalElement } from './approval-element'
import { SpillwayAuditElement } from './audit-element'
import { SpillwayContextElement } from './context-element'
import { define } from './dom'
import { SpillwayOutputElement } from './output-element'

export type { ApprovalSource, AuditSource, OutputSource } from 'spillway/view'
export { SpillwayApprovalElement } from './approval-element'
export { SpillwayAuditElement } from './audit-element'
export { type ConnectOptions, connect, type ViewConnection } from './connect'
export { SpillwayContextElement } from './context-element'
export { SpillwayOutputElement } from './output-element'

define('spillway-output', SpillwayOutputElement)
define('spillway-approval', SpillwayApprovalElement)
define('spillway-audit', SpillwayAuditElement)
define('spillway-context', SpillwayContextElement)

declare global {
  interface HTMLElementTagNameMap {
    'spillway-output': SpillwayOutputElement
    'spillway-approval': SpillwayApprovalElement
    'spillway-audit': SpillwayAuditElement
    'spillway-context': SpillwayContextElement
  }
}
