// Running one consumer: a child process to its end, or to the end of its time with everything that it started.

import { readFileSync } from 'node:fs'
import { endGroup, spawnGroup } from '../scratch.mjs'

/** Far more than any of them takes; what is still running then does not exit by itself. */
const TIME_LIMIT_MS = 60_000
/** The words of test runners that succeed although something of ours outlives the tests. */
const LEFT_OPEN = /did not exit|failed to exit|open handle|close timed out|unhandled|force exited/i

/** Returns the processor milliseconds of ended child processes; nothing where the system does not report them. */
export function spentByChildren() {
  if (process.platform !== 'linux') return undefined
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  // The 16th and 17th of all, in hundredths of a second.
  return (Number(fields[13]) + Number(fields[14])) * 10
}

/** Answers whether it passed, and everything that it printed. */
export function runOne({ command = process.execPath, args, cwd, env = {}, timeLimitMs = TIME_LIMIT_MS }) {
  // A group of its own, so that the workers of a runner that hangs end with it.
  const child = spawnGroup(command, args, {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, CI: '1', NO_COLOR: '1', FORCE_COLOR: '0', ...env },
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8')
    stream.on('data', (text) => {
      printed += text
      // Jest reports it after a second and then waits indefinitely.
      if (text.includes('Jest did not exit')) endGroup(child)
    })
  }
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      printed += `\nIt did not exit within ${timeLimitMs / 1000} s.\n`
      endGroup(child)
    }, timeLimitMs)
    child.on('error', reject)
    child.on('close', (code) => {
      clearTimeout(timer)
      resolve({ passed: code === 0 && !LEFT_OPEN.test(printed), printed })
    })
  })
}
