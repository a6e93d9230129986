import { connect } from './ui.js'

const { outputs, approvals } = await connect({ token: location.hash.slice(1) })
document.querySelector('spillway-output').source = outputs
document.querySelector('spillway-approval').source = approvals
document.body.dataset.ready = 'yes'
