/** Histories for the specs of compaction. */

export type Message = Record<string, unknown> & { role: string; content: string }

/** A call of a tool, and what came of it. */
export interface Step {
  tool?: string
  args?: object
  output: string
}

/** A turn: what the user says, steps, and an answer. */
export interface Turn {
  user: string
  steps?: Step[]
  answer?: string
}

/** About twice as many tokens. */
export const words = (count: number, word = 'word') => `${word} `.repeat(count).trim()

/** A history in the form of chat completions, after a system message. */
export function talk(turns: readonly Turn[]): Message[] {
  let id = 0
  const messages: Message[] = [{ role: 'system', content: 'You are a coding agent.' }]
  for (const { user, steps = [], answer } of turns) {
    messages.push({ role: 'user', content: user })
    for (const { tool = 'read', args = { path: `src/${id}.ts` }, output } of steps) {
      const call = `call_${id++}`
      const fn = { name: tool, arguments: JSON.stringify(args) }
      messages.push({ role: 'assistant', content: '', tool_calls: [{ id: call, type: 'function', function: fn }] })
      messages.push({ role: 'tool', content: output, tool_call_id: call })
    }
    if (answer !== undefined) messages.push({ role: 'assistant', content: answer })
  }
  return messages
}

/** Returns `count` similar turns of about `tokens` tokens each. */
export function turns(count: number, tokens: number): Turn[] {
  return Array.from({ length: count }, (_, at) => ({ user: `question ${at}`, answer: words(Math.ceil(tokens / 2)) }))
}

/** Returns true if every result of chat completions follows its call, and every call has its result. */
export function isWhole(messages: readonly Message[]): boolean {
  const open = new Set<string>()
  for (const message of messages) {
    for (const { id } of (message.tool_calls ?? []) as { id: string }[]) open.add(id)
    if (message.role === 'tool' && !open.delete(message.tool_call_id as string)) return false
  }
  return open.size === 0
}
