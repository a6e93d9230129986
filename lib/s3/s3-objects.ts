/** Objects in a bucket of S3, by the client of `@aws-sdk/client-s3`. */

import { SpillwayError } from '../errors'
import { makeNew } from '../remote/create-if-absent'
import type { ListedObject, ObjectRange, ObjectStore, OpenUpload, UploadedPart } from '../remote/object-store'
import { checkPrefix, joinUrl } from '../remote/store-url'
import { now } from '../util/clock'
import { loadPeer } from '../validation/load-peer'
import { type Check, checkOptions, milliseconds, string } from '../validation/options'
import { isRecord, wrong } from '../validation/validate'
import type { ObjectLock, S3Client, S3Module } from './client'

export type { S3Client } from './client'

/** Options of {@link s3Objects}. */
export interface S3ObjectsOptions {
  bucket: string
  /** The part of the bucket that is used, such as `prod/tenant-42`. @default the whole bucket */
  prefix?: string
  /** Your own client, `new S3({ … })` of `@aws-sdk/client-s3`; set its `throwOnRequestTimeout`. @default a new one */
  client?: S3Client
  /** Region of the bucket. @default what the environment of the AWS SDK says */
  region?: string
  /** URL of another S3-compatible store: R2, Ceph, Garage. @default AWS */
  endpoint?: string
  /** Milliseconds after which a request has failed. @default 30000 */
  requestTimeoutMs?: number
  /**
   * Locks every object for some days (Object Lock), which the bucket must allow. In the mode `COMPLIANCE`, the default, not even the owner
   * of the account can remove it before. For the files of an `AuditShipper`: outputs are saved in parts, and
   * removed sooner.
   */
  lock?: { days: number; mode?: 'COMPLIANCE' | 'GOVERNANCE' }
}

const DAY_MS = 86_400_000

const CHECKS: Readonly<Record<keyof S3ObjectsOptions, Check>> = {
  bucket: ['the name of a bucket', (value) => typeof value === 'string' && /^[A-Za-z0-9][\w.-]{1,62}$/.test(value)],
  prefix: string,
  client: ['an S3 client', (value) => typeof (value as Partial<S3Client> | null)?.getObject === 'function'],
  region: string,
  endpoint: ['a URL', (value) => typeof value === 'string' && URL.canParse(value)],
  requestTimeoutMs: milliseconds,
  lock: ["an object such as { days: 365, mode: 'COMPLIANCE' }", isLock],
}

function isLock(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { days, mode = 'COMPLIANCE', ...others } = value as { days?: unknown; mode?: unknown }
  const isMode = mode === 'COMPLIANCE' || mode === 'GOVERNANCE'
  return Number.isSafeInteger(days) && (days as number) > 0 && isMode && Object.keys(others).length === 0
}

/**
 * Returns a bucket as an object store. The AWS SDK finds the credentials, as everywhere: environment, profile, pod.
 *
 * @example
 * new RemoteStorage({ objects: s3Objects({ bucket: 'agent-outputs', prefix: 'prod' }) })
 * @throws SpillwayError `INVALID_ARGUMENT` that names the option, `INVALID_CONFIG` if `@aws-sdk/client-s3` is not installed
 */
export function s3Objects(options: S3ObjectsOptions): ObjectStore {
  checkOptions('options', options, CHECKS)
  const { bucket, prefix = '' } = options
  if (bucket === undefined) throw wrong('options.bucket', bucket, CHECKS.bucket[0])
  return new S3Objects(bucket, checkPrefix(prefix), options.client ?? makeClient(options), options.lock)
}

function makeClient({ region, endpoint, requestTimeoutMs = 30_000 }: S3ObjectsOptions): S3Client {
  const { S3 } = loadSdk()
  const compatible = { endpoint, forcePathStyle: true }
  return new S3({
    ...(region !== undefined && { region }),
    ...(endpoint !== undefined && compatible),
    // Other stores know no checksums but those that the protocol demands.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Requests are made again by the storage, with one count for all stores.
    maxAttempts: 1,
    // Without the last, the SDK warns after this time and waits on.
    requestHandler: { requestTimeout: requestTimeoutMs, throwOnRequestTimeout: true },
  })
}

function loadSdk(): S3Module {
  return loadPeer(() => require('@aws-sdk/client-s3') as S3Module, 's3Objects', '@aws-sdk/client-s3')
}

class S3Objects implements ObjectStore {
  readonly url: string

  private readonly client: S3Client

  constructor(
    private readonly bucket: string,
    private readonly prefix: string,
    client: S3Client,
    private readonly lock: S3ObjectsOptions['lock'],
  ) {
    this.client = withReasons(client)
    this.url = joinUrl(`s3://${bucket}`, prefix)
  }

  async put(key: string, body: Uint8Array): Promise<void> {
    const request = { ...this.at(key), Body: body, ContentType: 'text/plain', ...this.locked() }
    await this.onlyNew(key, body.length, (condition) => this.client.putObject({ ...request, ...condition }))
  }

  async begin(key: string): Promise<string> {
    // The parts of a locked object would need their checksums in two more requests.
    if (this.lock !== undefined) {
      const problem =
        'options.lock: expected objects of one request, such as the files of an AuditShipper; received one in parts'
      throw new SpillwayError('INVALID_ARGUMENT', problem, { field: 'options.lock' })
    }
    const { UploadId } = await this.client.createMultipartUpload({ ...this.at(key), ContentType: 'text/plain' })
    return UploadId!
  }

  async part(key: string, upload: string, number: number, body: Uint8Array): Promise<string> {
    const { ETag } = await this.client.uploadPart({ ...this.at(key), UploadId: upload, PartNumber: number, Body: body })
    return ETag!
  }

  async complete(key: string, upload: string, parts: readonly UploadedPart[]): Promise<void> {
    const Parts = parts.map(({ number, tag }) => ({ PartNumber: number, ETag: tag }))
    const request = { ...this.at(key), UploadId: upload, MultipartUpload: { Parts } }
    const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
    try {
      await this.onlyNew(key, bytes, (condition) => this.client.completeMultipartUpload({ ...request, ...condition }))
    } catch (error) {
      // Stores answer a second time in different ways: the object says whether the first did it.
      if ((await this.sizeOf(key).catch(() => undefined)) !== bytes) throw error
    }
  }

  async abort(key: string, upload: string): Promise<void> {
    await this.client.abortMultipartUpload({ ...this.at(key), UploadId: upload })
  }

  async get(key: string, from: number, to: number, signal?: AbortSignal): Promise<ObjectRange | undefined> {
    try {
      const request = { ...this.at(key), Range: `bytes=${from}-${to - 1}` }
      const { Body, ContentRange, ContentLength } = await this.client.getObject(request, { abortSignal: signal })
      const bytes = await Body!.transformToByteArray()
      // A store that does not know ranges gives the whole.
      if (ContentRange === undefined) return { bytes: bytes.subarray(from, to), total: ContentLength ?? bytes.length }
      return { bytes, total: Number(ContentRange.split('/')[1]) }
    } catch (error) {
      if (isCalled(error, 'NoSuchKey')) return undefined
      if (!isCalled(error, 'InvalidRange')) throw error
      const total = await this.sizeOf(key)
      return total === undefined ? undefined : { bytes: new Uint8Array(), total }
    }
  }

  async *list(prefix: string): AsyncGenerator<ListedObject> {
    for (let token: string | undefined; ; ) {
      const request = { ...this.below(prefix), ContinuationToken: token }
      const { Contents = [], IsTruncated, NextContinuationToken } = await this.client.listObjectsV2(request)
      for (const { Key, Size, LastModified } of Contents) {
        yield { key: this.keyOf(Key!), bytes: Size ?? 0, modified: LastModified?.getTime() ?? 0 }
      }
      if (!IsTruncated) return
      token = NextContinuationToken
    }
  }

  async remove(keys: readonly string[]): Promise<void> {
    const Objects = keys.map((key) => ({ Key: this.at(key).Key }))
    const { Errors = [] } = await this.client.deleteObjects({ Bucket: this.bucket, Delete: { Objects, Quiet: true } })
    const [first] = Errors
    if (first)
      throw new Error(`${Errors.length} objects were not removed, the first because of ${first.Code}: ${first.Message}`)
  }

  async *uploads(prefix: string): AsyncGenerator<OpenUpload> {
    for (let next: { KeyMarker?: string; UploadIdMarker?: string } = {}; ; ) {
      const answer = await this.client.listMultipartUploads({ ...this.below(prefix), ...next })
      for (const { Key, UploadId, Initiated } of answer.Uploads ?? []) {
        yield { key: this.keyOf(Key!), upload: UploadId!, started: Initiated?.getTime() ?? 0 }
      }
      if (!answer.IsTruncated) return
      next = { KeyMarker: answer.NextKeyMarker, UploadIdMarker: answer.NextUploadIdMarker }
    }
  }

  async parts(key: string, upload: string): Promise<UploadedPart[]> {
    const found: UploadedPart[] = []
    for (let marker: string | undefined; ; ) {
      const answer = await this.client.listParts({ ...this.at(key), UploadId: upload, PartNumberMarker: marker })
      for (const { PartNumber, ETag, Size, LastModified } of answer.Parts ?? []) {
        found.push({ number: PartNumber!, tag: ETag!, bytes: Size ?? 0, modified: LastModified?.getTime() })
      }
      if (!answer.IsTruncated) return found
      marker = answer.NextPartNumberMarker
    }
  }

  /** Returns the members of a request that lock its object. */
  private locked(): ObjectLock {
    if (this.lock === undefined) return {}
    const { days, mode = 'COMPLIANCE' } = this.lock
    // S3 demands a checksum with a lock.
    return {
      ObjectLockMode: mode,
      ObjectLockRetainUntilDate: new Date(now() + days * DAY_MS),
      ChecksumAlgorithm: 'SHA256',
    }
  }

  private onlyNew(key: string, bytes: number, save: (condition: object) => Promise<unknown>): Promise<void> {
    return makeNew({
      bytes,
      save: (isConditional) => save(isConditional ? { IfNoneMatch: '*' } : {}),
      sizeOf: () => this.sizeOf(key),
      isThere: (error) => isCalled(error, 'PreconditionFailed'),
    })
  }

  private async sizeOf(key: string): Promise<number | undefined> {
    try {
      return (await this.client.headObject(this.at(key))).ContentLength ?? 0
    } catch (error) {
      if (isCalled(error, 'NotFound')) return undefined
      throw error
    }
  }

  private at(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.bucket, Key: `${this.prefix}${key}` }
  }

  private below(prefix: string): { Bucket: string; Prefix: string } {
    return { Bucket: this.bucket, Prefix: `${this.prefix}${prefix}` }
  }

  private keyOf(key: string): string {
    return key.slice(this.prefix.length)
  }
}

/** Meanings of statuses, for answers without a message. */
const STATUSES: Readonly<Record<number, string>> = {
  301: 'the bucket is in another region',
  403: 'the keys are wrong, or have no right to this',
  404: 'there is no such bucket, or nothing in it under this key',
}

/** A client whose errors say what is wrong, also where a server does not. */
function withReasons(client: S3Client): S3Client {
  return new Proxy(client, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      return async (...given: unknown[]) => {
        try {
          return await method.apply(target, given)
        } catch (error) {
          throw withReason(error)
        }
      }
    },
  })
}

/** Fields of an answer that say what is wrong. Others repeat parts of the request, such as a session token, and would be logged with the error. */
const TOLD = new Set(['name', 'message', 'Code', 'Region', 'Endpoint', '$fault', '$metadata', '$retryable'])

function withReason(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  if ('$metadata' in error) for (const key of Object.keys(error)) if (!TOLD.has(key)) Reflect.deleteProperty(error, key)
  const { httpStatusCode: status = 0 } = (error as { $metadata?: { httpStatusCode?: number } }).$metadata ?? {}
  if (error.message === 'Region is missing')
    error.message = 'the region is missing: set AWS_REGION, or region in the URL of the store'
  if (status > 0 && (error.message === '' || error.message === 'UnknownError')) {
    const meaning = STATUSES[status]
    error.message = `HTTP ${status}${meaning === undefined ? '' : `: ${meaning}`}`
  }
  return error
}

function isCalled(error: unknown, name: string): boolean {
  return (error as { name?: unknown } | null)?.name === name
}
