import { type ResolveModelSettingsOptions, resolveModelSettings } from 'spillway/extensions'

const defaultSystemPrompt = 'You are a coding agent.'
const custom = (value: number) => ({ mode: 'custom', value }) as const
const params = { temperature: custom(0.2), topP: { mode: 'default', value: 0.9 }, maxTokens: custom(512) } as const

function resolve(options: Omit<ResolveModelSettingsOptions, 'defaultSystemPrompt'> = {}) {
  const given = { defaultSystemPrompt, ...options }
  const before = JSON.stringify(given)
  const resolved = resolveModelSettings(given)
  expect(JSON.stringify(given)).toBe(before)
  return resolved
}

test('by default there is the default prompt and no parameter', () => {
  expect(resolve()).toEqual({
    systemPrompt: defaultSystemPrompt,
    modelSettings: {},
    sources: { systemPrompt: 'default' },
    problems: [],
  })
})

test('a prompt of the user replaces, and only parameters that are switched on are there', () => {
  expect(
    resolve({ systemPrompt: { mode: 'custom', template: 'Be terse. {{current_time}}' }, modelParams: params }),
  ).toEqual({
    systemPrompt: 'Be terse. {{current_time}}',
    modelSettings: { temperature: 0.2, maxTokens: 512 },
    sources: { systemPrompt: 'user', temperature: 'user', maxTokens: 'user' },
    problems: [],
  })
})

test('restoring the default touches nothing that was set', () => {
  const own = { template: 'Be terse.' }
  const set = { systemPrompt: { ...own, mode: 'custom' as const }, modelParams: params }
  const restored = { ...set, systemPrompt: { ...own, mode: 'default' as const } }
  expect(resolve(restored)).toEqual(resolve())
  expect(resolve({ ...restored, systemPrompt: { ...restored.systemPrompt, mode: 'custom' } })).toEqual(resolve(set))
})

test('each parameter has its own switch', () => {
  for (const key of ['temperature', 'topP', 'maxTokens'] as const) {
    expect(resolve({ modelParams: { [key]: custom(1) } }).modelSettings).toEqual({ [key]: 1 })
    expect(resolve({ modelParams: { [key]: { value: 1 } } }).modelSettings).toEqual({})
  }
  expect(resolve({ modelParams: { temperature: custom(0) } }).modelSettings).toEqual({ temperature: 0 })
})

test('a blank template is none, and the parameters count', () => {
  const { systemPrompt, modelSettings } = resolve({
    systemPrompt: { mode: 'custom', template: ' \n' },
    modelParams: params,
  })
  expect([systemPrompt, modelSettings]).toEqual([defaultSystemPrompt, { temperature: 0.2, maxTokens: 512 }])
})

test('an agent overrides the default, and the user the agent', () => {
  const agent = {
    systemPrompt: 'You write.',
    modelSettings: { temperature: 0.7, topP: 0.5, reasoning: { effort: 'low' } },
  }
  expect(resolve({ agent })).toMatchObject({
    systemPrompt: 'You write.',
    modelSettings: agent.modelSettings,
    sources: { systemPrompt: 'agent', temperature: 'agent', reasoning: 'agent' },
  })
  expect(resolve({ agent, systemPrompt: { mode: 'custom', template: 'Mine.' }, modelParams: params })).toMatchObject({
    systemPrompt: 'Mine.',
    modelSettings: { temperature: 0.2, topP: 0.5, maxTokens: 512, reasoning: { effort: 'low' } },
    sources: { systemPrompt: 'user', temperature: 'user', topP: 'agent' },
  })
})

test("a user's limit replaces that of an agent under the other name", () => {
  const maxTokens = custom(512)
  const over = (modelSettings: object) => resolve({ agent: { modelSettings }, modelParams: { maxTokens } })
  expect(over({ maxOutputTokens: 4096 })).toMatchObject({
    modelSettings: { maxOutputTokens: 512 },
    sources: { maxOutputTokens: 'user' },
  })
  expect(over({ maxOutputTokens: 4096 }).modelSettings).not.toHaveProperty('maxTokens')
  expect(over({ maxOutputTokens: 4096, maxTokens: 1 }).modelSettings).toEqual({ maxOutputTokens: 512, maxTokens: 512 })
})

test('leaves out and reports values that cannot be used', () => {
  const modelParams = { temperature: custom(-1), topP: custom(2), maxTokens: custom(0.5) }
  expect(resolve({ modelParams, agent: { modelSettings: { seed: 'x' } as never } })).toMatchObject({
    modelSettings: {},
    problems: [
      'Invalid option "agent.modelSettings.seed": expected a whole number, received a string',
      'Invalid option "modelParams.temperature.value": expected a finite number of at least 0, received -1',
      'Invalid option "modelParams.topP.value": expected a number from 0 to 1, received 2',
      'Invalid option "modelParams.maxTokens.value": expected a whole number of at least 1, received 0.5',
    ],
  })
  expect(resolve({ modelParams: { temperature: { mode: 'custom' } } }).problems).toHaveLength(1)
  expect(resolve({ agent: { systemPrompt: 42, modelSettings: [] } as never }).problems).toEqual([
    'Invalid option "agent.systemPrompt": expected a string, received 42',
    'Invalid option "agent.modelSettings": expected an object, received an array',
  ])
})

test('names unknown options', () => {
  const refused = (field: string, options: unknown) =>
    expect(() => resolveModelSettings(options as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', field }),
    )
  refused('options', undefined)
  refused('options.defaultSystemPrompt', {})
  refused('options.defaultSystemPrompt', { defaultSystemPrompt: 3 })
  const base = { defaultSystemPrompt }
  refused('options.systemPromt', { ...base, systemPromt: {} })
  refused('options.systemPrompt.mode', { ...base, systemPrompt: { mode: 'append' } })
  refused('options.modelParams.topK', { ...base, modelParams: { topK: {} } })
  refused('options.modelParams.topP', { ...base, modelParams: { topP: 1 } })
  refused('options.modelParams.topP.enabled', { ...base, modelParams: { topP: { enabled: true } } })
})
