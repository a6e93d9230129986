/** Everything about permission: policy, gate and modes. */

export {
  type GateCall,
  type GateDecision,
  type GateEvent,
  type GateResponse,
  type GateState,
  type PendingRequest,
  PermissionGate,
  type PermissionGateOptions,
} from '../approval/gate'
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
