/** Everything about agents, tools, hooks and model settings from files. */

export type { ToolHookRunner } from '../guard/controls'
export type { ModelParameterChange, ModelParameters } from '../hooks/parameters'
export { HookRunner } from '../hooks/runner'
export type {
  ChatHookContext,
  ChatParamsCall,
  ChatParamsHook,
  ChatSystemCall,
  ChatSystemHook,
  CompactionBeforeCall,
  HookAnswer,
  HookName,
  HookProblem,
  HookRunnerOptions,
  Hooks,
  PromptEdit,
  ToolAfterHook,
  ToolBeforeHook,
  ToolHookCall,
  ToolHookEdit,
  ToolHookResult,
  ToolHooks,
  ToolInputEdit,
} from '../hooks/types'
export { type AgentDefinition, type LoadAgentsOptions, type LoadedAgents, loadAgents } from './agents'
export {
  type ModelSettingsInput,
  type ParameterSetting,
  type ResolvedModelSettings,
  type ResolveModelSettingsOptions,
  resolveModelSettings,
  type SettingSource,
  type UserParameter,
} from './model-settings'
export type { ExtensionProblem } from './scan-folder'
export { type LoadedTools, type LoadToolsOptions, loadTools } from './tools'
