/** A bucket that answers with redirects to another host: requests have outputs in them and are signed, so none is made there. */

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { azureObjects } from 'spillway/azure'
import { type ObjectStore, RemoteStorage } from 'spillway/remote'
import { s3Objects } from 'spillway/s3'
import { rejection } from '../../support/outputs'

process.env.AWS_ACCESS_KEY_ID = 'test'
process.env.AWS_SECRET_ACCESS_KEY = 'testtest'
process.env.AWS_EC2_METADATA_DISABLED = 'true'

const servers: Server[] = []

/** Serves on the loopback interface, and returns the address. */
async function serve(answer: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(answer)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

afterEach(() => {
  for (const server of servers.splice(0)) server.closeAllConnections()
})

const KINDS: [name: string, at: (endpoint: string) => ObjectStore, url: string][] = [
  ['S3', (endpoint) => s3Objects({ bucket: 'outputs', region: 'us-east-1', endpoint }), 's3://outputs'],
  [
    'Azure',
    (endpoint) =>
      azureObjects({
        container: 'outputs',
        connectionString: `DefaultEndpointsProtocol=http;AccountName=account;AccountKey=c2VjcmV0;BlobEndpoint=${endpoint}/account`,
      }),
    'azblob://account/outputs',
  ],
]

for (const [name, at, url] of KINDS) {
  test.each([301, 302, 307, 308])(`${name}: a redirect %i is an error, and nothing is sent there`, async (status) => {
    const heard: string[] = []
    const elsewhere = await serve((request, response) => {
      heard.push(`${request.method} ${request.url}`)
      response.end('not an output')
    })
    const endpoint = await serve((request, response) => {
      request.resume()
      response.writeHead(status, { location: `${elsewhere}/stolen` }).end()
    })
    const storage = new RemoteStorage({ objects: at(endpoint) })
    expect(await rejection(storage.save('a secret', { toolName: 'bash' }))).toMatchObject({ code: 'STORAGE_WRITE' })
    const path = `${url}/o/bash_1700000000000_${'0'.repeat(32)}.txt`
    expect(await rejection(storage.read(path))).toMatchObject({ code: 'STORAGE_READ' })
    expect(heard).toEqual([])
  })
}
