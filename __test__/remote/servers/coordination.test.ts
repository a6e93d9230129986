import type { Coordination } from 'spillway/remote'
import { clockContract } from '../../coordination/clocks'
import { coordinationContract } from '../../coordination/contract'
import { ioredis, postgres, redis } from './coordination-servers'
import { describeServer } from './servers'

for (const kind of [redis, ioredis, postgres]) {
  describeServer(kind, (server) => {
    const clients: Coordination[] = []
    const workers = () => {
      for (let at = 0; at < 4; at += 1) clients.push(kind.connect(server().port))
      return clients
    }
    afterAll(() => Promise.all(clients.map((client) => client.close())))

    coordinationContract(workers)
    clockContract(() => [clients[0]!, clients[1]!])
  })
}
