import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { createTruncationMiddleware, guardTool, runCommand, ToolRegistry, TruncationService } from 'spillway'
import { type SubAgentOutcome, subAgentResult } from 'spillway/tools'
import { tempDir } from '../support/temp'

const RUNS = Number(process.env.SPILLWAY_PROPERTY_RUNS ?? 150)

let dir: string
beforeEach(() => {
  dir = tempDir()
})
const serviceOf = (options: object = {}) => new TruncationService({ storageDirs: [dir], ...options })
const long = Array.from({ length: 3000 }, (_, at) => `finding ${at}`).join('\n')

test('shows a short answer below the status', async () => {
  const truncation = serviceOf()
  expect(await subAgentResult({ answer: 'No faults.', agent: 'reviewer' }, { truncation })).toEqual({
    success: true,
    status: 'completed',
    agent: 'reviewer',
    output: '[Sub-agent reviewer: completed]\nNo faults.',
    metadata: { truncated: false },
  })
  const failed = await subAgentResult({ answer: { code: 7 }, status: 'failed' }, { truncation })
  expect(failed).toMatchObject({ success: false, output: '[Sub-agent: failed]\n{\n  "code": 7\n}' })
})

test.each(['head', 'tail', 'both'] as const)('a long answer is saved whole, kept from the %s', async (direction) => {
  const result = await subAgentResult({ answer: long, status: 'incomplete' }, { truncation: serviceOf({ direction }) })
  const { truncated, truncationPath } = result.metadata
  expect(truncated).toBe(true)
  expect(readFileSync(String(truncationPath), 'utf8')).toBe(long)
  expect(result.output.split('\n', 1)).toEqual(['[Sub-agent: incomplete]'])
  expect(result.output).toContain(String(truncationPath))
  expect(result.output.length).toBeLessThan(long.length)
})

test.each([[{}], [{ answer: undefined }], [{ answer: null }], [{ answer: '' }]])(
  'without an answer: %j',
  async (outcome) => {
    const result = await subAgentResult({ ...outcome, agent: 'x', status: 'aborted' }, { truncation: serviceOf() })
    expect(result).toMatchObject({ success: false, status: 'aborted', output: '[Sub-agent x: aborted]' })
  },
)

test('the answer of a sub-agent that was aborted is saved whole', async () => {
  const [truncation, signal] = [serviceOf(), AbortSignal.abort()]
  const { output, metadata } = await subAgentResult({ answer: long, status: 'aborted' }, { truncation, signal })
  expect(readFileSync(String(metadata.truncationPath), 'utf8')).toBe(long)
  expect(output).toContain('The tool call failed')
  expect(output).toMatch(/finding 2999$/)
})

test('a command whose output was bounded is bounded no more', async () => {
  const truncation = serviceOf({ maxLines: 10 })
  const command = await runCommand('seq', ['1', '500'], { service: truncation })
  const { output, metadata } = await subAgentResult({ answer: command.output }, { truncation })
  expect(output).toBe(`[Sub-agent: completed]\n${command.output.content}`)
  expect(metadata.truncationPath).toBe((command.output as { outputPath?: string }).outputPath)
})

test('a name of several lines stays on one, and no longer than 100 units', async () => {
  const { output } = await subAgentResult(
    { answer: 'x', agent: `a\n\nb${'c'.repeat(500)}` },
    { truncation: serviceOf() },
  )
  expect(output).toBe(`[Sub-agent a b${'c'.repeat(97)}: completed]\nx`)
})

test('shows the message of an error without the stack', async () => {
  const { output } = await subAgentResult(
    { answer: new TypeError('no tools'), status: 'failed' },
    { truncation: serviceOf() },
  )
  expect(output).toBe('[Sub-agent: failed]\nno tools')
})

test.each([
  [{ answer: 'x', status: 'done' }, {}, /"(outcome\.)?status": expected .*completed/],
  [{ answr: 'x' }, {}, /answr/],
  [
    { answer: 'x' },
    { truncation: undefined },
    /"truncation": expected a TruncationService or a middleware, such as the `service` of createTruncation/,
  ],
  [{ answer: 'x' }, { toolName: 7 }, /"toolName": expected a string, received 7/],
])('%j with %j is refused', async (outcome, options, message) => {
  const call = subAgentResult(outcome as SubAgentOutcome, { truncation: serviceOf(), ...options } as never)
  await expect(call).rejects.toMatchObject({ name: 'SpillwayError', message: expect.stringMatching(message) })
})

// Each door that a result may pass on its way to the model, applied to a value of any shape.
const doors = {
  service: async (value: unknown, service: TruncationService) => {
    const holder = value as { output: string }
    const { content } = await service.output(holder.output, { toolName: 'any' })
    return { ...holder, output: content }
  },
  middleware: (value: unknown, service: TruncationService) =>
    createTruncationMiddleware({ service })('any', value as { output: string }, { toolName: 'any' }),
  guardTool: async (value: unknown, service: TruncationService) =>
    guardTool({ name: 'any', execute: async () => value }, { truncation: service }).execute({} as never),
  registry: async (value: unknown, service: TruncationService) => {
    const registry = new ToolRegistry()
    registry.register({ name: 'any', execute: async () => value })
    registry.setTruncationMiddleware(createTruncationMiddleware({ service }))
    return (await registry.execute([{ id: '1', name: 'any' }]))[0]!.result
  },
  subAgent: (value: unknown, service: TruncationService) => subAgentResult({ answer: value }, { truncation: service }),
}

test('a result is never truncated twice, on any path', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...(Object.keys(doors) as (keyof typeof doors)[])), { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 1, max: 60 }),
      fc.constantFrom('head', 'tail', 'both'),
      fc.integer({ min: 1, max: 80 }),
      async (way, lines, direction, maxLines) => {
        const truncation = serviceOf({ maxLines, direction })
        const answer = Array.from({ length: lines }, (_, at) => `line ${at}`).join('\n')
        const first = await subAgentResult({ answer }, { truncation })
        let value: unknown = first
        for (const door of way) value = await doors[door](value, truncation)
        const { output, metadata } = value as typeof first
        expect(output).toBe(first.output)
        expect(metadata.truncationPath).toBe(first.metadata.truncationPath)
      },
    ),
    { numRuns: RUNS },
  )
})
