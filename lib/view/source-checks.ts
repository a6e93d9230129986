/** Checks of the sources that a caller gives. */

import type { Check } from '../validation/options'
import { hasFunctions } from '../validation/validate'

export const outputSource: Check = [
  'a TruncationStorage or another OutputSource',
  (value) => hasFunctions('outputs', value, ['readRange']),
]

export const approvalSource: Check = [
  'a PermissionGate or another ApprovalSource',
  (value) => hasFunctions('approvals', value, ['pending', 'respond']),
]

export const auditSource: Check = ['an AuditSource', (value) => hasFunctions('audit', value, ['list', 'read'])]
