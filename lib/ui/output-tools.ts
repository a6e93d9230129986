/** The toolbar above an output. */

import type { OutputSource } from 'spillway/view'
import { button, make } from './dom'
import type { SearchQuery } from './search-matches'

/** Actions of the toolbar. */
export interface Acts {
  search(query: SearchQuery): void
  move(by: 1 | -1): void
  goTo(line: number): void
  toggle(attribute: 'wrap' | 'tail'): void
  copy(): void
  download(): void
  open(): void
  /** The focus goes back to the output. */
  leave(): void
}

const TYPING_MS = 200

export class OutputTools {
  readonly element: HTMLElement
  private readonly pattern = make('input', { type: 'search', placeholder: 'Search', 'aria-label': 'Search' })
  private readonly line = make('input', {
    type: 'text',
    inputMode: 'numeric',
    placeholder: 'Line',
    size: 8,
    'aria-label': 'Go to line',
  })
  private readonly found = make('span', { className: 'quiet found', role: 'status' })
  private readonly status = make('span', { className: 'quiet status', role: 'status' })
  private readonly isExpression = this.toggle('.*', 'Regular expression', () => this.search())
  private readonly isCased = this.toggle('Aa', 'Match case', () => this.search())
  private readonly wrap = this.toggle('Wrap', 'Wrap long lines', () => this.acts.toggle('wrap'))
  private readonly tail = this.toggle('Follow', 'Follow the end while the output grows', () => this.acts.toggle('tail'))
  private readonly searching: HTMLElement
  private readonly downloads = button('Download', () => this.acts.download())
  private readonly opens = button('Open', () => this.acts.open(), { title: 'Open in another program' })
  private typing: ReturnType<typeof setTimeout> | undefined

  constructor(private readonly acts: Acts) {
    const step = (label: string, name: string, by: 1 | -1) =>
      button(label, () => acts.move(by), { title: name, 'aria-label': name })
    this.searching = make(
      'div',
      { className: 'group', role: 'search' },
      ...[this.pattern, this.isExpression, this.isCased],
      ...[step('↑', 'Previous match', -1), step('↓', 'Next match', 1), this.found],
    )
    const others = make(
      'div',
      { className: 'group' },
      ...[this.line, this.wrap, this.tail, button('Copy', () => acts.copy()), this.downloads, this.opens],
    )
    this.element = make('div', { className: 'tools' }, this.searching, others, this.status)
    this.pattern.addEventListener('input', () => {
      clearTimeout(this.typing)
      this.typing = setTimeout(() => this.search(), TYPING_MS)
    })
  }

  private toggle(label: string, name: string, pressed: () => void): HTMLButtonElement {
    const made = button(
      label,
      () => {
        made.setAttribute('aria-pressed', String(made.getAttribute('aria-pressed') !== 'true'))
        pressed()
      },
      { title: name, 'aria-label': name, 'aria-pressed': 'false' },
    )
    return made
  }

  /** Shows only what the source can do. */
  offer(source: OutputSource): void {
    this.searching.hidden = source.search === undefined
    this.tail.hidden = source.follow === undefined
    this.downloads.hidden = source.downloadUrl === undefined
    this.opens.hidden = source.open === undefined
  }

  pressed({ wrap, tail }: { wrap: boolean; tail: boolean }): void {
    this.wrap.setAttribute('aria-pressed', String(wrap))
    this.tail.setAttribute('aria-pressed', String(tail))
  }

  /** True if the output no longer grows. */
  ended(): void {
    this.tail.hidden = true
  }

  say(text: string): void {
    if (this.status.textContent !== text) this.status.textContent = text
  }

  count(text: string): void {
    this.found.textContent = text
  }

  private search(): void {
    clearTimeout(this.typing)
    this.typing = undefined
    this.acts.search({
      pattern: this.pattern.value,
      literal: this.isExpression.getAttribute('aria-pressed') !== 'true',
      ignoreCase: this.isCased.getAttribute('aria-pressed') !== 'true',
    })
  }

  /** Ctrl+F and Ctrl+G, F3, Enter and Escape, as in editors. */
  key(event: KeyboardEvent): void {
    const isCommand = event.ctrlKey || event.metaKey
    const target = event.target
    if (isCommand && event.key === 'f') this.pattern.select()
    else if (isCommand && event.key === 'g') this.line.select()
    else if (event.key === 'F3') this.acts.move(event.shiftKey ? -1 : 1)
    else if (event.key === 'Enter' && target === this.pattern) this.enter(event.shiftKey ? -1 : 1)
    else if (event.key === 'Enter' && target === this.line) this.goTo()
    else if (event.key === 'Escape' && (target === this.pattern || target === this.line)) this.acts.leave()
    else return
    event.preventDefault()
  }

  private enter(by: 1 | -1): void {
    if (this.typing === undefined) this.acts.move(by)
    else this.search()
  }

  private goTo(): void {
    const line = Number(this.line.value.replace(/[\s,.]/g, ''))
    if (Number.isInteger(line) && line >= 1) {
      this.acts.goTo(line)
      this.acts.leave()
    } else this.say('Go to line: type a whole number from 1')
  }
}
