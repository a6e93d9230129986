import { azureObjects } from 'spillway/azure'
import { openStore, RemoteStorage, storeOfPath } from 'spillway/remote'
import { rejection, thrown } from '../../support/outputs'
import { objectStoreContract } from '../contract'
import { azurite, describeServer, type Server, testHangingServer } from './servers'

/** The account that every Azurite has; its key is printed in the documentation. */
const KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='

const connectionTo = ({ port }: Server) =>
  `DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=${KEY};BlobEndpoint=http://127.0.0.1:${port}/devstoreaccount1`

describeServer(azurite, (server) => {
  const at = (container: string) => ({ container, connectionString: connectionTo(server()) })

  beforeAll(async () => {
    const { ContainerClient } = require('@azure/storage-blob')
    await new ContainerClient(connectionTo(server()), 'outputs').create()
  })

  objectStoreContract(() => azureObjects({ ...at('outputs'), prefix: 'prod/tenant-42' }))

  test('a container that is not there is an error, and no missing output', async () => {
    const storage = new RemoteStorage({ objects: azureObjects(at('nowhere')) })
    expect(await rejection(storage.save('x', { toolName: 'bash' }))).toMatchObject({ code: 'STORAGE_WRITE' })
    const path = `azblob://devstoreaccount1/nowhere/o/bash_1_${'0'.repeat(32)}.txt`
    expect(await rejection(storage.read(path))).toMatchObject({ code: 'STORAGE_READ' })
  })

  test('openStore opens the container of a URL, and none of another account', async () => {
    process.env.AZURE_STORAGE_CONNECTION_STRING = connectionTo(server())
    const storage = openStore({ url: 'azblob://devstoreaccount1/outputs/by-url' })
    const path = await storage.save('a text', { toolName: 'bash' })
    expect(path).toMatch(/^azblob:\/\/devstoreaccount1\/outputs\/by-url\/o\/bash_/)
    expect(await openStore({ url: storeOfPath(path)! }).read(path)).toBe('a text')
    expect(thrown(() => openStore({ url: 'azblob://another/outputs' }))).toMatchObject({
      code: 'INVALID_CONFIG',
      message: expect.stringContaining('that of another account'),
    })
    delete process.env.AZURE_STORAGE_CONNECTION_STRING
  })

  testHangingServer(server, () => azureObjects({ ...at('outputs'), requestTimeoutMs: 200 }))

  test.each([
    ['options.container', { container: 'A' }],
    ['options.container', {}],
    ['options.connectionString', { container: 'outputs' }],
    ['options.connectionString', { container: 'outputs', connectionString: 'AccountKey=secret' }],
    ['options.prefix', { container: 'outputs', connectionString: 'x', prefix: 'a//b' }],
  ])('a wrong %s is refused', (field, options) => {
    const error = thrown(() => azureObjects(options))
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', field })
    expect(String(error)).not.toContain('secret')
  })
})
