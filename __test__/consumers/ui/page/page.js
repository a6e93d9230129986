import { connect } from './ui.js'

const { outputs, approvals, audit } = await connect({ token: location.hash.slice(1) })
document.querySelector('spillway-output').source = outputs
document.querySelector('spillway-approval').source = approvals
document.querySelector('spillway-audit').source = audit
document.body.dataset.ready = 'yes'
