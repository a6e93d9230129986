/** Takes over the terminal, and restores it at the end. */

import { writeSync } from 'node:fs'
import { emitKeypressEvents, type Key } from 'node:readline'
import { endBy } from '../terminal'

const ENTER = '\x1b[?1049h\x1b[?25l'
const LEAVE = '\x1b[?25h\x1b[?1049l'
const ENDING = ['SIGHUP', 'SIGTERM'] as const

// biome-ignore lint/suspicious/noExplicitAny: each event has arguments of its own
type Listener = (...args: any[]) => void

/** Receives the name of a key, or the character that was typed. */
export type OnKey = (key: string) => void

export class Screen {
  private isOpen = false
  private readonly input = process.stdin
  private readonly output = process.stdout
  private readonly restore = () => {
    if (!this.isOpen) return
    this.isOpen = false
    try {
      this.input.setRawMode(false)
      // The process may be about to end: nothing is written later.
      writeSync(1, LEAVE)
    } catch {
      // The terminal was closed.
    }
  }
  private readonly listeners: [emitter: NodeJS.EventEmitter, event: string, listener: Listener][] = []

  get columns(): number {
    return Math.max(this.output.columns, 20)
  }

  get rows(): number {
    return Math.max(this.output.rows, 5)
  }

  /** Takes the terminal. It is given back by {@link close}, at the end of the process, and at a signal. */
  open(onKey: OnKey, onResize: () => void): void {
    this.isOpen = true
    emitKeypressEvents(this.input)
    this.input.setRawMode(true)
    this.input.resume()
    writeSync(1, ENTER)
    this.on(this.input, 'keypress', (text: string | undefined, key: Key) => onKey(keyOf(text, key)))
    this.on(this.output, 'resize', onResize)
    this.on(process, 'exit', this.restore)
    for (const signal of ENDING) {
      this.on(process, signal, () => {
        this.restore()
        endBy(signal)
      })
    }
    // A closed terminal may be seen before its signal.
    this.on(this.input, 'error', () => endBy('SIGHUP'))
  }

  close(): void {
    this.restore()
    for (const [emitter, event, listener] of this.listeners) emitter.off(event, listener)
    this.input.pause()
  }

  /** Shows lines of at most the width of the terminal. */
  draw(lines: readonly string[]): void {
    const shown = lines.slice(0, this.rows).map((line) => `${line}\x1b[K`)
    if (this.isOpen) this.output.write(`\x1b[H${shown.join('\r\n')}\x1b[J`)
  }

  private on(emitter: NodeJS.EventEmitter, event: string, listener: Listener): void {
    emitter.on(event, listener)
    this.listeners.push([emitter, event, listener])
  }
}

function keyOf(text: string | undefined, { name = '', ctrl }: Key): string {
  if (ctrl) return `ctrl-${name}`
  const isTyped = text !== undefined && text.length > 0 && !/\p{Cc}/u.test(text)
  return isTyped ? text : name
}
