// The window: commands and what became of them, questions that wait for an answer, the mode.

import { call, listen } from './bridge.js'
import { view } from './viewer.js'

const $ = (id) => document.getElementById(id)

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

const button = (textContent, onclick, className = '') =>
  element('button', { type: 'button', textContent, onclick, className })

// Messages -----------------------------------------------------------------------------------------------------------

const rows = new Map()

const STATUS = { waiting: 'waits for you', running: 'running …', done: 'done', failed: 'failed', denied: 'denied' }

function showMessage(message) {
  const { id, command, status, text, truncated, totalBytes, totalLines, outputPath } = message
  const row = rows.get(id) ?? element('li', { className: 'message' })
  rows.set(id, row)
  const head = element('div', { className: 'head' }, element('code', { textContent: command }))
  head.append(element('span', { className: `status ${status}`, textContent: STATUS[status] }))
  if (truncated)
    head.append(element('span', { className: 'badge', textContent: 'truncated', title: 'The whole output is kept' }))
  row.replaceChildren(head)
  if (text !== undefined) row.append(element('pre', { textContent: text }))
  if (truncated && outputPath) {
    const size = `${totalLines.toLocaleString()} lines, ${(totalBytes / 2 ** 20).toFixed(1)} MiB`
    row.append(
      element(
        'div',
        { className: 'actions' },
        button('View full output', () => view(message)),
        button('Open in another program', () => attempt(call('openOutput', { path: outputPath }))),
        element('span', { className: 'quiet', textContent: size }),
      ),
    )
  }
  $('messages').append(row)
  row.scrollIntoView({ block: 'end' })
}

async function attempt(promise) {
  try {
    return await promise
  } catch (error) {
    $('messages').append(
      element('li', { className: 'message problem', textContent: `${error.code}: ${error.message}` }),
    )
  }
}

$('prompt').addEventListener('submit', (event) => {
  event.preventDefault()
  const input = $('command')
  const command = input.value.trim()
  input.value = ''
  if (command !== '') attempt(call('runTool', { command }))
})

// Questions ----------------------------------------------------------------------------------------------------------

function showQuestions(pending) {
  $('questions').replaceChildren(...pending.map(card))
}

function card({ id, tool, args, targets, reasons, suggestedRules }) {
  const answer = (response) => () => attempt(call('respond', { id, response }))
  const actions = element(
    'div',
    { className: 'actions' },
    button('Deny', answer({ reject: true })),
    button('Once', answer('once'), 'primary'),
  )
  // "Always" is offered only with the very rule that it stores.
  const [rule] = suggestedRules
  if (rule) actions.append(button(`Always: ${rule.pattern}`, answer('always'), 'always'))
  const list = element(
    'ul',
    {},
    ...[...new Set(targets)].map((target) => element('li', {}, element('code', { textContent: target }))),
  )
  const said = element('p', { className: 'quiet', textContent: reasons.join('; ') })
  const title = element('h2', { textContent: `${tool} wants to run` })
  const command = element('pre', { textContent: args?.command ?? JSON.stringify(args) })
  return element('article', { className: 'card' }, title, command, list, said, actions)
}

// Mode ---------------------------------------------------------------------------------------------------------------

function showMode(mode) {
  document.body.dataset.mode = mode
  for (const one of $('mode').children) one.setAttribute('aria-pressed', String(one.dataset.mode === mode))
}

$('mode').addEventListener('click', async ({ target }) => {
  const { mode } = target.dataset
  if (!mode) return
  const { confirmationId } = (await attempt(call('setMode', { mode }))) ?? {}
  if (!confirmationId) return
  const dialog = $('confirm')
  dialog.showModal()
  dialog.onclick = async ({ target: { value } }) => {
    if (!value) return
    dialog.close()
    if (value === 'yes') await attempt(call('confirmMode', { confirmationId }))
  }
})

const HEARD = {
  message: showMessage,
  questions: ({ pending }) => showQuestions(pending),
  mode: ({ mode }) => showMode(mode),
}

await listen((event) => HEARD[event.type]?.(event))
const { mode, pending } = await call('state')
showMode(mode)
showQuestions(pending)
document.body.dataset.ready = 'yes'
