// A model of a script's making on this machine: it speaks Chat Completions, Responses, Messages and generateContent, streaming
// or not, plays one step of its script for each request that offers tools, and keeps every request.

import { createServer } from 'node:http'
import zlib from 'node:zlib'

const TOKENS = 1000

/** The text of a message's content, whatever its form. */
export function textOf(value) {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(textOf).join('\n')
  return value.text ?? (value.content !== undefined ? textOf(value.content) : (value.output ?? JSON.stringify(value)))
}

const list = (value) => (Array.isArray(value) ? value : [])

/** How each dialect says what a request has: its tools, its messages, and the results of tools among them. */
const DIALECTS = {
  chat: {
    path: /\/chat\/completions$/,
    tools: ({ tools }) => list(tools).map((tool) => ({ name: tool.function?.name })),
    messages: ({ messages }) => messages,
    results: ({ messages }) => messages.filter(({ role }) => role === 'tool').map(({ content }) => textOf(content)),
  },
  responses: {
    path: /\/responses$/,
    tools: ({ tools }) =>
      list(tools).flatMap(({ type, name, tools: inner }) =>
        type === 'namespace' ? list(inner).map((tool) => ({ name: tool.name, namespace: name })) : [{ name, type }],
      ),
    messages: ({ input }) => list(input),
    results: ({ input }) =>
      list(input)
        .filter(({ type }) => type?.endsWith('_call_output'))
        .map(({ output }) => textOf(output)),
  },
  messages: {
    path: /\/messages$/,
    tools: ({ tools }) => list(tools).map(({ name }) => ({ name })),
    messages: ({ messages }) => messages,
    results: ({ messages }) =>
      messages
        .flatMap(({ content }) => list(content))
        .filter(({ type }) => type === 'tool_result')
        .map(({ content }) => textOf(content)),
  },
  gemini: {
    path: /:(?:streamG|g)enerateContent$/,
    tools: ({ tools }) =>
      list(tools)
        .flatMap(({ functionDeclarations }) => list(functionDeclarations))
        .map(({ name }) => ({ name })),
    messages: ({ contents }) => contents,
    results: ({ contents }) =>
      contents
        .flatMap(({ parts }) => list(parts))
        .filter(({ functionResponse }) => functionResponse)
        .map(({ functionResponse }) => textOf(functionResponse.response)),
  },
}

/** The answer of each dialect: a body, or the events of a stream. */
const ANSWERS = {
  chat({ text, call }, { model, isStream, id }) {
    const usage = { prompt_tokens: TOKENS, completion_tokens: 1, total_tokens: TOKENS + 1 }
    const calls = call && [
      { index: 0, id, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.args) } },
    ]
    const message = { role: 'assistant', content: text ?? null, ...(calls && { tool_calls: calls }) }
    const reason = call ? 'tool_calls' : 'stop'
    const base = { id: `chat_${id}`, created: 1, model }
    if (!isStream) {
      const choices = [{ index: 0, message, finish_reason: reason }]
      return { body: { ...base, object: 'chat.completion', choices, usage } }
    }
    const chunk = (delta, finish_reason) => ({
      ...base,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason }],
    })
    return { events: [chunk(message, null), { ...chunk({}, reason), usage }], end: '[DONE]' }
  },

  responses({ text, call }, { model, isStream, id }) {
    const item = call
      ? {
          type: 'function_call',
          id: `fc_${id}`,
          call_id: id,
          status: 'completed',
          name: call.name,
          ...(call.namespace && { namespace: call.namespace }),
          arguments: JSON.stringify(call.args),
        }
      : {
          type: 'message',
          id: `msg_${id}`,
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text, annotations: [] }],
        }
    const base = { id: `resp_${id}`, object: 'response', created_at: 1, model, error: null, tools: [], metadata: {} }
    const usage = { input_tokens: TOKENS, output_tokens: 1, total_tokens: TOKENS + 1 }
    const whole = { ...base, status: 'completed', output: [item], usage }
    if (!isStream) return { body: whole }
    const events = [
      { type: 'response.created', response: { ...base, status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress' } },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: whole },
    ]
    if (text) {
      events.splice(2, 0, {
        type: 'response.output_text.delta',
        item_id: item.id,
        output_index: 0,
        content_index: 0,
        delta: text,
      })
    }
    return { events: events.map((event, sequence_number) => ({ ...event, sequence_number })), isNamed: true }
  },

  messages({ text, call }, { model, isStream, id }) {
    const block = call
      ? { type: 'tool_use', id: id.replace('call', 'toolu'), name: call.name, input: call.args }
      : { type: 'text', text }
    const stop_reason = call ? 'tool_use' : 'end_turn'
    const usage = { input_tokens: TOKENS, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 }
    const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model, stop_sequence: null, usage }
    if (!isStream) return { body: { ...message, content: [block], stop_reason } }
    const [begun, delta] = call
      ? [
          { ...block, input: {} },
          { type: 'input_json_delta', partial_json: JSON.stringify(call.args) },
        ]
      : [
          { type: 'text', text: '' },
          { type: 'text_delta', text },
        ]
    const events = [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: begun },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ]
    return { events, isNamed: true }
  },

  gemini({ text, call }, { model, isStream, id }) {
    const part = call ? { functionCall: { id, name: call.name, args: call.args } } : { text }
    const usageMetadata = { promptTokenCount: TOKENS, candidatesTokenCount: 1, totalTokenCount: TOKENS + 1 }
    const candidates = [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }]
    const body = { candidates, usageMetadata, modelVersion: model, responseId: id }
    return isStream ? { events: [body] } : { body }
  },
}

// Node before 22.15 has no zstd; programs that may use it can be configured not to.
const DECODERS = {
  gzip: zlib.gunzipSync,
  br: zlib.brotliDecompressSync,
  deflate: zlib.inflateSync,
  zstd: zlib.zstdDecompressSync,
}

async function bodyOf(request) {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const raw = Buffer.concat(chunks)
  const decode = DECODERS[request.headers['content-encoding']]
  return JSON.parse(String(decode ? decode(raw) : raw))
}

/** The first of some spellings of a tool that a request offers; a spelling is a pattern. */
function callOf(spellings, tools) {
  for (const { name, args } of [spellings].flat()) {
    const tool = tools.find((one) => name.test(one.name ?? ''))
    if (tool) return { ...tool, args }
  }
  throw new Error(`no tool ${[spellings].flat().map(({ name }) => name)} among ${tools.map(({ name }) => name)}`)
}

/**
 * Starts it. `script` is a list of steps: `({ last }) => ({ call: [{ name: /bash$/, args }] })`, or `{ text }`; the last one
 * repeats. A step that throws ends the conversation with what it threw as a text, and is in `failures`.
 */
export async function startModel(script) {
  const requests = []
  const failures = []
  let played = 0
  const stepOf = (context) => {
    // Titles and summaries are asked for without tools.
    if (context.tools.length === 0) return { text: 'A title' }
    const step = script[Math.min(played++, script.length - 1)]
    try {
      const { text, call } = typeof step === 'function' ? step(context) : step
      return call ? { call: callOf(call, context.tools) } : { text }
    } catch (error) {
      failures.push(`step ${played}: ${error.message}`)
      played = script.length
      return { text: error.message }
    }
  }
  const answer = async (request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost')
    const send = (status, body) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    }
    const name = Object.keys(DIALECTS).find((one) => DIALECTS[one].path.test(pathname))
    if (request.method !== 'POST' || name === undefined) {
      if (/count_?tokens$/i.test(pathname)) return send(200, { input_tokens: TOKENS, totalTokens: TOKENS })
      if (/\/models$/.test(pathname))
        return send(200, { object: 'list', data: [{ id: 'mock', object: 'model' }], models: [] })
      return send(404, { error: { message: `there is nothing at ${pathname}` } })
    }
    const body = await bodyOf(request)
    const dialect = DIALECTS[name]
    const tools = dialect.tools(body)
    const results = dialect.results(body)
    const messages = dialect.messages(body)
    if (tools.length > 0)
      requests.push({ dialect: name, body, messages, tools: tools.map((tool) => tool.name), results })
    const step = stepOf({ tools, results, last: results.at(-1) ?? '' })
    const isStream = body.stream === true || pathname.includes('stream')
    const id = `call_${requests.length}`
    const { body: whole, events, isNamed, end } = ANSWERS[name](step, { model: body.model ?? 'mock', isStream, id })
    if (whole) return send(200, whole)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of events) {
      response.write(`${isNamed ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
    }
    response.end(end ? `data: ${end}\n\n` : undefined)
  }
  const server = createServer((request, response) => {
    answer(request, response).catch((error) => {
      failures.push(error.stack)
      response.writeHead(500).end()
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    requests,
    failures,
    stop() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}
