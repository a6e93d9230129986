/** An object store in the memory of the process, for tests. */

import { isUint8Array } from 'node:util/types'
import { SpillwayError } from '../errors'
import { isArray } from '../util/guards'
import { wrong } from '../validation/validate'
import type { ListedObject, ObjectRange, ObjectStore, OpenUpload, UploadedPart } from './object-store'

interface Upload {
  key: string
  started: number
  parts: Map<number, Uint8Array>
}

/** Keeps objects in memory, as a bucket would. */
export class MemoryObjects implements ObjectStore {
  private readonly objects = new Map<string, { bytes: Uint8Array; modified: number }>()
  private readonly open = new Map<string, Upload>()
  private begun = 0

  /** @param url where the keys are said to be */
  constructor(readonly url = 'memory://objects') {
    textOf('url', url)
  }

  async put(key: string, body: Uint8Array): Promise<void> {
    this.objects.set(textOf('key', key), { bytes: bytesOf(body).slice(), modified: Date.now() })
  }

  async begin(key: string): Promise<string> {
    textOf('key', key)
    this.begun += 1
    const upload = `upload-${this.begun}`
    this.open.set(upload, { key, started: Date.now(), parts: new Map() })
    return upload
  }

  async part(key: string, upload: string, number: number, body: Uint8Array): Promise<string> {
    this.uploadOf(key, upload).parts.set(number, bytesOf(body).slice())
    return `${upload}.${number}`
  }

  async complete(key: string, upload: string, parts: readonly UploadedPart[]): Promise<void> {
    if (!isArray(parts)) throw wrong('parts', parts, 'an array of parts')
    if (!this.open.has(upload) && this.objects.has(key)) return
    const { parts: uploaded } = this.uploadOf(key, upload)
    const bytes = parts.map(({ number }) => uploaded.get(number) ?? missing(`part ${number}`))
    await this.put(key, Buffer.concat(bytes))
    this.open.delete(upload)
  }

  async abort(_key: string, upload: string): Promise<void> {
    this.open.delete(upload)
  }

  async get(key: string, from: number, to: number, signal?: AbortSignal): Promise<ObjectRange | undefined> {
    for (const [field, at] of Object.entries({ from, to }))
      if (typeof at !== 'number') throw wrong(field, at, 'a number')
    signal?.throwIfAborted()
    const object = this.objects.get(key)
    return object && { bytes: object.bytes.slice(from, to), total: object.bytes.length }
  }

  async *list(prefix: string): AsyncGenerator<ListedObject> {
    textOf('prefix', prefix)
    for (const key of [...this.objects.keys()].filter((key) => key.startsWith(prefix)).sort()) {
      const object = this.objects.get(key)
      if (object) yield { key, bytes: object.bytes.length, modified: object.modified }
    }
  }

  async remove(keys: readonly string[]): Promise<void> {
    if (!isArray(keys)) throw wrong('keys', keys, 'an array of keys')
    for (const key of keys) this.objects.delete(key)
  }

  async *uploads(prefix: string): AsyncGenerator<OpenUpload> {
    textOf('prefix', prefix)
    for (const [upload, { key, started }] of this.open) if (key.startsWith(prefix)) yield { key, upload, started }
  }

  async parts(key: string, upload: string): Promise<UploadedPart[]> {
    const { parts } = this.uploadOf(key, upload)
    const numbers = [...parts.keys()].sort((a, b) => a - b)
    return numbers.map((number) => ({ number, tag: `${upload}.${number}`, bytes: parts.get(number)!.length }))
  }

  private uploadOf(key: string, upload: string): Upload {
    const found = this.open.get(upload)
    return found && found.key === key ? found : missing(`upload ${textOf('upload', upload)} of ${textOf('key', key)}`)
  }
}

function missing(what: string): never {
  throw new SpillwayError('STORAGE_NOT_FOUND', `there is no ${what}`)
}

function textOf(field: string, value: unknown): string {
  if (typeof value !== 'string') throw wrong(field, value, 'a string')
  return value
}

function bytesOf(body: unknown): Uint8Array {
  if (!isUint8Array(body)) throw wrong('body', body, 'a Uint8Array')
  return body
}
