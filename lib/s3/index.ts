/** Outputs in a bucket of S3, or of a store that speaks its protocol. */

export { type S3Client, type S3ObjectsOptions, s3Objects } from './s3-objects'
