import spillway from './index.js'

export const {
  AuditLog,
  ContextManager,
  DoomLoopDetector,
  HistoryPruner,
  MemoryStorage,
  PermissionGate,
  PermissionPolicy,
  SpillwayError,
  ToolRegistry,
  ToolResultLedger,
  TruncationService,
  TruncationStorage,
  classifyOverflow,
  compactHistory,
  createOutputTools,
  createTruncation,
  createTruncationMiddleware,
  estimateTokens,
  guardTool,
  recoverFromOverflow,
  runCommand,
  simplifyOutdatedTerminalResults,
  verifyAudit,
} = spillway

export default spillway
