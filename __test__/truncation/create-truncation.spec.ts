import { inspect } from 'node:util'
import { createTruncation, SpillwayError } from 'spillway'
import { runChild } from '../support/child'

describe('a limit for all tools that raises the one of a tool', () => {
  const warnings = (body: string) =>
    runChild<{ message: string; code: string }[]>(
      `const warnings = []
       process.on('warning', ({ message, code }) => warnings.push({ message, code }))
       ${body}
       await new Promise((done) => setImmediate(done))
       answer(warnings)`,
    )

  test('is said once, with a code', () => {
    const said = warnings('for (const maxLines of [2000, 1500]) spillway.createTruncation({ maxLines })')
    expect(said).toEqual([
      { code: 'SPILLWAY_TOOL_LIMIT', message: expect.stringMatching(/2000 .*bash, which is 500 lines/) },
    ])
  })

  test('is not said where nothing is raised, or where it is meant', () => {
    const said = warnings(`
      spillway.createTruncation()
      spillway.createTruncation({ maxBytes: 9000 })
      spillway.createTruncation({ maxLines: 500 })
      spillway.createTruncation({ maxLines: 2000, tools: { bash: { maxLines: 500 } } })
      spillway.createTruncation({ maxLines: 2000, tools: { shell: { maxLines: 2000 } } })`)
    expect(said).toEqual([])
  })

  test('still goes before the setting of the tool', () => {
    const { service } = createTruncation({ maxLines: 400 })
    expect(service.effectiveConfig({ toolName: 'bash' })).toMatchObject({
      config: { maxLines: 400 },
      sources: { maxLines: 'global' },
    })
  })
})

test('an error prints the fields that it has', () => {
  const bare = new SpillwayError('ABORTED', 'it was ended')
  expect(Object.keys(bare).sort()).toEqual(['code', 'name'])
  expect(inspect(bare)).not.toContain('undefined')
  const { field, report } = new SpillwayError('INVALID_CONFIG', 'x', { field: 'a.b', report: { tried: 1 } })
  expect([field, report, bare.field, bare.report]).toEqual(['a.b', { tried: 1 }, undefined, undefined])
})
