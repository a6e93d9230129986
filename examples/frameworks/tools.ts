/** Tools of the examples without a framework: one with a long output, and two with which the model reads the rest of it. */
import { readFile } from 'node:fs/promises'
import { createOutputTools, TruncationService } from 'spillway'

const truncation = new TruncationService({ availableTools: ['read_output', 'search_output'] })
const buildLog = {
  name: 'build_log',
  description: 'Returns the log of the last build.',
  inputSchema: { type: 'object', properties: {} },
  execute: async () => ({ output: await readFile('build.log', 'utf8') }),
}

export const tools = [buildLog, ...createOutputTools(truncation)]

/** Runs a tool by its name, and returns what the model reads of its output. */
export async function run(name: string, args: unknown): Promise<string> {
  const tool = tools.find((one) => one.name === name)
  if (!tool) return `There is no tool ${name}.`
  const { output } = await tool.execute(args)
  return tool === buildLog ? (await truncation.output(output, { toolName: name })).content : output
}
