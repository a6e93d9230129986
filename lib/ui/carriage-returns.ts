/** A line with carriage returns, as a terminal leaves it. `spillway browse` shows lines in the same way. */

// Sequences of terminals: OSC, CSI, and those of two characters.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
export const SEQUENCE = /\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[([0-9:;<=>?]*)[ -/]*([@-~])|\x1b[ -~]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const ERASES = /\x1b\[\d*[JK]/

/** The line as a terminal leaves it: what follows a carriage return takes the place of as many characters. */
export function afterReturns(line: string): string {
  let [later = '', ...others] = line.replace(/\r+$/, '').split('\r').reverse()
  let left = later
  let length = plainText(later).length
  for (const earlier of others) {
    if (ERASES.test(later)) break
    const rest = plainText(earlier).slice(length)
    if (rest !== '') left += `\x1b[0m${rest}`
    length += rest.length
    later = earlier
  }
  return left
}

const plainText = (line: string) => line.replace(SEQUENCE, '')
