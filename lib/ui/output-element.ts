/** `<spillway-output>`: an output of any size. */

import type { OutputSource } from 'spillway/view'
import { Base, counted, errorText, formatSize, shadowOf, upgrade } from './dom'
import { Lines } from './lines'
import { OutputPane } from './output-pane'
import { OutputTools } from './output-tools'
import { Found } from './search-matches'

/** Bytes that are copied whole; of a larger output, the lines that are visible. */
const MAX_COPIED = 2 ** 20
/** Milliseconds between two counts of the lines of an output that grows. */
const COUNT_MS = 200

/**
 * Shows the output at `path` of its `source`.
 *
 * Attributes: `path`; `wrap` to wrap long lines; `tail` to follow an output that grows; `label`, its name for a screen reader.
 */
export class SpillwayOutputElement extends Base {
  static readonly observedAttributes = ['path', 'wrap', 'tail', 'label']

  private from: OutputSource | undefined
  private lines: Lines | undefined
  private found: Found | undefined
  private stopFollowing: (() => void) | undefined
  private counting: ReturnType<typeof setTimeout> | undefined
  private readonly root = shadowOf(this)
  private readonly tools: OutputTools = new OutputTools({
    search: (query) => this.startSearch(query),
    move: (by) => this.move(by),
    goTo: (line) => this.goTo(line),
    toggle: (name) => this.toggleAttribute(name),
    copy: () => this.copy(),
    download: () => this.attempt(this.download()),
    open: () => this.attempt(this.source?.open?.(this.path)),
    leave: () => this.pane.focus(),
  })
  private readonly pane = new OutputPane({
    failed: (error) => this.tools.say(errorText(error)),
    drawn: () => this.tell(),
    left: () => this.removeAttribute('tail'),
  })

  constructor() {
    super()
    this.root.append(this.tools.element, this.pane.element)
    this.root.addEventListener('keydown', (event) => this.tools.key(event as KeyboardEvent))
  }

  connectedCallback(): void {
    upgrade(this, 'source', 'path')
    this.pane.label(this.getAttribute('label') ?? 'Output')
    this.restart()
  }

  disconnectedCallback(): void {
    this.stop()
  }

  attributeChangedCallback(name: string, before: string | null, value: string | null): void {
    if (!this.isConnected || before === value) return
    if (name === 'path') this.restart()
    if (name === 'label') this.pane.label(value ?? 'Output')
    if (name === 'wrap') this.pane.wrap = value !== null
    if (name === 'tail') this.pane.isPinned = value !== null
    this.tools.pressed({ wrap: this.hasAttribute('wrap'), tail: this.hasAttribute('tail') })
  }

  /** Where outputs are read from. */
  get source(): OutputSource | undefined {
    return this.from
  }

  set source(source: OutputSource | undefined) {
    this.from = source
    if (this.isConnected) this.restart()
  }

  /** The output that is shown. */
  get path(): string {
    return this.getAttribute('path') ?? ''
  }

  set path(path: string) {
    this.setAttribute('path', path)
  }

  /** Shows a line and marks it. */
  goTo(line: number): void {
    this.removeAttribute('tail')
    this.pane.goTo(line)
  }

  /** Searches, and shows the first matching line from the visible ones on. */
  async startSearch(query: { pattern: string; literal: boolean; ignoreCase: boolean }): Promise<void> {
    this.found?.cancel()
    this.found = undefined
    this.pane.mark(undefined)
    if (query.pattern === '' || this.source?.search === undefined) return this.tools.count('')
    this.found = new Found(this.source, this.path, query)
    await this.move(1)
  }

  private async move(by: 1 | -1): Promise<void> {
    const { found } = this
    if (found === undefined) return
    this.tools.count('Searching …')
    try {
      const match = await found.move(by, this.pane.top)
      if (found !== this.found) return
      this.tools.count(found.words)
      this.pane.mark(found)
      if (match) {
        this.removeAttribute('tail')
        await this.pane.showMatch(match)
      }
    } catch (error) {
      if (found === this.found) this.tools.count(errorText(error))
    }
  }

  private stop(): void {
    this.stopFollowing?.()
    this.stopFollowing = undefined
    clearTimeout(this.counting)
    this.counting = undefined
    this.found?.cancel()
    this.found = undefined
  }

  private restart(): void {
    this.stop()
    const { source, path } = this
    if (!source || path === '') return
    const lines = new Lines(source, path)
    this.lines = lines
    this.tools.offer(source)
    this.tools.pressed({ wrap: this.hasAttribute('wrap'), tail: this.hasAttribute('tail') })
    this.pane.isPinned = this.hasAttribute('tail')
    this.pane.wrap = this.hasAttribute('wrap')
    this.pane.show(lines)
    void this.attempt(this.count(lines))
    this.stopFollowing = source.follow?.(path, ({ totalBytes, path: saved, isFinished }) => {
      if (lines !== this.lines) return
      if (saved !== undefined && saved !== path) this.path = saved
      else if (totalBytes !== lines.totalBytes) this.grow(lines, totalBytes)
      if (isFinished) this.tools.ended()
    })
  }

  private grow(lines: Lines, totalBytes: number): void {
    lines.grown(totalBytes)
    this.counting ??= setTimeout(() => {
      this.counting = undefined
      void this.attempt(this.count(lines))
    }, COUNT_MS)
  }

  private async count(lines: Lines): Promise<void> {
    // The first lines are shown before all of them are counted.
    await this.pane.isReady
    await lines.countAll()
    if (lines === this.lines) this.pane.counted()
  }

  private tell(): void {
    const { lines } = this
    if (lines?.isStale) this.grow(lines, lines.totalBytes)
    const { total, totalBytes } = lines ?? { totalBytes: 0 }
    const size = formatSize(totalBytes)
    this.tools.say(total === undefined ? size : `${counted(total, 'line')}, ${size}`)
  }

  /** Copies the selected text, else the whole output, else of a large one the visible lines. */
  private async copy(): Promise<void> {
    const { lines, source } = this
    if (lines === undefined || source === undefined) return
    let text = String(document.getSelection() ?? '')
    let copied = 'the selection'
    if (text === '' && lines.totalBytes <= MAX_COPIED) {
      copied = 'the whole output'
      for (let at = 0; at < lines.totalBytes; ) {
        const range = await source.readRange(this.path, { fromByte: at, byteCount: 2 ** 18 })
        if (range.byteCount === 0) break
        text += range.text
        at = range.fromByte + range.byteCount
      }
    } else if (text === '') [text, copied] = [this.pane.visibleText(), 'the visible lines']
    await this.attempt(navigator.clipboard.writeText(text).then(() => this.tools.say(`Copied ${copied}`)))
  }

  private async download(): Promise<void> {
    const url = await this.source?.downloadUrl?.(this.path)
    if (url !== undefined) Object.assign(document.createElement('a'), { href: url, download: '' }).click()
  }

  private async attempt(promise: Promise<void> | undefined): Promise<void> {
    try {
      await promise
    } catch (error) {
      this.tools.say(errorText(error))
    }
  }
}
