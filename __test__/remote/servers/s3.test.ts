import { inspect } from 'node:util'
import { AuditLog, TruncationService } from 'spillway'
import { AuditShipper, RemoteStorage, verifyShippedAudit } from 'spillway/remote'
import { s3Objects } from 'spillway/s3'
import { testIf } from '../../support/only'
import { rejection } from '../../support/outputs'
import { tempDir } from '../../support/temp'
import { objectStoreContract } from '../contract'
import { keysOf } from '../support'
import { describeServer, moto, motoWithKeys, type Server, s3sFs, testHangingServer } from './servers'

process.env.AWS_ACCESS_KEY_ID = 'test'
process.env.AWS_SECRET_ACCESS_KEY = 'testtest'
process.env.AWS_EC2_METADATA_DISABLED = 'true'

const at = ({ port }: Server) => ({ region: 'us-east-1', endpoint: `http://127.0.0.1:${port}` })

for (const kind of [moto, s3sFs]) {
  describeServer(kind, (server) => {
    beforeAll(async () => {
      const { S3 } = require('@aws-sdk/client-s3')
      const credentials = { accessKeyId: 'test', secretAccessKey: 'testtest' }
      await new S3({ ...at(server()), credentials, forcePathStyle: true }).createBucket({ Bucket: 'outputs' })
    })

    objectStoreContract(() => s3Objects({ ...at(server()), bucket: 'outputs', prefix: 'prod/tenant-42' }))

    const inMissingBucket = testIf(!kind.makesBuckets, 'this server makes a bucket that is missing')
    inMissingBucket('a bucket that is not there is an error, and no missing output', async () => {
      const storage = new RemoteStorage({ objects: s3Objects({ ...at(server()), bucket: 'nowhere' }) })
      const context = { toolName: 'bash' }
      expect(await rejection(storage.save('x', context))).toMatchObject({ code: 'STORAGE_WRITE' })
      const path = `s3://nowhere/o/bash_1_${'0'.repeat(32)}.txt`
      expect(await rejection(storage.read(path))).toMatchObject({ code: 'STORAGE_READ' })
    })

    const locking = testIf(kind === moto, 'this server has no Object Lock')
    locking('shipped files of an audit log cannot be removed', async () => {
      const { S3 } = require('@aws-sdk/client-s3')
      const credentials = { accessKeyId: 'test', secretAccessKey: 'testtest' }
      const client = new S3({ ...at(server()), credentials, forcePathStyle: true })
      await client.createBucket({ Bucket: 'audit', ObjectLockEnabledForBucket: true })
      const objects = s3Objects({ ...at(server()), bucket: 'audit', lock: { days: 1 } })
      const log = new AuditLog({ dir: tempDir(), sessionId: 's1' })
      const receipt = await log.append({ type: 'call', tool: 'bash' })
      await new AuditShipper({ log, sessionId: 's1', objects }).close()
      const [{ Key, VersionId }] = (await client.listObjectVersions({ Bucket: 'audit' })).Versions
      const removal = client.deleteObject({ Bucket: 'audit', Key, VersionId })
      expect(await rejection(removal)).toMatchObject({ name: 'AccessDenied' })
      const heads = [receipt!.hash]
      expect(await verifyShippedAudit({ objects, sessionId: 's1', heads })).toMatchObject({ ok: true })
    })

    const listing = testIf(kind === moto, 'this server does not list unfinished uploads')
    listing("what a running command printed is there with ack 'live'", async () => {
      const objects = s3Objects({ ...at(server()), bucket: 'outputs', prefix: 'live' })
      const options = { objects, ack: 'live', snapshotMs: 100 } as const
      const capture = new TruncationService({ storage: new RemoteStorage(options) }).capture({ toolName: 'bash' })
      capture.write('one\n')
      while ((await keysOf(objects)).length === 0) await new Promise((resolve) => setImmediate(resolve))
      expect(await keysOf(objects)).toEqual([expect.stringMatching(/\.txt\.0-4\.snapshot$/)])
      const [path] = await new RemoteStorage(options).salvage(0)
      expect(await new RemoteStorage(options).read(path!)).toMatch(/^one\n\n\[Spillway: the output ends here\./)
      capture.destroy()
      await rejection(capture.result)
    })

    testHangingServer(server, () => s3Objects({ ...at(server()), bucket: 'outputs', requestTimeoutMs: 200 }))
  })
}

for (const kind of [motoWithKeys, s3sFs]) {
  describeServer(kind, (server) => {
    test.each<[string, string, (storage: RemoteStorage) => Promise<unknown>]>([
      ['save', 'STORAGE_WRITE', (storage) => storage.save('x', { toolName: 'bash' })],
      ['read', 'STORAGE_READ', (storage) => storage.read(`s3://outputs/o/bash_1_${'0'.repeat(32)}.txt`)],
      ['usage', 'STORAGE_READ', (storage) => storage.usage()],
    ])('wrong keys: %s is %s, which names the bucket and shows no secret', async (_call, code, act) => {
      const { S3 } = require('@aws-sdk/client-s3')
      const credentials = {
        accessKeyId: 'AKIAWRONGKEYOFTESTS',
        secretAccessKey: 'the-secret-access-key',
        sessionToken: 'the-session-token',
      }
      const client = new S3({ ...at(server()), credentials, forcePathStyle: true, maxAttempts: 1 })
      const error = (await rejection(
        act(new RemoteStorage({ objects: s3Objects({ bucket: 'outputs', client }) })),
      )) as Error
      expect(error).toMatchObject({ name: 'SpillwayError', code, message: expect.stringContaining('s3://outputs') })
      expect(error).toMatchObject({ cause: { $metadata: { httpStatusCode: 403 } } })
      expect(inspect(error, { depth: 9 })).not.toMatch(/the-secret-access-key|the-session-token/)
    })
  })
}
