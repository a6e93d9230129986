/** Everything about permission: policy, gate and modes. */

export { PermissionGate } from '../approval/gate'
export type {
  AskContext,
  AskingGateOptions,
  AskResponse,
  GateCall,
  GateEvent,
  GateResponse,
  PermissionGateOptions,
} from '../approval/gate-options'
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
