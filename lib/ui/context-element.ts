/** `<spillway-context>`: how full the window is, the steps that made room in it, and the state of each message. */

import type { ContextReport, ListedMessage } from 'spillway'
import { Base, counted, make, shadowOf, upgrade } from './dom'
import { showHidden } from './rendered-line'
import { rowOf, tableOf } from './table'

const NAMES: Readonly<Record<string, string>> = {
  media: 'Images and PDFs',
  ledger: 'Known results',
  outdated: 'Outdated results',
  superseded: 'Superseded results',
  budget: 'Results over the budget',
  compaction: 'Summary',
  overflow: 'Overflow',
}

/** More rows take longer than a person waits. */
const MAX_ROWS = 2000

/** Shows the `report` of `ContextManager.prepare`, and its `listMessages`: tokens before and after, of all and of each message. */
export class SpillwayContextElement extends Base {
  private given: ContextReport | undefined
  private listed: readonly ListedMessage[] = []
  private readonly box = make('div', { className: 'context' })
  private readonly list = make('div')

  constructor() {
    super()
    shadowOf(this).append(this.box, this.list)
  }

  connectedCallback(): void {
    upgrade(this, 'report', 'messages')
  }

  /** The report to show. */
  get report(): ContextReport | undefined {
    return this.given
  }

  set report(report: ContextReport | undefined) {
    this.given = report
    this.box.replaceChildren(...(report === undefined ? [] : drawn(report)))
  }

  /** The messages to show. */
  get messages(): readonly ListedMessage[] {
    return this.listed
  }

  set messages(messages: readonly ListedMessage[] | undefined) {
    this.listed = messages ?? []
    this.list.replaceChildren(...(this.listed.length === 0 ? [] : listOf(this.listed)))
  }
}

/** The newest messages, the oldest of them first. */
function listOf(messages: readonly ListedMessage[]): HTMLElement[] {
  const { region, body } = tableOf('Messages', ['role', 'state', 'tokens before', 'tokens sent', 'text'])
  const earlier = messages.length - MAX_ROWS
  body.append(
    ...messages.slice(-MAX_ROWS).map(({ role, state, tokensBefore, tokensAfter, text }) => {
      const cells = [role, state, shown(tokensBefore), shown(tokensAfter), text]
      return rowOf(cells, state === 'kept' ? 'quiet' : '')
    }),
  )
  const note = `${counted(earlier, 'earlier message')} not listed`
  return earlier > 0 ? [make('p', { className: 'quiet', textContent: note }), region] : [region]
}

const shown = (tokens: number) => Math.round(tokens).toLocaleString('en')

function drawn(report: ContextReport): HTMLElement[] {
  const { tokensBefore, tokensAfter, environmentTokens, usable, fits, steps } = report
  // An unknown window is null in JSON.
  const room = Number.isFinite(usable) && usable !== null ? usable : undefined
  const whole = Math.max(room ?? 0, tokensBefore + environmentTokens, 1)
  const beside = `, ${counted(environmentTokens, 'token')} beside it`
  const limit = room === undefined ? '' : `; ${room.toLocaleString('en')} fit`
  return [
    make('p', {
      textContent: `History: ${counted(tokensBefore, 'token')} stored, ${tokensAfter.toLocaleString('en')} sent${beside}${limit}`,
    }),
    bar('Stored', tokensBefore + environmentTokens, whole),
    bar('Sent', tokensAfter + environmentTokens, whole),
    ...(fits
      ? []
      : [make('p', { className: 'problem', role: 'alert', textContent: 'The request does not fit the window.' })]),
    make('ul', { 'aria-label': 'Steps' }, ...steps.filter(({ outcome }) => outcome !== 'off').map(itemOf)),
  ]
}

function bar(label: string, value: number, whole: number): HTMLElement {
  const share = `${((100 * value) / whole).toFixed(1)} %`
  const meter = make('meter', { min: 0, max: whole, value, title: share, 'aria-label': label })
  return make('div', { className: 'bar' }, make('span', { textContent: label }), meter)
}

function itemOf({ step, outcome, freed, reason }: ContextReport['steps'][number]): HTMLElement {
  const words = outcome === 'done' && freed !== 0 ? `${counted(freed, 'token')} freed. ${reason}` : reason
  const name = make('strong', { textContent: `${NAMES[step] ?? step}: ` })
  return make('li', { className: outcome === 'done' ? '' : 'quiet' }, name, ...showHidden(words))
}
