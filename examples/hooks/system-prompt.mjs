// Adds to the system prompt: the application says what day it is, and then the user what they always want.
//
//   node examples/hooks/system-prompt.mjs

import { HookRunner } from 'spillway/extensions'

const today = process.env.TODAY ?? new Date().toISOString().slice(0, 10)

const hooks = new HookRunner({
  builtIn: { 'chat.system': () => `Today is ${today}.` },
  user: { 'chat.system': () => ({ mode: 'append', text: 'Answer in the language of the question.' }) },
})

console.log(await hooks.chatSystem('You are a coding agent.'))
