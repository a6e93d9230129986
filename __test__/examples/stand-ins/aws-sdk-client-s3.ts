/** Stand-in for `@aws-sdk/client-s3`: a client that answers nothing, with the types that the pages use. */
import type { S3Client } from 'spillway/s3'

export const S3 = class {
  getObject = async () => ({})
} as unknown as new (
  options: object,
) => S3Client
