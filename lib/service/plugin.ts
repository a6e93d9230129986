/** Truncation for hosts that call a plugin's `toolResult` hook after every tool. */

import type { ContentPart, OutputService, TruncationContext } from '../types'
import { checkKeys, isRecord, wrong } from '../validation/validate'
import { boundSafely } from './middleware'
import { TruncationService } from './service'

/** A tool result as such hosts have it. */
export interface PluginToolResult {
  /** Text that the model reads. */
  llmContent: string | readonly ContentPart[]
  /** Text that the user sees. */
  returnDisplay?: unknown
  isError?: boolean
  /** Set once truncation has been dealt with. */
  truncated?: boolean
  outputPath?: string
  metadata?: Record<string, unknown>
}

/** Context of the call from the host. */
export interface PluginToolInfo {
  toolUse?: { name?: string; callId?: string }
  toolName?: string
  sessionId?: string | undefined
}

/** The plugin; the host calls `toolResult` with itself as `this`. */
export interface TruncationPlugin {
  name: 'truncation'
  enforce: 'post'
  toolResult<R extends PluginToolResult>(this: object | undefined, toolResult: R, info?: PluginToolInfo): Promise<R>
}

/** Options from the host: `truncation: false` disables the plugin. */
export interface PluginHost {
  config?: { truncation?: boolean }
}

/** A user interface shows short outputs whole, as the tool meant them. */
const MAX_DISPLAY_BYTES = 5000

/**
 * Creates a plugin for a service.
 *
 * Results over the limits get a preview, `truncated: true` and `outputPath` (`''` if nothing could be saved); others are
 * marked `truncated: false`. Failed results, and results that already have `truncated`, stay unchanged up to the hard ceiling.
 * Text parts share one limit; images keep their place. `returnDisplay` is set to the preview if it is missing or long.
 */
export function createTruncationPlugin(options: { service: OutputService }): TruncationPlugin {
  const { service, ...others } = (isRecord(options) ? options : {}) as Partial<{ service: OutputService }>
  checkKeys('', others, ['service'], 'INVALID_CONFIG')
  if (typeof service?.output !== 'function') {
    throw wrong('service', service, 'an object with an output function', 'INVALID_CONFIG')
  }
  return makePlugin(() => service)
}

function makePlugin(serviceOf: () => OutputService): TruncationPlugin {
  return {
    name: 'truncation',
    enforce: 'post',
    async toolResult(toolResult, info) {
      if ((this as PluginHost | undefined)?.config?.truncation === false) return toolResult
      if (toolResult?.llmContent === undefined || toolResult.llmContent === null) return toolResult
      const handled = toolResult.truncated !== undefined || toolResult.isError === true
      const context: TruncationContext = {
        toolName: info?.toolUse?.name ?? info?.toolName ?? 'tool',
        sessionId: info?.sessionId,
        toolCallId: info?.toolUse?.callId,
        failed: toolResult.isError === true,
        handled,
      }
      const { value, result } = await boundSafely(serviceOf(), toolResult.llmContent, context)
      if (!result?.truncated) {
        if (handled) return value === toolResult.llmContent ? toolResult : { ...toolResult, llmContent: value }
        return { ...toolResult, llmContent: value, truncated: false }
      }
      const { returnDisplay } = toolResult
      return {
        ...toolResult,
        llmContent: value,
        truncated: true,
        outputPath: result.outputPath,
        returnDisplay: isShort(returnDisplay) ? returnDisplay : displayOf(value),
      }
    },
  }
}

function isShort(display: unknown): boolean {
  if (typeof display === 'string') return Buffer.byteLength(display, 'utf8') <= MAX_DISPLAY_BYTES
  return display !== undefined
}

function displayOf(content: unknown): string {
  if (typeof content === 'string') return content
  const parts = content as readonly ContentPart[]
  return parts.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n')
}

let defaultService: TruncationService | undefined

/** A plugin whose service is created with the defaults when it is first needed. */
export const truncationPlugin: TruncationPlugin = makePlugin(() => {
  defaultService ??= new TruncationService()
  return defaultService
})
