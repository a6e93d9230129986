// The adapters as they are imported where none of their frameworks is installed. Nothing runs here.

import { HistoryPruner, PermissionPolicy, ToolResultLedger, TruncationService } from 'spillway'
import { type AdapterEvent, approvalPolicy, contextMiddleware, guardTools } from 'spillway/ai-sdk'
import { claudeOptions } from 'spillway/claude-agent-sdk'
import { contextControl, needsApproval } from 'spillway/langchain'
import { guardFunctionTool, guardModel, pruneFilter, storeUnpruned } from 'spillway/openai-agents'
import { plugin } from 'spillway/opencode'
import { createTelemetry, type TelemetryApi } from 'spillway/otel'
import { agentHooks, extension } from 'spillway/pi'

const ledger = new ToolResultLedger()
const controls = {
  truncation: new TruncationService(),
  ledger,
  permission: new PermissionPolicy(),
  history: () => new HistoryPruner({ ledger }),
  recovery: { contextWindowTokens: 200_000, retries: 1 },
  onEvent: (event: AdapterEvent) => {
    if (event.type === 'error') event.error.code satisfies string
  },
}
const { recovery: _, history, ...others } = controls

// The result has the type of the argument.
export const tools: { look: { execute: () => Promise<number> } } = guardTools(
  { look: { execute: async () => 1 } },
  controls,
)
export const all = [
  contextMiddleware(controls),
  approvalPolicy(controls),
  contextControl(controls),
  needsApproval(controls),
]
export const model: { name: string; getResponse(): void } = guardModel({ name: 'm', getResponse() {} }, controls)
export const tool: { type: string } = guardFunctionTool({ type: 'function' }, controls)
export const filter = pruneFilter({ ...controls, session: storeUnpruned({ getItems() {}, addItems() {} }) })
export const hosts = [
  claudeOptions({ truncation: controls.truncation }),
  plugin({ ...others, history }),
  agentHooks({ ...others, history }),
  extension({ ...others, history }),
]

// @ts-expect-error there is no such control
contextMiddleware({ histroy: controls.history })
// @ts-expect-error the Claude Agent SDK has no hook before a request
claudeOptions({ history })
export const traced = (api: TelemetryApi) => createTelemetry(api).tool({ name: 'look', execute: async () => 1 })
