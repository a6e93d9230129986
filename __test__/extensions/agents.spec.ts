import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadAgents } from 'spillway/extensions'
import { onUnix } from '../support/only'
import { tempDir } from '../support/temp'

/** A folder with files, each by its name. */
function folder(files: Record<string, string | Uint8Array>): string {
  const dir = tempDir()
  for (const [name, content] of Object.entries(files)) writeFileSync(join(dir, name), content)
  return dir
}

/** Returns the agents of a folder, with paths relative to it. */
async function load(files: Record<string, string | Uint8Array> | string, options?: object) {
  const dir = typeof files === 'string' ? files : folder(files)
  const { agents, problems } = await loadAgents(dir, options)
  const short = (path: string) => path.replace(`${dir}/`, '').replace(dir, '.')
  return {
    agents: agents.map(({ path, ...agent }) => ({ ...agent, path: short(path) })),
    problems: problems.map(
      ({ severity, path, message, line }) =>
        `${severity} ${short(path)}${line ? `:${line}` : ''} ${message.replace(dir, '')}`,
    ),
  }
}

const head = (text: string, body = 'You help.') => `---\n${text}\n---\n${body}`

describe('an agent', () => {
  test('without front matter is its text, under the name of its file', async () => {
    expect(await load({ 'assistant.md': '\n  You are a helpful assistant.\n\n' })).toEqual({
      agents: [
        {
          id: 'assistant',
          name: 'assistant',
          systemPrompt: 'You are a helpful assistant.',
          path: 'assistant.md',
          metadata: {},
        },
      ],
      problems: [],
    })
  })

  test('has what its front matter says, in YAML', async () => {
    const text = head(
      [
        'id: writer',
        'name: "The Writer"',
        'description: >',
        '  Writes what',
        '  was asked for.',
        'model: claude',
        'modelSettings:',
        '  temperature: 0.2',
        '  reasoning: { effort: low }',
        'top_p: 0.9',
        'tools: Read, Grep',
        'mode: subagent # the application knows',
        'color: [1, 2]',
      ].join('\r\n'),
      '\r\nYou write.\r\n\r\n---\r\nAnd a line.\r\n',
    )
    expect(await load({ 'w.md': `\ufeff${text}` })).toEqual({
      agents: [
        {
          id: 'writer',
          name: 'The Writer',
          description: 'Writes what was asked for.',
          model: 'claude',
          modelSettings: { temperature: 0.2, topP: 0.9, reasoning: { effort: 'low' } },
          tools: ['Read', 'Grep'],
          systemPrompt: 'You write.\r\n\r\n---\r\nAnd a line.',
          path: 'w.md',
          metadata: { mode: 'subagent', color: [1, 2] },
        },
      ],
      problems: [],
    })
  })

  test('has what its front matter says, in JSON', async () => {
    const json = '{\n  "id": "writer",\n  "name": "Writer",\n  "modelSettings": { "temperature": 0.2 },\n}'
    const { agents, problems } = await load({ 'x.md': head(json, 'You write succinctly.') })
    expect(agents).toMatchObject([{ id: 'writer', name: 'Writer', modelSettings: { temperature: 0.2 } }])
    expect(problems).toEqual([])
  })

  test.each([
    ['[read, grep]', { tools: ['read', 'grep'] }],
    ['[]', { tools: [] }],
    ['{ write: false, bash: true }', { disallowedTools: ['write'] }],
    ["{ '*': false, read: true }", { tools: ['read'] }],
  ])('may use tools as in %s', async (tools, expected) => {
    const { agents, problems } = await load({ 'a.md': head(`tools: ${tools}`) })
    expect(problems).toEqual([])
    const { tools: only, disallowedTools } = agents[0]!
    expect({ ...(only && { tools: only }), ...(disallowedTools && { disallowedTools }) }).toEqual(expected)
  })

  test.each(['', '5', '[1]'])('is refused with unreadable tools: %s', async (tools) => {
    const { agents, problems } = await load({ 'a.md': head(`tools: ${tools}`) })
    expect([agents, problems]).toEqual([[], [expect.stringMatching(/^error a\.md:2 Invalid option "tools": /)]])
  })

  test.each([
    ...['Tools', 'allowedTools', 'allowed-tools', 'allowed_tools', 'AllowedTools', '"tools "', '"\uff54ools"'].map(
      (key) => [key, { tools: ['read', 'grep'] }] as const,
    ),
    ...['disallowed-tools', 'disallowed_tools', 'DisallowedTools'].map(
      (key) => [key, { disallowedTools: ['read', 'grep'] }] as const,
    ),
  ])('is restricted under another name: %s', async (key, expected) => {
    const { agents, problems } = await load({ 'a.md': head(`mine: 1\n${key}: read, grep`) })
    expect(problems).toEqual([])
    expect(agents).toMatchObject([{ ...expected, metadata: { mine: 1 } }])
    expect(Object.keys(agents[0]?.metadata ?? {})).toEqual(['mine'])
  })

  test.each([
    ...['tool', 'allowTools', 'denied-tools', 'disalowedTools', 'excluded_tools', 'toolAllowlist', 'onlyTools'],
    ...['disallowed', 'Allow', 'deny'],
  ])('is refused with what looks like a restriction: %s', async (key) => {
    const { agents, problems } = await load({ 'a.md': head(`mine: 1\n${key}: [read]`) })
    expect(agents).toEqual([])
    expect(problems).toEqual([
      `error a.md:3 Unknown option "${key}": it looks like a restriction of tools; expected one of tools, disallowedTools`,
    ])
  })

  test('is refused with one restriction under two names', async () => {
    const { agents, problems } = await load({ 'a.md': head('tools: [read]\nallowed-tools: [read, bash]') })
    expect([agents, problems]).toEqual([
      [],
      ['error a.md:3 Invalid option "allowed-tools": means the same as tools; give one of them'],
    ])
  })

  test("keeps the application's keys about other things", async () => {
    const metadata = { toolChoice: 'auto', toolTimeoutMs: 5, mode: 'x', permission: {}, constructor: 1 }
    const { agents, problems } = await load({ 'a.md': head(JSON.stringify(metadata)) })
    expect(problems).toEqual([])
    expect(agents).toMatchObject([{ metadata }])
  })

  test('keeps its own order and the names of its files', async () => {
    const { agents } = await load({ 'b.md': 'b', 'a.MD': 'a', 'é.md': 'c', '.hidden.md': 'd', 'note.txt': 'e' })
    expect(agents.map(({ id }) => id)).toEqual(['a', 'b', 'é'])
  })
})

describe('faults are reported, and the others load:', () => {
  const good = { 'z.md': 'fine' }
  const bomb = Array.from(
    { length: 9 },
    (_, n) =>
      `a${n}: &a${n} [${Array(9)
        .fill(n ? `*a${n - 1}` : 'x')
        .join()}]`,
  )

  test.each<[string, string | Uint8Array, string]>([
    ['broken YAML', head('name: "a'), 'a.md:3 Missing closing "quote'],
    ['a key twice', head('name: a\nname: b'), 'a.md:3 Map keys must be unique'],
    ['an alias bomb', head(bomb.join('\n')), 'a.md:2 aliases are not read here'],
    ['a value inside itself', head('tools: &t [*t]'), 'a.md:2 aliases are not read here'],
    ['a tag', head('id: !!js/function "x"'), 'a.md:2 tags are not read here'],
    ['a list as a name', head('id: a\n? [x, y]\n: z'), 'a.md:3 a name can only be a text'],
    ['a mapping as a name, within', head('tools:\n  {a: 1}: b'), 'a.md:3 a name can only be a text'],
    ['a list', head('- a\n- b'), 'a.md:2 the front matter is no mapping of names to values'],
    ['two documents', head('id: a\n... x'), 'a.md'],
    ['no end', '---\nid: a\n', 'a.md:1 the front matter does not end: a line of three dashes is missing'],
    ['an empty line before', `\n${head('tools: read')}`, 'a.md:2 a front matter begins with three dashes alone'],
    ['white space before', ` ${head('tools: read')}`, 'a.md:1 a front matter begins with three dashes alone'],
    ['too many dashes', `-${head('tools: read')}`, 'a.md:1 a front matter begins with three dashes alone'],
    ['other dashes', '\u2014-\ntools: read\n---\nYou help.', 'a.md:1 a front matter begins with three dashes alone'],
    ['something behind the dashes', '---yaml\ntools: read\n---\nYou help.', 'a.md:1 a front matter begins with'],
    ['a long head', head(`id: ${'a'.repeat(20_000)}`), 'a.md:1 the front matter does not end within 16384 characters'],
    ['no prompt', head('{ "id": "empty" }', ' \n'), 'a.md has no system prompt: there is no text'],
    ['an empty file', '', 'a.md has no system prompt: there is no text'],
    ['no UTF-8', Buffer.from([0x61, 0xff, 0x62]), 'a.md is not UTF-8'],
    ['UTF-16', Buffer.from('\ufeffabc', 'utf16le'), 'a.md is not UTF-8'],
    ['an id that is a path', head('id: ../etc'), 'a.md:2 id: allowed are up to 100 characters'],
    ['an id with an escape', head('id: "a\\e[2J"'), 'a.md:2 id: allowed are up to 100 characters'],
    [
      'tools that cannot be read',
      head('\ntools: 3'),
      'a.md:3 Invalid option "tools": expected a list of names, received 3',
    ],
    [
      'tools that are maybe',
      head('tools: { bash: maybe }'),
      'a.md:2 Invalid option "tools": expected a map of names to true or false',
    ],
    [
      'forbidden tools',
      head('disallowedTools: [[bash]]'),
      'a.md:2 Invalid option "disallowedTools": expected a list of names',
    ],
  ])('%s', async (_, content, message) => {
    const { agents, problems } = await load({ 'a.md': content, ...good })
    expect(agents.map(({ id }) => id)).toEqual(['z'])
    expect(problems).toEqual([expect.stringContaining(`error ${message}`)])
  })

  test('depth and width of a head end in time', async () => {
    const wide = Array.from({ length: 1500 }, (_, n) => `k${n}: 1`).join('\n')
    const shapes = ['['.repeat(16_000), '- '.repeat(8000), '? '.repeat(8000), `{${','.repeat(16_000)}`, wide]
    const began = performance.now()
    const { agents, problems } = await load({
      ...Object.fromEntries(shapes.map((text, at) => [`${at}.md`, head(text)])),
      ...good,
    })
    expect(performance.now() - began).toBeLessThan(10_000)
    // The widest is only wide.
    expect(agents.map(({ id }) => id)).toEqual(['4', 'z'])
    expect(problems).toHaveLength(4)
    expect(problems.filter((problem) => problem.includes('md:2 the front matter is nested more than 64'))).toHaveLength(
      3,
    )
    for (const problem of problems) expect(problem.length).toBeLessThan(300)
  })

  test('fields of a wrong kind are left out, and the agent is used', async () => {
    const text = 'id: 7\nname: [a]\nmodelSettings: { temperature: hot, foo: 1, topP: 0.5 }\nmax_tokens: 0\nmodel: null'
    const { agents, problems } = await load({ 'a.md': head(`${text}\nsystemPrompt: Own.`) })
    expect(agents).toMatchObject([{ id: 'a', name: 'a', systemPrompt: 'Own.', modelSettings: { topP: 0.5 } }])
    expect(problems).toEqual([
      'warning a.md:2 Invalid option "id": expected a string, received 7; write it in quotes',
      'warning a.md:7 systemPrompt: counts, and the text of the file does not',
      'warning a.md:4 Invalid option "modelSettings.temperature": expected a finite number of at least 0, received a string',
      expect.stringMatching(/^warning a.md:4 Unknown option "modelSettings.foo": expected one of temperature,/),
      'warning a.md:5 Invalid option "max_tokens": expected a whole number of at least 1, received 0',
      'warning a.md:3 Invalid option "name": expected a string, received an array; write it in quotes',
    ])
  })

  test('a name that is taken', async () => {
    const { agents, problems } = await load({ 'a.md': 'first', 'b.md': head('id: a', 'second'), 'c.md': 'third' })
    expect(agents.map(({ systemPrompt }) => systemPrompt)).toEqual(['first', 'third'])
    expect(problems).toEqual(["error b.md has the id 'a', which is that of /a.md"])
  })

  test('members that look like those of every object', async () => {
    const { agents, problems } = await load({ 'a.md': head('__proto__: { tools: [x] }\nconstructor: 1') })
    expect(problems).toEqual([])
    expect(agents[0]?.tools).toBeUndefined()
    expect(Object.getPrototypeOf(agents[0]?.metadata)).toBe(Object.getPrototypeOf({ ...agents[0]?.metadata }))
    expect(agents[0]?.metadata).toHaveProperty('constructor', 1)
  })

  test('large files and folders', async () => {
    const dir = folder(good)
    writeFileSync(join(dir, 'huge.md'), '')
    truncateSync(join(dir, 'huge.md'), 2 ** 40)
    mkdirSync(join(dir, 'folder.md'))
    const { agents, problems } = await load(dir)
    expect(agents.map(({ id }) => id)).toEqual(['z'])
    expect(problems).toEqual(['error folder.md is not a file', 'error huge.md has more than 1048576 bytes'])
  })

  onUnix('links are followed only where that was asked for', async () => {
    const dir = folder(good)
    symlinkSync(join(dir, 'z.md'), join(dir, 'a.md'))
    symlinkSync('loop.md', join(dir, 'loop.md'))
    symlinkSync('nowhere', join(dir, 'nowhere.md'))
    expect((await load(dir)).problems).toEqual([
      'error a.md is a link, and links are not followed here',
      'error loop.md is a link, and links are not followed here',
      'error nowhere.md is a link, and links are not followed here',
    ])
    const { agents, problems } = await load(dir, { followLinks: true })
    expect(agents.map(({ id }) => id)).toEqual(['a', 'z'])
    expect(problems).toEqual([
      expect.stringMatching(/^error loop.md cannot be read: ELOOP/),
      expect.stringMatching(/^error nowhere.md cannot be read: ENOENT/),
    ])
  })

  onUnix('a pipe does not hold anything up', async () => {
    const dir = folder(good)
    require('node:child_process').execFileSync('mkfifo', [join(dir, 'pipe.md')])
    expect((await load(dir)).problems).toEqual(['error pipe.md is not a file'])
  })
})

test('a missing folder has no agents; a file in its place is reported', async () => {
  expect(await load(join(tempDir(), 'none'))).toEqual({ agents: [], problems: [] })
  const file = join(folder({ f: '' }), 'f')
  expect((await load(file)).problems).toEqual(['error . the folder cannot be read: ENOTDIR: not a directory'])
})

onUnix('a folder that cannot be read is told', async () => {
  const { problems } = await load(join(tempDir(), 'n'.repeat(300)))
  expect(problems).toEqual([expect.stringContaining('the folder cannot be read: ENAMETOOLONG')])
})

test('names invalid folders and options', async () => {
  const refused = (field: string, ...args: unknown[]) =>
    expect(loadAgents(...(args as [string]))).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field })
  await refused('dir', 3)
  await refused('dir', 'a\0b')
  await refused('options', '.', 3)
  await refused('options.followLink', '.', { followLink: true })
  await refused('options.followLinks', '.', { followLinks: 1 })
})

test('a tag in a restriction never leaves an agent without one', async () => {
  const dir = tempDir()
  const heads = [
    '!!set {bash}',
    '!!omap [bash: true]',
    '!!binary YmFzaA==',
    '!<tag:yaml.org,2002:set> {bash}',
    '&a !!set {bash}',
  ]
  for (const [at, tools] of heads.entries()) writeFileSync(join(dir, `${at}.md`), `---\ntools: ${tools}\n---\nDo it.`)
  writeFileSync(join(dir, 'text.md'), '---\ndescription: |\n  !!set is a tag\nname: "!important"\n---\n!!set')
  const { agents, problems } = await loadAgents(dir)
  expect(agents.map(({ name, description, systemPrompt }) => [name, description, systemPrompt])).toEqual([
    ['!important', '!!set is a tag', '!!set'],
  ])
  expect(problems.map(({ line, message }) => `${line} ${message}`)).toEqual(heads.map(() => '2 tags are not read here'))
})
