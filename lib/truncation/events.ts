/** Sends events to the caller; a failing listener never affects the call. */

import type { TruncationContext, TruncationEvent, TruncationEventCallback } from '../types'
import { debug, tellCaller } from '../util/warn'
import { describe } from '../validation/validate'

/** An event without what every event has. */
export type EventDetails = Omit<TruncationEvent, 'toolName' | 'timestamp' | 'sessionId' | 'toolCallId'>

/** Sends an event to a callback. The call continues even if that throws. */
export function emit(onEvent: TruncationEventCallback, context: TruncationContext, details: EventDetails): void {
  send(onEvent, context, { ...details, toolName: context.toolName, timestamp: Date.now() })
}

/**
 * The event of an output that needed nothing, which most events are: made at once, because spreading costs more than the rest.
 */
export function emitSkipped(
  onEvent: TruncationEventCallback | undefined,
  context: TruncationContext,
  originalSize: number,
  truncatedSize: number,
): void {
  const { toolName } = context
  send(onEvent, context, { type: 'skipped', originalSize, truncatedSize, toolName, timestamp: Date.now() })
}

function send(
  onEvent: TruncationEventCallback | undefined,
  { sessionId, toolCallId }: TruncationContext,
  event: TruncationEvent,
): void {
  if (sessionId !== undefined) event.sessionId = sessionId
  if (toolCallId !== undefined) event.toolCallId = toolCallId
  if (debug.enabled) {
    const { type, toolName, originalSize, truncatedSize, error = '' } = event
    debug('%s %s: %d -> %d bytes %s', type, printable(toolName), originalSize, truncatedSize, printable(error))
  }
  tellCaller('onEvent', onEvent, event)
}

/** A text that does nothing to the terminal that shows it: names of tools may come from a model. */
function printable(value: unknown): string {
  const text = typeof value === 'string' ? value : describe(value)
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}
