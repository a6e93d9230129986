/**
 * Runs the agent over the AI SDK, and writes `report.html` and `report.svg`.
 *
 *   npm start                            follows a script: no key, no network
 *   OPENAI_API_KEY=… npm start           asks a real model; ANTHROPIC_API_KEY and MODEL work too
 */

import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { anthropic } from '@ai-sdk/anthropic'
import { openai } from '@ai-sdk/openai'
import { generateText, jsonSchema, type LanguageModel, type ModelMessage, tool } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { runAgent } from './agent'
import { chart } from './chart'
import { page } from './report'
import { answerOf, CONTEXT_WINDOW, makeWorkspace, PROMPTS, scriptedModel, scriptedSummary } from './task'
import type { Answer, CallPart, Message, Model, Question, TextPart } from './types'

const { OPENAI_API_KEY, ANTHROPIC_API_KEY, MODEL } = process.env
const isReal = Boolean(OPENAI_API_KEY || ANTHROPIC_API_KEY)

/** The script behind the interface of a provider. */
function mock(): MockLanguageModelV3 {
  const scripted = scriptedModel(CONTEXT_WINDOW)
  const tokens = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined }
  return new MockLanguageModelV3({
    async doGenerate({ prompt }) {
      const [first, ...messages] = prompt
      const system = first?.role === 'system' ? first.content : ''
      const answer = await scripted({ system, messages: messages as Message[], tools: [], settings: {} })
      const hasCalls = answer.some(({ type }) => type === 'tool-call')
      return {
        content: answer.map((part) => (part.type === 'text' ? part : { ...part, input: JSON.stringify(part.input) })),
        finishReason: { unified: hasCalls ? 'tool-calls' : 'stop', raw: undefined },
        usage: { inputTokens: tokens, outputTokens: { total: undefined, text: undefined, reasoning: undefined } },
        warnings: [],
      }
    },
  })
}

function provider(): LanguageModel {
  if (OPENAI_API_KEY) return openai(MODEL ?? 'gpt-5-mini')
  return ANTHROPIC_API_KEY ? anthropic(MODEL ?? 'claude-haiku-4-5') : mock()
}

const languageModel = provider()

const model: Model = async ({ system, messages, tools, settings }) => {
  const { content } = await generateText({
    model: languageModel,
    system,
    messages: messages as ModelMessage[],
    // Without `execute` the SDK hands the calls back, and the loop runs them.
    tools: Object.fromEntries(
      tools.map(({ name, description, inputSchema }) => [
        name,
        tool({ description, inputSchema: jsonSchema(inputSchema) }),
      ]),
    ),
    temperature: settings.temperature,
    topP: settings.topP,
    maxOutputTokens: settings.maxTokens,
    // The summary is a system message, and it is the loop that wrote it.
    allowSystemInMessages: true,
    maxRetries: isReal ? 2 : 0,
  })
  return content.flatMap((part): (TextPart | CallPart)[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }]
    if (part.type !== 'tool-call') return []
    const { toolCallId, toolName, input } = part
    return [{ type: 'tool-call', toolCallId, toolName, input }]
  })
}

async function summarize(prompt: string): Promise<string> {
  if (!isReal) return scriptedSummary(prompt)
  const { text } = await generateText({ model: languageModel, prompt })
  return text
}

/** With a real model a person is asked. */
async function askUser(question: Question): Promise<Answer> {
  if (!isReal) return answerOf(question)
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await terminal.question(
    `${question.about}: ${question.tool} ${question.why}\n(o)nce, (a)lways, (n)o? `,
  )
  terminal.close()
  return answer.startsWith('a') ? 'always' : answer.startsWith('o') ? 'once' : 'no'
}

async function main(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'spillway-agent-'))
  const [workspace, dataDir] = [join(root, 'project'), join(root, 'data')]
  makeWorkspace(workspace, dataDir)
  const run = await runAgent({
    model,
    summarize,
    askUser,
    workspace,
    dataDir,
    contextWindow: CONTEXT_WINDOW,
    prompts: PROMPTS,
  })
  writeFileSync(join(root, 'report.svg'), chart(run, CONTEXT_WINDOW))
  writeFileSync(join(root, 'report.html'), page(run, CONTEXT_WINDOW))
  const sum = (key: 'tokens' | 'unmanaged') =>
    run.requests.reduce((total, request) => total + request[key], 0).toLocaleString('en')
  const left = run.left.reduce((total, { outputs }) => total + outputs, 0)
  console.log(`${run.requests.length} requests, ${sum('tokens')} tokens sent instead of ${sum('unmanaged')}`)
  console.log(`${run.compactions} summaries, ${left} results left the history, ${run.saved.length} outputs kept`)
  const folded = run.folded.reduce((total, { savedTokens }) => total + savedTokens, 0)
  console.log(`${run.folded.length} results repeated what was there: ${folded.toLocaleString('en')} tokens less`)
  console.log(`${run.asked.length} questions, ${run.refused.length} calls that did not run`)
  console.log(`audit: ${run.audit.records} records, ${run.audit.ok ? 'unbroken' : 'broken'}`)
  console.log(`report: ${join(root, 'report.html')}`)
}

main().catch((error) => {
  console.error(error)
  process.exitCode = 1
})
