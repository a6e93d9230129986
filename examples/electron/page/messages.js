// The conversation: commands, what became of them, and the output of one that runs.

import { call, outputs } from './bridge.js'

const STATUS = {
  waiting: 'waits for you',
  running: 'running …',
  done: 'done',
  failed: 'failed',
  stopped: 'stopped',
  denied: 'denied',
}
const list = document.getElementById('messages')
const rows = new Map()

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

const button = (textContent, onclick) => element('button', { type: 'button', textContent, onclick })

/** Shows a message, or what has changed of it. `attempt` runs what a button does. */
export function showMessage(message, attempt) {
  document.getElementById('empty').hidden = true
  const isNew = !rows.has(message.id)
  const row = rows.get(message.id) ?? element('li', { className: 'message' })
  rows.set(message.id, row)
  row.replaceChildren(headOf(message), ...bodyOf(message, attempt))
  if (isNew) list.append(row)
  row.scrollIntoView({ block: 'end' })
}

function headOf({ command, status, exitCode, durationMs, truncated }) {
  const words = [STATUS[status]]
  if (status === 'failed' && exitCode != null) words.push(`exit code ${exitCode}`)
  if (durationMs !== undefined) words.push(`${(durationMs / 1000).toFixed(1)} s`)
  const head = element('div', { className: 'head' }, element('code', { textContent: command }))
  head.append(element('span', { className: `status ${status}`, textContent: words.join(', ') }))
  if (truncated)
    head.append(element('span', { className: 'badge', textContent: 'truncated', title: 'The whole output is kept' }))
  return head
}

function bodyOf(message, attempt) {
  const { id, status, text, livePath, outputPath, truncated } = message
  const body = []
  if (status === 'running' && livePath) body.push(outputElement(livePath, { tail: true }))
  if (text !== undefined) body.push(element('pre', { textContent: text, tabIndex: 0 }))
  const actions = element('div', { className: 'actions' })
  if (status === 'waiting' || status === 'running') actions.append(button('Stop', () => attempt(call('stop', { id }))))
  if (truncated && outputPath)
    actions.append(
      button('View full output', () => view(message)),
      button('Open in another program', () => attempt(call('open', { path: outputPath }))),
      element('span', { className: 'quiet', textContent: sizeOf(message) }),
    )
  if (actions.childElementCount > 0) body.push(actions)
  return body
}

function outputElement(path, { tail = false } = {}) {
  const made = element('spillway-output', { source: outputs, path })
  made.toggleAttribute('tail', tail)
  return made
}

const sizeOf = ({ totalLines, totalBytes }) =>
  `${totalLines.toLocaleString('en')} lines, ${totalBytes.toLocaleString('en')} bytes`

function view({ outputPath, command }) {
  const dialog = document.getElementById('viewer')
  document.getElementById('viewer-title').textContent = command
  dialog.querySelector('spillway-output').replaceWith(outputElement(outputPath))
  dialog.showModal()
}
