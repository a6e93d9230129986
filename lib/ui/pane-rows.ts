/** The visible rows of an output, drawn from the lines that were read. */

import type { SearchMatch } from 'spillway'
import { afterReturns } from './carriage-returns'
import { formatSize, make } from './dom'
import type { Lines, OutputLine } from './lines'
import { draw, PLAIN, type Style, styledPieces } from './rendered-line'
import type { Found } from './search-matches'

/** Bytes up to which a line is drawn whole; of a longer one, the visible columns. */
const LONG = 4096
/** Bytes of a line that are drawn where lines wrap. */
const MAX_WRAPPED = 16_384
/** Lines before the first visible one in which colours are looked for. */
const LINES_OF_STYLE = 50

interface Row {
  element: HTMLElement
  text: HTMLElement
  /** Names the content that is drawn in it. */
  key: string
}

export class PaneRows {
  isWrapped = false
  found: Found | undefined
  /** The line that was gone to. */
  marked = 0
  /** The first visible column. */
  column = 0
  /** Pixels of a row, a character and the column of numbers. */
  height = 18
  charWidth = 8
  gutter = 40
  private lines: Lines | undefined
  private readonly rows = new Map<number, Row>()
  private readonly probe = make('span', { className: 'probe', textContent: '0'.repeat(100), 'aria-hidden': true })

  constructor(
    private readonly content: HTMLElement,
    private readonly redraw: () => void,
  ) {
    content.append(this.probe)
  }

  reset(lines: Lines): void {
    this.lines = lines
    this.column = 0
    this.marked = 0
    this.found = undefined
    for (const { element } of this.rows.values()) element.remove()
    this.rows.clear()
    this.measure()
  }

  measure(): void {
    const { width, height } = this.probe.getBoundingClientRect()
    if (width === 0) return
    this.charWidth = width / 100
    this.height = Math.max(1, height)
    const { length } = Math.max(999, this.lineCount).toLocaleString('en')
    this.gutter = Math.ceil((length + 2) * this.charWidth)
    this.content.style.setProperty('--spillway-gutter', `${this.gutter}px`)
  }

  get lineCount(): number {
    return this.lines?.count ?? 1
  }

  heightOf(number: number): number {
    return (this.isWrapped && this.rows.get(number)?.element.offsetHeight) || this.height
  }

  /** Pixels of all rows that are drawn. */
  get drawnHeight(): number {
    return [...this.rows.keys()].reduce((sum, number) => sum + this.heightOf(number), 0)
  }

  text(from: number, count: number): string {
    const texts = Array.from({ length: count }, (_, index) => this.lines?.get(from + index)?.text)
    return texts.filter((text) => text !== undefined).join('\n')
  }

  /** Draws rows from a line on; `shift` pixels of the first are above the box. */
  draw(first: number, count: number, shift: number, width: number): void {
    const { lines } = this
    if (lines === undefined) return
    this.measure()
    const last = Math.min(first + count - 1, this.lineCount)
    for (const [number, { element }] of this.rows) {
      if (number >= first && number <= last) continue
      element.remove()
      this.rows.delete(number)
    }
    let style = this.styleBefore(first)
    let before: Element = this.probe
    for (let number = first; number <= last; number += 1) {
      const row = this.rows.get(number) ?? this.add(number)
      if (before.nextElementSibling !== row.element) before.after(row.element)
      before = row.element
      row.element.classList.toggle('marked', number === this.marked)
      const line = lines.get(number)
      if (line !== undefined) style = this.fill(row, number, line, style, width)
    }
    this.content.style.setProperty('--spillway-shift', `${-shift}px`)
    this.content.style.setProperty('--spillway-x', `${-this.column * this.charWidth}px`)
  }

  private add(number: number): Row {
    const text = make('span', { className: 'text' })
    const clip = make('span', { className: 'clip' }, text)
    const element = make('div', { className: 'row', 'data-line': number.toLocaleString('en') }, clip)
    const row = { element, text, key: '' }
    this.rows.set(number, row)
    return row
  }

  /** Draws a line into its row, and returns the style at its end. */
  private fill(row: Row, number: number, line: OutputLine, style: Style, width: number): Style {
    const isWindow = !this.isWrapped && line.bytes > LONG
    row.text.classList.toggle('window', isWindow)
    const at = isWindow ? Math.min(Math.floor(this.column), line.bytes) : 0
    const read = isWindow ? this.lines?.window(number, line, at, Math.ceil(width / this.charWidth) * 4 + 8) : line.text
    if (typeof read !== 'string') {
      void read?.then(this.redraw, () => {})
      return PLAIN
    }
    const whole = afterReturns(read)
    const text = this.isWrapped ? whole.slice(0, MAX_WRAPPED) : whole
    const { pieces, after } = styledPieces(text, isWindow ? PLAIN : style)
    const key = `${at}:${line.bytes}:${this.isWrapped}:${JSON.stringify(style)}:${this.found?.id ?? ''}`
    if (row.key === key) return after
    row.key = key
    const plain = pieces.map((piece) => piece.text).join('')
    draw(row.text, pieces, this.found?.hitsIn(plain) ?? [])
    const rest = line.bytes - text.length
    if (this.isWrapped && rest > 0 && text.length === MAX_WRAPPED) row.text.append(noteOn(rest))
    return isWindow ? PLAIN : after
  }

  /** Colours last over lines. */
  private styleBefore(first: number): Style {
    let style = PLAIN
    for (let number = Math.max(1, first - LINES_OF_STYLE); number < first; number += 1) {
      const line = this.lines?.get(number)
      style = line === undefined || line.bytes > LONG ? PLAIN : styledPieces(line.text, style).after
    }
    return style
  }

  /** The column at which a match begins. */
  async columnOf({ line: number, byte }: SearchMatch): Promise<number> {
    const line = this.lines?.get(number)
    if (line === undefined) return 0
    if (line.bytes > LONG) return byte - (await this.lines!.startOf(number))
    const plain = styledPieces(afterReturns(line.text), PLAIN).pieces.map((piece) => piece.text)
    return this.found?.hitsIn(plain.join(''))[0]?.[0] ?? 0
  }
}

const noteOn = (bytes: number) =>
  make('span', {
    className: 'note',
    textContent: `… ${formatSize(bytes)} more; turn off Wrap to scroll along this line`,
  })
