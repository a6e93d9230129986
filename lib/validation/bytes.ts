/** Bytes of a caller, which may have been transferred to another thread. */

import { types } from 'node:util'
import { SpillwayError } from '../errors'
import { wrong } from './validate'

/**
 * Bytes as a buffer over the same memory.
 * @throws SpillwayError `INVALID_ARGUMENT` if they were transferred away
 */
function bufferOf(bytes: Uint8Array): Buffer {
  try {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  } catch (cause) {
    throw new SpillwayError('INVALID_ARGUMENT', 'content: the bytes are gone; their buffer was transferred', {
      field: 'content',
      cause,
    })
  }
}

/** @throws SpillwayError `INVALID_ARGUMENT` unless these are bytes, and still there */
export function checkBytes(content: unknown): asserts content is Uint8Array {
  if (!types.isUint8Array(content)) throw wrong('content', content, 'a Uint8Array')
  bufferOf(content)
}

/**
 * Bytes as the text that is shown of them.
 * @throws SpillwayError `INVALID_ARGUMENT` if they were transferred away, or no string can hold them
 */
export function decodeBytes(bytes: Uint8Array): string {
  const buffer = bufferOf(bytes)
  try {
    return buffer.toString('utf8')
  } catch (cause) {
    const problem = `Invalid option "content": expected what one string can hold, received ${buffer.length} bytes`
    throw new SpillwayError('INVALID_ARGUMENT', problem, { field: 'content', cause })
  }
}
