/**
 * The truncation service of the design document, in plain JavaScript: what an application would have without Spillway.
 *
 * It is written the way the document writes it (split, byte length of every line, sizes for an event that may have no
 * listener, the folder made before every file), because a yardstick that is tuned measures the tuning.
 */
import fs from 'node:fs/promises'
import path from 'node:path'

export const REFERENCE_DEFAULTS = {
  maxLines: 2000,
  maxBytes: 50 * 1024,
  direction: 'head',
  enabled: true,
  retentionDays: 7,
}

export class ReferenceStrategy {
  name = 'default'

  needsTruncation(content, config) {
    const lines = this.countLines(content)
    const bytes = this.countBytes(content)
    return lines > config.maxLines || bytes > config.maxBytes
  }

  truncate(content, config) {
    const lines = content.split('\n')
    const totalBytes = this.countBytes(content)
    const overBytes = totalBytes > config.maxBytes
    const kept = []
    let bytes = 0
    let stoppedByBytes = false

    if (config.direction === 'head') {
      for (let i = 0; i < lines.length && kept.length < config.maxLines; i++) {
        const size = this.countBytes(lines[i]) + (kept.length > 0 ? 1 : 0)
        if (bytes + size > config.maxBytes) {
          stoppedByBytes = true
          break
        }
        kept.push(lines[i])
        bytes += size
      }
    } else {
      for (let i = lines.length - 1; i >= 0 && kept.length < config.maxLines; i--) {
        const size = this.countBytes(lines[i]) + (kept.length > 0 ? 1 : 0)
        if (bytes + size > config.maxBytes) {
          stoppedByBytes = true
          break
        }
        kept.unshift(lines[i])
        bytes += size
      }
    }

    const byBytes = stoppedByBytes || overBytes
    return {
      content: kept.join('\n'),
      removedLines: byBytes ? undefined : lines.length - kept.length,
      removedBytes: byBytes ? totalBytes - bytes : undefined,
    }
  }

  countLines(content) {
    return content.split('\n').length
  }

  countBytes(content) {
    return Buffer.byteLength(content, 'utf-8')
  }
}

export class ReferenceStorage {
  constructor(storageDir) {
    this.storageDir = storageDir
  }

  async save(content, context) {
    await this.ensureDir()
    const filePath = path.join(this.storageDir, this.generateFilename(context))
    await fs.writeFile(filePath, content, 'utf-8')
    return filePath
  }

  async ensureDir() {
    try {
      await fs.mkdir(this.storageDir, { recursive: true })
    } catch {
      // The document ignores this: writing the file will tell.
    }
  }

  generateFilename(context) {
    const timestamp = Date.now()
    const random = Math.random().toString(36).substring(2, 8)
    const toolName = context.toolName.replace(/[^a-zA-Z0-9_-]/g, '_')
    return `${toolName}_${timestamp}_${random}.txt`
  }
}

export class ReferenceTruncationService {
  constructor(config = {}) {
    this.config = { ...REFERENCE_DEFAULTS, ...config.global }
    this.toolConfigs = new Map(Object.entries(config.tools || {}))
    this.storage = config.storage || new ReferenceStorage(this.config.storageDir)
    this.strategy = config.strategy || new ReferenceStrategy()
    this.onEvent = config.onEvent
  }

  async output(content, context) {
    const config = this.getEffectiveConfig(context)

    if (!config.enabled || !this.strategy.needsTruncation(content, config)) {
      this.emitEvent({
        type: 'skipped',
        toolName: context.toolName,
        originalSize: Buffer.byteLength(content, 'utf-8'),
        truncatedSize: Buffer.byteLength(content, 'utf-8'),
        timestamp: Date.now(),
      })
      return { content, truncated: false }
    }

    try {
      const cut = this.strategy.truncate(content, config)
      const originalSize = Buffer.byteLength(content, 'utf-8')
      const outputPath = await this.storage.save(content, context)
      const hint = this.generateHint(outputPath)
      const finalContent = this.formatOutput(cut.content, hint, config.direction, cut.removedLines, cut.removedBytes)

      this.emitEvent({
        type: 'truncated',
        toolName: context.toolName,
        originalSize,
        truncatedSize: Buffer.byteLength(finalContent, 'utf-8'),
        outputPath,
        timestamp: Date.now(),
      })
      return {
        content: finalContent,
        truncated: true,
        outputPath,
        removedLines: cut.removedLines,
        removedBytes: cut.removedBytes,
      }
    } catch (error) {
      this.emitEvent({
        type: 'error',
        toolName: context.toolName,
        originalSize: Buffer.byteLength(content, 'utf-8'),
        truncatedSize: Buffer.byteLength(content, 'utf-8'),
        error: error instanceof Error ? error.message : String(error),
        timestamp: Date.now(),
      })
      return { content, truncated: false }
    }
  }

  getEffectiveConfig(context) {
    const toolConfig = this.toolConfigs.get(context.toolName) || {}
    const options = context.options || {}
    return {
      ...this.config,
      ...toolConfig,
      ...options,
      enabled: options.skip !== undefined ? !options.skip : (toolConfig.enabled ?? this.config.enabled),
    }
  }

  generateHint(outputPath) {
    return (
      'The tool call succeeded but the output was truncated. ' +
      `Full output saved to: ${outputPath}\n` +
      'Use Grep to search the full content or Read with offset/limit to view specific sections.'
    )
  }

  formatOutput(content, hint, direction, removedLines, removedBytes) {
    const unit = removedBytes ? 'bytes' : 'lines'
    const removed = removedBytes || removedLines || 0
    if (direction === 'head') return `${content}\n\n...${removed} ${unit} truncated...\n\n${hint}`
    return `...${removed} ${unit} truncated...\n\n${hint}\n\n${content}`
  }

  emitEvent(event) {
    this.onEvent?.(event)
  }
}
