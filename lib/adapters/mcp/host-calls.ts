/** Calls of the host: the tool and the arguments that they name, and the errors for those that cannot be judged. */

import { plainly } from '../../util/lossless-json'
import { isRecord } from '../../validation/validate'
import { NO_TOOL_NAME } from '../shared/approvals'
import { CLIENT_CAPABILITIES, CLIENT_INFO, type Message, PROTOCOL_VERSION } from './types'

/** Answers a message that cannot be judged. Without an id the outcome of a call cannot be reported. */
export const NO_ID = { code: -32600, message: 'The id of a call must be a string or a number.' }
export const NO_METHOD = { code: -32600, message: 'The method of a request must be a string.' }
export const NO_NAME = { code: -32602, message: NO_TOOL_NAME }
export const UNREADABLE = {
  code: -32700,
  message: 'The message cannot be read, so it is not judged and was not passed on.',
}

/** True if a call says which tool it means, and not in a name that is too long to be read. */
export function isNamed({ params }: Message, mark: string): boolean {
  return isRecord(params) && typeof params.name === 'string' && !params.name.startsWith(mark)
}

/** True if a request says itself who makes it, as those of the protocol of July 2026 do. */
export function isStateless({ _meta }: Record<string, unknown>): boolean {
  return (
    isRecord(_meta) && [PROTOCOL_VERSION, CLIENT_CAPABILITIES, CLIENT_INFO].some((name) => _meta[name] !== undefined)
  )
}

export function argumentsOf({ params }: Message): unknown {
  return isRecord(params) ? plainly(params.arguments ?? {}) : {}
}
