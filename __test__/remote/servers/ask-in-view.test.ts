/** Questions of `spillway mcp` that wait on a server: processes of users, with real servers. */

import { join } from 'node:path'
import { approvalsOn, questionsOn, view } from '../../cli/view-page'
import { Host, textOf } from '../../mcp/host'
import { postgres, redis } from './coordination-servers'
import { describeServer, type Server } from './servers'

const MODULES = join(__dirname, '..', '..', '..', 'target', 'remote', 'node_modules')
const ASKING = ['--permission', '--server', 'fixture', '--ask-in-view']

const urlAt = {
  Redis: (port: number) => `redis://127.0.0.1:${port}/0?prefix=tenant-42`,
  PostgreSQL: (port: number) => `postgres://tests@127.0.0.1:${port}/postgres?schema=tenant_42`,
}

for (const kind of [redis, postgres]) {
  describeServer(kind, (server) => {
    const url = () => urlAt[kind.name as keyof typeof urlAt](server().port)
    const variables = () => ({ NODE_PATH: MODULES, SPILLWAY_COORDINATION: url() })

    test.each([
      ['once', /^hello$/],
      ['always', /^hello$/],
      [{ reject: 'not today' }, /was denied and did not run.*not today/s],
    ] as const)('a question is answered on the page of another machine: %j', async (response, shown) => {
      const host = new Host(ASKING, variables())
      await host.initialize()
      const call = host.call('echo', { text: 'hello' })
      const send = await approvalsOn(await view([], variables()))
      const [question] = await questionsOn(send)
      expect(question).toMatchObject({ tool: 'mcp:fixture/echo', args: { text: 'hello' } })
      expect(await send({ id: question!.id, response })).toBeNull()
      expect(textOf(await call)).toMatch(shown)
      expect((await host.close()).stderr).toContain('Answer within 1h: spillway view --coordination ')
      expect(await send()).toEqual([])
    })

    test('a host that can elicit asks its own user', async () => {
      const host = new Host(ASKING, variables())
      await host.initialize({ elicitation: {} })
      host.onRequest = () => ({ result: { action: 'accept', content: { decision: 'once' } } })
      expect(textOf(await host.call('echo', { text: 'hello' }))).toBe('hello')
      expect((await host.close()).stderr).toBe('')
    })

    test('without an answer the call is denied, its result says where one could be given, and the question is gone', async () => {
      const host = new Host([...ASKING, '--answer-timeout', '1s', '--coordination', url()], { NODE_PATH: MODULES })
      await host.initialize()
      const send = await approvalsOn(await view(['--coordination', url()], { NODE_PATH: MODULES }))
      const call = host.call('echo', { text: 'hello' })
      const [question] = await questionsOn(send)
      const { isError, content } = await call
      expect(isError).toBe(true)
      expect(content[0]!.text).toMatch(/no one answered within 1s.*`spillway view --coordination /)
      expect(await send({ id: question!.id, response: 'once' })).toMatchObject({ error: expect.anything() })
      await host.close()
      expect(await send()).toEqual([])
    })

    test.each(['SIGTERM', 'close'] as const)('a proxy that ends by %s takes its question back', async (end) => {
      const host = new Host(ASKING, variables())
      await host.initialize()
      const send = await approvalsOn(await view([], variables()))
      void host.request('tools/call', { name: 'echo', arguments: { text: 'hello' } })
      await questionsOn(send)
      if (end === 'close') await host.close()
      else host.child.kill(end)
      await host.ended
      expect(await send()).toEqual([])
    })
  })

  describeServer(kind, (server) => {
    const url = () => urlAt[kind.name as keyof typeof urlAt](server().port).replace('//tests@', '//tests:secret@')

    /** Starts the proxy and makes a call that is asked about, while the server of the questions is as it is. */
    async function denied(cut: (server: Server) => void): Promise<void> {
      const host = new Host([...ASKING, '--answer-timeout', '1s', '--coordination', url()], { NODE_PATH: MODULES })
      await host.initialize()
      cut(server())
      const { isError, content } = await host.call('echo', { text: 'hello' })
      expect(isError).toBe(true)
      expect(content[0]!.text).toMatch(/was denied and did not run.*no one answered within 1s/)
      const { stderr } = await host.close()
      expect(content[0]!.text + stderr).not.toContain('secret')
    }

    test('a server that hangs allows nothing', async () => {
      await denied(({ process: { pid } }) => process.kill(pid!, 'SIGSTOP'))
      process.kill(server().process.pid!, 'SIGCONT')
    }, 60_000)

    test('a server that is gone allows nothing', () => denied(({ process: child }) => child.kill('SIGKILL')), 60_000)
  })
}
