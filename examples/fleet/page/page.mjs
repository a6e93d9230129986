// The page: sessions and their workers, outputs in the bucket, and the question that waits.

import { connect } from './ui.mjs'

const LOOK_MS = 1000
const token = new URLSearchParams(location.hash.slice(1)).get('token')
const { outputs, approvals } = await connect({ token })
const viewer = document.querySelector('spillway-output')
viewer.source = outputs
document.querySelector('spillway-approval').source = approvals

function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...children)
  return element
}

function show(path) {
  viewer.path = path
}

async function refresh() {
  const response = await fetch('sessions', { headers: { authorization: `Bearer ${token}` } })
  const sessions = await response.json()
  document
    .getElementById('sessions')
    .replaceChildren(
      ...sessions.map(({ sessionId, worker, state, command = '' }) =>
        make(
          'li',
          {},
          make('strong', { textContent: sessionId }),
          ` ${worker} ${state} `,
          make('code', { textContent: command }),
        ),
      ),
    )
  const listed = await outputs.list()
  document
    .getElementById('outputs')
    .replaceChildren(
      ...listed.map(({ path, bytes }) =>
        make(
          'li',
          {},
          make('button', { type: 'button', textContent: path.split('/o/')[1], onclick: () => show(path) }),
          ` ${bytes} bytes`,
        ),
      ),
    )
}

for (;;) {
  const problem = document.getElementById('problem')
  try {
    await refresh()
    problem.textContent = ''
  } catch (error) {
    problem.textContent = error.message
  }
  await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
}
