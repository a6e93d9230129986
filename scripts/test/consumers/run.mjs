// Running one consumer: a child process to its end, or to the end of its time with everything that it started.

import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'

const WINDOWS = process.platform === 'win32'
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
  const child = spawn(command, args, {
    cwd,
    // A group of its own, so that the workers of a runner that hangs end with it.
    detached: !WINDOWS,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, CI: '1', NO_COLOR: '1', FORCE_COLOR: '0', ...env },
  })
  const end = () => {
    try {
      if (WINDOWS) child.kill()
      else process.kill(-child.pid, 'SIGKILL')
    } catch {
      // It has ended at the same moment.
    }
  }
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8')
    stream.on('data', (text) => {
      printed += text
      // Jest reports it after a second and then waits indefinitely.
      if (text.includes('Jest did not exit')) end()
    })
  }
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      printed += `\nIt did not exit within ${timeLimitMs / 1000} s.\n`
      end()
    }, timeLimitMs)
    child.on('error', reject)
    child.on('close', (code) => {
      clearTimeout(timer)
      resolve({ passed: code === 0 && !LEFT_OPEN.test(printed), printed })
    })
  })
}
