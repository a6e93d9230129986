/** The threads that process the copied slices of one output. */

import { background, native } from '../native/native'

/** Tasks under way for one output: one transcodes while the other writes. More would only take the pool from the host. */
const TASKS = 2

/** The tasks of one output. With as many as there may be, waiting is what keeps memory bounded. */
export class Drain {
  private readonly tasks: Promise<void>[] = []

  constructor(private readonly handle: object) {}

  /** Resolves when another may begin. */
  async room(): Promise<void> {
    while (this.tasks.length >= TASKS) await this.tasks.shift()
  }

  /** Begins another. */
  begin(): void {
    const task = background(() => native.intakeDrain(this.handle))
    // Awaited on a later turn; if something else throws first, that error is the one to report.
    task.catch(() => {})
    this.tasks.push(task)
  }

  /** Resolves when all have ended; rejects if one failed. */
  async end(): Promise<void> {
    while (this.tasks.length > 0) await this.tasks.shift()
  }

  /** The same, whatever their outcome. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.tasks)
  }
}
