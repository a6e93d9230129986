/** Services to test with, and texts to give them. */

import {
  type ITruncationStorage,
  type TruncatedResult,
  type TruncationEvent,
  type TruncationResult,
  TruncationService,
  type TruncationServiceConfig,
} from 'spillway'
import { tempDir } from './temp'

/** `line 1` to `line n`, without a final newline. */
export function numbered(count: number, from = 1): string {
  return Array.from({ length: count }, (_, index) => `line ${from + index}`).join('\n')
}

/** A service that saves into a folder of the test's own. */
export function makeService(options: TruncationServiceConfig = {}): TruncationService {
  const elsewhere = options.storage || options.storageDirs || options.global?.storageDir
  return new TruncationService(elsewhere ? options : { ...options, storageDirs: [tempDir()] })
}

/** A service, and every event that it sends. */
export function makeListening(options: TruncationServiceConfig = {}): {
  service: TruncationService
  events: TruncationEvent[]
} {
  const events: TruncationEvent[] = []
  return { service: makeService({ ...options, onEvent: (event) => events.push(event) }), events }
}

/** The result of something that must have been cut. */
export function cut<C>(result: TruncationResult<C>): Required<TruncatedResult<C>> {
  expect(result.truncated).toBe(true)
  return result as Required<TruncatedResult<C>>
}

/** A storage in memory, whose `save` can be replaced. */
export function memoryStorage(
  save?: (content: string) => unknown,
): ITruncationStorage & { saved: Map<string, string | Uint8Array> } {
  const saved = new Map<string, string | Uint8Array>()
  const keep = (content: string | Uint8Array) => {
    const path = `memory:${saved.size}`
    saved.set(path, content)
    return path
  }
  return {
    saved,
    save: async (content) => (save ? save(content) : keep(content)) as string,
    read: async (path) => String(saved.get(path)),
    cleanup: async () => 0,
    getStorageDir: () => 'memory:',
  }
}

/** Returns the reason of a rejected promise; a fulfilled one fails the test. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const fulfilled = Symbol('fulfilled')
  const outcome = await promise.then(
    () => fulfilled,
    (error) => ({ error }),
  )
  if (outcome === fulfilled) throw new Error('expected a rejection')
  return (outcome as { error: unknown }).error
}

/** Returns the error that a function threw; one that returns fails the test. */
export function thrown(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  throw new Error('expected an exception')
}

/** Lets unhandled rejections surface: the runner fails the test they happened in. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Lines by the rule of the package: a final newline ends the last line and does not start another. */
export function countLines(text: string): number {
  const pieces = text.split('\n').length
  return text === '' || text.endsWith('\n') ? pieces - 1 : pieces
}

/** UTF-8 bytes. */
export function bytesOf(text: string): number {
  return Buffer.byteLength(text, 'utf8')
}
