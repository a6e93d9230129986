/** Options for `query` of the SDK: hooks, `canUseTool` and folders. */

import { type Check, flag } from '../../validation/options'
import { wrong } from '../../validation/validate'
import { checkControls, storageDirOf, storageOf } from '../shared/controls'
import type { AdapterControls } from '../shared/types'
import { type ClaudeCanUseTool, type ClaudeHook, ClaudeHooks } from './claude-hooks'
import { WrappedCommands } from './wrapped-commands'

/** Options of {@link claudeOptions}. Sessions are those of the SDK. */
export interface ClaudeControls extends Omit<AdapterControls, 'recovery' | 'history' | 'sessionId' | 'now'> {
  /**
   * Runs each command of `Bash` under `spillway run`, so that the output of a failed command is saved whole as well, and its
   * preview has a notice: the SDK lets no hook replace the message of a failed tool. Previews of commands are then at most
   * 9,000 bytes, with the limits of `spillway run`. The SDK's own rules, such as `Bash(npm test:*)`, see the command as it
   * runs; `permission` and `ask` see the command as the model wrote it. Commands in the background run as they are. Needs
   * `truncation` with a storage of files.
   * @default false
   */
  wrapCommands?: boolean
}

/** For `options` of `query`. */
export interface ClaudeOptions {
  hooks: {
    PreToolUse: { hooks: ClaudeHook[] }[]
    PostToolUse: { hooks: ClaudeHook[] }[]
    PostToolUseFailure: { hooks: ClaudeHook[] }[]
  }
  /** Only with `permission` or `ask`: without, the SDK decides as it would. */
  canUseTool?: ClaudeCanUseTool
  /** The folder of saved outputs, so that `Read` opens them without a question. Add your own folders to it. */
  additionalDirectories?: string[]
}

const NOT_HERE: Check = ['nothing: the SDK does that by itself', () => false]
const OWN = { recovery: NOT_HERE, history: NOT_HERE, sessionId: NOT_HERE, now: NOT_HERE, wrapCommands: flag }

/**
 * Options for `query`: hooks with everything around the tools that `guardTool` knows, `canUseTool`, and the folder of saved
 * outputs. Results keep the shape of their tool; every long text in them is truncated by itself. An output that the SDK has
 * saved by itself is left alone. Messages of failed tools cannot be changed; `wrapCommands` bounds those of commands.
 *
 * A call that `permission` denies does not run. Where it asks, the SDK asks `canUseTool`: `ask`, if that is given, answers for the
 * user; else a `PermissionGate` asks by its `onEvent`, and without one the call is denied, as it is by a `PermissionPolicy`. A
 * call that is allowed here may still be denied by the SDK's own rules. `AskUserQuestion` and `ExitPlanMode` reach `ask` unless
 * `permission` denies them: its `updatedInput` has the user's answers.
 *
 * @example
 * for await (const message of query({ prompt, options: { ...claudeOptions({ truncation: service }), model } })) show(message)
 * @throws SpillwayError `INVALID_ARGUMENT` for an invalid control
 */
export function claudeOptions(controls: ClaudeControls, ask?: ClaudeCanUseTool): ClaudeOptions {
  checkControls(controls, OWN)
  const folder = storageDirOf(controls)
  if (controls.wrapCommands === true && folder === undefined) {
    throw wrong('controls.wrapCommands', true, 'false without a truncation whose storage is a folder')
  }
  const commands = new WrappedCommands(controls.wrapCommands === true ? folder : undefined, storageOf(controls))
  const { before, after, failed, canUseTool } = new ClaudeHooks(controls, commands, ask)
  return {
    hooks: {
      PreToolUse: [{ hooks: [before] }],
      PostToolUse: [{ hooks: [after] }],
      PostToolUseFailure: [{ hooks: [failed] }],
    },
    ...((controls.permission !== undefined || ask !== undefined) && { canUseTool }),
    ...(folder !== undefined && { additionalDirectories: [folder] }),
  }
}
