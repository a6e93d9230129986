import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { filesIn } from '../support/temp'
import { Puppet } from './echo'
import { LINE, MODES } from './hostile-modes'

/** More than this reaches no host that is not known, whatever surrounds the 15,000 bytes of text. */
const MOST = 40_000

describe('a server cannot pass the limit', () => {
  test.each(MODES)('by $name', async ({ line, method = 'tools/call', silent }) => {
    const server = new Puppet()
    server.ask(method)
    const answers = await server.all(line, { isAnswered: !silent })
    expect(answers.join('\n').length).toBeLessThan(MOST)
    const values = answers.map((each) => JSON.parse(each))
    const own = values.filter(({ id, method: asked }) => id !== null && Number(id) === 5 && asked === undefined)
    expect(own).toHaveLength(silent ? 0 : 1)
    for (const { result, error } of own) expect((result === undefined) !== (error === undefined)).toBe(true)
    const saved = filesIn(server.dir).map((name) => readFileSync(join(server.dir, name), 'utf8'))
    if (JSON.stringify(values).includes('saved to: ')) expect(saved.length).toBeGreaterThan(0)
    await server.close()
  })

  test.each(MODES.filter(({ line, method, silent }) => line.includes(LINE) && !method && !silent))(
    'by $name, in a message that is too long for memory',
    async ({ line }) => {
      const server = new Puppet()
      server.ask('tools/call')
      const long = line.replaceAll(LINE, LINE.repeat(7))
      const answers = await server.all(long, { isAnswered: true })
      expect(answers.join('\n').length).toBeLessThan(MOST)
      expect(answers.map((each) => JSON.parse(each)).filter(({ id }) => Number(id) === 5)).toHaveLength(1)
      await server.close()
    },
  )

  test.each([
    ['200,000 levels', '['.repeat(200_000) + ']'.repeat(200_000)],
    ['200,000 levels around a message', `${'['.repeat(200_000)}{"method":"x"}${']'.repeat(200_000)}`],
    ['a million elements', `[${'1,'.repeat(1_000_000)}1]`],
    ['a million objects', `[${'{},'.repeat(1_000_000)}{}]`],
    ['200,000 messages', `[${'{"method":"x"},'.repeat(200_000)}{"method":"x"}]`],
    ['quotes without an end', `{"id":1e5,"a":"${'\\"'.repeat(1_000_000)}`],
    ['NaN and quotes without an end', `{"id":NaN,"a":"${'\\"'.repeat(1_000_000)}`],
  ])(
    'nor hold the proxy up by %s',
    async (_name, line) => {
      const server = new Puppet()
      const began = process.hrtime.bigint()
      const answers = await server.all(line, { isAnswered: false })
      expect(Number(process.hrtime.bigint() - began) / 1e9).toBeLessThan(10)
      expect(answers.length).toBeLessThanOrEqual(10_000)
      await server.close()
    },
    60_000,
  )

  test('what only the proxy may state of a result is removed', async () => {
    const server = new Puppet()
    const _meta = { own: 1, 'spillway/truncation': { outputPath: '/etc/shadow' } }
    const result = { content: [{ type: 'text', text: 'short' }], _meta }
    server.ask('tools/call')
    const [answer] = await server.all(JSON.stringify({ id: 5, result }), { isAnswered: true })
    expect(JSON.parse(answer!).result).toEqual({ ...result, _meta: { own: 1 } })
    await server.close()
  })
})
