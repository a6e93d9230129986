/** Everything about permission: policy, gate and modes. */

export {
  type GateCall,
  type GateEvent,
  type GateResponse,
  PermissionGate,
  type PermissionGateOptions,
} from '../approval/gate'
export type { GateDecision, GateState, PendingRequest } from '../approval/gate-state'
export { type ModeChange, ModeController, type ModeControllerOptions, type ModeEvent } from '../approval/mode'
export { PermissionPolicy } from './policy'
export type {
  AppliedRule,
  ExplainedTarget,
  PermissionCall,
  PermissionDecision,
  PermissionDomain,
  PermissionMode,
  PermissionPolicyOptions,
  PermissionRule,
  PermissionTool,
  PermissionVerdict,
  SuggestedRule,
} from './types'
