// Changes a parameter of the model: one agent reviews code and should not be inventive.
//
//   node examples/hooks/temperature.mjs

import { HookRunner } from 'spillway/extensions'

const hooks = new HookRunner({
  user: { 'chat.params': ({ agent }) => (agent === 'reviewer' ? { temperature: 0.1 } : undefined) },
})

const params = { temperature: 0.7, maxTokens: 2000 }
console.log('writer  ', await hooks.chatParams(params, { agent: 'writer' }))
console.log('reviewer', await hooks.chatParams(params, { agent: 'reviewer' }))
