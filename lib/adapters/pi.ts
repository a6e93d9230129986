/**
 * Spillway for pi: the hooks of its agent (`@earendil-works/pi-agent-core` 0.87 to 1.6), alone or with tools in one call
 * ({@link withSpillway}), and an extension for its coding agent, which needs Node 22.19. pi itself is never loaded. pi compacts
 * requests that do not fit by itself, so there is no recovery here.
 */

export {
  agentHooks,
  extension,
  type PiAgentContext,
  type PiAgentHooks,
  type PiContent,
  type PiControls,
  type PiExtensionApi,
} from './pi/hooks'
export { type HostToolsOptions, hostTools } from './pi/host-tools'
export { type PiAgentParts, type PiSpillwayOptions, type PiState, withSpillway } from './pi/with-spillway'
export type { SpillwayOptions } from './shared/spillway-kit'
export type * from './shared/types'
