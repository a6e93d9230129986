/** Four real tools and the two of Spillway. Each does its work and gives back what there is; what stands around them is `agent.ts`'s. */

import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import {
  createOutputTools,
  type ExecutionContext,
  runCommand,
  type Tool,
  type TruncationService,
  type TruncationStorage,
} from 'spillway'
import { containsTruncationMarker } from 'spillway/truncation'

/** A tool, with the schema of its arguments for the model. */
export type AgentTool = Tool & { description: string; inputSchema: Record<string, unknown> }

interface Call extends ExecutionContext {
  toolCallId: string
}

const text = { type: 'string' }
const whole = { type: 'integer', minimum: 1 }
const schema = (properties: object, required: string[]) => ({ type: 'object', properties, required })

/** The tools of an agent that works in a folder. */
export function toolsFor(workspace: string, service: TruncationService, storage: TruncationStorage): AgentTool[] {
  /** The output of a command is bounded while it is printed, whatever its size; no byte of it is held here. */
  const run = async (file: string, args: string[], shell: boolean, { toolCallId, sessionId, signal }: Call) => {
    const options = { cwd: workspace, shell, service, sessionId, toolCallId, signal, timeoutMs: 120_000 }
    const { output, exitCode } = await runCommand(file, args, { ...options, toolName: shell ? 'bash' : 'grep' })
    const saved = output.truncated ? { truncated: true, truncationPath: output.outputPath } : {}
    return { output: output.content, success: exitCode === 0, metadata: { exitCode, ...saved } }
  }
  const tools: AgentTool[] = [
    {
      name: 'bash',
      description: 'Runs a command of the shell.',
      inputSchema: schema({ command: text }, ['command']),
      execute: ({ command }: { command: string }, call: Call) => run(command, [], true, call),
    },
    {
      name: 'grep',
      description: 'Finds lines in the files of a folder.',
      inputSchema: schema({ pattern: text, path: text }, ['pattern']),
      execute: async ({ pattern, path = '.' }: { pattern: string; path?: string }, call: Call) => {
        const found = await run('grep', ['-rnE', '-e', pattern, '--', path], false, call)
        // 1 is not an error: nothing was found.
        return found.metadata.exitCode === 1 ? { output: 'Nothing was found.', success: true } : found
      },
    },
    {
      name: 'read',
      description: 'Reads lines of a file.',
      inputSchema: schema({ path: text, fromLine: whole, lineCount: whole }, ['path']),
      async execute({ path, fromLine = 1, lineCount = 400 }: { path: string; fromLine?: number; lineCount?: number }) {
        const lines = (await readFile(resolve(workspace, path), 'utf8')).split('\n')
        return lines.slice(fromLine - 1, fromLine - 1 + lineCount).join('\n')
      },
    },
    {
      name: 'edit',
      description: 'Replaces a text that occurs in a file exactly once.',
      inputSchema: schema({ path: text, oldText: text, newText: text }, ['path', 'oldText', 'newText']),
      async execute({ path, oldText, newText }: { path: string; oldText: string; newText: string }) {
        // A preview that a model takes for the whole file must not become the file.
        if (containsTruncationMarker(newText))
          throw new Error('The new text is a shortened preview, not the text itself.')
        const file = resolve(workspace, path)
        const parts = (await readFile(file, 'utf8')).split(oldText)
        if (parts.length !== 2) throw new Error(`The old text occurs in ${path} ${parts.length - 1} times.`)
        await writeFile(file, parts.join(newText))
        return `Edited ${path}.`
      },
    },
  ]
  return [...tools, ...createOutputTools(storage)]
}
