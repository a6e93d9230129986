import spillway from './index.js'

export const {
  BaseTruncationStrategy,
  ByteBasedStrategy,
  Capture,
  DEFAULT_TRUNCATION_CONFIG,
  DefaultTruncationStrategy,
  LineBasedStrategy,
  MemoryStorage,
  SpillwayError,
  TOOL_TRUNCATION_CONFIGS,
  ToolRegistry,
  TruncationService,
  TruncationStorage,
  appPaths,
  containsTruncationMarker,
  createOutputTools,
  createTruncation,
  createTruncationMiddleware,
  createTruncationPlugin,
  runCommand,
  simplifyOutdatedTerminalResults,
  truncationPlugin,
} = spillway

export default spillway
