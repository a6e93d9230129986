import { RemoteStorage } from 'spillway/remote'
import { s3Objects } from 'spillway/s3'
import { testIf } from '../../support/only'
import { rejection } from '../../support/outputs'
import { objectStoreContract } from '../contract'
import { describeServer, moto, type Server, s3sFs, testHangingServer } from './servers'

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

    testHangingServer(server, () => s3Objects({ ...at(server()), bucket: 'outputs', requestTimeoutMs: 200 }))
  })
}
