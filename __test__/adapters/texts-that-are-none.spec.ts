/** JSON of another kind in what a framework hands over: models write it, and servers answer it. */

import { MemoryStorage, PermissionPolicy, SpillwayError, ToolResultLedger, TruncationService } from 'spillway'
import { outputTools as aiTools, approvalPolicy, contextMiddleware, guardTools } from 'spillway/ai-sdk'
import { claudeOptions } from 'spillway/claude-agent-sdk'
import { contextControl, needsApproval } from 'spillway/langchain'
import { guardMcpClient } from 'spillway/mcp'
import {
  outputTools as agentTools,
  guardFunctionTool,
  guardMcpServer,
  guardModel,
  pruneFilter,
} from 'spillway/openai-agents'
import { plugin } from 'spillway/opencode'
import { agentHooks, extension } from 'spillway/pi'
import { ODD_VALUES } from '../support/odd-values'
import { type Any, eagerPruner, LONG } from './shapes'

jest.mock(
  '@langchain/core/messages',
  () => ({
    ToolMessage: class {
      constructor(fields: object) {
        Object.assign(this, fields)
      }
    },
  }),
  { virtual: true },
)

const service = new TruncationService({ storage: new MemoryStorage(), global: { maxLines: 10, maxBytes: 2000 } })
const onEvent = ({ type, error }: Any) => {
  if (type === 'error' && !(error instanceof SpillwayError)) throw error
}
/** Nothing may run: a call that runs was not judged. */
const nothing = new PermissionPolicy({
  headless: true,
  rules: [{ domain: '*', pattern: '*', decision: 'deny' }] as Any,
})
const guards = () => ({ truncation: service, permission: nothing, ledger: new ToolResultLedger(), onEvent })
const bounds = () => ({ truncation: service, ledger: new ToolResultLedger(), onEvent })
const requests = () => ({ history: eagerPruner(), onEvent })

/** An object with the value in each of its places, one at a time, and in its own. */
function placed(whole: Any, value: unknown): Any[] {
  const inner = Object.entries(whole).flatMap(([key, member]) =>
    typeof member === 'object' && member !== null
      ? placed(member, value).map((one) =>
          Array.isArray(whole) ? whole.map((each, at) => (String(at) === key ? one : each)) : { ...whole, [key]: one },
        )
      : [{ ...whole, [key]: value }],
  )
  return [value, ...inner]
}

let ran = 0
const run = (result: unknown) => async () => {
  ran += 1
  return result
}
const signal = new AbortController().signal
const parts = [{ type: 'text', text: LONG }]

const CLAUDE = {
  session_id: 's',
  tool_name: 'Bash',
  tool_input: { command: 'make' },
  tool_use_id: 't',
  error: 'x',
  tool_response: { stdout: LONG, content: parts },
}
const PI = {
  toolName: 'bash',
  toolCallId: 'c',
  input: { command: 'make' },
  content: parts,
  details: { truncation: { truncated: true } },
  messages: [{ role: 'toolResult', toolCallId: 'c', content: parts }],
}
const PI_AGENT = {
  toolCall: { id: 'c', name: 'bash' },
  args: { command: 'make' },
  result: { content: parts, details: { a: 1 } },
  isError: false,
}
const OPENCODE = { tool: 'bash', sessionID: 's', callID: 'c', args: { command: 'make' } }
const OUTPUT = {
  title: 't',
  output: LONG,
  metadata: { outputPath: '/x' },
  args: { command: 'make' },
  content: parts,
  messages: [
    { info: { role: 'user', sessionID: 's' }, parts: [{ type: 'tool', callID: 'c', state: { output: LONG } }] },
  ],
}
const LANGCHAIN = {
  toolCall: { id: 'c', name: 'bash', args: { command: 'make' } },
  tool: { truncation: {} },
  runtime: { configurable: { thread_id: 'x' } },
}
const MESSAGE = {
  content: parts,
  tool_call_id: 'c',
  name: 'bash',
  status: 'error',
  artifact: { a: 1 },
  tool_calls: [{ id: 'a' }],
  response_metadata: { stop_reason: 'x' },
  usage_metadata: { input_tokens: 1 },
}
const APPROVAL = {
  toolCall: { toolCallId: 'c', toolName: 'bash', input: { command: 'make' } },
  runtimeContext: { a: 1 },
}
const PROMPT = [
  { role: 'user', content: [{ type: 'text', text: 'x' }] },
  {
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId: 'c', toolName: 'x', output: { type: 'text', value: LONG } }],
  },
]
const ANSWER = {
  content: parts,
  finishReason: { unified: 'stop' },
  usage: { inputTokens: { total: 5 } },
  response: { body: { a: 1 } },
  providerMetadata: { anthropic: { a: 1 } },
}
const ITEM = {
  type: 'function_call_result',
  callId: 'c',
  name: 'x',
  output: { type: 'text', text: LONG },
  providerData: { a: 1 },
}
const RESPONSE = {
  usage: { inputTokens: 5, inputTokensDetails: [{ cached_tokens: 1 }] },
  output: [{ type: 'message', content: parts }],
  providerData: { finish_reason: 'x' },
}
const RESULT = {
  output: LONG,
  content: parts,
  isError: false,
  metadata: { truncated: true },
  structuredContent: { a: 1 },
  _meta: { a: 1 },
}

async function all(stream: AsyncIterable<unknown>) {
  for await (const _ of stream);
}

const hosts: Record<string, (value: unknown) => (() => unknown)[]> = {
  'Claude Agent SDK': (value) => [
    ...placed(CLAUDE, value).flatMap((input) => {
      const { hooks, canUseTool } = claudeOptions(guards()) as Any
      const judged = async (answer: Promise<Any>) => {
        const { hookSpecificOutput: { permissionDecision } = { permissionDecision: undefined } } = await answer
        if (permissionDecision !== 'deny') ran += 1
      }
      return [
        () => judged(hooks.PreToolUse[0].hooks[0](input, 't', { signal })),
        () => judged(hooks.PreToolUse[0].hooks[0](input, value, value)),
        () => hooks.PostToolUse[0].hooks[0](input, 't', { signal }),
        () => hooks.PostToolUseFailure[0].hooks[0](input, value, value),
        async () => {
          const { tool_name: name, tool_input: args, tool_use_id: toolUseID } = Object(input)
          if ((await canUseTool(name, args, { toolUseID, signal })).behavior !== 'deny') ran += 1
        },
      ]
    }),
  ],
  pi: (value) => [
    ...placed(PI, value).flatMap((event) => {
      const handlers: Any = {}
      extension(guards())({ on: (name: string, handler: Any) => Object.assign(handlers, { [name]: handler }) } as Any)
      return ['tool_call', 'tool_result', 'context'].map((name) => async () => {
        const answer = await handlers[name]?.(event, { sessionManager: { getSessionId: () => value } })
        if (name === 'tool_call' && answer?.block !== true) ran += 1
      })
    }),
    ...placed(PI_AGENT, value).flatMap((call) => {
      const hooks: Any = agentHooks({ ...guards(), history: eagerPruner() })
      return [
        async () => {
          if ((await hooks.beforeToolCall(call))?.block !== true) ran += 1
        },
        () => hooks.afterToolCall(call),
        () => hooks.transformContext([call]),
      ]
    }),
  ],
  OpenCode: (value) => {
    const opened: Promise<Any> = (plugin({ ...guards(), history: eagerPruner() }) as Any)({})
    const call = async (name: string, ...given: unknown[]) => (await opened)[name](...given)
    const before = async (input: unknown, output: unknown) => {
      await call('tool.execute.before', input, output)
      ran += 1
    }
    return [
      ...placed(OPENCODE, value).flatMap((input) => [
        () => before(input, { args: {} }),
        () => call('tool.execute.after', input, { ...OUTPUT }),
      ]),
      ...placed(OUTPUT, value).flatMap((output) => [
        () => before(OPENCODE, output),
        () => call('tool.execute.after', OPENCODE, output),
        () => call('experimental.chat.messages.transform', {}, output),
      ]),
    ]
  },
  LangChain: (value) => [
    ...placed(LANGCHAIN, value).flatMap((request) => [
      () => contextControl(guards()).wrapToolCall(request, run(MESSAGE)),
      async () => {
        await needsApproval(guards())(request)
      },
    ]),
    ...placed(MESSAGE, value).flatMap((message) => [
      () => contextControl(bounds()).wrapToolCall(LANGCHAIN, async () => message),
      () => contextControl(requests()).wrapModelCall({ messages: [message] } as Any, async () => message),
    ]),
  ],
  'AI SDK': (value) => [
    ...placed(APPROVAL, value).map((request) => async () => {
      if ((await approvalPolicy(guards())(request)).type !== 'denied') ran += 1
    }),
    ...placed(RESULT, value).map((result) => async () => {
      const { bash }: Any = guardTools({ bash: { execute: async () => result } }, bounds())
      const output = await bash.execute(value, { toolCallId: value, messages: value })
      await bash.toModelOutput?.({ toolCallId: 'c', input: value, output })
    }),
    () => (guardTools({ bash: { execute: run('x') } }, guards()).bash as Any).execute(value, value),
    ...[
      ...placed(PROMPT, value).map((prompt) => [prompt, ANSWER]),
      ...placed(ANSWER, value).map((answer) => [PROMPT, answer]),
    ].map(([prompt, answer]) => async () => {
      const middleware: Any = contextMiddleware(requests())
      const params = await middleware.transformParams({ params: { prompt }, type: 'generate', model: {} })
      await middleware.wrapGenerate({ doGenerate: async () => answer, params, model: {} })
      const stream = new ReadableStream({
        start(controller) {
          for (const part of [{ type: 'stream-start' }, answer, { type: 'finish', ...Object(answer) }])
            controller.enqueue(part)
          controller.close()
        },
      })
      await all((await middleware.wrapStream({ doStream: async () => ({ stream }), params, model: {} })).stream)
    }),
    ...Object.values(aiTools(new MemoryStorage()) as Any).map((tool: Any) => () => tool.execute(value, value)),
  ],
  'OpenAI Agents': (value) => {
    const tool = (result: unknown, controls: object): Any =>
      guardFunctionTool(
        { type: 'function', name: 'bash', invoke: run(result), needsApproval: async () => false },
        controls,
      )
    return [
      ...placed(RESULT, value).map((result) => async () => {
        await tool(result, bounds()).invoke({}, '{}', { toolCall: { callId: 'c' } })
        ran -= 1
        const server: Any = guardMcpServer({ name: 'srv', callTool: async () => result }, bounds())
        await server.callTool('x', value)
      }),
      () => tool('x', guards()).invoke(value, value, value),
      () => (guardMcpServer({ name: 'srv', callTool: run('x') }, guards()) as Any).callTool(value, value),
      () =>
        (
          guardMcpClient({ callTool: run({ content: [] }) } as Any, { ...guards(), server: 'srv' } as Any) as Any
        ).callTool({ name: value, arguments: value }),
      ...[
        ...placed([ITEM], value).map((input) => [input, RESPONSE]),
        ...placed(RESPONSE, value).map((response) => [[ITEM], response]),
      ].map(([input, response]) => async () => {
        const inner = {
          getResponse: async () => response,
          async *getStreamedResponse() {
            yield { type: 'response_done', response }
          },
        }
        const model: Any = guardModel(inner, requests())
        await model.getResponse({ input, conversationId: value })
        await all(model.getStreamedResponse({ input }))
        if (Array.isArray(input)) await pruneFilter({ ...requests(), session: null })({ modelData: { input } } as Any)
      }),
      ...(agentTools(new MemoryStorage()) as Any).map(
        (each: Any) => () => each.invoke({}, JSON.stringify(value), value),
      ),
    ]
  },
}

beforeEach(() => {
  ran = 0
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
})
afterEach(() => jest.restoreAllMocks())

describe.each(Object.keys(hosts))('%s', (host) => {
  // Two of them are like others here.
  const names = ODD_VALUES.map(([name]) => name).filter((name) => !/of the prototype$|negative/.test(name))
  test.each(names)('%s', async (name) => {
    for (const [at, call] of hosts[host]!(new Map(ODD_VALUES).get(name)).entries()) {
      try {
        await call()
      } catch (error) {
        expect([
          at,
          error instanceof SpillwayError ? 'known' : (error as Error).stack?.split('\n').slice(0, 3),
        ]).toEqual([at, 'known'])
      }
    }
    expect(ran).toBe(0)
  })
})
