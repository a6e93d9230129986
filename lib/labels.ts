/** Two streams in one text: a line says which of them speaks. */

/** A line that is longer than this goes out in pieces. */
const MAX_LINE_BYTES = 2 ** 16

/** Puts a label before what follows whenever the other stream begins to speak. Only whole lines change hands. */
export class Labels {
  private speaker: string | undefined
  private isMidLine = false
  private readonly rests = new Map<string, Buffer>()

  /** What of it can go out, with its label. */
  label(name: string, bytes: Uint8Array): Buffer {
    const all = Buffer.concat([this.rests.get(name) ?? Buffer.alloc(0), bytes])
    const end = all.length > MAX_LINE_BYTES ? all.length : all.lastIndexOf(10) + 1
    this.rests.set(name, all.subarray(end))
    return this.speak(name, all.subarray(0, end))
  }

  /** The lines that did not end. */
  rest(): Buffer {
    return Buffer.concat([...this.rests].map(([name, bytes]) => this.speak(name, bytes)))
  }

  private speak(name: string, bytes: Buffer): Buffer {
    if (bytes.length === 0) return bytes
    const label = this.speaker === name ? '' : `${this.isMidLine ? '\n' : ''}[${name}]\n`
    this.speaker = name
    this.isMidLine = bytes.at(-1) !== 10
    return label === '' ? bytes : Buffer.concat([Buffer.from(label), bytes])
  }
}
