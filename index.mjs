import spillway from './index.js'

export const {
  BaseTruncationStrategy,
  ByteBasedStrategy,
  Capture,
  DEFAULT_TRUNCATION_CONFIG,
  DefaultTruncationStrategy,
  LineBasedStrategy,
  SpillwayError,
  TOOL_TRUNCATION_CONFIGS,
  ToolRegistry,
  TruncationService,
  TruncationStorage,
  containsTruncationMarker,
  createTruncation,
  createTruncationMiddleware,
  createTruncationPlugin,
  runCommand,
  simplifyOutdatedTerminalResults,
  truncationPlugin,
} = spillway

export default spillway
