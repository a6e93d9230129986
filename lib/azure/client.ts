/** The parts of `@azure/storage-blob` that are used, so that its types need not be installed. */

interface CallOptions {
  abortSignal?: AbortSignal
}

/** The server refuses with 409 if the blob is there already. */
interface NewOnly extends CallOptions {
  conditions?: { ifNoneMatch?: string; ifMatch?: string | undefined }
}

/** One blob. */
export interface AzureBlob {
  upload(body: Uint8Array, length: number, options: NewOnly): Promise<unknown>
  stageBlock(id: string, body: Uint8Array, length: number, options: CallOptions): Promise<unknown>
  commitBlockList(ids: string[], options: NewOnly): Promise<{ etag?: string }>
  getBlockList(
    which: 'uncommitted',
    options: CallOptions,
  ): Promise<{ uncommittedBlocks?: { name: string; size: number }[] }>
  getProperties(options: CallOptions): Promise<{ contentLength?: number }>
  download(
    from: number,
    count: number,
    options: CallOptions,
  ): Promise<{ contentRange?: string; contentLength?: number; readableStreamBody?: AsyncIterable<unknown> }>
  delete(options: NewOnly): Promise<unknown>
}

/** A `ContainerClient` of `@azure/storage-blob`. */
export interface AzureContainer {
  readonly accountName: string
  readonly containerName: string
  getBlockBlobClient(name: string): AzureBlob
  getBlobBatchClient(): {
    deleteBlobs(
      blobs: AzureBlob[],
      options: CallOptions,
    ): Promise<{ subResponses: { status: number; errorCode?: string }[] }>
  }
  listBlobsFlat(options: {
    prefix: string
    includeUncommitedBlobs?: boolean
    abortSignal?: AbortSignal
  }): AsyncIterable<{ name: string; properties: { contentLength?: number; lastModified?: Date } }>
}

/** The module. */
export interface AzureModule {
  ContainerClient: new (connectionString: string, container: string, options: object) => AzureContainer
}
