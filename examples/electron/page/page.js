// The window: commands and what became of them, questions that wait for an answer, the mode, the audit log.

import { approvals, audit, call, listen } from './bridge.js'
import { showMessage } from './messages.js'

const $ = (id) => document.getElementById(id)

async function attempt(promise) {
  try {
    const value = await promise
    $('problem').textContent = ''
    return value
  } catch (error) {
    $('problem').textContent = error.message
  }
}

// Commands -----------------------------------------------------------------------------------------------------------

const earlier = []
let at = 0

$('prompt').addEventListener('submit', (event) => {
  event.preventDefault()
  const input = $('command')
  const command = input.value.trim()
  input.value = ''
  if (command === '') return
  at = earlier.push(command)
  attempt(call('runTool', { command }))
})

$('command').addEventListener('keydown', (event) => {
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key]
  if (step === undefined) return
  event.preventDefault()
  at = Math.min(Math.max(0, at + step), earlier.length)
  event.target.value = earlier[at] ?? ''
})

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

// Dialogs ------------------------------------------------------------------------------------------------------------

for (const dialog of document.querySelectorAll('dialog')) {
  const close = dialog.querySelector('.close')
  if (close) close.onclick = () => dialog.close()
}

const log = document.querySelector('spillway-audit')
$('show-audit').onclick = () => {
  log.source = audit
  $('audit').showModal()
}

// Start --------------------------------------------------------------------------------------------------------------

listen('message', ({ message }) => showMessage(message, attempt))
listen('mode', ({ mode }) => showMode(mode))
document.querySelector('spillway-approval').source = approvals
const { mode, cwd, messages } = await call('state')
showMode(mode)
$('folder').textContent = cwd
earlier.push(...messages.map(({ command }) => command))
at = earlier.length
for (const message of messages) showMessage(message, attempt)
if (document.activeElement === document.body) $('command').focus()
document.body.dataset.ready = 'yes'
