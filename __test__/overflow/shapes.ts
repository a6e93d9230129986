/** Errors as the clients throw them, member by member. */

/** A row of `fixtures.json`. */
export interface Fixture {
  id: string
  provider: string
  status: number
  message: string
  kind: 'overflow' | 'rate' | 'field' | 'other'
  code?: string | number
  type?: string
  actual?: number
  limit?: number
  output?: number
}

const openAiBody = ({ message, type, code }: Fixture) => ({
  error: { message, type: type ?? null, param: null, code: code ?? null },
})

const anthropicBody = ({ message, type = 'invalid_request_error' }: Fixture) => ({
  type: 'error',
  error: { type, message },
  request_id: 'req_1',
})

function error(name: string, message: string, members: object, cause?: unknown): Error {
  return Object.assign(new Error(message, cause === undefined ? undefined : { cause }), { name, ...members })
}

function openAi(row: Fixture, inStream = false): Error {
  const { error: inner } = openAiBody(row)
  const status = inStream ? undefined : row.status
  const message = inStream ? row.message : `${row.status} ${row.message}`
  return error('Error', message, { status, headers: {}, requestID: null, error: inner, ...inner })
}

function anthropic(row: Fixture): Error {
  const body = anthropicBody(row)
  return error('BadRequestError', `${row.status} ${JSON.stringify(body)}`, {
    status: row.status,
    headers: {},
    error: body,
    apiMessage: row.message,
    type: body.error.type,
    errorCode: null,
    details: null,
  })
}

function aiSdk(row: Fixture): Error {
  const data = openAiBody(row)
  return error('AI_APICallError', row.message, {
    cause: undefined,
    url: 'https://api.openai.com/v1/responses',
    requestBodyValues: { input: [{ role: 'user', content: 'rate limit, prompt is too long: 3 tokens > 2 maximum' }] },
    statusCode: row.status,
    responseHeaders: { 'content-type': 'application/json' },
    responseBody: JSON.stringify(data),
    isRetryable: false,
    data,
  })
}

/** Every way in which a fixture's words can arrive. */
export const SHAPES: Readonly<Record<string, (row: Fixture) => unknown>> = {
  'openai: an error of a request': (row) => openAi(row),
  'openai: an error in a stream, with a code or not': (row) => (row.status === 400 ? openAi(row, true) : openAi(row)),
  'openai: its body': (row) => ({ status: row.status, ...openAiBody(row) }),
  '@anthropic-ai/sdk: an error of a request': anthropic,
  '@anthropic-ai/sdk: an event of a stream': (row) => ({ status: row.status, ...anthropicBody(row) }),
  '@google/genai: JSON in the message': ({ status, message, type = 'INVALID_ARGUMENT' }) =>
    error('ApiError', JSON.stringify({ error: { code: status, message, status: type } }), { status }),
  'AI SDK: AI_APICallError': aiSdk,
  'AI SDK: AI_RetryError': (row) =>
    error('AI_RetryError', `Failed after 3 attempts. Last error: ${row.message}`, {
      reason: 'maxRetriesExceeded',
      errors: [aiSdk({ ...row, status: 429, message: 'slow down' }), aiSdk(row)],
      lastError: aiSdk(row),
    }),
  'LangChain: a cause': (row) => error('Error', 'the model failed', {}, openAi(row)),
  'OpenRouter: raw words of the upstream': openRouter,
  'an AggregateError': (row) =>
    new AggregateError([new Error('socket hang up'), openAi(row)], 'All promises were rejected'),
  'the body as a string': (row) => JSON.stringify({ ...openAiBody(row), status: row.status }),
  'pi: a message with an error': (row) => ({
    role: 'assistant',
    content: [],
    stopReason: 'error',
    errorMessage: `${row.status} ${row.message}`,
    ...(row.status === 429 ? { status: 429 } : {}),
    ...(row.status === 413 ? { status: 413 } : {}),
    ...(row.code === undefined ? {} : { code: row.code }),
  }),
}

function openRouter(row: Fixture): Error {
  const inner = {
    message: 'Provider returned error',
    code: row.status,
    metadata: { raw: JSON.stringify(openAiBody(row)), provider_name: 'Upstream' },
  }
  return error('BadRequestError', `${row.status} Provider returned error`, {
    status: row.status,
    error: inner,
    code: row.status,
  })
}
