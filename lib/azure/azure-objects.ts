/** Objects in a container of Azure Blob Storage, by the client of `@azure/storage-blob`. */

import { makeNew } from '../remote/create-if-absent'
import type { ListedObject, ObjectRange, ObjectStore, OpenUpload, UploadedPart } from '../remote/object-store'
import { checkPrefix, joinUrl } from '../remote/store-url'
import { randomBytes } from '../util/crypto'
import { loadPeer } from '../validation/load-peer'
import { type Check, checkOptions, nonEmptyString, positiveMilliseconds, string } from '../validation/options'
import { invalid, wrong } from '../validation/validate'
import type { AzureBlob, AzureContainer, AzureModule } from './client'

export type { AzureContainer } from './client'

/** Options of {@link azureObjects}. */
export interface AzureObjectsOptions {
  /** Your own container client, `new ContainerClient(…)` of `@azure/storage-blob`. @default a new one */
  client?: AzureContainer
  /** The container, unless `client` is given. */
  container?: string
  /** The connection string of the account. @default $AZURE_STORAGE_CONNECTION_STRING */
  connectionString?: string
  /** The part of the container that is used, such as `prod/tenant-42`. @default the whole container */
  prefix?: string
  /** Milliseconds after which a request has failed. @default 30000 */
  requestTimeoutMs?: number
}

const CHECKS: Readonly<Record<keyof AzureObjectsOptions, Check>> = {
  client: [
    'a ContainerClient',
    (value) => typeof (value as Partial<AzureContainer> | null)?.getBlockBlobClient === 'function',
  ],
  container: [
    'the name of a container',
    (value) => typeof value === 'string' && /^[a-z0-9](?:-?[a-z0-9]){2,62}$/.test(value),
  ],
  connectionString: nonEmptyString,
  prefix: string,
  requestTimeoutMs: positiveMilliseconds,
}

/** Most blobs of one batch. */
const BATCH = 256

/**
 * Returns a container of Azure Blob Storage as an object store.
 *
 * @example
 * new RemoteStorage({ objects: azureObjects({ container: 'agent-outputs', prefix: 'prod' }) })
 * @throws SpillwayError `INVALID_ARGUMENT` that names the option, `INVALID_CONFIG` if `@azure/storage-blob` is not installed
 */
export function azureObjects(options: AzureObjectsOptions): ObjectStore {
  checkOptions('options', options, CHECKS)
  const { prefix = '', requestTimeoutMs = 30_000 } = options
  const below = checkPrefix(prefix)
  return new AzureObjects(options.client ?? makeClient(options), below, requestTimeoutMs)
}

function makeClient({ container, connectionString }: AzureObjectsOptions): AzureContainer {
  const account = connectionString ?? process.env.AZURE_STORAGE_CONNECTION_STRING
  if (container === undefined) throw wrong('options.container', container, CHECKS.container[0])
  if (!account) throw wrong('options.connectionString', account, nonEmptyString[0])
  const { ContainerClient } = loadSdk()
  try {
    // Requests are made again by the storage, with one count for all stores.
    return new ContainerClient(account, container, { retryOptions: { maxTries: 1 } })
  } catch {
    // The message of the client is not passed on: the text has the key of the account.
    throw invalid('options.connectionString', 'expected the connection string of an account')
  }
}

function loadSdk(): AzureModule {
  return loadPeer(() => require('@azure/storage-blob') as AzureModule, 'azureObjects', '@azure/storage-blob')
}

/** Blocks of an upload are those whose ids begin with its own; the server knows no uploads. */
class AzureObjects implements ObjectStore {
  readonly url: string

  constructor(
    private readonly client: AzureContainer,
    private readonly prefix: string,
    private readonly timeoutMs: number,
  ) {
    this.url = joinUrl(`azblob://${client.accountName}/${client.containerName}`, prefix)
  }

  async put(key: string, body: Uint8Array): Promise<void> {
    await this.onlyNew(key, body.length, (options) => this.blob(key).upload(body, body.length, options))
  }

  async begin(): Promise<string> {
    return randomBytes(8).toString('hex')
  }

  async part(key: string, upload: string, number: number, body: Uint8Array): Promise<string> {
    const id = blockId(upload, number)
    await this.blob(key).stageBlock(id, body, body.length, this.limits())
    return id
  }

  async complete(key: string, _upload: string, parts: readonly UploadedPart[]): Promise<void> {
    const ids = parts.map(({ tag }) => tag)
    const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
    try {
      await this.onlyNew(key, bytes, (options) => this.blob(key).commitBlockList(ids, options))
    } catch (error) {
      // The blocks are gone if an earlier call made the blob, and its answer was lost.
      if ((await this.sizeOf(key).catch(() => undefined)) !== bytes) throw error
    }
  }

  /** The server drops blocks when a list without them is committed. The empty blob that this makes is removed. */
  async abort(key: string): Promise<void> {
    const blob = this.blob(key)
    try {
      const { etag } = await blob.commitBlockList([], { ...this.limits(), conditions: { ifNoneMatch: '*' } })
      await blob.delete({ ...this.limits(), conditions: { ifMatch: etag } })
    } catch (error) {
      // A blob that is there was completed, and has dropped them.
      if (!isThere(error)) throw error
    }
  }

  async get(key: string, from: number, to: number, signal?: AbortSignal): Promise<ObjectRange | undefined> {
    try {
      const answer = await this.blob(key).download(from, to - from, this.limits(signal))
      const chunks: Uint8Array[] = []
      for await (const chunk of answer.readableStreamBody ?? []) chunks.push(chunk as Uint8Array)
      const bytes = Buffer.concat(chunks)
      return { bytes, total: Number(answer.contentRange?.split('/')[1] ?? answer.contentLength) }
    } catch (error) {
      if (codeOf(error) === 'BlobNotFound') return undefined
      if (codeOf(error) !== 'InvalidRange') throw error
      const total = await this.sizeOf(key)
      return total === undefined ? undefined : { bytes: new Uint8Array(), total }
    }
  }

  async *list(prefix: string): AsyncGenerator<ListedObject> {
    for await (const { name, properties } of this.client.listBlobsFlat({ prefix: this.prefix + prefix })) {
      const modified = properties.lastModified?.getTime() ?? 0
      yield { key: this.keyOf(name), bytes: properties.contentLength ?? 0, modified }
    }
  }

  async remove(keys: readonly string[]): Promise<void> {
    const batches = Array.from({ length: Math.ceil(keys.length / BATCH) }, (_, at) =>
      keys.slice(at * BATCH, (at + 1) * BATCH).map((key) => this.blob(key)),
    )
    const batch = this.client.getBlobBatchClient()
    const answers = await Promise.all(batches.map((blobs) => batch.deleteBlobs(blobs, this.limits())))
    const failed = answers
      .flatMap(({ subResponses }) => subResponses)
      .filter(({ status }) => status !== 404 && status >= 300)
    if (failed.length > 0) {
      throw new Error(`${failed.length} blobs were not removed, the first because of ${failed[0]?.errorCode}`)
    }
  }

  async *uploads(prefix: string): AsyncGenerator<OpenUpload> {
    const all = this.client.listBlobsFlat({ prefix: this.prefix + prefix, includeUncommitedBlobs: true })
    for await (const { name, properties } of all) {
      // A blob that was never committed is listed without a byte.
      if ((properties.contentLength ?? 0) > 0) continue
      const key = this.keyOf(name)
      const uploads = new Set((await this.blocks(key)).map(({ name: id }) => uploadOf(id)))
      for (const upload of uploads) yield { key, upload, started: properties.lastModified?.getTime() ?? 0 }
    }
  }

  async parts(key: string, upload: string): Promise<UploadedPart[]> {
    const blocks = (await this.blocks(key)).filter(({ name }) => uploadOf(name) === upload)
    return blocks
      .map(({ name, size }) => ({ number: numberOf(name), tag: name, bytes: size }))
      .sort((a, b) => a.number - b.number)
  }

  private async blocks(key: string): Promise<{ name: string; size: number }[]> {
    try {
      return (await this.blob(key).getBlockList('uncommitted', this.limits())).uncommittedBlocks ?? []
    } catch (error) {
      if (codeOf(error) === 'BlobNotFound') return []
      throw error
    }
  }

  private onlyNew(key: string, bytes: number, save: (options: object) => Promise<unknown>): Promise<void> {
    return makeNew({
      bytes,
      save: (isConditional) => save({ ...this.limits(), ...(isConditional && { conditions: { ifNoneMatch: '*' } }) }),
      sizeOf: () => this.sizeOf(key),
      isThere,
    })
  }

  private async sizeOf(key: string): Promise<number | undefined> {
    try {
      return (await this.blob(key).getProperties(this.limits())).contentLength ?? 0
    } catch (error) {
      if (codeOf(error) === 'BlobNotFound') return undefined
      throw error
    }
  }

  /** The client itself waits without end. */
  private limits(signal?: AbortSignal): { abortSignal: AbortSignal } {
    const late = AbortSignal.timeout(this.timeoutMs)
    return { abortSignal: signal === undefined ? late : AbortSignal.any([late, signal]) }
  }

  private blob(key: string): AzureBlob {
    return this.client.getBlockBlobClient(`${this.prefix}${key}`)
  }

  private keyOf(name: string): string {
    return name.slice(this.prefix.length)
  }
}

/** Ids of the blocks of a blob have one length. */
function blockId(upload: string, number: number): string {
  return Buffer.from(`${upload}-${String(number).padStart(5, '0')}`).toString('base64')
}

function uploadOf(id: string): string {
  return Buffer.from(id, 'base64').toString().split('-')[0]!
}

function numberOf(id: string): number {
  return Number(Buffer.from(id, 'base64').toString().split('-')[1])
}

function codeOf(error: unknown): string | undefined {
  const { code, details } = error as { code?: string; details?: { errorCode?: string } }
  return details?.errorCode ?? code
}

function isThere(error: unknown): boolean {
  return ['BlobAlreadyExists', 'ConditionNotMet', 'UnauthorizedBlobOverwrite'].includes(codeOf(error) ?? '')
}
