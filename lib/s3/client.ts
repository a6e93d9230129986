/** The parts of `@aws-sdk/client-s3` that are used, so that its types need not be installed. */

interface Place {
  Bucket: string
  Key: string
}

interface Prefix {
  Bucket: string
  Prefix: string
}

interface OfUpload extends Place {
  UploadId: string
}

interface Page {
  IsTruncated?: boolean
}

/** The client `S3` of `@aws-sdk/client-s3`. */
export interface S3Client {
  putObject(request: Place & { Body: Uint8Array; ContentType: string; IfNoneMatch?: string }): Promise<unknown>
  createMultipartUpload(request: Place & { ContentType: string }): Promise<{ UploadId?: string }>
  uploadPart(request: OfUpload & { PartNumber: number; Body: Uint8Array }): Promise<{ ETag?: string }>
  completeMultipartUpload(
    request: OfUpload & { MultipartUpload: { Parts: { PartNumber: number; ETag: string }[] }; IfNoneMatch?: string },
  ): Promise<unknown>
  abortMultipartUpload(request: OfUpload): Promise<unknown>
  headObject(request: Place): Promise<{ ContentLength?: number }>
  getObject(
    request: Place & { Range: string },
    options: { abortSignal?: AbortSignal | undefined },
  ): Promise<{
    Body?: { transformToByteArray(): Promise<Uint8Array> }
    ContentRange?: string
    ContentLength?: number
  }>
  listObjectsV2(
    request: Prefix & { ContinuationToken?: string | undefined },
  ): Promise<
    Page & { Contents?: { Key?: string; Size?: number; LastModified?: Date }[]; NextContinuationToken?: string }
  >
  deleteObjects(request: {
    Bucket: string
    Delete: { Objects: { Key: string }[]; Quiet: boolean }
  }): Promise<{ Errors?: { Code?: string; Message?: string }[] }>
  listMultipartUploads(
    request: Prefix & { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined },
  ): Promise<
    Page & {
      Uploads?: { Key?: string; UploadId?: string; Initiated?: Date }[]
      NextKeyMarker?: string
      NextUploadIdMarker?: string
    }
  >
  listParts(request: OfUpload & { PartNumberMarker?: string | undefined }): Promise<
    Page & {
      Parts?: { PartNumber?: number; ETag?: string; Size?: number; LastModified?: Date }[]
      NextPartNumberMarker?: string
    }
  >
}

/** The module. */
export interface S3Module {
  S3: new (options: object) => S3Client
}
