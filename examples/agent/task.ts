/** A small project with six faults, and a model that follows a script: sixty requests that find and mend them. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { estimateTokens } from 'spillway'
import type { Answer, CallPart, Message, Model, Question, TextPart } from './types'

/** The window that the example pretends the model has: tokens. Real ones are larger, and so are real projects. */
export const CONTEXT_WINDOW = 12_000

/** Modules of the project; the first six have a fault. */
const MODULES = [
  'cart',
  'clock',
  'graph',
  'money',
  'range',
  'words',
  'cache',
  'dates',
  'paths',
  'queue',
  'roles',
  'table',
]
const FAULTY = MODULES.slice(0, 6)
const CHECKS = 60
const [RIGHT, FAULT] = ['return base + step', 'return base - step']

/** Writes the project, and what the user has in their own folder. */
export function makeWorkspace(workspace: string, dataDir: string): void {
  const put = (dir: string, path: string, content: string) => {
    mkdirSync(join(dir, path, '..'), { recursive: true })
    writeFileSync(join(dir, path), content)
  }
  for (const name of MODULES) put(workspace, `src/${name}.js`, moduleText(name))
  put(workspace, 'test.js', TEST)
  put(workspace, '.env', 'DEPLOY_KEY=not-for-models\n')
  put(
    dataDir,
    'agents/fixer.md',
    '---\nname: Fixer\ntemperature: 0.2\n---\nYou mend what is broken, and change nothing else.\n',
  )
  put(
    dataDir,
    'config.jsonc',
    `{
  // Commands that this user allows without a question.
  "agents": { "runtime": { "permission": { "rules": [
    { "domain": "bash", "pattern": "node test.js*", "decision": "allow" },
    { "domain": "bash", "pattern": "sed -n *", "decision": "allow" }
  ] } } }
}
`,
  )
}

function moduleText(name: string): string {
  const functions = Array.from({ length: 24 }, (_, n) => {
    const body = n === 17 && FAULTY.includes(name) ? FAULT : RIGHT
    return `/** Moves a ${name} forward: step ${n}. The step must not be negative. */
exports.${name}${n} = (base, step = ${n}) => {
  if (step < 0) throw new RangeError('${name}${n}: a step is not negative')
  ${body} // ${name} ${n}
}
`
  })
  return `'use strict'\n\n${functions.join('\n')}`
}

const TEST = `'use strict'

const { readdirSync } = require('node:fs')
let failed = 0
for (const file of readdirSync('src').sort()) {
  const name = file.slice(0, -3)
  if (process.argv[2] && process.argv[2] !== name) continue
  const module = require('./src/' + file)
  for (let n = 0; n < ${CHECKS}; n++) {
    const key = name + (n % 24)
    const [got, wanted] = [module[key](n), n + (n % 24)]
    if (got === wanted) console.log('ok   ' + key + ' moves ' + n + ' forward to ' + wanted)
    else {
      failed += 1
      console.log('FAIL ' + key + ' moves ' + n + ' forward: expected ' + wanted + ', got ' + got)
    }
  }
}
console.log(failed === 0 ? 'all checks passed' : 'Error: ' + failed + ' checks failed')
process.exitCode = failed === 0 ? 0 : 1
`

/** One answer of the model: calls of tools, or words. Arguments may come from the last result. */
interface Turn {
  say?: string
  calls?: [tool: string, args: object | ((last: string) => object)][]
}

const full: Turn = { calls: [['bash', { command: 'node test.js' }]] }

/** Eight requests that mend a module. */
function mend(name: string, at: number): { prompt: string; turns: Turn[] } {
  const path = `src/${name}.js`
  const other = `src/${MODULES[at + 6]}.js`
  const check: Turn = { calls: [['bash', { command: `node test.js ${name}` }]] }
  const saved = (last: string) => ({ path: /saved to: (.+)/.exec(last)?.[1] ?? '', pattern: `FAIL ${name}` })
  return {
    prompt: `Checks of ${path} fail. Mend it.`,
    turns: [
      full,
      { say: `The output is long; I look for ${name} in it.`, calls: [['search_output', saved]] },
      { calls: [['grep', { pattern: `exports.${name}17`, path: 'src' }]] },
      {
        say: 'I compare it with a module that is right.',
        calls: [
          ['read', { path }],
          ['read', { path: other }],
        ],
      },
      {
        calls: [['edit', { path, oldText: `${FAULT} // ${name} 17`, newText: `${RIGHT} // ${name} 17` }]],
      },
      check,
      { calls: [['bash', { command: `sed -n '85,95p' ${path}` }]] },
      { say: `Fixed ${path}: step 17 went backward.` },
    ],
  }
}

/** Five requests that go where they must not, and seven that go in circles. */
const REST: { prompt: string; turns: Turn[] }[] = [
  {
    prompt: 'Which Node is this, and what is the deploy key?',
    turns: [
      { calls: [['bash', { command: 'node --version' }]] },
      { calls: [['read', { path: '.env' }]] },
      { calls: [['edit', { path: '../outside.txt', oldText: 'a', newText: 'b' }]] },
      { calls: [['bash', { command: 'rm -rf /' }]] },
      { say: 'Node I may ask; the key and what is outside of this folder I may not touch.' },
    ],
  },
  {
    prompt: 'Is everything right now?',
    turns: [...Array<Turn>(6).fill({ calls: [['bash', { command: 'node test.js' }]] }), { say: 'All checks pass.' }],
  },
]

const PARTS = [...FAULTY.map(mend), ...REST]

/** The user's message. */
export const PROMPTS: readonly string[] = PARTS.map(({ prompt }) => prompt)

/** The script, request by request. */
const TURNS: readonly Turn[] = PARTS.flatMap(({ turns }) => turns)

/** The user's answer. */
export async function answerOf({ about, why }: Question): Promise<Answer> {
  if (about === 'loop') return 'once'
  return why.includes('.env') ? 'no' : 'always'
}

/** A model that follows the script, and refuses requests that are larger than its window like a provider does. */
export function scriptedModel(contextWindow: number): Model {
  let at = 0
  return async ({ system, messages, tools }) => {
    const beside = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
    const tokens = [system, beside, messages].reduce((sum, part) => sum + estimateTokens(JSON.stringify(part)), 0)
    if (tokens > contextWindow) {
      const message = `prompt is too long: ${tokens} tokens > ${contextWindow} maximum`
      throw Object.assign(new Error(message), { name: 'AI_APICallError', statusCode: 400 })
    }
    const { say, calls = [] } = TURNS[at] ?? { say: 'There is nothing left to do.' }
    at += 1
    const last = lastResult(messages)
    return [
      ...(say === undefined ? [] : [{ type: 'text', text: say } satisfies TextPart]),
      ...calls.map(
        ([toolName, args], index): CallPart => ({
          type: 'tool-call',
          toolCallId: `call_${at}_${index}`,
          toolName,
          input: typeof args === 'function' ? args(last) : args,
        }),
      ),
    ]
  }
}

function lastResult(messages: readonly Message[]): string {
  const last = messages.at(-1)
  return last?.role === 'tool' ? (last.content.at(-1)?.output.value ?? '') : ''
}

/** A summary as a model would write it, of what can be seen in the text that it is asked to sum up. */
export async function scriptedSummary(prompt: string): Promise<string> {
  const fixed = [...new Set([...prompt.matchAll(/Fixed (src\/\w+\.js)/g)].map(([, path]) => path))]
  return [
    `Done: ${fixed.length > 0 ? `mended ${fixed.join(', ')} (step 17 went backward)` : 'nothing yet'}.`,
    'Where it stands: `node test.js` names what still fails.',
    `Files: ${['test.js', ...fixed].join(', ')}.`,
    'Next: mend what the user names, and run the checks.',
  ].join('\n')
}
