/** Converts server-sent events to messages, one per line, while they arrive. */

const [LINE_FEED, CARRIAGE_RETURN, SPACE] = [10, 13, 32]
const COLON = ':'
/** The longest of the names that mean something is `event`. */
const MAX_NAME_LENGTH = 16
/** Longer ids and times are ignored. */
const MAX_VALUE_LENGTH = 1024

const END = Buffer.from('\n')
/** Between two `data` lines of one event: JSON takes it for the line feed that it stands for. */
const BETWEEN = Buffer.from(' ')

export class EventStream {
  /** The id of the last event that came whole; where the stream can be resumed. */
  lastEventId: string | undefined
  /** How long to wait before a new connection, if the server said so. */
  retryMs: number | undefined
  private name = ''
  private field: string | undefined
  private value = ''
  private isAtStartOfValue = false
  private eventId: string | undefined
  private isForeign = false
  private hasData = false

  /** The messages of one response. One that breaks off in an event rejects, and nothing of the event counts. */
  async *messages(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    this.endEvent()
    this.endLine()
    let isAfterReturn = false
    for await (const chunk of body) {
      let from = 0
      if (isAfterReturn && chunk[0] === LINE_FEED) from = 1
      if (chunk.length > 0) isAfterReturn = chunk.at(-1) === CARRIAGE_RETURN
      while (from < chunk.length) {
        const end = endOfLine(chunk, from)
        yield* this.part(chunk.subarray(from, end))
        if (end === chunk.length) break
        yield* this.line()
        from = end + (chunk[end] === CARRIAGE_RETURN && chunk[end + 1] === LINE_FEED ? 2 : 1)
      }
    }
    if (this.hasData) throw new Error('the stream ended in an event')
  }

  private *part(bytes: Buffer): Generator<Buffer> {
    let rest = bytes
    if (this.field === undefined) {
      const colon = bytes.indexOf(COLON)
      const name = bytes.toString('latin1', 0, Math.min(colon === -1 ? bytes.length : colon, MAX_NAME_LENGTH))
      this.name = (this.name + name).slice(0, MAX_NAME_LENGTH)
      if (colon === -1) return
      this.field = this.name.replace(/^\xef\xbb\xbf/, '')
      this.isAtStartOfValue = true
      rest = bytes.subarray(colon + 1)
      if (this.field === 'data' && !this.isForeign && this.hasData) yield BETWEEN
    }
    if (rest.length === 0) return
    if (this.isAtStartOfValue && rest[0] === SPACE) rest = rest.subarray(1)
    this.isAtStartOfValue = false
    if (this.field !== 'data') {
      if (this.value.length <= MAX_VALUE_LENGTH) this.value += rest.toString('latin1', 0, MAX_VALUE_LENGTH + 1)
    } else if (!this.isForeign && rest.length > 0) {
      this.hasData = true
      yield rest
    }
  }

  /** A line has ended; an empty one ends the event. */
  private *line(): Generator<Buffer> {
    const { field, value, name } = this
    if (field === undefined && name === '') {
      if (this.hasData) yield END
      if (this.eventId !== undefined) this.lastEventId = this.eventId
      this.endEvent()
    }
    if (field === 'event') this.isForeign = value !== '' && value !== 'message'
    // A header has to be able to carry it.
    if (field === 'id' && value.length <= MAX_VALUE_LENGTH && /^[\x20-\x7e]*$/.test(value)) this.eventId = value
    if (field === 'retry' && /^\d{1,9}$/.test(value)) this.retryMs = Number(value)
    this.endLine()
  }

  private endLine(): void {
    this.name = ''
    this.field = undefined
    this.value = ''
  }

  private endEvent(): void {
    this.eventId = undefined
    this.isForeign = false
    this.hasData = false
  }
}

function endOfLine(chunk: Buffer, from: number): number {
  const feed = chunk.indexOf(LINE_FEED, from)
  const end = feed === -1 ? chunk.length : feed
  const back = chunk.subarray(from, end).indexOf(CARRIAGE_RETURN)
  return back === -1 ? end : from + back
}
