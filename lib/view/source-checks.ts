/** Checks of the sources that a caller gives. */

import type { Check } from '../validation/options'
import { isRecord, readable } from '../validation/validate'

export const outputSource: Check = [
  'a TruncationStorage or another OutputSource',
  (value) => isFunctionIn('outputs', value, 'readRange'),
]

export const approvalSource: Check = [
  'a PermissionGate or another ApprovalSource',
  (value) => isFunctionIn('approvals', value, 'pending', 'respond'),
]

export const auditSource: Check = ['an AuditSource', (value) => isFunctionIn('audit', value, 'list', 'read')]

function isFunctionIn(field: string, value: unknown, ...names: string[]): boolean {
  return readable(field, () => isRecord(value) && names.every((name) => typeof value[name] === 'function'))
}
