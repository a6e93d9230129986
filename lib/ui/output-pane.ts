/** The lines of an output in a box that scrolls both ways; the page holds only those that are visible. */

import type { SearchMatch } from 'spillway'
import { make } from './dom'
import type { Lines } from './lines'
import { PaneRows } from './pane-rows'
import { Axis } from './scroll-axis'
import type { Found } from './search-matches'

/** Events of the pane. */
export interface PaneEvents {
  failed(error: unknown): void
  drawn(): void
  /** The user left the end of an output that is followed. */
  left(): void
}

/** Milliseconds after the last scroll event until scrolling has ended, in browsers that do not say so. */
const SETTLE_MS = 400

export class OutputPane {
  readonly element: HTMLElement
  /** Resolves when the first lines are drawn. */
  isReady: Promise<void> = Promise.resolve()
  private readonly content = make('div', { className: 'content' })
  private readonly space = make('div', { className: 'space' }, this.content)
  private readonly rows = new PaneRows(this.content, () => this.draw())
  private readonly vertical = new Axis()
  private readonly horizontal = new Axis()
  private lines: Lines | undefined
  private ready = () => {}
  /** The line at the top of the box, and pixels of it that are above. */
  private line = 1
  private shift = 0
  /** The lines that are being read: a source may never answer for those of an earlier output. */
  private reading: Lines | undefined
  private isMoved = false
  private pinned = false
  private settling: ReturnType<typeof setTimeout> | undefined

  constructor(private readonly events: PaneEvents) {
    this.element = make('div', { className: 'pane', tabIndex: 0, role: 'region' }, this.space)
    this.element.addEventListener('scroll', () => this.scrolled(), { passive: true })
    this.element.addEventListener('scrollend', () => this.placeBars())
    this.element.addEventListener('keydown', (event) => this.key(event))
    if (globalThis.ResizeObserver) new ResizeObserver(() => this.resized()).observe(this.element)
  }

  /** The first visible line. */
  get top(): number {
    return this.line
  }

  set wrap(wrap: boolean) {
    this.rows.isWrapped = wrap
    this.element.classList.toggle('wrapped', wrap)
    this.shift = 0
    this.draw()
    this.placeBars()
  }

  /** True to stay at the end of an output that grows. */
  set isPinned(pinned: boolean) {
    this.pinned = pinned
    if (pinned) this.toEnd()
  }

  label(name: string): void {
    this.element.setAttribute('aria-label', name)
  }

  focus(): void {
    this.element.focus()
  }

  show(lines: Lines): void {
    this.lines = lines
    this.line = 1
    this.shift = 0
    this.rows.reset(lines)
    this.isReady = new Promise((resolve) => {
      this.ready = resolve
    })
    this.placeBars()
    void this.read()
  }

  /** The number of lines is known, or has changed. */
  counted(): void {
    if (this.pinned) this.toEnd()
    this.draw()
    this.placeBars()
    void this.read()
  }

  mark(found: Found | undefined): void {
    this.rows.found = found
    this.rows.marked = 0
    this.draw()
  }

  goTo(line: number): void {
    const whole = Math.max(1, Math.floor(line) || 1)
    this.rows.marked = Math.min(whole, this.lines?.total ?? whole)
    this.moveTo(this.rows.marked)
  }

  /** Shows a match in the upper third, and the column that it begins at. */
  async showMatch(match: SearchMatch): Promise<void> {
    this.rows.marked = match.line
    if (match.line < this.line || match.line >= this.line + this.fullRows) this.moveTo(match.line)
    await this.read()
    const { lines } = this
    if (lines === undefined) return
    const column = await this.rows.columnOf(match)
    const visible = this.horizontal.view / this.rows.charWidth
    const from = this.rows.column
    if (!this.rows.isWrapped && (column < from || column > from + visible * 0.9)) {
      this.rows.column = column < visible * 0.9 ? 0 : Math.max(0, Math.floor(column - visible / 3))
    }
    this.draw()
    this.placeBars()
  }

  visibleText(): string {
    return this.rows.text(this.line, this.fullRows)
  }

  private get fullRows(): number {
    return Math.max(1, Math.floor(this.element.clientHeight / this.rows.height))
  }

  private get at(): number {
    return (this.line - 1) * this.rows.height + this.shift
  }

  private moveTo(line: number): void {
    const above = Math.floor(this.fullRows / 3)
    this.place((Math.max(1, line - above) - 1) * this.rows.height)
    this.draw()
    this.placeBars()
    void this.read()
  }

  /** Puts a position at the top, as if all lines were one row high. */
  private place(at: number): void {
    this.measure()
    const bounded = Math.max(0, Math.min(at, this.vertical.last))
    this.line = Math.floor(bounded / this.rows.height) + 1
    this.shift = this.rows.isWrapped ? 0 : bounded - (this.line - 1) * this.rows.height
  }

  private moveBy(pixels: number): void {
    if (!this.rows.isWrapped) {
      this.place(this.at + pixels)
      return
    }
    this.shift += pixels
    const last = this.lines?.total ?? Number.MAX_SAFE_INTEGER
    while (this.shift >= this.rows.heightOf(this.line) && this.line < last) {
      this.shift -= this.rows.heightOf(this.line)
      this.line += 1
    }
    while (this.shift < 0 && this.line > 1) {
      this.line -= 1
      this.shift += this.rows.heightOf(this.line)
    }
    this.shift = Math.max(0, this.shift)
  }

  private toEnd(): void {
    this.place(Number.MAX_VALUE)
    this.draw()
    if (this.rows.isWrapped) this.moveBy(Math.max(0, this.rows.drawnHeight - this.shift - this.vertical.view))
    this.placeBars()
    void this.read()
  }

  private scrolled(): void {
    const { scrollTop, scrollLeft } = this.element
    const down = this.vertical.scrolled(scrollTop, this.rows.isWrapped)
    const right = this.horizontal.scrolled(scrollLeft)
    if ('to' in down) this.place(down.to)
    else if (down.by !== 0) this.moveBy(down.by)
    const column = this.rows.column * this.rows.charWidth
    if ('to' in right) this.rows.column = right.to / this.rows.charWidth
    else if (right.by !== 0) this.rows.column = Math.max(0, column + right.by) / this.rows.charWidth
    if ('by' in down && down.by < 0 && this.pinned) this.events.left()
    this.draw()
    void this.read()
    clearTimeout(this.settling)
    if (this.vertical.isStuck(this.at) || this.horizontal.isStuck(column)) this.placeBars()
    else this.settling = setTimeout(() => this.placeBars(), SETTLE_MS)
  }

  private key(event: KeyboardEvent): void {
    if (event.target !== this.element || event.altKey || event.shiftKey) return
    if (event.key === 'Home') this.moveTo(1)
    else if (event.key === 'End') this.toEnd()
    else return
    event.preventDefault()
  }

  private resized(): void {
    this.rows.measure()
    this.draw()
    this.placeBars()
    if (this.pinned) this.toEnd()
    else void this.read()
  }

  /** Updates the lengths of both directions; the number of lines is estimated until they are counted. */
  private measure(): void {
    const { lines, element, rows } = this
    if (lines === undefined) return
    const { view } = this.vertical
    this.vertical.view = element.clientHeight
    // A bar that appears below takes the place of the last lines: the one that was gone to stays in sight.
    const isCovered = rows.marked >= this.line + this.fullRows && rows.marked < this.line + view / rows.height
    if (this.vertical.view < view && isCovered) {
      this.line = rows.marked - this.fullRows + 1
      this.shift = 0
    }
    this.vertical.length = rows.lineCount * rows.height
    this.horizontal.view = Math.max(1, element.clientWidth - rows.gutter)
    this.horizontal.length = rows.isWrapped ? 0 : (lines.longest + 2) * rows.charWidth
  }

  private draw(): void {
    if (this.lines === undefined) return
    this.measure()
    if (!this.rows.isWrapped) this.place(this.at)
    const rows = Math.ceil(this.element.clientHeight / this.rows.height) + 1
    this.rows.draw(this.line, rows, this.shift, this.horizontal.view)
    this.events.drawn()
  }

  /** Lays out the space that the bars stand for, and puts them where the position is. */
  private placeBars(): void {
    clearTimeout(this.settling)
    this.settling = undefined
    this.measure()
    const { element, space, vertical, horizontal, rows } = this
    space.style.height = `${vertical.laidOut}px`
    space.style.width = horizontal.length > horizontal.view ? `${horizontal.laidOut + rows.gutter}px` : '100%'
    element.scrollTop = vertical.barAt(this.at)
    element.scrollLeft = horizontal.barAt(rows.column * rows.charWidth)
    vertical.placed(element.scrollTop)
    horizontal.placed(element.scrollLeft)
  }

  /** Reads the visible lines and as many around them; while it reads, only the newest position is remembered. */
  private async read(): Promise<void> {
    const { lines } = this
    this.isMoved = true
    if (lines === undefined || lines === this.reading) return
    this.reading = lines
    try {
      while (this.isMoved && lines === this.lines) {
        this.isMoved = false
        const rows = Math.max(1, this.fullRows + 1)
        const isNew = await lines.read(this.line, rows)
        if (lines !== this.lines) break
        if (isNew) this.draw()
        this.ready()
        // Lines around are visible if the position has changed meanwhile, and colours may come from those before.
        if (await lines.read(Math.max(1, this.line - rows), 3 * rows)) this.draw()
      }
    } catch (error) {
      if (lines === this.lines) this.events.failed(error)
    } finally {
      if (lines === this.reading) {
        this.reading = undefined
        // A bar that is put elsewhere would stop a movement.
        if (this.settling === undefined) this.placeBars()
      }
    }
  }
}
