/** The call of a question: a command with its parts highlighted, a change as removed and added lines, or else its arguments. */

import { counted, make } from './dom'
import { showHidden } from './rendered-line'

const TOKENS =
  /(?<comment>(?<=^|\s)#[^\n]*)|(?<string>"(?:[^"\\]|\\.)*"?|'[^']*'?)|(?<operator>&&|\|\||[|;&<>()]+)|(?<variable>\$\{[^}]*\}|\$\w+|\$\()|(?<flag>(?<=\s)--?[\w-]+)/g
/** Characters of an argument that are shown. */
const MAX = 20_000
/** Lines of a command that are visible without scrolling. */
const VISIBLE = 6

/** Returns elements that show the arguments of a call. */
export function callElements(args: unknown): HTMLElement[] {
  if (typeof args !== 'object' || args === null) return [block(JSON.stringify(args) ?? '')]
  const fields = args as Record<string, unknown>
  const { command, old_string: before, new_string: after, ...others } = fields
  const elements: HTMLElement[] = []
  if (typeof command === 'string') {
    const lines = command.split('\n').length
    if (lines > VISIBLE) elements.push(make('p', { className: 'quiet lines', textContent: counted(lines, 'line') }))
    elements.push(highlighted(command))
  }
  if (typeof before === 'string' || typeof after === 'string') elements.push(changeOf(before, after))
  else if (before !== undefined || after !== undefined) Object.assign(others, { before, after })
  for (const [name, value] of Object.entries(others)) {
    if (value === undefined) continue
    const text = typeof value === 'string' ? value : JSON.stringify(value, null, 1)
    elements.push(make('div', { className: 'quiet', textContent: name }), block(text))
  }
  return elements
}

const cut = (text: string) => (text.length > MAX ? `${text.slice(0, MAX)}… (${text.length - MAX} more)` : text)

function block(text: string, className = ''): HTMLElement {
  return make('pre', { className, tabIndex: 0 }, ...showHidden(cut(text)))
}

function highlighted(command: string): HTMLElement {
  const text = cut(command)
  const pre = make('pre', { className: 'command', tabIndex: 0 })
  let at = 0
  for (const match of text.matchAll(TOKENS)) {
    const kind = Object.entries(match.groups ?? {}).find(([, value]) => value !== undefined)?.[0] ?? ''
    pre.append(...showHidden(text.slice(at, match.index)))
    pre.append(make('span', { className: kind }, ...showHidden(match[0])))
    at = match.index + match[0].length
  }
  pre.append(...showHidden(text.slice(at)))
  return pre
}

function changeOf(before: unknown, after: unknown): HTMLElement {
  const pre = make('pre', { className: 'change', tabIndex: 0 })
  const add = (sign: string, text: unknown, name: 'del' | 'ins') => {
    if (typeof text !== 'string' || text === '') return
    for (const line of cut(text).split('\n')) pre.append(make(name, {}, `${sign} `, ...showHidden(line)))
  }
  add('−', before, 'del')
  add('+', after, 'ins')
  return pre
}
