/** Ready-made tools, and what executes and bounds tools where no framework does. */

export {
  createOutputTools,
  type OutputSource,
  type OutputSourceHolder,
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
export {
  type SubAgentOutcome,
  type SubAgentResult,
  type SubAgentResultOptions,
  type SubAgentStatus,
  subAgentResult,
} from './sub-agent-result'
