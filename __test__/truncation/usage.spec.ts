import { readFileSync } from 'node:fs'
import {
  createTruncation,
  createTruncationMiddleware,
  type ITruncationStorage,
  type Tool,
  ToolRegistry,
  type ToolResult,
  ToolResultLedger,
  type TruncationConfig,
  type TruncationContext,
  type TruncationEvent,
  type TruncationOptions,
  TruncationService,
} from 'spillway'
import { BaseTruncationStrategy, DefaultTruncationStrategy } from 'spillway/truncation'
import { numbered } from '../support/outputs'
import { filesIn, overrideDefaultDir, tempDir } from '../support/temp'

let dir: string

beforeEach(() => {
  dir = tempDir()
  // Hosts usually do not say where outputs go; the tests must not fill the user's home folder.
  overrideDefaultDir(dir)
})

const call = (name: string, args: unknown = {}) => ({
  id: `call_${name}`,
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
})

const printing = (name: string, lines: number, more: Partial<Tool> = {}): Tool => ({
  name,
  execute: async () => ({ success: true, output: numbered(lines) }),
  ...more,
})

describe('usage: the service', () => {
  const longContent = 'x'.repeat(100_000)
  const contentWith100Lines = numbered(100)
  const contentWith50Lines = numbered(50)

  it('should not truncate when disabled', async () => {
    const service = new TruncationService({ global: { enabled: false } })
    const result = await service.output(longContent, { toolName: 'test' })
    expect(result.truncated).toBe(false)
  })

  it('should truncate when exceeds maxLines', async () => {
    const service = new TruncationService({ global: { maxLines: 10 } })
    const result = await service.output(contentWith100Lines, { toolName: 'test' })
    expect(result.truncated).toBe(true)
  })

  it('should respect tool-specific config', async () => {
    const service = new TruncationService({
      global: { maxLines: 100 },
      tools: { bash: { maxLines: 10 } },
    })
    const result = await service.output(contentWith50Lines, { toolName: 'bash' })
    expect(result.truncated).toBe(true)
    expect((await service.output(contentWith50Lines, { toolName: 'test' })).truncated).toBe(false)
  })

  it('should tell the two results apart by one field', async () => {
    const service = new TruncationService({ global: { maxLines: 10 } })
    const result = await service.output(contentWith100Lines, { toolName: 'test' })
    // Compiles only because `truncated` narrows the type.
    const told = result.truncated ? `${result.outputPath} ${result.removedLines}` : 'nothing was cut'
    expect(told).toBe(`${dir}/${filesIn(dir)[0]} 90`)
  })

  it('should write files that are named after the tool, the time and something random', async () => {
    const service = new TruncationService({ global: { maxLines: 10, storageDir: dir } })
    const result = await service.output(contentWith100Lines, { toolName: 'my tool/x' })
    expect(filesIn(dir)[0]).toMatch(/^my_tool_x_\d+_[a-z0-9]+\.txt$/)
    expect(result.truncated && readFileSync(result.outputPath, 'utf8')).toBe(contentWith100Lines)
  })

  it('should send events', async () => {
    const log: string[] = []
    const service = new TruncationService({
      global: { maxLines: 10 },
      onEvent: (event: TruncationEvent) => {
        log.push(`[Truncation] ${event.type}: ${event.toolName}`)
      },
    })
    await service.output('short', { toolName: 'a' })
    await service.output(contentWith100Lines, { toolName: 'b' })
    expect(log).toEqual(['[Truncation] skipped: a', '[Truncation] truncated: b'])
  })

  it('should change settings while it runs', async () => {
    const service = new TruncationService()
    service.updateConfig({ maxLines: 20 })
    service.setToolConfig('quiet', { maxLines: 1000 })
    expect((await service.output(contentWith50Lines, { toolName: 'test' })).truncated).toBe(true)
    expect((await service.output(contentWith50Lines, { toolName: 'quiet' })).truncated).toBe(false)
  })
})

describe('usage: a strategy of one’s own', () => {
  class JsonAwareStrategy extends BaseTruncationStrategy {
    readonly name = 'json-aware'

    needsTruncation(content: string, config: TruncationConfig): boolean {
      // An array is long when it has many items, however it is laid out.
      try {
        const json = JSON.parse(content)
        if (Array.isArray(json)) {
          return json.length > config.maxLines
        }
      } catch {}

      // Everything else by both limits.
      return super.needsTruncation(content, config)
    }

    truncate(content: string, config: TruncationConfig) {
      try {
        const json = JSON.parse(content)
        if (Array.isArray(json)) {
          const kept = json.slice(0, config.maxLines)
          return {
            content: JSON.stringify(kept, null, 2),
            removedLines: json.length - kept.length,
          }
        }
      } catch {}

      return new DefaultTruncationStrategy().truncate(content, config)
    }
  }

  const make = () => new TruncationService({ global: { maxLines: 3 }, strategy: new JsonAwareStrategy() })
  const context = { toolName: 'api' }

  it('should cut an array by its items', async () => {
    const result = await make().output(JSON.stringify([1, 2, 3, 4, 5]), context)
    expect(result).toMatchObject({ truncated: true, removedLines: 2, preview: '[\n  1,\n  2,\n  3\n]' })
    expect(result.content.startsWith('[\n  1,\n  2,\n  3\n]\n\n...2 lines truncated...\n\n')).toBe(true)
    expect(result.truncated && readFileSync(result.outputPath, 'utf8')).toBe('[1,2,3,4,5]')
  })

  it('should leave an array of few items alone, however many lines it has', async () => {
    const tall = JSON.stringify([1, 2, 3], null, 2)
    expect(await make().output(tall, context)).toEqual({ content: tall, truncated: false })
  })

  it('should fall back to the default for everything else', async () => {
    const result = await make().output(numbered(9), context)
    expect(result).toMatchObject({ truncated: true, removedLines: 6, preview: numbered(3) })
    expect((await make().output(numbered(3), context)).truncated).toBe(false)
  })

  it('should work without a service', () => {
    const strategy = new JsonAwareStrategy()
    const config: TruncationConfig = {
      maxLines: 2,
      maxBytes: 1000,
      direction: 'tail',
      enabled: true,
      retentionDays: 7,
    }
    expect(strategy.needsTruncation('[1,2,3]', config)).toBe(true)
    expect(strategy.needsTruncation('a\nb', config)).toBe(false)
    expect(strategy.truncate('a\nb\nc', config)).toMatchObject({ content: 'b\nc', removedLines: 1 })
  })
})

describe('usage: a storage of one’s own', () => {
  class BucketStorage implements ITruncationStorage {
    private objects = new Map<string, string>()

    async save(content: string, context: TruncationContext): Promise<string> {
      const key = `s3://bucket/${context.sessionId}/${this.objects.size}`
      this.objects.set(key, content)
      return key
    }

    async read(path: string): Promise<string> {
      const content = this.objects.get(path)
      if (content === undefined) throw new Error(`no object ${path}`)
      return content
    }

    async cleanup(retentionDays: number): Promise<number> {
      return retentionDays
    }

    getStorageDir(): string {
      return 's3://bucket'
    }
  }

  it('should keep the whole output where the host wants it', async () => {
    const storage = new BucketStorage()
    const service = new TruncationService({ global: { maxLines: 3, retentionDays: 30 }, storage })
    const result = await service.output(numbered(9), { toolName: 'x', sessionId: 's1' })
    expect(result).toMatchObject({ truncated: true, outputPath: 's3://bucket/s1/0', removedLines: 6 })
    expect(result.content).toContain('Full output saved to: s3://bucket/s1/0')
    expect(await storage.read('s3://bucket/s1/0')).toBe(numbered(9))
    expect(filesIn(dir)).toEqual([])
  })

  it('should be asked to clean up with the days of the service', async () => {
    const service = new TruncationService({ global: { retentionDays: 30 }, storage: new BucketStorage() })
    expect(await service.cleanup()).toBe(30)
  })

  it('should get bytes as text when it takes only text', async () => {
    const storage = new BucketStorage()
    const service = new TruncationService({ global: { maxLines: 3 }, storage })
    const result = await service.output(Buffer.from(numbered(9)), { toolName: 'x' })
    expect(result.truncated && (await storage.read(result.outputPath))).toBe(numbered(9))
  })
})

describe('usage: an agent with a registry of tools', () => {
  it('should truncate tool output via middleware', async () => {
    const registry = new ToolRegistry({ workingDirectory: dir })
    registry.register(printing('print', 100))
    const service = new TruncationService({ global: { maxLines: 10 } })
    registry.setTruncationMiddleware(createTruncationMiddleware({ service }))

    const results = await registry.execute([call('print')])

    expect(results[0]!.result.output).toContain('truncated')
    expect(results[0]!.result.metadata?.truncated).toBe(true)
    expect(results[0]).toMatchObject({ tool_call_id: 'call_print', name: 'print', arguments: '{}' })
  })

  it('should be set up in one place', async () => {
    const log: string[] = []
    const createDefaultToolRegistry = (config: { workingDirectory: string }) => {
      const toolRegistry = new ToolRegistry(config)
      toolRegistry.register([
        printing('bash', 600),
        printing('grep', 3500),
        printing('web_fetch', 5000),
        printing('other', 2500),
      ])

      const truncationService = new TruncationService({
        global: {
          maxLines: 2000,
          maxBytes: 50 * 1024,
          direction: 'head',
        },
        tools: {
          bash: { direction: 'tail', maxLines: 500 },
          grep: { maxLines: 3000 },
        },
        onEvent: (event) => {
          log.push(`[Truncation] ${event.type}: ${event.toolName}`)
        },
      })

      const middleware = createTruncationMiddleware({
        service: truncationService,
        skipTools: ['web_fetch'],
      })

      toolRegistry.setTruncationMiddleware(middleware)

      return toolRegistry
    }

    const registry = createDefaultToolRegistry({ workingDirectory: dir })
    const names = ['bash', 'grep', 'web_fetch', 'other']
    const results = await registry.execute(names.map((name) => call(name)))
    const outputs = results.map(({ result }) => result.output as string)
    expect(outputs[0]).toMatch(/^\.\.\.100 lines truncated\.\.\.\n[\s\S]*\n\nline 101\n[\s\S]*line 600$/)
    expect(outputs[1]).toMatch(/^line 1\n[\s\S]*\nline 3000\n\n\.\.\.500 lines truncated/)
    expect(outputs[2]).toBe(numbered(5000))
    expect(outputs[3]).toMatch(/^line 1\n[\s\S]*\nline 2000\n\n\.\.\.500 lines truncated/)
    expect(log.sort()).toEqual(['bash', 'grep', 'other'].map((name) => `[Truncation] truncated: ${name}`))
    expect(filesIn(dir)).toHaveLength(3)
  })

  it('should honour what a tool declares', async () => {
    class BashTool implements Tool {
      name = 'my_bash'
      description = 'runs a command'

      truncation: Partial<TruncationConfig> = {
        direction: 'tail',
        maxLines: 5,
      }

      async execute(args: { lines: number }) {
        return { success: true, output: numbered(args.lines) }
      }
    }

    const { service, middleware } = createTruncation()
    const registry = new ToolRegistry()
    registry.register(new BashTool())
    registry.setTruncationMiddleware(middleware)
    const [short, long] = await registry.execute([call('my_bash', { lines: 5 }), call('my_bash', { lines: 9 })])
    expect(short!.result).toEqual({ success: true, output: numbered(5), metadata: { truncated: false } })
    expect(long!.result.metadata).toMatchObject({ truncated: true, truncationRemovedLines: 4 })
    expect((long!.result.output as string).endsWith(numbered(5, 5))).toBe(true)

    service.setToolConfig('my_bash', { maxLines: 2 })
    const [again] = await registry.execute([call('my_bash', { lines: 9 })])
    expect((again!.result.output as string).endsWith(`\n\n${numbered(2, 8)}`)).toBe(true)
  })

  it('should leave alone what a tool has dealt with itself', async () => {
    const own = { success: true, output: numbered(3000), metadata: { truncated: true, customTruncation: true } }
    const registry = new ToolRegistry()
    registry.register({ name: 'custom', execute: async () => own })
    registry.setTruncationMiddleware(createTruncation({ maxLines: 10 }).middleware)
    const [answer] = await registry.execute([call('custom')])
    expect(answer!.result).toEqual(own)
    expect(filesIn(dir)).toEqual([])
  })

  it('should let the host decide per result', async () => {
    const middleware = createTruncationMiddleware<ToolResult>({
      service: new TruncationService({ global: { maxLines: 10 } }),
      shouldTruncate: (toolName, result): boolean | TruncationOptions => {
        if (toolName === 'never') return false
        return result.success ? { maxLines: 3 } : true
      },
    })
    const ask = async (toolName: string, success: boolean) =>
      (await middleware(toolName, { success, output: numbered(20) }, { toolName })).metadata?.truncationRemovedLines
    expect(await ask('never', true)).toBeUndefined()
    expect(await ask('x', true)).toBe(17)
    expect(await ask('x', false)).toBe(10)
  })
})

describe('usage: flat settings of a user', () => {
  it('should take them as they stand in a configuration', async () => {
    const { service, middleware } = createTruncation({
      maxLines: 1500,
      maxBytes: 30 * 1024,
      tools: {
        bash: { direction: 'tail' },
        grep: { maxLines: 2000 },
      },
    })
    const lines = async (toolName: string, count: number) =>
      (await middleware(toolName, { output: 'x\n'.repeat(count) }, { toolName })).metadata
    expect(await lines('other', 1500)).toEqual({ truncated: false })
    expect(await lines('other', 1501)).toMatchObject({ truncated: true, truncationRemovedLines: 1 })
    expect(await lines('grep', 2000)).toEqual({ truncated: false })
    expect(await lines('grep', 2001)).toMatchObject({ truncated: true })
    expect(service.effectiveConfig({ toolName: 'bash' }).config).toMatchObject({
      direction: 'tail',
      maxLines: 1500,
      maxBytes: 30_720,
    })
  })

  it('should take options of the service and of the middleware beside them', async () => {
    const types: string[] = []
    const ledger = new ToolResultLedger()
    const { middleware } = createTruncation({
      ledger,
      maxLines: 5,
      strategy: 'line',
      retentionDays: 3,
      storageDir: tempDir(),
      language: 'zh-CN',
      skipTools: ['free'],
      shouldTruncate: (name) => name !== 'odd',
      onEvent: ({ type }) => types.push(type),
    })
    const output = numbered(9)
    expect((await middleware('free', { output }, { toolName: 'free' })).output).toBe(output)
    expect((await middleware('odd', { output }, { toolName: 'odd' })).output).toBe(output)
    const bounded = await middleware('x', { output }, { toolName: 'x', toolCallId: 'call_1' })
    expect(bounded.output).toContain('...已截断 4 行...')
    expect(types).toEqual(['truncated'])
    expect(ledger.get('call_1')).toMatchObject({ toolName: 'x', outputPath: bounded.metadata?.truncationPath })
    expect(filesIn(dir)).toEqual([])
  })

  it('should be switched off by false, and true means the defaults', async () => {
    const off = createTruncation(false)
    const output = numbered(10_000)
    expect(await off.middleware('x', { output }, { toolName: 'x' })).toEqual({ output, metadata: { truncated: false } })
    for (const toolName of ['x', 'bash', 'read']) {
      const on = createTruncation(true).service.effectiveConfig({ toolName }).config
      expect([toolName, on]).toEqual([toolName, createTruncation().service.effectiveConfig({ toolName }).config])
    }
  })
})
