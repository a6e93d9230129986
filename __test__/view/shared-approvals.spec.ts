import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { PermissionGate, PermissionPolicy } from 'spillway'
import { type ApprovalSource, createSharedApprovals, shareApprovals } from 'spillway/view'
import { onUnix } from '../support/only'
import { tempDir } from '../support/temp'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

function shared() {
  const dir = join(tempDir(), 'approvals')
  const gate = new PermissionGate(new PermissionPolicy({ vault: '/work' }))
  const { close } = shareApprovals(gate, { dir })
  closing.push(close)
  return { dir, gate, close, elsewhere: createSharedApprovals({ dir }) }
}

const ask = (gate: PermissionGate, command = 'make', signal?: AbortSignal) =>
  gate.request({ tool: 'bash', args: { command }, toolCallId: command, ...(signal && { signal }) })

/** Waits until there are as many questions, without a fixed time. */
async function questions(source: ApprovalSource, count = 1) {
  for (;;) {
    const pending = await source.pending()
    if (pending.length === count) return pending
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

test.each([
  ['once', 'allow', 'once'],
  ['always', 'allow', 'always'],
  [{ reject: 'not now' }, 'deny', 'reject'],
] as const)('the answer %j of another process decides', async (response, decision, by) => {
  const { gate, elsewhere, dir } = shared()
  const asked = ask(gate)
  const [question] = await questions(elsewhere)
  expect(question).toEqual(gate.pending()[0])
  await elsewhere.respond(question!.id, response, response === 'always' ? question!.suggestedRules[0] : undefined)
  expect(await asked).toMatchObject({ decision, by })
  expect(await elsewhere.pending()).toEqual([])
  expect(readdirSync(dir)).toEqual([])
})

test('several sessions share one folder, and each receives its own answer', async () => {
  const { gate, elsewhere, dir } = shared()
  const other = new PermissionGate(new PermissionPolicy({ vault: '/work' }))
  closing.push(shareApprovals(other, { dir }).close)
  const asked = [ask(gate, 'make a'), ask(other, 'make b')]
  for (const { id, toolCallId } of await questions(elsewhere, 2)) {
    await elsewhere.respond(id, toolCallId === 'make a' ? 'once' : { reject: true })
  }
  expect((await Promise.all(asked)).map(({ decision }) => decision)).toEqual(['allow', 'deny'])
})

test('a question that is withdrawn, or whose session ends, waits no more', async () => {
  const { gate, elsewhere, close } = shared()
  const stop = new AbortController()
  const asked = ask(gate, 'make', stop.signal)
  const [question] = await questions(elsewhere)
  stop.abort()
  expect(await asked).toMatchObject({ decision: 'deny', by: 'abort' })
  await questions(elsewhere, 0)
  await expect(elsewhere.respond(question!.id, 'once')).rejects.toThrow('the id of a question that waits')

  void ask(gate, 'make again')
  await questions(elsewhere)
  close()
  expect(await elsewhere.pending()).toEqual([])
  expect(gate.pending()).toHaveLength(1)
})

test('a question of a process that does not touch its file any more is not shown', async () => {
  const { gate, elsewhere, dir, close } = shared()
  void ask(gate)
  await questions(elsewhere)
  const [name = ''] = readdirSync(dir)
  const text = readFileSync(join(dir, name))
  close()
  writeFileSync(join(dir, name), text)
  utimesSync(join(dir, name), 1, 1)
  expect(await elsewhere.pending()).toEqual([])
  expect(readdirSync(dir)).toEqual([])
})

test('one answer counts', async () => {
  const { gate, elsewhere } = shared()
  const asked = ask(gate)
  const [question] = await questions(elsewhere)
  const answers = await Promise.allSettled([
    elsewhere.respond(question!.id, { reject: true }),
    elsewhere.respond(question!.id, 'once'),
  ])
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  expect(await asked).toMatchObject({ decision: 'deny' })
})

describe('invalid answers leave the question open', () => {
  /** Waits until the gate has looked at the file. */
  const taken = async (dir: string, answer: string) => {
    while (readdirSync(dir).includes(answer)) await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const start = async () => {
    const { gate, elsewhere, dir } = shared()
    void ask(gate)
    const [question] = await questions(elsewhere)
    const outside = createSharedApprovals({ dir })
    // The name of the file for an answer.
    const first = outside.respond(question!.id, 'nonsense' as never).catch(() => {})
    const answer = readdirSync(dir).find((name) => name.endsWith('.answer'))!
    await taken(dir, answer)
    return { gate, dir, answer, id: question!.id, first }
  }

  test.each<[string, (id: string) => string]>([
    ['no JSON', () => '{"id":'],
    ['nothing', () => ''],
    ['another question', () => JSON.stringify({ id: 'other', response: 'once' })],
    ['an unknown answer', (id) => JSON.stringify({ id, response: 'yes' })],
    [
      'a rule that was not suggested',
      (id) => JSON.stringify({ id, response: 'always', rule: { domain: 'bash', pattern: '*', decision: 'allow' } }),
    ],
  ])('%s', async (_what, content) => {
    const { gate, dir, answer, id } = await start()
    writeFileSync(join(dir, answer), content(id), { mode: 0o600 })
    await taken(dir, answer)
    expect(gate.pending()).toHaveLength(1)
  })

  onUnix('a link', async () => {
    const { gate, dir, answer, id } = await start()
    const target = join(tempDir(), 'answer')
    writeFileSync(target, JSON.stringify({ id, response: 'once' }))
    symlinkSync(target, join(dir, answer))
    await taken(dir, answer)
    expect(gate.pending()).toHaveLength(1)
  })
})

onUnix('the folder and its files belong to the user alone', async () => {
  const { gate, elsewhere, dir } = shared()
  void ask(gate)
  await questions(elsewhere)
  expect(statSync(dir).mode & 0o777).toBe(0o700)
  for (const name of readdirSync(dir)) expect(statSync(join(dir, name)).mode & 0o777).toBe(0o600)

  const open = join(tempDir(), 'open')
  mkdirSync(open)
  chmodSync(open, 0o755)
  expect(() => shareApprovals(gate, { dir: open })).toThrow('others can enter this folder')
  expect(await createSharedApprovals({ dir: open }).pending()).toEqual([])
})

test.each([
  ['null', null],
  ['a rule that is null', { suggestedRules: [null] }],
  ['targets that are objects', { targets: [{ toString: null }] }],
  ['a time that is none', { askedAt: { toString: null } }],
])('an invalid question is not shown: %s', async (_, change) => {
  const { dir, gate, elsewhere } = shared()
  void ask(gate)
  const [question] = await questions(elsewhere)
  const pending = [change && { ...question, ...change }, { ...question, id: 'other', askedAt: question!.askedAt + 1 }]
  const file = join(dir, '00000000-0000-4000-8000-000000000000.json')
  writeFileSync(file, JSON.stringify({ version: 1, pending }), { mode: 0o600 })
  expect((await elsewhere.pending()).map(({ id }) => id)).toEqual([question!.id, 'other'])
})

test.each([
  ['source', () => shareApprovals({} as never, { dir: '/x' })],
  ['"dir"', () => shareApprovals(new PermissionGate(new PermissionPolicy()), {} as never)],
  ['"dir"', () => createSharedApprovals({ dir: '' })],
  ['options', () => createSharedApprovals(undefined as never)],
])('a wrong %s is refused by its name', (field, make) => {
  expect(make).toThrow(field)
})

test('an approval closed during the look writes no question and takes no answer', async () => {
  const dir = join(tempDir(), 'approvals')
  const gate = new PermissionGate(new PermissionPolicy({ vault: '/work' }))
  let look = () => {}
  const looked = new Promise<void>((resolve) => {
    look = resolve
  })
  let answer = () => {}
  const slow = new Promise<void>((resolve) => {
    answer = resolve
  })
  let respond: unknown
  const source: ApprovalSource = {
    pending: async () => {
      const pending = gate.pending()
      look()
      await slow
      return pending
    },
    respond: async (...given) => {
      respond = given
    },
  }
  void ask(gate)
  const { close } = shareApprovals(source, { dir })
  await looked
  close()
  answer()
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  expect([readdirSync(dir), respond]).toEqual([[], undefined])
})
