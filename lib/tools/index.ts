/** Ready-made tools, and what executes and bounds tools where no framework does. */

export type { FolderOptions, HostableTool, ReadyTool, ReadyToolResult, ToolCallContext } from './definition'
export { createEditTool, type EditToolOptions } from './files/edit-tool'
export { FileReads } from './files/file-reads'
export { createGrepTool, type GrepToolOptions } from './files/grep-tool'
export { createReadTool, type ReadToolOptions } from './files/read-tool'
export {
  createOutputTools,
  type OutputStore,
  type OutputStoreHolder,
  type OutputTool,
  type OutputToolContext,
  type OutputToolResult,
  type OutputToolsOptions,
} from './output-tools'
export {
  type ExecutionContext,
  type Tool,
  type ToolCall,
  type ToolExecutionResult,
  ToolRegistry,
  type ToolRegistryConfig,
  type ToolResult,
} from './registry'
export { createShellTool, type ShellToolOptions } from './shell-tool'
export {
  type SubAgentOutcome,
  type SubAgentResult,
  type SubAgentResultOptions,
  type SubAgentStatus,
  subAgentResult,
} from './sub-agent-result'
