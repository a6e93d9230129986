import { connect } from './ui.js'

const { token, path, report, messages } = JSON.parse(decodeURIComponent(location.hash.slice(1)))
const { outputs, approvals, audit } = await connect({ token })
const [output, approval, context, log] = ['output', 'approval', 'context', 'audit'].map((name) =>
  document.querySelector(`spillway-${name}`),
)
Object.assign(output, { source: outputs, path })
approval.source = approvals
Object.assign(context, { report, messages })
log.source = audit

/** Resolves when everything is drawn in a window of this width. */
globalThis.drawn = async (width) => {
  const rooms = [output, approval, log].map(({ shadowRoot }) => shadowRoot)
  const isThere = () =>
    innerWidth === width &&
    rooms[0].querySelector('.row .text')?.textContent &&
    /lines/.test(rooms[0].querySelector('.status')?.textContent) &&
    rooms[1].querySelector('.card') &&
    rooms[2].querySelector('td')
  for (let frames = 0; frames < 4; frames += isThere() ? 1 : 0) {
    rooms[2].querySelector('details')?.setAttribute('open', '')
    await new Promise(requestAnimationFrame)
  }
}
document.body.dataset.ready = 'yes'
