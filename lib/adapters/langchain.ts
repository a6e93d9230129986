/**
 * Spillway for LangChain (`langchain` 1): one middleware around the tools and the model, and a function that says which
 * calls the user must approve; {@link withSpillway} does all of it in one call. `@langchain/core` is loaded when a tool fails,
 * because the error message must be an instance of its class, and for {@link outputTools}.
 */

export type { LangChainControls, LangChainRuntime } from './langchain/controls'
export { contextControl, type LangChainMiddleware, type NeedsApproval, needsApproval } from './langchain/middleware'
export { type HostToolsOptions, hostTools, outputTools } from './langchain/output-tools'
export { type AgentParts, type LangChainSpillwayOptions, withSpillway } from './langchain/with-spillway'
export type { SpillwayOptions } from './shared/spillway-kit'
export type * from './shared/types'
