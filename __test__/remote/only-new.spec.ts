/** Objects that are there already, by servers which say so in their ways. No server is needed for that. */

import { azureObjects } from 'spillway/azure'
import { s3Objects } from 'spillway/s3'

const BODY = Buffer.from('an output that was uploaded before')
const failure = (more: object) => Object.assign(new Error('no'), more)

/** A bucket with an object of a size, and what is sent to it. */
function bucketWith(size: number | undefined, first: Error, failures: number) {
  let failed = 0
  const look = async <T>(answer: T, missing: object): Promise<T> => {
    failed += 1
    if (failed <= failures) throw failure({ code: 'EPIPE' })
    if (size === undefined) throw failure(missing)
    return answer
  }
  const sent: string[] = []
  const save = async (isConditional: boolean) => {
    sent.push(isConditional ? 'new' : 'any')
    if (isConditional) throw first
  }
  const unused = () => Promise.reject(new Error('is not called'))
  const s3 = s3Objects({
    bucket: 'outputs',
    client: {
      getObject: unused,
      putObject: ({ IfNoneMatch }: { IfNoneMatch?: string }) => save(IfNoneMatch === '*'),
      headObject: () => look({ ContentLength: size }, { name: 'NotFound' }),
    } as never,
  })
  const azure = azureObjects({
    client: {
      accountName: 'account',
      containerName: 'outputs',
      getBlockBlobClient: () => ({
        upload: (_body: unknown, _length: number, { conditions }: { conditions?: object }) =>
          save(conditions !== undefined),
        getProperties: () => look({ contentLength: size }, { code: 'BlobNotFound' }),
      }),
      getBlobBatchClient: unused,
      listBlobsFlat: unused,
    } as never,
  })
  return { sent, s3, azure }
}

const REFUSED = { s3: failure({ name: 'PreconditionFailed' }), azure: failure({ code: 'BlobAlreadyExists' }) }
const CUT = failure({ code: 'EPIPE', name: 'TimeoutError' })
const RESET = failure({ code: 'REQUEST_SEND_ERROR', cause: failure({ code: 'ECONNRESET' }) })
const DENIED = failure({ name: 'AccessDenied', code: 'AuthorizationFailure' })

describe.each(['s3', 'azure'] as const)('%s', (store) => {
  test.each([
    ['refused, as large', REFUSED[store], BODY.length, 'done', ['new']],
    ['refused, and salvaged shorter', REFUSED[store], 3, 'done', ['new', 'any']],
    ['refused, and salvaged with a line after all of it', REFUSED[store], BODY.length + 94, 'done', ['new', 'any']],
    ['refused, and salvaged with a line after most of it', REFUSED[store], BODY.length + 90, 'done', ['new', 'any']],
    ['refused, and larger', REFUSED[store], BODY.length + 95, 'failed', ['new']],
    // The answer to a long body is lost, because the server does not read it.
    ['cut off, as large', CUT, BODY.length, 'done', ['new']],
    ['cut off below, as large', RESET, BODY.length, 'done', ['new']],
    ['cut off, and salvaged shorter', CUT, 3, 'done', ['new', 'any']],
    ['cut off, and not there', CUT, undefined, 'failed', ['new']],
    ['cut off, and larger', CUT, BODY.length + 95, 'failed', ['new']],
    ['denied, as large', DENIED, BODY.length, 'failed', ['new']],
    // The client asks for the size on the connection that the server has closed.
    ['refused and closed, as large', REFUSED[store], BODY.length, 'done', ['new'], 1],
    ['refused and closed, and salvaged shorter', REFUSED[store], 3, 'done', ['new', 'any'], 1],
    ['cut off twice, as large', CUT, BODY.length, 'done', ['new'], 2],
  ] as const)('%s', async (_name, error, size, outcome, requests, failures: number = 0) => {
    const bucket = bucketWith(size, error, failures)
    const put = bucket[store].put('o/x', BODY).then(
      () => 'done',
      (thrown) => (thrown === error ? 'failed' : thrown),
    )
    expect(await put).toBe(outcome)
    expect(bucket.sent).toEqual(requests)
  })
})
