// Claude Agent SDK. ANTHROPIC_API_KEY=… node claude-agent-sdk.ts "Why did the build fail?"
import { type Options, query } from '@anthropic-ai/claude-agent-sdk'
import { PermissionPolicy } from 'spillway'
import { withSpillway } from 'spillway/claude-agent-sdk'

// Calls that it would ask about are denied: no person is asked.
const permission = new PermissionPolicy()

export async function answer(prompt: string, options: Options = {}): Promise<string> {
  for await (const message of query({ prompt, options: withSpillway({ options, permission }) })) {
    if (message.type === 'result') return message.subtype === 'success' ? message.result : message.subtype
  }
  return ''
}

if (process.argv[2]) console.log(await answer(process.argv[2]))
