/**
 * How long the event loop can do nothing else while `output()` handles something large.
 *
 * Measured in a process of its own (`stall-process.mjs`): the ticker makes a hundred megabytes of garbage a second, and
 * only there can the young generation be large enough that the collector has no reason to stop anything meanwhile. Where
 * it is allowed to, that process gets a higher priority: a busy neighbour takes the processor away for four
 * milliseconds at a time, which says nothing about the event loop. The remaining interference shows in the idle ticker.
 */
import { execFile } from 'node:child_process'
import os from 'node:os'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { median } from '../measure.mjs'
import { amount, makeRow } from '../report.mjs'

const FLAGS = ['--min-semi-space-size=128', '--max-semi-space-size=128']
const PROCESS = fileURLToPath(new URL('./stall-process.mjs', import.meta.url))
const TARGET_MS = 2
const ms = (value) => amount(value, 'ms')

export const stall = {
  name: 'stall',
  title: 'Longest stall of the event loop',

  async run({ self, folder, rounds, log }) {
    const job = JSON.stringify({ self, folder, rounds })
    const { stdout } = await atPriority(os.constants.priority.PRIORITY_HIGH, () =>
      promisify(execFile)(process.execPath, [...FLAGS, PROCESS, job]),
    )
    return JSON.parse(stdout).map(({ label, ours, reference, idle, collector }) => {
      log(
        `stall, ${label}: idle ticker up to ${ms(Math.max(...idle))}, ` +
          `the collector in our rounds up to ${ms(Math.max(...collector))}`,
      )
      const row = makeRow({
        work: `longest stall, 100 MB ${label}`,
        ours,
        yardstick: reference,
        target: TARGET_MS,
        unit: 'ms',
        doubtful: median(idle) > TARGET_MS / 2,
        // The quietest round is the nearest to what the work alone does: neighbours only ever add.
        note: `${ms(Math.min(...ours))} to ${ms(Math.max(...ours))}; idle ${ms(median(idle))}`,
      })
      return { ...row, idle, collector }
    })
  },
}

/** A process inherits the priority of the one that starts it, and so do all its threads. */
function atPriority(priority, start) {
  const before = os.getPriority()
  try {
    os.setPriority(priority)
  } catch {
    return start()
  }
  const started = start()
  os.setPriority(before)
  return started
}
