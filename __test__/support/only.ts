/** Tests that only make sense on some systems; elsewhere they are skipped, and the title says why. */

function testIf(condition: boolean, reason: string): (title: string, work: () => unknown) => void {
  return (title, work) => {
    if (condition) test(title, work as () => void)
    else test.skip(`${title} (skipped: ${reason})`, work as () => void)
  }
}

const isUnix = process.platform !== 'win32'

/** Whether this process may change its user. */
export const isRoot = process.platform === 'linux' && process.getuid?.() === 0

export const onUnix = testIf(isUnix, 'needs the rights and links of Unix')
export const onLinux = testIf(process.platform === 'linux', 'needs Linux')
export const asRoot = testIf(isRoot, 'needs root, to act as another user')
