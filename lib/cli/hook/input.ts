/** Standard input of a hook: the payload, usually a few kilobytes that have already arrived. */

import { read } from 'node:fs'

/** Standard input that is read. */
export interface HookInput {
  text: Promise<string>
  /** Ends the process, also while standard input is still open. */
  leave(code: number): never
}

/** Replaces the process by another one (Node 22.15 and later, not on Windows). */
const replace = (process as { execve?: (file: string, args: readonly string[]) => never }).execve

/**
 * Reads all of standard input. By `fs` where the process can end all the same: `process.exit` waits for the thread that reads. Streams take
 * four milliseconds to load, a third of what a hook with nothing to do takes.
 */
export function readInput(): HookInput {
  let isReading = replace !== undefined
  const text = (isReading ? readAll() : readStream([])).finally(() => {
    isReading = false
  })
  const leave = (code: number) => {
    if (isReading) replace?.('/bin/sh', ['sh', '-c', `exit ${code}`])
    process.exit(code)
  }
  return { text, leave }
}

const CHUNK_BYTES = 64 * 1024

async function readAll(): Promise<string> {
  const chunks: Buffer[] = []
  try {
    for (let chunk = await readChunk(); chunk.length > 0; chunk = await readChunk()) chunks.push(chunk)
  } catch {
    // An agent may leave it in a mode in which it has to be waited for (EAGAIN).
    return readStream(chunks)
  }
  return Buffer.concat(chunks).toString()
}

function readChunk(): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    read(0, Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, null, (error, count, buffer) => {
      if (error) reject(error)
      else resolve(buffer.subarray(0, count))
    })
  })
}

/** @param chunks what was read before */
async function readStream(chunks: Buffer[]): Promise<string> {
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
