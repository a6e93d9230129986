/** Answers to request 5 by which a server could exceed the limit: each is a line that some host reads. */

/** A line of the long text, as it is in JSON. */
export const LINE = String.raw`needle line of text\n`
const BIG = 'needle line of text\n'.repeat(40_000)
const J = JSON.stringify
const text = (value: string) => [{ type: 'text', text: value }]
const RESULT = J({ content: text(BIG) })
const many = <T>(count: number, make: (at: number) => T) => Array.from({ length: count }, (_, at) => make(at))
const answer = (result: unknown, id = '5') => `{"jsonrpc":"2.0","id":${id},"result":${J(result)}}`
const blocks = (content: unknown[], more: object = {}) => answer({ content, ...more })
const link = { type: 'resource_link', uri: 'file:///a', name: 'a' }
const tool = (schema: object = {}) => ({ name: 'a', inputSchema: { type: 'object', ...schema } })
const crowd = (count: number) => many(count, (at) => `"member_${at}":"needle ${at}"`).join()

/** `answered`: the host gets an answer to its request. */
export interface Mode {
  name: string
  line: string
  method?: string
  /** Nothing is answered: the line is dropped, or passes because it is short. */
  silent?: true
}

const ids = [
  '"05"',
  '"+5"',
  '" 5 "',
  '"0x5"',
  '"5.0"',
  '5e0',
  '5.0',
  '"5e0"',
  '5.00000000000000000000',
  '"0b101"',
  '"\\t5\\n"',
]

export const MODES: Mode[] = [
  ...ids.map((id) => ({ name: `the id ${id}`, line: `{"jsonrpc":"2.0","id":${id},"result":${RESULT}}` })),
  { name: 'an id that no request has', line: answer({ content: text(BIG) }, '99'), silent: true },
  { name: 'the id null', line: answer({ content: text(BIG) }, 'null'), silent: true },
  { name: 'no id', line: `{"jsonrpc":"2.0","result":${RESULT}}`, silent: true },
  { name: 'NaN', line: `{"jsonrpc":"2.0","id":5,"result":{"content":${J(text(BIG))},"structuredContent":{"a":NaN}}}` },
  { name: 'Infinity', line: `{"jsonrpc":"2.0","id":5,"x":-Infinity,"result":${RESULT}}` },
  { name: 'the method null', line: `{"jsonrpc":"2.0","id":5,"method":null,"result":${RESULT}}` },
  { name: 'a method', line: `{"jsonrpc":"2.0","id":5,"method":"ping","result":${RESULT}}` },
  { name: 'a method that is a number', line: `{"jsonrpc":"2.0","id":5,"method":1,"result":${RESULT}}` },
  {
    name: 'result null beside an error',
    line: `{"jsonrpc":"2.0","id":5,"result":null,"error":{"code":1,"message":${J(BIG)}}}`,
  },
  { name: 'error null beside a result', line: `{"jsonrpc":"2.0","id":5,"error":null,"result":${RESULT}}` },
  {
    name: 'a result and an error',
    line: `{"jsonrpc":"2.0","id":5,"result":${RESULT},"error":{"code":1,"message":"no"}}`,
  },
  {
    name: 'an error with long data',
    line: `{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"no","data":${J(BIG)}}}`,
  },
  { name: 'an error with a long code', line: `{"jsonrpc":"2.0","id":5,"error":{"code":${J(BIG)},"message":"no"}}` },
  {
    name: 'an error with many members',
    line: `{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"no",${crowd(20_000)}}}`,
  },
  { name: 'an error that is a string', line: `{"jsonrpc":"2.0","id":5,"error":${J(BIG)}}` },
  {
    name: '1 MB of members beside the result',
    line: `{${crowd(40_000)},"jsonrpc":"2.0","id":5,"result":{"content":[]}}`,
  },
  {
    name: '5 MB of members beside the result',
    line: `{${crowd(200_000)},"jsonrpc":"2.0","id":5,"result":{"content":[]}}`,
  },
  { name: 'a member beside the result', line: `{"jsonrpc":"2.0","id":5,"extra":${J(BIG)},"result":{"content":[]}}` },
  { name: 'a long jsonrpc', line: `{"jsonrpc":${J(BIG)},"id":5,"result":{"content":[]}}` },
  { name: 'many members of a result', line: `{"jsonrpc":"2.0","id":5,"result":{"content":[],${crowd(20_000)}}}` },
  { name: 'a long member of a result', line: blocks([], { extra: BIG }) },
  { name: 'isError that is a text', line: blocks([], { isError: BIG }) },
  { name: 'a long _meta', line: blocks(text('short'), { _meta: { more: BIG } }) },
  {
    name: 'a _meta with many members',
    line: blocks(text('short'), { _meta: Object.fromEntries(many(9000, (at) => [`needle${at}`, at])) }),
  },
  { name: 'a result that is a string', line: answer(BIG) },
  { name: 'a result that is a list', line: answer(text(BIG)) },
  { name: 'content that is a string', line: answer({ content: BIG }) },
  { name: 'content that is an object', line: answer({ content: { text: BIG } }) },
  { name: 'a link with a long name', line: blocks([{ ...link, name: BIG }]) },
  { name: 'a link with a long title', line: blocks([{ ...link, title: BIG }]) },
  { name: 'a link with a long uri', line: blocks([{ ...link, uri: `file:///${BIG}` }]) },
  { name: 'a link with long icons', line: blocks([{ ...link, icons: [{ src: BIG }] }]) },
  {
    name: '3,000 links of 900 bytes',
    line: blocks(many(3000, (at) => ({ ...link, name: `needle ${at}`, description: 'd'.repeat(800) }))),
  },
  { name: 'a resource with a long uri', line: blocks([{ type: 'resource', resource: { uri: BIG, text: 'short' } }]) },
  {
    name: 'a resource with a long type',
    line: blocks([{ type: 'resource', resource: { uri: 'a:b', mimeType: BIG, text: '' } }]),
  },
  { name: 'an image of text', line: blocks([{ type: 'image', mimeType: 'image/png', data: BIG }]) },
  {
    name: 'an image of a text type',
    line: blocks([{ type: 'image', mimeType: 'text/plain', data: Buffer.from(BIG).toString('base64') }]),
  },
  { name: 'a sound of text', line: blocks([{ type: 'audio', mimeType: 'audio/wav', data: BIG }]) },
  { name: 'a blob of text', line: blocks([{ type: 'resource', resource: { uri: 'a:b', blob: BIG } }]) },
  {
    name: 'a blob of a text type',
    line: blocks([
      { type: 'resource', resource: { uri: 'a:b', mimeType: 'text/csv', blob: Buffer.from(BIG).toString('base64') } },
    ]),
  },
  { name: 'an image with a long type', line: blocks([{ type: 'image', mimeType: BIG, data: 'QUJD' }]) },
  {
    name: '3,000 blocks of an unknown type',
    line: blocks(many(3000, (at) => ({ type: 'chart', series: `needle ${at} ${'x'.repeat(880)}` }))),
  },
  { name: 'a block of a long type', line: blocks([{ type: BIG }]) },
  { name: 'a block that is a string', line: blocks([BIG]) },
  { name: '50,000 blocks that are numbers', line: blocks(many(50_000, (at) => at)) },
  { name: '20,000 short texts', line: blocks(many(20_000, (at) => text(`needle ${at}`)[0])) },
  { name: '100,000 empty texts', line: blocks(many(100_000, () => text('')[0])) },
  {
    name: 'texts with annotations',
    line: blocks(many(120, () => ({ ...text('needle')[0], annotations: { note: 'n'.repeat(900) } }))),
  },
  { name: 'a text with a long member', line: blocks([{ ...text('short')[0], annotations: { note: BIG } }]) },
  { name: 'a text that is no string', line: blocks([{ type: 'text', text: { needle: BIG } }]) },
  { name: 'a structure', line: blocks([], { structuredContent: { rows: BIG.split('\n') } }) },
  { name: 'the old form of a result', line: answer({ toolResult: BIG }) },
  {
    name: 'a task that is done',
    line: answer({ taskId: 't', status: 'completed', result: { content: text(BIG) } }),
    method: 'tasks/get',
  },
  { name: 'what is no object', line: J(BIG), silent: true },
  { name: 'an object that is no message', line: `{"jsonrpc":"2.0","id":5,"extra":${J(BIG)}}` },
  {
    name: 'JSON that is cut off',
    line: `{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":${J(BIG).slice(0, -1)}`,
  },
  { name: 'JSON with a comma too many', line: `{"jsonrpc":"2.0","id":5,"result":${RESULT},}` },
  { name: 'JSON with a comment', line: `/* */ {"jsonrpc":"2.0","id":5,"result":${RESULT}}` },
  { name: 'JSON with single quotes', line: `{'jsonrpc':'2.0','id':5,'result':'${BIG.replaceAll('\n', ' ')}'}` },
  { name: 'a carriage return before a message', line: `x\r{"jsonrpc":"2.0","id":5,"result":${RESULT}}` },
  { name: 'a byte order mark', line: `\ufeff{"jsonrpc":"2.0","id":5,"result":${RESULT}}` },
  { name: 'a log of 1 MB', line: `DEBUG ${BIG.replaceAll('\n', ' ')}`, silent: true },
  { name: 'a batch', line: `[{"jsonrpc":"2.0","id":5,"result":${RESULT}}]` },
  { name: 'a batch in a batch', line: `[[{"jsonrpc":"2.0","id":5,"result":${RESULT}}]]`, silent: true },
  { name: 'a member twice', line: `{"jsonrpc":"2.0","id":5,"result":{"content":[]},"result":${RESULT}}` },
  {
    name: 'a log notification',
    line: J({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: BIG } }),
    silent: true,
  },
  {
    name: 'a log of many members',
    line: `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":{${crowd(20_000)}}}}`,
    silent: true,
  },
  {
    name: 'a progress notification',
    line: J({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: 1, progress: 1, message: BIG },
    }),
    silent: true,
  },
  {
    name: 'a notification with a result',
    line: `{"jsonrpc":"2.0","method":"notifications/progress","params":{},"result":${RESULT}}`,
    silent: true,
  },
  {
    name: 'a question with content',
    line: answer({ resultType: 'input_required', inputRequests: {}, content: text(BIG) }),
  },
  {
    name: 'instructions',
    line: answer({
      protocolVersion: 'x',
      capabilities: {},
      serverInfo: { name: 's', version: BIG },
      instructions: BIG,
    }),
    method: 'initialize',
  },
  { name: 'discovered instructions', line: answer({ capabilities: {}, instructions: BIG }), method: 'server/discover' },
  {
    name: 'a tool with a long description',
    line: answer({ tools: [{ name: 'a', description: BIG, inputSchema: { type: 'object' } }] }),
    method: 'tools/list',
  },
  {
    name: 'a tool with a long schema',
    line: answer({ tools: [{ name: 'a', inputSchema: { type: 'object', properties: { a: { description: BIG } } } }] }),
    method: 'tools/list',
  },
  {
    name: 'a tool with a long name',
    line: answer({ tools: [{ name: BIG, inputSchema: { type: 'object' } }] }),
    method: 'tools/list',
  },
  {
    name: 'a prompt',
    line: answer({ messages: [{ role: 'user', content: { type: 'text', text: BIG } }] }),
    method: 'prompts/get',
  },
  {
    name: 'a prompt of many messages',
    line: answer({
      messages: many(3000, (at) => ({
        role: at % 2 ? 'user' : 'assistant',
        content: { type: 'text', text: `needle ${at} ${'x'.repeat(300)}` },
      })),
    }),
    method: 'prompts/get',
  },
  { name: 'a prompt with a long description', line: answer({ description: BIG, messages: [] }), method: 'prompts/get' },
  { name: 'a resource', line: answer({ contents: [{ uri: 'file:///a', text: BIG }] }), method: 'resources/read' },
  {
    name: 'a resource of many parts',
    line: answer({ contents: many(3000, (at) => ({ uri: `file:///${at}`, text: `needle ${'x'.repeat(300)}` })) }),
    method: 'resources/read',
  },
  { name: 'a list of prompts', line: answer({ prompts: [{ name: 'a', description: BIG }] }), method: 'prompts/list' },
  {
    name: 'a list of resources',
    line: answer({ resources: [{ uri: 'a:b', name: 'a', title: BIG }] }),
    method: 'resources/list',
  },
  {
    name: 'completions',
    line: answer({ completion: { values: many(3000, (at) => `needle ${at} ${'x'.repeat(300)}`) } }),
    method: 'completion/complete',
  },
  ...Object.entries({
    'many values of an enum': { tools: [tool({ properties: { a: { enum: many(20_000, (at) => `needle ${at}`) } } })] },
    'many properties': {
      tools: [tool({ properties: Object.fromEntries(many(20_000, (at) => [`needle ${at}`, {}])) })],
    },
    'many alternatives': { tools: [tool({ anyOf: many(20_000, (at) => ({ const: `needle ${at}` })) })] },
    'a long icon': { tools: [{ ...tool(), icons: [{ src: `data:image/png;base64,${BIG}` }] }] },
    'long metadata of a tool': { tools: [{ ...tool(), _meta: { a: BIG } }] },
    'a long member that is not known': { tools: [{ ...tool(), other: many(20_000, (at) => `needle ${at}`) }] },
    'a long cursor': { tools: [tool()], nextCursor: BIG },
    'long metadata': { tools: [tool()], _meta: { a: BIG } },
    'a long member beside the tools': { tools: [tool()], content: text(BIG) },
    'content and no tools': { content: text(BIG) },
    'an entry that is a text': { tools: [BIG] },
    'names of tools that are objects': { tools: [{ ...tool(), name: { a: BIG } }] },
  }).map(([name, result]) => ({ name: `a list of tools with ${name}`, line: answer(result), method: 'tools/list' })),
  {
    name: 'a prompt with many arguments',
    line: answer({ prompts: [{ name: 'a', arguments: many(20_000, (at) => ({ name: `needle ${at}` })) }] }),
    method: 'prompts/list',
  },
  {
    name: 'a member beside completions',
    line: answer({ completion: { values: ['a'] }, other: BIG }),
    method: 'completion/complete',
  },
  {
    name: 'a drawing, which is text',
    line: blocks([
      { type: 'image', mimeType: 'image/svg+xml', data: Buffer.from(`<svg>${BIG}</svg>`).toString('base64') },
    ]),
  },
]
