/** Merges two streams into one text, with a line that labels each part. */

const LINE_FEED = 10

/** A line that is longer than this is emitted in pieces. */
const MAX_LINE_BYTES = 2 ** 16

/** State of one stream. */
interface Voice {
  /** Text that waits for the end of its line. */
  rest: Uint8Array[]
  restBytes: number
  breaks: number
  isMidLine: boolean
}

/**
 * Puts a label before what follows whenever the other stream begins to speak. Only whole lines change hands, but for those
 * that are too long to wait for; no character is ever torn.
 */
export class Labels {
  private speaker: string | undefined
  private isMidLine = false
  private bytes = 0
  private readonly voices = new Map<string, Voice>()

  /** Returns the text that is complete, with its label. */
  label(name: string, bytes: Uint8Array): Buffer {
    const voice = this.hear(name, bytes)
    if (voice.restBytes <= MAX_LINE_BYTES && !bytes.includes(LINE_FEED)) return Buffer.alloc(0)
    const all = Buffer.concat(voice.rest)
    const lines = all.lastIndexOf(LINE_FEED) + 1
    const end = all.length - lines > MAX_LINE_BYTES ? beforeLastCharacter(all) : lines
    voice.rest = [all.subarray(end)]
    voice.restBytes = all.length - end
    return this.speak(name, all.subarray(0, end))
  }

  /** The lines that did not end. */
  rest(): Buffer {
    return Buffer.concat([...this.voices].map(([name, { rest }]) => this.speak(name, Buffer.concat(rest))))
  }

  /** How much both streams said, without labels. */
  size(): { totalBytes: number; totalLines: number } {
    const lines = [...this.voices.values()].map(({ breaks, isMidLine }) => breaks + (isMidLine ? 1 : 0))
    return { totalBytes: this.bytes, totalLines: lines.reduce((sum, count) => sum + count, 0) }
  }

  private hear(name: string, bytes: Uint8Array): Voice {
    const voice = this.voices.get(name) ?? { rest: [], restBytes: 0, breaks: 0, isMidLine: false }
    this.voices.set(name, voice)
    voice.rest.push(bytes)
    voice.restBytes += bytes.length
    for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) voice.breaks += 1
    if (bytes.length > 0) voice.isMidLine = bytes.at(-1) !== LINE_FEED
    this.bytes += bytes.length
    return voice
  }

  private speak(name: string, bytes: Buffer): Buffer {
    if (bytes.length === 0) return bytes
    const label = this.speaker === name ? '' : `${this.isMidLine ? '\n' : ''}[${name}]\n`
    this.speaker = name
    this.isMidLine = bytes.at(-1) !== LINE_FEED
    return label === '' ? bytes : Buffer.concat([Buffer.from(label), bytes])
  }
}

/** Where the last character of UTF-8 begins, if it has several bytes: the rest of it may still come. Else the end. */
function beforeLastCharacter(bytes: Buffer): number {
  const isContinuation = (at: number) => (bytes[at]! & 0xc0) === 0x80
  let at = bytes.length - 1
  while (at > bytes.length - 4 && isContinuation(at)) at -= 1
  return bytes[at]! >= 0xc0 ? at : bytes.length
}
