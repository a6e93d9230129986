/** Calls of a server behind a coordination, with a time limit and one kind of error. */

import { SpillwayError } from '../errors'
import { messageOf } from '../util/message-of'
import { tellCaller } from '../util/warn'
import { withTimeout } from '../util/with-timeout'

/**
 * Makes a call of a server.
 * @param connection returns what is wrong with the connection, of which a client that connects again and again does not throw
 * @throws SpillwayError `COORDINATION` if the server does not answer in time, or refuses
 */
export async function callServer<T>(
  server: string,
  timeoutMs: number,
  call: () => Promise<T>,
  connection: () => string | undefined = () => undefined,
): Promise<T> {
  try {
    return await withTimeout(timeoutMs, call)
  } catch (cause) {
    // Clients that try several addresses report an error without a message of its own.
    const [first] = (cause as { errors?: unknown[] }).errors ?? []
    const problem = messageOf(cause) || messageOf(first)
    const reason = connection()
    const more = reason === undefined || problem.includes(reason) ? '' : ` (${reason})`
    throw new SpillwayError('COORDINATION', `${server}: ${problem}${more}`, { cause })
  }
}

/** Listeners of folders, behind one subscription for all of them. */
export class FolderListeners {
  private readonly listeners = new Map<string, Set<(key?: string) => void>>()

  /** Adds a listener, and returns the function that removes it. */
  add(folder: string, listener: (key?: string) => void): () => void {
    const listeners = this.listeners.get(folder) ?? new Set()
    // One function may be given twice, and each of them removed by itself.
    const one = (key?: string) => tellCaller('watch', listener, key)
    this.listeners.set(folder, listeners.add(one))
    return () => {
      listeners.delete(one)
      if (listeners.size === 0) this.listeners.delete(folder)
    }
  }

  /** Reports a change of a key. */
  tell(folder: string, key: string): void {
    for (const listener of this.listeners.get(folder) ?? []) listener(key)
  }

  /** Reports to every listener that changes may have been missed. */
  tellAll(): void {
    for (const listeners of this.listeners.values()) for (const listener of listeners) listener()
  }

  clear(): void {
    this.listeners.clear()
  }
}
