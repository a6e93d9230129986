import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { filesIn, tempDir } from '../support/temp'
import { Host, type Message, textOf } from './host'

/** The protocol of July 2026: no `initialize`; each request says who makes it, and what that can do. */
const metaOf = (elicitation?: object) => ({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'claude-code', version: '2' },
  'io.modelcontextprotocol/clientCapabilities': elicitation === undefined ? {} : { elicitation },
})
const STATELESS = { STATELESS: '1' }

async function call(
  host: Host,
  name: string,
  args: object,
  more: object = {},
  elicitation: object | undefined = { form: {} },
) {
  const _meta = metaOf(elicitation)
  return (await host.request('tools/call', { name, arguments: args, _meta, ...more })).result as Message['result'] &
    Record<string, unknown>
}

async function discover(options: string[] = []): Promise<Host> {
  const host = new Host(options, STATELESS)
  await host.request('server/discover', { _meta: metaOf() })
  return host
}

const answerOf = (question: Record<string, unknown>, decision: string | undefined) => ({
  requestState: question.requestState,
  inputResponses: Object.fromEntries(
    Object.keys(question.inputRequests as object).map((name) => [
      name,
      decision === undefined ? { action: 'decline' } : { action: 'accept', content: { decision } },
    ]),
  ),
})

test('results of our own say that they are complete, and files have the name of the server', async () => {
  const host = await discover()
  const long = await call(host, 'lines', { count: 5000 })
  expect(long.resultType).toBe('complete')
  expect(filesIn(host.store)).toEqual([expect.stringMatching(/^mcp__stateless__lines_/)])
  const { result } = await host.request('tools/list', { _meta: metaOf() })
  expect(result!.tools!.map(({ name }) => name)).toContain('read_output')
  const path = long._meta!['spillway/truncation']!.outputPath
  expect(await call(host, 'read_output', { path })).toMatchObject({ resultType: 'complete' })
  await host.close()
})

describe('a question about a call', () => {
  test('is an input-required result, and the call is made again with the answer', async () => {
    const host = await discover(['--permission', '--server', 'files'])
    const question = await call(host, 'raw', { n: 1 })
    expect(question).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) })
    const [input] = Object.values(
      question.inputRequests as Record<string, { method: string; params: { message: string } }>,
    )
    expect(input).toMatchObject({ method: 'elicitation/create', params: { mode: 'form' } })
    expect(input!.params.message).toContain('mcp:files/raw')
    const allowed = textOf(await call(host, 'raw', { n: 1 }, answerOf(question, 'once')))
    expect(JSON.parse(allowed).params).toEqual({ name: 'raw', arguments: { n: 1 }, _meta: metaOf({ form: {} }) })
    // The answer held once.
    expect(await call(host, 'raw', { n: 1 }, answerOf(question, 'once'))).toMatchObject({
      resultType: 'input_required',
    })
    // No request of a server was sent to the host.
    expect(
      host.lines.some((line) => line.includes('"method":"elicitation/create","params"') && JSON.parse(line).method),
    ).toBe(false)
    await host.close()
  })

  test.each([undefined, 'reject', 'nonsense'])('is answered by %s: the call does not run', async (decision) => {
    const host = await discover(['--permission', '--server', 'files'])
    const question = await call(host, 'exit', {})
    const refused = await call(host, 'exit', {}, answerOf(question, decision))
    expect(refused).toMatchObject({ isError: true, resultType: 'complete' })
    expect(textOf(refused)).toContain('did not run')
    await host.close()
  })

  test.each([
    ['with other arguments', 'raw', { n: 2 }],
    ['of another tool', 'exit', { n: 1 }],
  ])('allows no call %s', async (_name, tool, args) => {
    const host = await discover(['--permission', '--server', 'files'])
    const question = await call(host, 'raw', { n: 1 })
    expect(await call(host, tool, args, answerOf(question, 'once'))).toMatchObject({ resultType: 'input_required' })
    await host.close()
  })

  test('is not asked a second time where the server asks something itself', async () => {
    const host = await discover(['--permission', '--server', 'files'])
    const question = await call(host, 'asks', { n: 1 })
    const own = await call(host, 'asks', { n: 1 }, answerOf(question, 'once'))
    expect(own).toMatchObject({ resultType: 'input_required', requestState: 'of the server' })
    const done = await call(host, 'asks', { n: 1 }, answerOf(own, 'x'))
    expect(textOf(done)).toBe('of the server')
    const other = await call(host, 'asks', { n: 2 }, answerOf(own, 'x'))
    expect(other.requestState).not.toBe('of the server')
    await host.close()
  })

  test('that cannot be put is answered with what would allow the call', async () => {
    const config = join(tempDir(), 'config.jsonc')
    writeFileSync(config, '{ "agents": { "runtime": { "permission": { "rules": [] } } } }')
    const host = await discover(['--config', config, '--server', 'files'])
    // A file without rules judges nothing unless that is asked for.
    await host.close()
    const judged = await discover(['--permission', '--config', config, '--server', 'files'])
    const refused = await call(judged, 'exit', {}, {}, { url: {} })
    expect(refused.isError).toBe(true)
    expect(textOf(refused)).toContain('"pattern":"mcp:files/exit"')
    expect(textOf(refused)).toContain(config)
    await judged.close()
  })
})
