/** Tables of texts from elsewhere. */

import { make } from './dom'
import { showHidden } from './rendered-line'

/** Makes a table with rows to come in its body, in a region that scrolls. */
export function tableOf(label: string, columns: readonly string[]): { region: HTMLElement; body: HTMLElement } {
  const body = make('tbody')
  const head = make('tr', {}, ...columns.map((name) => make('th', { scope: 'col', textContent: name })))
  const table = make('table', {}, make('thead', {}, head), body)
  return { region: make('div', { className: 'scroll', tabIndex: 0, role: 'region', 'aria-label': label }, table), body }
}

export function rowOf(cells: readonly string[], className = ''): HTMLElement {
  return make('tr', { className }, ...cells.map((text) => make('td', {}, ...showHidden(text))))
}
