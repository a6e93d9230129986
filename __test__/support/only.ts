/** Tests that only make sense on some systems; elsewhere they are skipped, and the title says why. */

import { spawnSync } from 'node:child_process'
import { freemem } from 'node:os'

/** Users that own nothing. */
export const [NOBODY, SOMEBODY] = [65_534, 65_533]

type Test = (title: string, work: () => unknown, timeoutMs?: number) => void

/** A test that only makes sense under a condition; elsewhere it is skipped, and the title says why. */
export function testIf(condition: boolean, reason: string): Test {
  return (title, work, timeoutMs) => {
    if (condition) test(title, work as () => void, timeoutMs)
    else test.skip(`${title} (skipped: ${reason})`, work as () => void)
  }
}

/** A group of tests that only makes sense where nothing is missing; elsewhere it is skipped, and the title says why. */
export function describeUnless(missing: string, title: string, work: () => void): void {
  if (missing === '') describe(title, work)
  else describe.skip(`${title} (skipped: ${missing})`, work)
}

const isUnix = process.platform !== 'win32'

/** True if this process may change its user. */
export const isRoot = process.platform === 'linux' && process.getuid?.() === 0

export const onUnix = testIf(isUnix, 'needs the rights and links of Unix')
export const onLinux = testIf(process.platform === 'linux', 'needs Linux')
export const asRoot = testIf(isRoot, 'needs root, to act as another user')

function runs(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0
}

let traces: boolean | undefined
let mounts: boolean | undefined

/** With a tracer, which makes system calls fail. */
export const traced: Test = (title, work) => {
  traces ??= process.platform === 'linux' && runs('strace', '-o', '/dev/null', 'true')
  testIf(traces, 'needs strace and the right to trace')(title, work)
}

/** With file systems of the test's own, in a namespace that ends with its process. */
export const mounted: Test = (title, work) => {
  mounts ??=
    isRoot && runs('unshare', '-m', 'sh', '-c', 'd=$(mktemp -d) && mount -t tmpfs none $d && umount $d; rmdir $d')
  testIf(mounts, 'needs the right to mount')(title, work)
}

/** Runs with at least `bytes` of free memory. */
export const withMemory = (bytes: number): Test => testIf(freemem() > bytes, `needs ${bytes >> 20} MiB of free memory`)

/** Runs tests that take minutes, on request. */
export const isLong = process.env.SPILLWAY_TEST_LONG === '1'

/** A row that has no test here. */
export const notHere = (title: string, reason: string): void => test.skip(`${title} (skipped: ${reason})`, () => {})
