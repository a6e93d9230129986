import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import {
  createTruncationMiddleware,
  DoomLoopDetector,
  guardTool,
  MemoryStorage,
  runCommand,
  ToolRegistry,
  ToolResultLedger,
  type TruncationConfig,
  type TruncationContent,
  type TruncationService,
  type TruncationServiceConfig,
} from 'spillway'
import { guardTools } from 'spillway/ai-sdk'
import { claudeOptions } from 'spillway/claude-agent-sdk'
import { contextControl } from 'spillway/langchain'
import { guardMcpTool } from 'spillway/mcp'
import { guardFunctionTool as guardAgentTool } from 'spillway/openai-agents'
import {
  BaseTruncationStrategy,
  type ContentPart,
  containsTruncationMarker,
  createTruncationPlugin,
  type StrategyResult,
} from 'spillway/truncation'
import { cut, makeListening, makeService, numbered } from '../support/outputs'
import { tempDir } from '../support/temp'

/** Cases of each property. */
const RUNS = Number(process.env.SPILLWAY_PROPERTY_RUNS ?? 150)

const JSON_TEXT = JSON.stringify(
  { items: Array.from({ length: 300 }, (_, id) => ({ id, name: `name ${id}` })) },
  null,
  1,
)
const CSV_TEXT = `id,name\n${Array.from({ length: 300 }, (_, id) => `${id},name ${id}`).join('\n')}\n`
const DIFF_TEXT = Array.from(
  { length: 30 },
  (_, at) =>
    `diff --git a/f${at} b/f${at}\n--- a/f${at}\n+++ b/f${at}\n@@ -1,2 +1,2 @@\n same\n-old ${at}\n+new ${at}\n`,
).join('')
const texts = fc.oneof(
  fc.integer({ min: 30, max: 400 }).map((count) => numbered(count)),
  fc.constantFrom(JSON_TEXT, CSV_TEXT, DIFF_TEXT, 'x'.repeat(5000), '漢字😀\n'.repeat(200), `${numbered(100)}\n`),
  fc
    .array(fc.string({ unit: 'grapheme', maxLength: 40 }), { minLength: 20, maxLength: 60 })
    .map((all) => all.join('\n')),
)
const configs: fc.Arbitrary<TruncationServiceConfig> = fc.record(
  {
    strategy: fc.constantFrom('default', 'auto', 'line', 'byte', 'smart', 'json'),
    language: fc.constantFrom('en', 'zh-CN'),
    profile: fc.constantFrom('opencode', 'openclaw', 'snow', 'takumi', 'moryflow'),
    noticeInside: fc.boolean(),
    availableTools: fc.constantFrom([], ['grep', 'read', 'task']),
    global: fc.record(
      {
        maxLines: fc.integer({ min: 1, max: 40 }),
        maxBytes: fc.integer({ min: 1, max: 2000 }),
        maxTokens: fc.integer({ min: 20, max: 500 }),
        direction: fc.constantFrom('head', 'tail', 'both'),
        terminal: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
)

describe('a preview is never cut again', () => {
  const property = (shape: (text: string) => TruncationContent) =>
    fc.asyncProperty(texts, configs, fc.boolean(), async (text, config, failed) => {
      const service = makeService(config)
      const context = { toolName: 'bash', failed }
      const first = await service.output(shape(text), context)
      const second = await service.output(first.content, { toolName: 'other' })
      if (config.noticeInside || !first.truncated) expect(second.content).toEqual(first.content)
      // A preview that has room for no notice is a text like any other.
      if (!first.truncated || !JSON.stringify(first.content).includes(first.outputPath)) return
      expect(second).toEqual(first)
      // Where the notice counts, other limits may leave no room for it.
      if (config.noticeInside) return
      expect(await makeService({ ...config, strategy: 'smart' }).output(first.content, context)).toEqual(first)
    })
  const isCut = { numRuns: RUNS }

  test('for any strategy, limits, language and profile', () => fc.assert(property(String), isCut))
  test('if it is made from bytes', () => fc.assert(property(Buffer.from), isCut))
  test('if it is made from parts', () => {
    const image = { type: 'image', data: 'aGk=' }
    const inParts = (text: string): ContentPart[] => [
      { type: 'text', text: text.slice(0, 300) },
      image,
      { type: 'text', text: text.slice(300) },
    ]
    return fc.assert(property(inParts), isCut)
  })

  test('if it has a strategy and words of the caller', async () => {
    class Shorter extends BaseTruncationStrategy {
      name = 'shorter'
      truncate(content: string, config: TruncationConfig): StrategyResult {
        return { ...super.truncate(content, config), content: content.slice(0, 50) }
      }
    }
    for (const options of [
      { strategy: new Shorter() },
      { formatNotice: () => '[cut]' },
      { formatNotice: ({ outputPath }: { outputPath: string }) => `see ${outputPath}` },
      { storage: new MemoryStorage() },
    ]) {
      const service = makeService({ ...options, global: { maxLines: 3 } })
      const first = cut(await service.output(numbered(99), { toolName: 'x' }))
      expect(await service.output(first.content, { toolName: 'x' })).toEqual(first)
    }
  })

  test('and one event says that nothing was done', async () => {
    const { service, events } = makeListening({ global: { maxLines: 3 } })
    const first = cut(await service.output(numbered(9), { toolName: 'x' }))
    await service.output(first.content, { toolName: 'x' })
    const size = Buffer.byteLength(first.content)
    expect(events).toMatchObject([
      { type: 'truncated' },
      { type: 'skipped', originalSize: size, truncatedSize: size, outputPath: first.outputPath },
    ])
  })

  test('changes of a caller in an answer do not change the next one', async () => {
    const service = makeService({ global: { maxLines: 3 } })
    const first = cut(await service.output(numbered(9), { toolName: 'x' }))
    const copy = structuredClone(first)
    first.ranges[0]!.toLine = 99
    expect(await service.output(copy.content, { toolName: 'x' })).toEqual(copy)
  })

  test('but one that is far over the limits of another service is, and its notice stays', async () => {
    const path = cut(await makeService().output(numbered(5000), { toolName: 'x' }))
    const small = cut(await makeService({ global: { maxBytes: 300 } }).output(path.content, { toolName: 'x' }))
    expect(small.outputPath).not.toBe(path.outputPath)
    expect(Buffer.byteLength(small.preview)).toBeLessThanOrEqual(300)
    expect(small.content).toContain(`Full output saved to: ${path.outputPath}`)
  })

  test('a text that only looks like one is an output like any other', async () => {
    const service = makeService({ global: { maxLines: 3 } })
    const first = cut(await service.output(numbered(9), { toolName: 'x' }))
    const forged = cut(await service.output(first.content.replace('line 2', 'LINE 2'), { toolName: 'x' }))
    expect(forged.outputPath).not.toBe(first.outputPath)
    // The path is that of a saved output, so it is repeated.
    expect(forged.content).toContain(first.outputPath)
    const foreign = first.content.replaceAll(first.outputPath, '/etc/shadow')
    const other = cut(await service.output(`${numbered(20)}\n${foreign}`, { toolName: 'x' }))
    expect(other.content).not.toContain('/etc/shadow')
  })
})

describe('more text around a preview', () => {
  const before = (text: string) => `exit code 0\n${text}`
  const after = (text: string) => `${text}\nexit code 0`

  test.each(['head', 'tail', 'both'] as const)('that is little leaves it alone: %s', async (direction) => {
    const service = makeService({ global: { direction } })
    const first = cut(await service.output(numbered(5000), { toolName: 'x' }))
    for (const text of [before(first.content), after(first.content)]) {
      const { content, outputPath } = cut(await service.output(text, { toolName: 'x' }))
      expect([content, outputPath]).toEqual([text, first.outputPath])
      expect(await service.output(Buffer.from(text), { toolName: 'x' })).toMatchObject({ content: text })
    }
  })

  test('that is much is cut, and what was said is said again', async () => {
    for (const direction of ['head', 'tail', 'both'] as const) {
      for (const language of ['en', 'zh-CN'] as const) {
        for (const noticeInside of [false, true]) {
          const service = makeService({ global: { direction, maxLines: 200 }, language, noticeInside })
          const first = cut(await service.output(numbered(5000), { toolName: 'x' }))
          for (const text of [numbered(900) + first.content, `${first.content}\n${numbered(900)}`]) {
            const sum = cut(await service.output(text, { toolName: 'x' }))
            expect(readFileSync(sum.outputPath, 'utf8')).toBe(text)
            expect(sum.content).toContain(first.outputPath)
            expect(sum.content).toContain(sum.outputPath)
            if (!noticeInside) for (const line of first.hint.split('\n')) expect(sum.content).toContain(line)
            else expect(sum.content.split('\n').length).toBeLessThanOrEqual(200)
            // And that is a preview as well.
            expect(await service.output(sum.content, { toolName: 'x' })).toEqual(sum)
          }
        }
      }
    }
  })

  test('that only names the saved output, as a search in it does, has no preview in it', async () => {
    const service = makeService({ global: { maxLines: 200 } })
    const { outputPath } = cut(await service.output(numbered(5000), { toolName: 'x' }))
    const hits = numbered(900)
      .split('\n')
      .map((line, at) => `${outputPath}:${at}:${line}`)
    const { content } = cut(await service.output(hits.join('\n'), { toolName: 'grep' }))
    expect(content).not.toContain('earlier output')
    // Where it is not shown, it is not lost.
    const last = cut(await service.output([...hits.map(() => 'x'), hits[0]].join('\n'), { toolName: 'grep' }))
    expect(last.content).toContain(outputPath)
  })

  test('many previews are named one by one', async () => {
    const service = makeService({ global: { maxLines: 20 } })
    const all = await Promise.all(
      Array.from({ length: 10 }, (_, at) => service.output(numbered(90, at), { toolName: 'x' })),
    )
    const sum = cut(await service.output(all.map(({ content }) => content).join('\n'), { toolName: 'x' }))
    for (const one of all) expect(sum.content).toContain(cut(one).outputPath)
    expect(sum.content.length - sum.preview.length).toBeLessThan(3000)
  })

  test('in an object', async () => {
    const service = makeService()
    const middleware = createTruncationMiddleware({ service })
    const first = cut(await service.output(`${'line of "text"\n'.repeat(9000)}`, { toolName: 'x' }))
    const output = { exitCode: 0, stdout: first.content }
    const bounded = await middleware('x', { output }, { toolName: 'x' })
    expect(bounded).toMatchObject({ output, metadata: { truncationPath: first.outputPath } })
  })
})

const SCRIPT = "for (let n = 1; n <= 6000; n++) console.log('line ' + n)"

describe('from one way in to the next', () => {
  type Stage = (value: unknown, service: TruncationService, ledger: ToolResultLedger) => Promise<unknown>
  const LAST = 6000
  const text = `${numbered(LAST)}\n`
  const textOf = (value: unknown): string => {
    if (typeof value === 'string') return value
    if (Array.isArray(value)) return value.map(textOf).join('\n')
    const { output, content, text: own, value: inner } = Object(value)
    return textOf(output ?? content ?? own ?? inner ?? '')
  }
  const context = { toolName: 'bash', toolCallId: 'c1' }
  const stages: Record<string, Stage> = {
    output: async (value, service) => (await service.output(textOf(value), context)).content,
    capture: async (value, service) => {
      const capture = service.capture(context)
      capture.end(textOf(value))
      return (await capture.result).content
    },
    middleware: (value, service, ledger) =>
      createTruncationMiddleware({ service, ledger })(
        'bash',
        Object(value).output ? (value as object) : { output: value },
        context,
      ),
    plugin: async (value, service) => {
      const info = { toolUse: { name: 'bash', callId: 'c1' } }
      return (await createTruncationPlugin({ service }).toolResult({ llmContent: textOf(value) }, info as never))
        .llmContent
    },
    registry: async (value, service, ledger) => {
      const registry = new ToolRegistry({ ledger } as never)
      registry.register([{ name: 'bash', execute: async () => value } as never])
      registry.setTruncationMiddleware(createTruncationMiddleware({ service, ledger }))
      const [done] = await registry.execute([{ id: 'c1', name: 'bash', arguments: {} }] as never, {} as never)
      return Object(done).result
    },
    guardTool: (value, truncation, ledger) =>
      guardTool({ name: 'bash', execute: async () => value }, { truncation, ledger }).execute(
        undefined as never,
        context,
      ),
    'AI SDK': (value, truncation, ledger) => {
      const { bash } = guardTools({ bash: { execute: async () => value } } as never, { truncation, ledger }) as never
      const { execute, toModelOutput } = bash as Record<string, (...args: unknown[]) => Promise<unknown>>
      return execute!({}, { toolCallId: 'c1', messages: [] }).then((output) =>
        toModelOutput!({ toolCallId: 'c1', input: {}, output }),
      )
    },
    LangChain: async (value, truncation, ledger) => {
      class ToolMessage {
        constructor(fields: object) {
          Object.assign(this, fields)
        }
      }
      const message = new ToolMessage({ content: textOf(value), tool_call_id: 'c1', name: 'bash' })
      const request = { toolCall: { id: 'c1', name: 'bash', args: {} }, runtime: {} }
      return contextControl({ truncation, ledger }).wrapToolCall(request, async () => message)
    },
    'OpenAI Agents': (value, truncation, ledger) => {
      const tool = { type: 'function', name: 'bash', invoke: async () => value } as never
      return (guardAgentTool(tool, { truncation, ledger }) as { invoke(...args: unknown[]): Promise<unknown> }).invoke(
        {},
        '{}',
        { toolCall: { callId: 'c1' } },
      )
    },
    Claude: async (value, truncation, ledger) => {
      const { hooks } = claudeOptions({ truncation, ledger })
      const input = {
        session_id: 's',
        tool_name: 'Bash',
        tool_input: {},
        tool_use_id: 'c1',
        tool_response: textOf(value),
      }
      const said = await hooks.PostToolUse[0]!.hooks[0]!(input, 'c1', { signal: new AbortController().signal })
      return said.hookSpecificOutput?.updatedToolOutput ?? textOf(value)
    },
    MCP: async (value, truncation) => {
      const handler = async (_: object) => ({ content: [{ type: 'text', text: textOf(value) }] })
      return guardMcpTool('bash', handler, { truncation })({})
    },
    runCommand: async (value, service) => {
      const input = textOf(value)
      const { output } = await runCommand(process.execPath, ['-e', 'process.stdin.pipe(process.stdout)'], {
        service,
        input,
      })
      return output.content
    },
  }
  const names = Object.keys(stages)

  test.each(names)(
    'from %s',
    async (name) => {
      for (const next of names) {
        const service = makeService()
        const ledger = new ToolResultLedger()
        const one = await stages[name]!(text, service as never, ledger)
        const first = textOf(one)
        const [, path = 'no path'] = /Full output saved to: (.*)/.exec(first) ?? []
        expect(readFileSync(path, 'utf8')).toBe(text)
        const two = await stages[next]!(one, service as never, ledger)
        expect([next, textOf(two)]).toEqual([next, first])
        expect([undefined, path]).toContain(ledger.get('c1')?.outputPath)
      }
    },
    120_000,
  )

  test('the result of a command is understood, with any part of it given back', async () => {
    const service = makeService()
    for (const shape of [
      (result: object) => result,
      (result: object) => ({ ...result }),
      (result: { output: object }) => result.output,
      (result: { output: object }) => ({ ...result.output }),
      (result: { output: { content: string } }) => result.output.content,
      (result: { output: { content: string } }) => `exit code 0\n${result.output.content}`,
      (result: object) => ({ output: result }),
      (result: { output: object }) => ({ output: result.output, exitCode: 0 }),
      (result: { output: object }) => ({ code: 0, result: result.output }),
    ]) {
      const ledger = new ToolResultLedger()
      let content = ''
      let path = ''
      const execute = async () => {
        const result = await runCommand(process.execPath, ['-e', SCRIPT], { service: service as never })
        content = result.output.content
        path = cut(result.output).outputPath
        return shape(result as never)
      }
      const tool = guardTool({ name: 'bash', execute }, { truncation: service, ledger })
      const result = await tool.execute(undefined as never, { toolCallId: 'c1' })
      const written = JSON.stringify(result)
      expect(written.split('line 5999\\n')).toHaveLength(2)
      expect(written).toContain(JSON.stringify(content).slice(1, -1))
      expect(ledger.get('c1')?.outputPath).toBe(path)
      expect(readFileSync(path, 'utf8')).toBe(text)
    }
  })

  test('a short result of a command is its text', async () => {
    const service = makeService()
    const execute = () => runCommand(process.execPath, ['-e', 'console.log(1)'], { service: service as never })
    expect(
      await guardTool({ name: 'bash', execute }, { truncation: service }).execute(undefined as never),
    ).toMatchObject({
      exitCode: 0,
      output: '1\n',
    })
  })

  test('a command that was ended keeps its note', async () => {
    const service = makeService()
    const execute = async () => {
      const script = `${SCRIPT}; setInterval(() => {}, 1000)`
      const { output } = await runCommand(process.execPath, ['-e', script], {
        service: service as never,
        timeoutMs: 1500,
      })
      return output.content
    }
    const shown = await guardTool({ name: 'bash', execute }, { truncation: service }).execute(undefined as never)
    expect(shown).toContain('1500 ms')
    expect(shown).toContain('of 6000.')
  })

  test('a loop over a command whose output is saved each time is still one', async () => {
    const service = makeService()
    const execute = async () =>
      (await runCommand(process.execPath, ['-e', SCRIPT], { service: service as never })).output.content
    const tool = guardTool({ name: 'bash', execute }, { truncation: service, doomLoop: new DoomLoopDetector() })
    const results: unknown[] = []
    for (let n = 0; n < 5; n += 1) results.push(await tool.execute(undefined as never, { toolCallId: `c${n}` }))
    expect(results[4]).toMatchObject({ kind: 'doom_loop' })
  })

  test('a path that a tool makes up does not get into the ledger', async () => {
    const dir = tempDir()
    for (const metadata of [
      { truncated: true, truncationPath: `${dir}/x.txt` },
      { truncationPath: '/etc/shadow' },
      { outputPath: '/etc/shadow' },
    ]) {
      const ledger = new ToolResultLedger()
      const service = makeService()
      const execute = async () => ({ output: 'short', metadata })
      await guardTool({ name: 'bash', execute }, { truncation: service, ledger }).execute(undefined as never, {
        toolCallId: 'a',
      })
      await guardTool({ name: 'bash', execute }, { ledger }).execute(undefined as never, { toolCallId: 'b' })
      await createTruncationMiddleware({ service, ledger })('bash', await execute(), {
        toolName: 'bash',
        toolCallId: 'c',
      })
      expect(['a', 'b', 'c'].map((id) => ledger.get(id)?.outputPath)).toEqual([undefined, undefined, undefined])
    }
  })
})

test('every preview says that it is one', async () => {
  await fc.assert(
    fc.asyncProperty(texts, configs, async (text, config) => {
      const { content, truncated, ...facts } = await makeService(config).output(text, { toolName: 'x' })
      const { outputPath = '' } = facts as { outputPath?: string }
      if (truncated && content.includes(outputPath)) expect(containsTruncationMarker(content)).toBe(true)
    }),
    { numRuns: RUNS },
  )
})

test('an output that keeps the limits passes, also one as long as an earlier preview', async () => {
  const service = makeService({ global: { maxLines: 1, maxBytes: 13 } })
  const preview = cut(await service.output('a'.repeat(40), { toolName: 'x' })).content
  const wide = makeService({ global: { maxLines: 10, maxBytes: preview.length } })
  const text = 'b'.repeat(preview.length)
  expect(await wide.output(text, { toolName: 'x' })).toEqual({ content: text, truncated: false })
})
