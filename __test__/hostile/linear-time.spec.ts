import {
  ContextManager,
  type ITruncationStorage,
  MemoryStorage,
  simplifyOutdatedTerminalResults,
  TruncationService,
} from 'spillway'

/**
 * B33: ten times the input takes at most 13 times as long. The time is that of the processor, in all threads, so that
 * it matters little what else the machine does; the least of several runs counts.
 */
const MAX = 1.3
const ROUNDS = 40
/** The smallest of three sizes: a tenth of a MiB, and a MiB when everything is proved at length. */
const SMALLEST = 2 ** 20 / (Number(process.env.SPILLWAY_PROPERTY_RUNS ?? 0) < 5000 ? 10 : 1)

/** Keeps nothing, so that only the cutting is measured. */
const nowhere: ITruncationStorage = {
  save: async () => 'nowhere',
  saveBytes: async () => 'nowhere',
  read: async () => '',
  cleanup: async () => 0,
  getStorageDir: () => 'nowhere',
}

function processorTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Processor milliseconds of `times` calls in a row. */
async function timeOf(times: number, work: () => unknown): Promise<number> {
  const began = processorTime()
  for (let count = 0; count < times; count += 1) await work()
  return processorTime() - began
}

/** Compares a hundred small inputs, ten that are ten times as large, and one of all: in all the work should be the same. */
async function expectLinear(make: (times: number) => () => unknown): Promise<void> {
  const works = [1, 10, 100].map((times) => ({
    count: 100 / times,
    work: make(times),
    least: Number.POSITIVE_INFINITY,
  }))
  const growth = () => Math.max(works[1]!.least / works[0]!.least, works[2]!.least / works[1]!.least)
  // A round is repeated as long as something else may have been in the way.
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const each of works) each.least = Math.min(each.least, await timeOf(each.count, each.work))
    if (growth() <= MAX) return
  }
  expect(growth()).toBeLessThanOrEqual(MAX)
}

const worst: Record<string, Buffer> = {
  'one line': Buffer.from('x'),
  'only newlines': Buffer.from('\n'),
  'carriage returns': Buffer.from('\r'),
  'progress frames': Buffer.from('\r 10 %\r 11 %'),
  'one character of many marks': Buffer.from('\u0301'),
  'one family': Buffer.from('👩\u200d'),
  'one flag after the other': Buffer.from('🇩'),
  'bytes that are no text': Buffer.from([0xff]),
  'halves of characters': Buffer.from([0xe4, 0xbd]),
}

test.each(Object.entries(worst))('B33: cutting takes time in proportion to the output: %s', async (_, unit) => {
  for (const direction of ['head', 'tail', 'both'] as const) {
    const service = new TruncationService({ storage: nowhere, global: { direction } })
    await expectLinear((times) => {
      const output = Buffer.alloc(times * SMALLEST, unit)
      return () => service.output(output, { toolName: 'x' })
    })
  }
})

test.each(['default', 'line', 'byte'] as const)('B33: so does the strategy %s with strings', async (strategy) => {
  const service = new TruncationService({ storage: nowhere, strategy, global: { direction: 'both' } })
  await expectLinear((times) => {
    const output = 'a\u0301\ud800 word\n'.repeat((times * SMALLEST) / 10)
    return () => service.output(output, { toolName: 'x' })
  })
})

test('B33: what is outdated takes time in proportion to the history', async () => {
  await expectLinear((times) => {
    const messages = Array.from({ length: times * 100 }, (_, index) => ({
      role: 'tool' as const,
      name: 'bash',
      tool_call_id: `${index}`,
      content: `{"stdout":"${'line\\n'.repeat(20)}","exitCode":0}`,
      timestamp: index,
    }))
    return () =>
      simplifyOutdatedTerminalResults(
        messages.map((message) => ({ ...message })),
        { now: 10 ** 9 },
      )
  })
})

test('B33: so does a request for a history that is far too long', async () => {
  const unit = 50
  await expectLinear((times) => {
    const messages = Array.from({ length: times * unit }, (_, index) => [
      {
        role: 'assistant',
        tool_calls: [{ id: `${index}`, type: 'function', function: { name: 'bash', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: `${index}`, content: 'line\n'.repeat(20) },
    ]).flat()
    const contextWindow = (times * unit * 30) / 2
    return () =>
      new ContextManager({ contextWindow, pruning: {} }).prepare([{ role: 'user', content: 'go' }, ...messages])
  })
})

/** Names of secrets in one text without an end, each of which could be asked about all that follows. */
const names = [
  'token为',
  '密码是空',
  'token\u001b[31m=\u001b[0m',
  'token=x',
  'token=>',
  'pwd={',
  'token%3Da%26',
  'key=',
  `token=\${x}`,
  'password=a,b&',
  'gh secret ',
  '"kind":"Secret",',
  '-----END PRIVATE KEY-----\n',
  '-----BEGIN PRIVATE KEY-----',
]

test.each(names)('a name of a secret costs about as much as any other: %j', async (unit) => {
  const MAX_TIMES = 30
  const storage = new MemoryStorage({ redact: { known: true } })
  const times = ['a token, ', unit].map((text) => ({
    text: text.repeat(2 ** 17 / Buffer.byteLength(text)),
    least: Number.POSITIVE_INFINITY,
  }))
  const [usual, most] = times
  const isLittle = () => most!.least <= MAX_TIMES * usual!.least
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const each of times)
      each.least = Math.min(each.least, await timeOf(1, () => storage.save(each.text, { toolName: 'x' })))
    if (isLittle()) return
  }
  expect(most!.least / usual!.least).toBeLessThanOrEqual(MAX_TIMES)
})
