/** Closes the pipe of a server that has ended. */

import type { Socket } from 'node:net'

const LEFT_BEHIND_MS = 1000
/** No system keeps more of what was written into a pipe and not read. */
const MAX_UNREAD = 2 ** 22

/**
 * Closes the server's pipe once no more data arrives: a process that it left running may hold it open indefinitely. The
 * server's own output is read first, however slowly the host takes it.
 */
export function closeWhenIdle(pipe: Socket): void {
  const maxBytes = pipe.bytesRead + MAX_UNREAD
  let read = pipe.bytesRead
  const timer = setInterval(() => {
    const isIdle = pipe.bytesRead === read && pipe.readableLength === 0
    read = pipe.bytesRead
    if (isIdle || read > maxBytes) pipe.destroy()
  }, LEFT_BEHIND_MS).unref()
  pipe.once('close', () => clearInterval(timer))
}
