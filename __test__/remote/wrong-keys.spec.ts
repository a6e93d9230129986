/** Buckets that refuse the keys of a worker: the error names the bucket, and shows nothing that opens it. */

import { inspect } from 'node:util'
import { RemoteStorage } from 'spillway/remote'
import { s3Objects } from 'spillway/s3'
import { eventually } from '../coordination/contract'
import { rejection } from '../support/outputs'
import { tempDir } from '../support/temp'

const SECRETS = ['the-secret-access-key', 'the-session-token']
const PATH = `s3://outputs/prod/o/bash_1_${'0'.repeat(32)}.txt`

/** Errors as the client of the AWS SDK makes them of the answers of servers. */
const REFUSALS: [string, string, object][] = [
  ['InvalidAccessKeyId', 'The AWS Access Key Id you provided does not exist in our records.', {}],
  [
    'SignatureDoesNotMatch',
    'The request signature we calculated does not match.',
    { StringToSign: 'AWS4-HMAC-SHA256' },
  ],
  // The server repeats the token, and the client makes a field of every element of its answer.
  ['ExpiredToken', 'The provided token has expired.', { 'Token-0': SECRETS[1] }],
  ['InvalidToken', 'The provided token is malformed.', { 'Token-0': SECRETS[1], Echo: { header: SECRETS[0] } }],
  ['AccessDenied', '', {}],
]

function refusing(name: string, message: string, fields: object) {
  const refuse = async () => {
    const answer = { $fault: 'client', $metadata: { httpStatusCode: 403, requestId: 'R1' }, Code: name }
    throw Object.assign(new Error(message), { name, ...answer, ...fields })
  }
  const client = new Proxy({}, { get: () => refuse })
  return s3Objects({ bucket: 'outputs', prefix: 'prod', client: client as never })
}

describe.each(REFUSALS)('%s', (name, message, fields) => {
  test.each<[string, string, (storage: RemoteStorage) => Promise<unknown>]>([
    ['save', 'STORAGE_WRITE', (storage) => storage.save('x', { toolName: 'bash' })],
    ['read', 'STORAGE_READ', (storage) => storage.read(PATH)],
    ['usage', 'STORAGE_READ', (storage) => storage.usage()],
    ['cleanup', 'STORAGE_READ', (storage) => storage.cleanup()],
    ['deleteSession', 'STORAGE_READ', (storage) => storage.deleteSession('s1')],
  ])('%s is %s', async (_call, code, act) => {
    const error = (await rejection(act(new RemoteStorage({ objects: refusing(name, message, fields) })))) as Error
    expect(error).toMatchObject({
      name: 'SpillwayError',
      code,
      message: expect.stringContaining('s3://outputs/prod'),
      cause: { name, $metadata: { httpStatusCode: 403, requestId: 'R1' } },
    })
    expect(error.message).toContain(message === '' ? 'HTTP 403: the keys are wrong' : message)
    for (const secret of SECRETS) expect(inspect(error, { depth: 9 })).not.toContain(secret)
  })

  test('the upload of a spool reports it', async () => {
    const errors: Error[] = []
    const objects = refusing(name, message, fields)
    const onError = (error: Error) => void errors.push(error)
    const options = { objects, spoolDir: tempDir(), onError, ack: 'spool', closeTimeoutMs: 1 } as const
    const storage = new RemoteStorage(options)
    await storage.save('x', { toolName: 'bash' })
    await eventually(() => errors.length > 0)
    await storage.close()
    expect(errors[0]).toMatchObject({ code: 'STORAGE_WRITE', message: expect.stringContaining('s3://outputs/prod') })
    for (const secret of SECRETS) expect(inspect(errors, { depth: 9 })).not.toContain(secret)
  })
})
