import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { type GateEvent, PermissionGate, PermissionPolicy, SpillwayError } from 'spillway'
import { ModeController } from 'spillway/permission'
import { tempDir } from '../support/temp'

const ask = (toolCallId: string, command: string, sessionId = 's1') => ({
  toolCallId,
  tool: 'bash',
  args: { command },
  sessionId,
})

function make(options: ConstructorParameters<typeof PermissionGate>[1] = {}) {
  const events: GateEvent[] = []
  const policy = new PermissionPolicy({
    vault: '/',
    allowWideVault: true,
    rules: [{ domain: 'bash', pattern: 'rm *', decision: 'deny' }],
  })
  const gate = new PermissionGate(policy, { now: () => 1000, onEvent: (event) => events.push(event), ...options })
  return { gate, policy, events }
}

test('rules decide at once, and only a question waits', async () => {
  const { gate, events } = make()
  await expect(gate.request({ toolCallId: 'a', tool: 'read', args: { path: '/x' } })).resolves.toMatchObject({
    decision: 'allow',
    by: 'rule',
  })
  await expect(gate.request(ask('b', 'rm x'))).resolves.toMatchObject({ decision: 'deny', by: 'rule' })
  const waiting = gate.request(ask('c', 'make'))
  expect(gate.pending()).toEqual([
    {
      id: expect.any(String),
      toolCallId: 'c',
      tool: 'bash',
      args: { command: 'make' },
      sessionId: 's1',
      folder: '/',
      targets: ['shell:make'],
      domains: ['bash'],
      reasons: ['"shell:*" asks about shell:make'],
      suggestedRules: [{ domain: 'bash', pattern: 'shell:make', decision: 'allow' }],
      askedAt: 1000,
    },
  ])
  await gate.respond(gate.pending()[0].id, 'once')
  await expect(waiting).resolves.toMatchObject({ decision: 'allow', by: 'once' })
  expect(gate.pending()).toEqual([])
  expect(events.map(({ type }) => type)).toEqual(['decided', 'decided', 'asked', 'decided'])
  void gate.request(ask('d', 'make'))
  expect(gate.pending()).toHaveLength(1)
})

test('one decision per call, however often it is requested', async () => {
  const { gate } = make()
  const all = [gate.request(ask('a', 'make')), gate.request(ask('a', 'make'))]
  expect(gate.pending()).toHaveLength(1)
  await gate.respond(gate.pending()[0].id, { reject: 'not now' })
  for (const one of await Promise.all([...all, gate.request(ask('a', 'make'))])) {
    expect(one).toMatchObject({ decision: 'deny', by: 'reject', message: 'not now' })
  }
})

describe('an answer is about one call', () => {
  const answered = async (options: Parameters<typeof make>[0] = {}) => {
    const made = make(options)
    const first = made.gate.request({ ...ask('call_0', 'make'), cwd: '/x' })
    await made.gate.respond(made.gate.pending()[0].id, 'once')
    await first
    return made
  }
  const call = { ...ask('call_0', 'make'), cwd: '/x' }

  test.each([
    ['another session', { sessionId: 's2' }],
    ['no session', { sessionId: undefined }],
    ['other arguments', { args: { command: 'ninja' } }],
    ['more arguments', { args: { command: 'make', extra: 1 } }],
    ['another tool', { tool: 'shell' }],
    ['another folder', { cwd: '/y' }],
    ['another vault', { vault: '/y' }],
  ])('%s', async (_, other) => {
    const { gate, events } = await answered()
    const waiting = gate.request({ ...call, ...other })
    expect(gate.pending()).toHaveLength(1)
    await gate.respond(gate.pending()[0].id, { reject: 'no' })
    await expect(waiting).resolves.toMatchObject({ decision: 'deny', message: 'no' })
    expect(events.filter(({ type }) => type === 'decided')).toHaveLength(2)
    // The first call has its answer still.
    await expect(gate.request(call)).resolves.toMatchObject({ decision: 'allow', by: 'once' })
  })

  test('the same arguments in another order or as a text are the same', async () => {
    const { gate } = make()
    const one = { toolCallId: 'a', tool: 'bash' }
    const first = gate.request({ ...one, args: { command: 'make', more: { a: 1, b: [2] } } })
    await gate.respond(gate.pending()[0].id, 'once')
    const { verdict } = await first
    for (const args of [
      { more: { b: [2], a: 1 }, command: 'make' },
      '{"command":"make","more":{"a":1,"b":[2]}}',
      { command: 'make', more: { a: 1, b: [2], c: undefined } },
    ]) {
      await expect(gate.request({ ...one, args })).resolves.toEqual({
        decision: 'allow',
        by: 'once',
        mode: 'agent',
        verdict,
      })
    }
  })

  test('rules and hard denies hold for other contents under a known id', async () => {
    const { gate, events } = await answered()
    for (const command of ['rm x', 'sudo rm -rf /']) {
      await expect(gate.request(ask('call_0', command))).resolves.toMatchObject({ decision: 'deny', by: 'rule' })
    }
    expect(events.at(-1)).toMatchObject({
      decision: { verdict: { targets: expect.arrayContaining(['shell:sudo rm -rf /']) } },
    })
  })

  test.each([
    [
      'a cycle',
      () =>
        Object.assign(Object.create(null), {
          get self() {
            return this
          },
        }),
    ],
    ['a map', () => new Map([['command', 'make']])],
    ['what no JSON holds', () => ({ command: 'make', more: Number.NaN })],
    [
      'a getter that throws',
      () => ({
        get command() {
          throw new Error('no')
        },
      }),
    ],
  ])('a value that cannot be read whole never equals another: %s', async (_, args) => {
    const { gate } = make()
    const both = [1, 2].map(() => gate.request({ toolCallId: 'a', tool: 'bash', args: args() }))
    expect(gate.pending()).toHaveLength(2)
    for (const { id } of gate.pending()) await gate.respond(id, 'once')
    await Promise.all(both)
    void gate.request({ toolCallId: 'a', tool: 'bash', args: args() })
    expect(gate.pending()).toHaveLength(1)
    expect(
      PermissionGate.fromJSON(
        JSON.stringify(gate),
        new PermissionPolicy({ vault: '/', allowWideVault: true }),
      ).pending(),
    ).toEqual([])
  })

  test.each([300, 1000, 2500, 3500, 50_000])(
    'arguments of %d levels leave the other questions open',
    async (levels) => {
      const { gate } = make()
      void gate.request(ask('a', 'make'))
      const args = { command: 'make', more: JSON.parse('{"a":'.repeat(levels) + 1 + '}'.repeat(levels)) }
      const asked = gate.request({ toolCallId: 'b', tool: 'bash', args })
      const [, { id, args: shown } = { id: '', args: undefined }] = gate.pending()
      expect(shown).toEqual(levels > 500 ? null : args)
      expect(PermissionGate.fromJSON(JSON.stringify(gate), new PermissionPolicy()).pending()).not.toEqual([])
      await gate.respond(id, 'once')
      expect(await asked).toMatchObject({ decision: 'allow', by: 'once' })
    },
  )

  test('arguments are read once', async () => {
    const { gate } = make()
    const commands = ['make', 'rm x']
    const args = {
      get command() {
        return commands.shift()
      },
    }
    void gate.request({ toolCallId: 'a', tool: 'bash', args })
    expect(gate.pending()).toMatchObject([{ args: { command: 'make' }, targets: ['shell:make'] }])
  })

  test('two waiters with one id and other arguments are two questions', async () => {
    const { gate } = make()
    const [one, two] = [gate.request(ask('a', 'make', 's1')), gate.request(ask('a', 'ninja', 's2'))]
    expect(gate.pending().map(({ args }) => args)).toEqual([{ command: 'make' }, { command: 'ninja' }])
    await gate.respond(gate.pending()[1].id, { reject: true })
    await gate.respond(gate.pending()[0].id, 'once')
    expect([(await one).decision, (await two).decision]).toEqual(['allow', 'deny'])
  })

  test('a person is asked again when full access has ended', async () => {
    const modes = new ModeController({ default: 'full_access' })
    const { gate, events } = make({ modes })
    await expect(gate.request(ask('a', 'rm x'))).resolves.toMatchObject({ by: 'full_access', decision: 'allow' })
    await expect(gate.request(ask('b', 'make'))).resolves.toMatchObject({ by: 'full_access', decision: 'allow' })
    // Once told, though asked about twice.
    await gate.request(ask('b', 'make'))
    modes.setMode('s1', 'agent')
    await expect(gate.request(ask('a', 'rm x'))).resolves.toMatchObject({ by: 'rule', decision: 'deny', mode: 'agent' })
    const again = gate.request(ask('b', 'make'))
    await gate.respond(gate.pending()[0].id, { reject: true })
    await expect(again).resolves.toMatchObject({ by: 'reject', decision: 'deny' })
    const decided = events.filter(({ type }) => type === 'decided') as { decision?: { by?: string } }[]
    expect(decided.map(({ decision }) => decision?.by)).toEqual(['full_access', 'full_access', 'rule', 'reject'])
    // A refused call stays refused, whatever is decided later.
    modes.confirm(modes.setMode('s1', 'full_access').confirmationId ?? '')
    await expect(gate.request(ask('b', 'make'))).resolves.toMatchObject({ by: 'reject', decision: 'deny' })
  })

  test('a deny of now overrides an earlier approval, and a removed rule allows nothing', async () => {
    const { gate, policy } = await answered()
    await expect(gate.request({ ...call, headless: true })).resolves.toMatchObject({ by: 'rule', decision: 'deny' })
    const rule = { domain: 'bash', pattern: 'ninja', decision: 'allow' } as const
    policy.approve(rule)
    await expect(gate.request(ask('b', 'ninja'))).resolves.toMatchObject({ by: 'rule', decision: 'allow' })
    policy.revoke(rule)
    void gate.request(ask('b', 'ninja'))
    expect(gate.pending()).toHaveLength(1)
  })

  test('a question that rules answer by now has that decision, for all who wait', async () => {
    const { gate, events, policy } = make()
    const first = gate.request(ask('a', 'make'))
    policy.approve({ domain: 'bash', pattern: 'make', decision: 'allow' })
    const second = await gate.request(ask('a', 'make'))
    expect(second).toMatchObject({ by: 'rule', decision: 'allow' })
    expect(await first).toEqual(second)
    expect(gate.pending()).toEqual([])
    expect(events.filter(({ type }) => type === 'decided')).toHaveLength(1)
  })
})

test('always stores what was shown, and allows equal questions of the session', async () => {
  const saved: unknown[] = []
  const { gate, policy } = make({ saveRule: (rule) => void saved.push(rule) })
  const first = gate.request(ask('a', 'wc -l'))
  const same = gate.request(ask('b', 'wc -l'))
  const other = gate.request(ask('c', 'wc -l', 's2'))
  const [{ id, suggestedRules }] = gate.pending()
  await expect(gate.respond(id, 'always', { domain: 'bash', pattern: '*', decision: 'allow' })).rejects.toThrow(
    SpillwayError,
  )
  await gate.respond(id, 'always', suggestedRules[1])
  expect(saved).toEqual([{ domain: 'bash', pattern: 'shell:wc *', decision: 'allow' }])
  await expect(first).resolves.toMatchObject({ by: 'always' })
  await expect(same).resolves.toMatchObject({ by: 'always' })
  expect(gate.pending()).toHaveLength(1)
  await gate.respond(gate.pending()[0].id, 'once')
  await other
  await expect(gate.request(ask('d', 'wc -c', 's3'))).resolves.toMatchObject({
    by: 'rule',
    verdict: { rule: { source: 'approval' } },
  })
  expect(policy.evaluate(ask('x', 'rm wc') && { tool: 'bash', args: { command: 'rm wc' } }).decision).toBe('deny')
})

test('always for a session is for no other', async () => {
  const { gate } = make({ scope: 'session' })
  const first = gate.request(ask('a', 'make'))
  await gate.respond(gate.pending()[0].id, 'always')
  await first
  await expect(gate.request(ask('b', 'make'))).resolves.toMatchObject({ decision: 'allow' })
  void gate.request(ask('c', 'make', 's2'))
  expect(gate.pending()).toHaveLength(1)
})

test('where no rule would be safe, there is no always', async () => {
  const { gate } = make()
  void gate.request(ask('a', 'ls && make'))
  await expect(gate.respond(gate.pending()[0].id, 'always')).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    field: 'response',
  })
  expect(gate.pending()).toHaveLength(1)
})

test('a rule that cannot be saved holds until the end, and an event says so', async () => {
  const { gate, events } = make({ saveRule: () => Promise.reject(new Error('disk full')) })
  const first = gate.request(ask('a', 'make'))
  await gate.respond(gate.pending()[0].id, 'always')
  await expect(first).resolves.toMatchObject({ decision: 'allow' })
  expect(events).toContainEqual(expect.objectContaining({ type: 'rule_not_stored', message: 'disk full' }))
})

test('without a listener a rule that cannot be saved is a warning', async () => {
  const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const saveRule = () => Promise.reject(new Error('disk full'))
  const gate = new PermissionGate(new PermissionPolicy(), { saveRule, ask: () => 'always' })
  expect(await gate.request(ask('a', 'make'))).toMatchObject({ decision: 'allow', by: 'always' })
  expect(warned.mock.calls.map(([text]) => text)).toEqual(['saveRule: disk full'])
  warned.mockRestore()
})

test('a rejection ends every question of its session', async () => {
  const { gate } = make()
  const mine = [gate.request(ask('a', 'make')), gate.request(ask('b', 'ninja'))]
  void gate.request(ask('c', 'make', 's2'))
  await gate.respond(gate.pending()[0].id, { reject: true })
  for (const one of mine) await expect(one).resolves.toMatchObject({ decision: 'deny', by: 'reject' })
  expect(gate.pending().map(({ sessionId }) => sessionId)).toEqual(['s2'])
})

test('a question is taken back by its signal', async () => {
  const { gate } = make()
  const controller = new AbortController()
  const waiting = gate.request({ ...ask('a', 'make'), signal: controller.signal })
  controller.abort()
  await expect(waiting).resolves.toMatchObject({ decision: 'deny', by: 'abort' })
  expect(gate.pending()).toEqual([])
  await expect(gate.request({ ...ask('b', 'make'), signal: AbortSignal.abort() })).resolves.toMatchObject({
    by: 'abort',
  })
})

test('a caller that stops waiting leaves the question to the others', async () => {
  const { gate, events } = make()
  const [one, two] = [new AbortController(), new AbortController()]
  const call = ask('a', 'make')
  const first = gate.request({ ...call, signal: one.signal })
  const second = gate.request({ ...call, signal: two.signal })
  const third = gate.request(call)
  await expect(gate.request({ ...call, signal: AbortSignal.abort() })).resolves.toMatchObject({ by: 'abort' })
  two.abort()
  await expect(second).resolves.toMatchObject({ decision: 'deny', by: 'abort' })
  one.abort()
  await expect(first).resolves.toMatchObject({ decision: 'deny', by: 'abort' })
  await gate.respond(gate.pending()[0].id, 'once')
  await expect(third).resolves.toMatchObject({ decision: 'allow', by: 'once' })
  expect(events.map(({ type }) => type)).toEqual(['asked', 'decided'])
})

test('questions, answers and approvals survive a restart', async () => {
  const { gate, policy } = make()
  const done = gate.request(ask('a', 'make'))
  await gate.respond(gate.pending()[0].id, 'once')
  await done
  const always = gate.request(ask('b', 'wc -l'))
  await gate.respond(gate.pending()[0].id, 'always')
  await always
  void gate.request(ask('c', 'ninja'))
  const kept = JSON.stringify(gate)
  const fresh = new PermissionPolicy({ vault: '/', allowWideVault: true })
  const again = PermissionGate.fromJSON(kept, fresh)
  expect(again.pending()).toEqual(gate.pending())
  expect(fresh.approvals()).toEqual(policy.approvals())
  await expect(again.request(ask('a', 'make'))).resolves.toMatchObject({ decision: 'allow', by: 'once' })
  const { id } = again.pending()[0]
  const taken = again.request(ask('c', 'ninja'))
  expect(again.pending().map((one) => one.id)).toEqual([id])
  await again.respond(id, 'once')
  await expect(taken).resolves.toMatchObject({ decision: 'allow' })
  const early = PermissionGate.fromJSON(kept, new PermissionPolicy({ vault: '/', allowWideVault: true }))
  await early.respond(id, 'once')
  await expect(early.request(ask('c', 'ninja'))).resolves.toMatchObject({ decision: 'allow', by: 'once' })
  for (const bad of [null, 'no JSON', {}, { version: 2 }, { version: 1, pending: [1], answers: [], approvals: [] }]) {
    expect(() => PermissionGate.fromJSON(bad as never, fresh)).toThrow(SpillwayError)
  }
})

describe('a restart', () => {
  const DENY = {
    vault: '/',
    allowWideVault: true,
    rules: [{ domain: 'bash', pattern: 'ninja', decision: 'deny' }],
  } as const
  const saved = () => {
    const { gate } = make()
    void gate.request(ask('c', 'ninja'))
    return { kept: JSON.stringify(gate), id: gate.pending()[0].id }
  }

  test('another call under the id of a question is another question', async () => {
    const { kept, id } = saved()
    const gate = PermissionGate.fromJSON(kept, new PermissionPolicy({ vault: '/', allowWideVault: true }))
    const other = gate.request(ask('c', 'make'))
    expect(gate.pending().map(({ args }) => args)).toEqual([{ command: 'ninja' }, { command: 'make' }])
    await gate.respond(id, 'once')
    const [question] = gate.pending()
    expect(question).toMatchObject({ args: { command: 'make' } })
    await gate.respond(question.id, { reject: true })
    await expect(other).resolves.toMatchObject({ decision: 'deny' })
    await expect(gate.request(ask('c', 'ninja'))).resolves.toMatchObject({ decision: 'allow' })
  })

  test('removes a question about a call that a new rule denies', async () => {
    const { kept, id } = saved()
    const gate = PermissionGate.fromJSON(kept, new PermissionPolicy(DENY))
    expect(gate.pending()).toEqual([])
    await expect(gate.respond(id, 'once')).rejects.toMatchObject({ field: 'id' })
    await expect(gate.request(ask('c', 'ninja'))).resolves.toMatchObject({ decision: 'deny', by: 'rule' })
  })

  test('an answer of before does not win over a new rule', async () => {
    const { kept, id } = saved()
    const early = PermissionGate.fromJSON(kept, new PermissionPolicy({ vault: '/', allowWideVault: true }))
    await early.respond(id, 'once')
    const gate = PermissionGate.fromJSON(JSON.stringify(early), new PermissionPolicy(DENY))
    await expect(gate.request(ask('c', 'ninja'))).resolves.toMatchObject({ decision: 'deny', by: 'rule' })
  })

  test.each(['once', 'always'] as const)('"%s" allows nothing that is denied by then', async (response) => {
    const vault = tempDir()
    mkdirSync(join(vault, 'in'))
    const link = join(vault, 'link')
    symlinkSync(join(vault, 'in'), link)
    const policy = new PermissionPolicy({ vault })
    const gate = new PermissionGate(policy)
    const waiting = gate.request(ask('a', 'make > link/x'))
    const [{ id }] = gate.pending()
    rmSync(link)
    symlinkSync(tempDir(), link)
    await gate.respond(id, response)
    await expect(waiting).resolves.toMatchObject({ decision: 'deny', by: 'rule', verdict: { domain: 'edit' } })
    expect(gate.pending()).toEqual([])
    expect(policy.approvals()).toEqual([])
  })
})

describe('a state written by another program', () => {
  test('may have the domains of a rule, which the core knows', () => {
    const rule = { domain: 'x' as never, pattern: 'a', decision: 'allow' as const }
    const state = { version: 1, pending: [], answers: [], approvals: [{ sessionId: null, rule }] }
    const allowed = (work: () => unknown) => {
      try {
        return work()
      } catch (error) {
        return /expected .*/.exec((error as Error).message)?.[0]
      }
    }
    const read = allowed(() => PermissionGate.fromJSON(state as never, new PermissionPolicy()))
    expect(read).toBe(allowed(() => new PermissionPolicy({ rules: [rule] })))
    expect(read).toContain("one of 'read'")
  })

  const state = async () => {
    const { gate } = make()
    const answered = [gate.request(ask('a', 'make')), gate.request(ask('b', 'ninja'))]
    await gate.respond(gate.pending()[0].id, 'always')
    await gate.respond(gate.pending()[0].id, { reject: 'no' })
    await Promise.all(answered)
    void gate.request({ ...ask('c', 'wc -l'), cwd: '/x' })
    // biome-ignore lint/suspicious/noExplicitAny: it is about to be spoilt
    return JSON.parse(JSON.stringify(gate)) as any
  }
  const load = (saved: object, policy = new PermissionPolicy({ vault: '/', allowWideVault: true })) =>
    PermissionGate.fromJSON(JSON.stringify(saved), policy)

  test.each([
    ['pending[0].suggestedRules[0]', null],
    ['pending[0].suggestedRules[0].decision', 'deny'],
    ['pending[0].suggestedRules[0].domain', '*'],
    ['pending[0].suggestedRules[0].pattern', 1],
    ['pending[0].id', ''],
    ['pending[0].tool', 7],
    ['pending[0].sessionId', null],
    ['pending[0].cwd', {}],
    ['pending[0].vault', 'relative'],
    ['pending[0].targets', [1]],
    ['pending[0].reasons', 'none'],
    ['pending[0].askedAt', 'now'],
    ['answers[0].call', 'call_0'],
    ['answers[0].decision', null],
    ['answers[0].decision.by', 'rule'],
    ['answers[1].decision.decision', 'ask'],
    ['answers[1].decision.by', 'once'],
    ['answers[0].decision.mode', 'root'],
    ['answers[1].decision.message', 1],
    ['answers[0].decision.verdict', undefined],
    ['answers[0].decision.verdict.domain', 'all'],
    ['answers[0].decision.verdict.rule', {}],
    ['answers[0].decision.verdict.shadowed[0]', null],
    ['approvals[0].rule', null],
    ['approvals[0].rule.decision', 'ask'],
    ['approvals[0].sessionId', undefined],
    ['version', 2],
  ])('%s is looked at', async (field, bad) => {
    const spoilt = await state()
    const keys = field.split(/[.[\]]+/).filter((key) => key !== '')
    const last = keys.pop() as string
    keys.reduce((value, key) => value[key], spoilt)[last] = bad
    const policy = new PermissionPolicy({ vault: '/', allowWideVault: true })
    expect(() => load(spoilt, policy)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', field: expect.stringContaining(`state.${field}`) }),
    )
    expect(policy.approvals()).toEqual([])
  })

  test('two questions with one id are refused', async () => {
    const { pending, ...rest } = await state()
    expect(() => load({ ...rest, pending: [pending[0], pending[0]] })).toThrow(/state\.pending\[1\]\.id/)
  })

  test('"always" stores the suggestions of this policy, for any text', async () => {
    const saved = await state()
    const all = { domain: 'bash', pattern: '*', decision: 'allow' } as const
    Object.assign(saved.pending[0], { suggestedRules: [all], targets: ['shell:true'], reasons: [] })
    const policy = new PermissionPolicy({ vault: '/', allowWideVault: true })
    const gate = load(saved, policy)
    const [{ id, targets, suggestedRules }] = gate.pending()
    expect(targets).toEqual(['shell:wc -l'])
    expect(suggestedRules[0].pattern).toBe('shell:wc -l')
    await expect(gate.respond(id, 'always', all)).rejects.toMatchObject({ field: 'response' })
    await gate.respond(id, 'always')
    expect(policy.approvals().map(({ rule }) => rule.pattern)).toEqual(['shell:make', 'shell:wc -l'])
  })
})

describe('the first answer counts', () => {
  const slow = () => {
    let saved = () => {}
    const saving = new Promise<void>((resolve) => {
      saved = resolve
    })
    return { ...make({ saveRule: () => saving }), saved }
  }

  test.each(['once', 'always', { reject: true }] as const)('then comes %j', async (second) => {
    const { gate, events, saved } = slow()
    const waiting = gate.request(ask('a', 'make'))
    const [{ id }] = gate.pending()
    const always = gate.respond(id, 'always')
    await expect(gate.respond(id, second)).rejects.toMatchObject({ field: 'id' })
    await expect(waiting).resolves.toMatchObject({ decision: 'allow', by: 'always' })
    saved()
    await always
    expect(events.map(({ type }) => type)).toEqual(['asked', 'decided', 'rule_stored'])
    await expect(gate.request(ask('a', 'make'))).resolves.toMatchObject({ decision: 'allow', by: 'always' })
  })

  test('then the question is taken back', async () => {
    const { gate, events, saved } = slow()
    const controller = new AbortController()
    const waiting = gate.request({ ...ask('a', 'make'), signal: controller.signal })
    const always = gate.respond(gate.pending()[0].id, 'always')
    controller.abort()
    saved()
    await always
    await expect(waiting).resolves.toMatchObject({ decision: 'allow', by: 'always' })
    expect(events.map(({ type }) => type)).toEqual(['asked', 'decided', 'rule_stored'])
  })
})

test('answers to nothing are refused', async () => {
  const { gate } = make()
  await expect(gate.respond('x', 'once')).rejects.toMatchObject({ field: 'id' })
  void gate.request(ask('a', 'make'))
  await expect(gate.respond(gate.pending()[0].id, 'never' as never)).rejects.toMatchObject({ field: 'response' })
  await expect(gate.request({ tool: 'x' } as never)).rejects.toMatchObject({ field: 'call.toolCallId' })
  expect(() => new PermissionGate({} as never)).toThrow(SpillwayError)
})

test.each([
  [
    'throws',
    () => {
      throw new Error('no')
    },
  ],
  ['rejects', () => Promise.reject(new Error('no'))],
])('a listener that %s cannot change the decision', async (_, onEvent) => {
  const { gate } = make({ onEvent })
  await expect(gate.request(ask('a', 'rm x'))).resolves.toMatchObject({ decision: 'deny' })
  const modes = new ModeController({ onEvent })
  expect(modes.setMode('s1', 'full_access')).toMatchObject({ mode: 'agent' })
})

describe('modes', () => {
  test('full access needs one confirmation, covers one session, and is reported', () => {
    const events: unknown[] = []
    const modes = new ModeController({ onEvent: (event) => events.push(event) })
    const { confirmationId = '' } = modes.setMode('s1', 'full_access')
    expect(modes.getMode('s1')).toBe('agent')
    expect(modes.confirm(confirmationId)).toEqual({ mode: 'full_access' })
    expect(() => modes.confirm(confirmationId)).toThrow(SpillwayError)
    expect(modes.getMode('s1')).toBe('full_access')
    expect(modes.getMode('s2')).toBe('agent')
    modes.setMode('s1', 'agent')
    expect(modes.setMode('s1', 'full_access')).toEqual({ mode: 'full_access' })
    expect(events).toEqual([
      { type: 'mode_requested', sessionId: 's1', previousMode: 'agent', nextMode: 'full_access' },
      { type: 'mode_changed', sessionId: 's1', previousMode: 'agent', nextMode: 'full_access' },
      { type: 'mode_changed', sessionId: 's1', previousMode: 'full_access', nextMode: 'agent' },
      { type: 'mode_changed', sessionId: 's1', previousMode: 'agent', nextMode: 'full_access' },
    ])
    modes.endSession('s1')
    expect(modes.setMode('s1', 'full_access').confirmationId).toEqual(expect.any(String))
    expect(() => modes.setMode('s1', 'x' as never)).toThrow(SpillwayError)
  })

  test('a confirmation counts only for the newest wish', () => {
    const modes = new ModeController()
    const { confirmationId = '' } = modes.setMode('s1', 'full_access')
    modes.setMode('s1', 'agent')
    expect(() => modes.confirm(confirmationId)).toThrow(SpillwayError)
    expect(modes.getMode('s1')).toBe('agent')
  })

  test('full access allows without a question, is recorded, and stops at hard denies', async () => {
    const modes = new ModeController()
    const { gate, events } = make({ modes })
    modes.confirm(modes.setMode('s1', 'full_access').confirmationId ?? '')
    await expect(gate.request(ask('a', 'make'))).resolves.toMatchObject({ decision: 'allow', by: 'full_access' })
    await expect(gate.request(ask('b', 'sudo rm -rf /'))).resolves.toMatchObject({ decision: 'deny', by: 'rule' })
    expect(events).toMatchObject([
      { type: 'decided', decision: { mode: 'full_access' } },
      { type: 'decided', decision: { mode: 'full_access' } },
    ])
    void gate.request(ask('c', 'make', 's2'))
    expect(gate.pending()).toHaveLength(1)
  })
})

test('ask answers each question once, and a call is denied if it fails', async () => {
  const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const asked: string[] = []
  const { gate, policy } = make({
    ask: async ({ args, suggestedRules }) => {
      const { command } = args as { command: string }
      asked.push(command)
      if (command === 'broken') throw new Error('no terminal')
      if (command === 'wrong') return 'yes' as never
      if (command === 'no') return { reject: 'not now' }
      return suggestedRules.length > 0 && command === 'make' ? 'always' : 'once'
    },
  })
  const both = await Promise.all([gate.request(ask('a', 'make')), gate.request(ask('a', 'make'))])
  expect(both.map(({ decision, by }) => [decision, by])).toEqual([
    ['allow', 'always'],
    ['allow', 'always'],
  ])
  expect(policy.evaluate({ tool: 'bash', args: { command: 'make' } }).decision).toBe('allow')
  await expect(gate.request(ask('b', 'ninja'))).resolves.toMatchObject({ decision: 'allow', by: 'once' })
  await expect(gate.request(ask('c', 'no'))).resolves.toMatchObject({ decision: 'deny', message: 'not now' })
  await expect(gate.request(ask('d', 'broken'))).resolves.toMatchObject({
    decision: 'deny',
    by: 'error',
    message: 'the user could not be asked: no terminal',
  })
  await expect(gate.request(ask('e', 'wrong'))).resolves.toMatchObject({ decision: 'deny', by: 'error' })
  expect(asked).toEqual(['make', 'ninja', 'no', 'broken', 'wrong'])
  expect(gate.pending()).toEqual([])
  expect(warned.mock.calls.map(([text]) => text)).toEqual([
    'ask: no terminal',
    expect.stringMatching(/^ask: Invalid option "response": expected 'once', 'always' or /),
  ])
  // It is no answer of the user: the same call is asked about again, here and after a restart.
  await gate.request(ask('c', 'no'))
  await gate.request(ask('d', 'broken'))
  expect(asked.slice(5)).toEqual(['broken'])
  expect(gate.toJSON().answers.map(({ decision }) => decision.by)).not.toContain('error')
  warned.mockRestore()
})

test('always without a suggested rule is once, and an answer that comes too late counts for nothing', async () => {
  const { gate } = make({ ask: () => 'always' })
  await expect(gate.request(ask('a', 'eval "$X"'))).resolves.toMatchObject({ decision: 'allow', by: 'once' })
  let answerLate: (response: 'once') => void = () => {}
  const slow = make({ ask: () => new Promise<'once'>((resolve) => (answerLate = resolve)) })
  const waiting = slow.gate.request(ask('b', 'make'))
  await slow.gate.respond(slow.gate.pending()[0]!.id, { reject: true })
  answerLate('once')
  await expect(waiting).resolves.toMatchObject({ decision: 'deny', by: 'reject' })
  await expect(slow.gate.request(ask('b', 'make'))).resolves.toMatchObject({ decision: 'deny', by: 'reject' })
})

describe('the short form', () => {
  const call = { toolCallId: 'a', tool: 'bash', args: { command: 'make' } }

  test('asks with the default policy', async () => {
    const asked: string[] = []
    const ask = ({ tool }: { tool: string }) => {
      asked.push(tool)
      return 'once' as const
    }
    const gate = new PermissionGate({ ask })
    await expect(gate.request(call)).resolves.toMatchObject({ decision: 'allow', by: 'once' })
    await expect(gate.request({ toolCallId: 'b', tool: 'read', args: { path: 'x' } })).resolves.toMatchObject({
      decision: 'allow',
      by: 'rule',
    })
    expect(asked).toEqual(['bash'])
  })

  test.each([
    ['a policy', (rules: object[]) => new PermissionPolicy({ rules } as never)],
    ['the options of a policy', (rules: object[]) => ({ rules })],
  ])('takes %s, and the options of the long form', async (_, policyOf) => {
    const events: GateEvent[] = []
    const gate = new PermissionGate({
      ask: () => ({ reject: 'no' }),
      policy: policyOf([{ domain: 'bash', pattern: 'make', decision: 'allow' }]) as never,
      onEvent: (event) => events.push(event),
    })
    await expect(gate.request(call)).resolves.toMatchObject({ decision: 'allow', by: 'rule' })
    await expect(gate.request({ ...call, args: { command: 'npm i' } })).resolves.toMatchObject({ message: 'no' })
    expect(events.map(({ type }) => type)).toEqual(['decided', 'asked', 'decided'])
  })

  test.each([
    [{}, /"policy": expected a PermissionPolicy, or an object with ask/],
    [undefined, /"policy": expected a PermissionPolicy, or an object with ask/],
    [{ ask: 'once' }, /"ask": expected a function, received a string/],
    [{ ask: undefined }, /"ask": expected a function/],
    [{ ask: () => 'once', polcy: {} }, /polcy.*policy/],
    [{ ask: () => 'once', policy: { rule: [] } }, /rule/],
  ])('%p is refused', (given, message) => {
    expect(() => new PermissionGate(given as never)).toThrow(
      expect.objectContaining({ name: 'SpillwayError', message: expect.stringMatching(message) }),
    )
  })
})
