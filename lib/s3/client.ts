/** The parts of `@aws-sdk/client-s3` that are used, so that its types need not be installed. */

interface ObjectRequest {
  Bucket: string
  Key: string
}

/** Members of a request that lock its object. */
export interface ObjectLock {
  ObjectLockMode?: 'COMPLIANCE' | 'GOVERNANCE'
  ObjectLockRetainUntilDate?: Date
  ChecksumAlgorithm?: 'SHA256'
}

interface ListRequest {
  Bucket: string
  Prefix: string
}

interface UploadRequest extends ObjectRequest {
  UploadId: string
}

interface ListPage {
  IsTruncated?: boolean
}

/** The client `S3` of `@aws-sdk/client-s3`. */
export interface S3Client {
  putObject(
    request: ObjectRequest & ObjectLock & { Body: Uint8Array; ContentType: string; IfNoneMatch?: string },
  ): Promise<unknown>
  createMultipartUpload(request: ObjectRequest & { ContentType: string }): Promise<{ UploadId?: string }>
  uploadPart(request: UploadRequest & { PartNumber: number; Body: Uint8Array }): Promise<{ ETag?: string }>
  completeMultipartUpload(
    request: UploadRequest & {
      MultipartUpload: { Parts: { PartNumber: number; ETag: string }[] }
      IfNoneMatch?: string
    },
  ): Promise<unknown>
  abortMultipartUpload(request: UploadRequest): Promise<unknown>
  headObject(request: ObjectRequest): Promise<{ ContentLength?: number }>
  getObject(
    request: ObjectRequest & { Range: string },
    options: { abortSignal?: AbortSignal | undefined },
  ): Promise<{
    Body?: { transformToByteArray(): Promise<Uint8Array> }
    ContentRange?: string
    ContentLength?: number
  }>
  listObjectsV2(
    request: ListRequest & { ContinuationToken?: string | undefined },
  ): Promise<
    ListPage & { Contents?: { Key?: string; Size?: number; LastModified?: Date }[]; NextContinuationToken?: string }
  >
  deleteObjects(request: {
    Bucket: string
    Delete: { Objects: { Key: string }[]; Quiet: boolean }
  }): Promise<{ Errors?: { Code?: string; Message?: string }[] }>
  listMultipartUploads(
    request: ListRequest & { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined },
  ): Promise<
    ListPage & {
      Uploads?: { Key?: string; UploadId?: string; Initiated?: Date }[]
      NextKeyMarker?: string
      NextUploadIdMarker?: string
    }
  >
  listParts(request: UploadRequest & { PartNumberMarker?: string | undefined }): Promise<
    ListPage & {
      Parts?: { PartNumber?: number; ETag?: string; Size?: number; LastModified?: Date }[]
      NextPartNumberMarker?: string
    }
  >
}

/** The module. */
export interface S3Module {
  S3: new (options: object) => S3Client
}
