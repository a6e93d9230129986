/**
 * Spillway for the AI SDK (`ai` 5, 6 and 7): tools with controls around them, a middleware around the model, and a function
 * that says which calls the user must approve; {@link withSpillway} does all of it in one call. `ai` itself is never loaded; its
 * values are described by structural types.
 */

export { type ApprovalRequest, type ApprovalStatus, approvalPolicy } from './ai-sdk/approval'
export type { AiSdkControls, AiSdkSource } from './ai-sdk/controls'
export { type ContextMiddleware, contextMiddleware, type ModelCall } from './ai-sdk/middleware'
export { type HostToolsOptions, hostTools, outputTools } from './ai-sdk/output-tools'
export { guardTools } from './ai-sdk/tools'
export { type AiSdkSpillwayOptions, type SpillwaySettings, withSpillway } from './ai-sdk/with-spillway'
export type { SpillwayOptions } from './shared/spillway-kit'
export type * from './shared/types'
