// The shapes as the design document gives them, word for word. `shapes.ts` holds the package against them.

export type TruncationResult =
  | { content: string; truncated: false }
  | { content: string; truncated: true; outputPath: string; removedLines?: number; removedBytes?: number }

export type TruncationDirection = 'head' | 'tail'

export interface TruncationConfig {
  maxLines: number
  maxBytes: number
  direction: TruncationDirection
  enabled: boolean
  retentionDays: number
  storageDir?: string
}

export interface TruncationOptions {
  maxLines?: number
  maxBytes?: number
  direction?: TruncationDirection
  skip?: boolean
}

export interface TruncationContext {
  toolName: string
  sessionId?: string
  messageId?: string
  options?: TruncationOptions
}

export interface TruncationStrategy {
  readonly name: string
  needsTruncation(content: string, config: TruncationConfig): boolean
  truncate(content: string, config: TruncationConfig): { content: string; removedLines?: number; removedBytes?: number }
}

export type TruncationEventType = 'truncated' | 'skipped' | 'error'

export interface TruncationEvent {
  type: TruncationEventType
  toolName: string
  originalSize: number
  truncatedSize: number
  outputPath?: string
  error?: string
  timestamp: number
}

export type TruncationEventCallback = (event: TruncationEvent) => void

export interface ITruncationStorage {
  save(content: string, context: TruncationContext): Promise<string>
  read(path: string): Promise<string>
  cleanup(retentionDays: number): Promise<number>
  getStorageDir(): string
}

export interface TruncationServiceConfig {
  global?: Partial<TruncationConfig>
  tools?: Record<string, Partial<TruncationConfig>>
  onEvent?: TruncationEventCallback
  storage?: ITruncationStorage
  strategy?: TruncationStrategy
}
