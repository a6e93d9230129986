/** Where the output of a command comes from: a pipe that the binary empties, or streams of Node. */

import type { ChildProcess } from 'node:child_process'
import type { Readable } from 'node:stream'
import type { Capture } from '../capture/capture'
import { background, call, native } from '../native/native'
import { elapsed } from '../util/clock'
import { startTimer } from '../util/timer'
import { IS_WINDOWS } from './process-group'
import { Labels } from './stream-labels'

/** Where the output comes through streams: how long it may be silent, and go on, once the command has ended. */
const QUIET_MS = 100
const MAX_MS = 1000

/** Where the output of a command comes from. */
export interface Output {
  /** Resolves when everything that the command wrote has been taken in. */
  end: () => Promise<void>
  close: () => void
  /** How much the command has printed. */
  size: () => { totalBytes: number; totalLines: number }
}

interface PipeOutput extends Output {
  writer: number
  closeWriter: () => void
}

/** A pipe that the binary empties, where there is one: what comes through it is never seen by JavaScript. */
export function openPipe({ inflow }: Capture): PipeOutput | undefined {
  if (IS_WINDOWS || !inflow.isDirect) return undefined
  const pipe = call(() => native.pipeOpen(inflow.handle))
  const writer = native.pipeWriter(pipe)
  if (typeof writer !== 'number') return undefined
  const unwatch = inflow.watch()
  return {
    writer,
    closeWriter: () => native.pipeCloseWriter(pipe),
    end: () => background(() => native.pipeEnd(pipe)).finally(unwatch),
    close: () => {
      unwatch()
      native.pipeClose(pipe)
    },
    size: () => inflow.size(),
  }
}

export function listenTo(child: ChildProcess, capture: Capture, isLabelled: boolean): Output {
  const labels = isLabelled ? new Labels() : undefined
  const streams = [child.stdout, child.stderr].filter((stream) => stream !== null)
  let heard = 0
  const write = (bytes: Uint8Array) => {
    heard += 1
    if (bytes.length === 0 || capture.write(bytes)) return
    for (const stream of streams) stream.pause()
    capture.once('drain', () => {
      for (const stream of streams) stream.resume()
    })
  }
  const closed = Promise.all(streams.map((stream, index) => listenToOne(stream, index, labels, write)))
  return {
    end: async () => {
      // Quiet is when nothing came for a while; a stream that we paused ourselves is not quiet.
      const until = elapsed() + MAX_MS
      for (;;) {
        const before = heard
        const quiet = startTimer(QUIET_MS)
        const isClosed = await Promise.race([closed.then(() => true), quiet.done.then(() => false)])
        quiet.cancel()
        const isOver = heard === before || elapsed() >= until
        if (isClosed || (isOver && !capture.writableNeedDrain)) break
      }
      for (const stream of streams) stream.destroy()
      if (labels) write(labels.rest())
    },
    close: () => {
      for (const stream of streams) stream.destroy()
    },
    size: () => (labels ?? capture.inflow).size(),
  }
}

const NAMES = ['stdout', 'stderr'] as const

function listenToOne(
  stream: Readable,
  index: number,
  labels: Labels | undefined,
  write: (bytes: Uint8Array) => void,
): Promise<void> {
  const name = NAMES[index] ?? 'stdout'
  stream.on('data', (bytes: Buffer) => write(labels ? labels.label(name, bytes) : bytes))
  stream.on('error', () => {})
  return new Promise((resolve) => stream.once('close', resolve))
}
