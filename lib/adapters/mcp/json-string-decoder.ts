/** The text of a JSON string as UTF-8, piece by piece: escapes may be split anywhere. */

const BACKSLASH = 0x5c
const SHORT: ReadonlyMap<number, number> = new Map(
  Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }).map(
    ([name, text]) => [name.charCodeAt(0), text.charCodeAt(0)],
  ),
)
const LETTER_U = 0x75

export class Unescaper {
  /** The start of an escape whose end has not come. */
  private rest: number[] = []
  /** A first half of a pair, which waits for the second. */
  private high = 0

  push(bytes: Buffer): Buffer {
    // A half of a pair that waited is three bytes; every escape is longer than its character.
    const out = Buffer.allocUnsafe(bytes.length + this.rest.length + 8)
    let length = 0
    const put = (byte: number) => {
      out[length] = byte
      length += 1
    }
    for (let at = 0; at < bytes.length; at += 1) {
      const { rest } = this
      if (rest.length === 0) {
        const end = plainUpTo(bytes, at)
        if (end > at) {
          if (this.high !== 0) this.flush(put)
          bytes.copy(out, length, at, end)
          length += end - at
          at = end
        }
        if (at < bytes.length) rest.push(BACKSLASH)
        continue
      }
      const byte = bytes[at]!
      rest.push(byte)
      if (rest.length === 2 && rest[1] !== LETTER_U) {
        if (this.high !== 0) this.flush(put)
        put(SHORT.get(byte) ?? byte)
        this.rest = []
      } else if (rest.length === 6) {
        this.unit(Number.parseInt(String.fromCharCode(...rest.slice(2)), 16), put)
        this.rest = []
      }
    }
    return out.subarray(0, length)
  }

  /** Returns the characters that waited for a continuation. */
  end(): Buffer {
    const left: number[] = []
    if (this.high !== 0) this.flush((byte) => left.push(byte))
    return Buffer.from([...left, ...this.rest])
  }

  private unit(unit: number, put: (byte: number) => void): void {
    const isLow = unit >= 0xdc00 && unit <= 0xdfff
    if (this.high !== 0 && isLow) {
      encode(0x10000 + ((this.high - 0xd800) << 10) + (unit - 0xdc00), put)
      this.high = 0
      return
    }
    if (this.high !== 0) this.flush(put)
    if (unit >= 0xd800 && unit <= 0xdbff) this.high = unit
    // Invalid hexadecimal digits are not JSON, and give no character.
    else encode(Number.isNaN(unit) ? 0xfffd : unit, put)
  }

  private flush(put: (byte: number) => void): void {
    encode(this.high, put)
    this.high = 0
  }
}

/** Where the next escape begins. */
function plainUpTo(bytes: Buffer, from: number): number {
  const at = bytes.indexOf(BACKSLASH, from)
  return at === -1 ? bytes.length : at
}

function encode(point: number, put: (byte: number) => void): void {
  if (point < 0x80) {
    put(point)
  } else if (point < 0x800) {
    put(0xc0 | (point >> 6))
    put(0x80 | (point & 0x3f))
  } else if (point < 0x10000) {
    put(0xe0 | (point >> 12))
    put(0x80 | ((point >> 6) & 0x3f))
    put(0x80 | (point & 0x3f))
  } else {
    put(0xf0 | (point >> 18))
    put(0x80 | ((point >> 12) & 0x3f))
    put(0x80 | ((point >> 6) & 0x3f))
    put(0x80 | (point & 0x3f))
  }
}
