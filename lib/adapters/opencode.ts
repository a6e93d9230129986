/**
 * Spillway for OpenCode: a plugin (`@opencode-ai/plugin` 1), from controls or in one call ({@link withSpillway}). Its hooks are those that
 * OpenCode 1.18 calls; `npm run test:clients` runs them in the real program.
 */

export {
  type OpenCodeControls,
  type OpenCodeHooks,
  type OpenCodeInput,
  type OpenCodePlugin,
  plugin,
} from './opencode/plugin'
export {
  id,
  type OpenCodePluginOptions,
  type OpenCodeSpillwayOptions,
  server,
  withSpillway,
} from './opencode/with-spillway'
export type * from './shared/types'
