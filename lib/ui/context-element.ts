/** `<spillway-context>`: how full the window is, and the steps that made room in it. */

import type { ContextReport } from 'spillway'
import { Base, counted, make, shadowOf, upgrade } from './dom'
import { showHidden } from './rendered-line'

const NAMES: Readonly<Record<string, string>> = {
  media: 'Images and PDFs',
  ledger: 'Known results',
  outdated: 'Outdated results',
  superseded: 'Superseded results',
  budget: 'Results over the budget',
  compaction: 'Summary',
  overflow: 'Overflow',
}

/** Shows the `report` of `ContextManager.prepare`: the tokens before and after, and what each step freed. */
export class SpillwayContextElement extends Base {
  private given: ContextReport | undefined
  private readonly box = make('div', { className: 'context' })

  constructor() {
    super()
    shadowOf(this).append(this.box)
  }

  connectedCallback(): void {
    upgrade(this, 'report')
  }

  /** The report to show. */
  get report(): ContextReport | undefined {
    return this.given
  }

  set report(report: ContextReport | undefined) {
    this.given = report
    this.box.replaceChildren(...(report === undefined ? [] : drawn(report)))
  }
}

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
