import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import {
  AuditLog,
  ToolRegistry,
  ToolResultLedger,
  type TruncatedResult,
  TruncationService,
  TruncationStorage,
} from 'spillway'
import { FoldSession } from 'spillway/fold'
import { MemorySession } from 'spillway/session'
import { filesIn, ownName, putOld, tempDir } from '../support/temp'
import { cli, HERE, shell } from './support'

/** Runs it with a store of the test's own. */
function inStore() {
  const dir = tempDir()
  const env = { SPILLWAY_STORAGE_DIR: dir }
  return { dir, env, spillway: (args: readonly string[], input?: string) => cli(args, { env, input }) }
}

const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join('')

describe('a saved output', () => {
  test('is read back, in parts and whole, searched and counted', async () => {
    const { spillway } = inStore()
    const clipped = await spillway(['clip', '--max-lines', '2', '--json'], lines(3000))
    const { outputPath, truncated, totalLines } = JSON.parse(clipped.stdout)
    expect([clipped.code, truncated, totalLines]).toEqual([0, true, 3000])

    const [part, paged, whole, found, none, json, usage, swept] = await Promise.all([
      spillway(['read', '--from-line', '10', '-n', '2', outputPath]),
      spillway(['read', outputPath]),
      spillway(['read', '--all', outputPath]),
      spillway(['search', '-C', '1', outputPath, 'line 1500$']),
      spillway(['search', '-F', outputPath, 'line (']),
      spillway(['search', '--json', '-i', '-m', '1', outputPath, 'LINE']),
      spillway(['usage']),
      spillway(['sweep', '--json']),
    ])
    expect(part).toMatchObject({ code: 0, stdout: 'line 10\nline 11\n' })
    expect(part.stderr).toBe(`more: ${HERE} read --from-line 12 --lines 2 ${outputPath}\n`)
    expect(paged.stdout).toBe(lines(500))
    expect(whole).toMatchObject({ code: 0, stdout: lines(3000), stderr: '' })
    expect(found).toMatchObject({ code: 0, stdout: '1499-line 1499\n1500:line 1500\n1501-line 1501\n' })
    expect(none).toMatchObject({ code: 1, stdout: '' })
    expect(JSON.parse(json.stdout)).toMatchObject({ matches: [{ line: 1, text: 'line 1' }], truncated: true })
    expect(usage.stdout).toMatch(/^1 output, .* KiB, 0 sessions\n {2}\//)
    expect(JSON.parse(swept.stdout)).toMatchObject({ removedFiles: 0, kept: { files: 1 } })
  })

  test('is reported on a line of its own, also where both streams are one', async () => {
    const { env, dir } = inStore()
    const path = await new TruncationStorage(dir).save('abcdef\n', { toolName: 'bash' })
    const { stdout } = await shell(`spillway read --bytes 3 ${path} 2>&1`, { env })
    expect(stdout).toBe(`abc\nmore: ${HERE} read --from-byte 3 --bytes 3 ${path}\n`)
  })

  test('is said to be shorter, where nothing is left to read', async () => {
    const { spillway, dir } = inStore()
    const path = await new TruncationStorage(dir).save(lines(3), { toolName: 'bash' })
    const [line, byte] = await Promise.all([
      spillway(['read', '--from-line', '9', path]),
      spillway(['read', '--from-byte', '900', path]),
    ])
    expect(line).toMatchObject({ code: 0, stdout: '', stderr: 'nothing to print: the output has 3 lines\n' })
    expect(byte).toMatchObject({ code: 0, stdout: '', stderr: 'nothing to print: the output has 21 bytes\n' })
  })

  test('refuses files the store did not write', async () => {
    const { spillway, dir } = inStore()
    writeFileSync(join(dir, 'other.txt'), 'secret')
    const [plain, json] = await Promise.all([
      spillway(['read', join(dir, 'other.txt')]),
      spillway(['read', '--json', join(dir, 'other.txt')]),
    ])
    expect(plain).toMatchObject({ code: 3, stdout: '' })
    expect(plain.stderr).toMatch(/^spillway: .*other\.txt/)
    expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: 'STORAGE_NOT_OWNED' } })
  })
})

describe('search with context', () => {
  test('shows every line once, as grep does', async () => {
    const { spillway } = inStore()
    const { stdout } = await spillway(['clip', '--max-lines', '2', '--json'], lines(3000))
    const { outputPath } = JSON.parse(stdout)
    const near = await spillway(['search', '-C', '2', outputPath, '^line (10|11|13|19)$'])
    const told = ['8-', '9-', '10:', '11:', '12-', '13:', '14-', '15-', '--', '17-', '18-', '19:', '20-', '21-']
    const whole = told.map((start) => (start === '--' ? start : `${start}line ${Number.parseInt(start, 10)}`))
    expect(near.stdout).toBe(`${whole.join('\n')}\n`)
  })
})

describe('sweep', () => {
  test('says why nothing was removed, and tries without removing', async () => {
    const { dir, spillway } = inStore()
    expect(await spillway(['sweep'])).toMatchObject({
      stdout: 'removed 0 outputs (0 B)\nkept 0 outputs (0 B)\n',
      stderr: '',
    })
    for (const letter of ['a', 'b', 'c']) putOld(dir, ownName(letter), letter === 'a' ? 200 : 0)
    const tried = await spillway(['sweep', '--dry-run'])
    expect(tried.stdout).toMatch(
      /^\/.*_aaaaaaaaaaaaa\.txt {2}3 B, too old\nwould remove 1 output \(3 B\)\nwould keep 2 outputs/,
    )
    expect(await spillway(['sweep'])).toMatchObject({ stdout: expect.stringContaining('removed 1 output (3 B)') })
    expect((await spillway(['sweep'])).stderr).toMatch(/Nothing is older than 7 days/)
    expect((await spillway(['sweep', '--max-files', '1'])).stderr).toMatch(/younger than an hour are never removed/)
  })
})

describe('mistyped arguments', () => {
  test.each([
    [['sweep', '--max-files', '0'], /Invalid option --max-files: .*received "0"/],
    [['sweep', '--max-bytes', '0'], /Invalid option --max-bytes: expected a size of at least 1/],
    [['audit', 'verify', '--head', 'abc', 'x.jsonl'], /Invalid option --head: expected a hash of 64/],
  ])('%j', async (args, told) => {
    const { spillway } = inStore()
    expect(await spillway(args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(told) })
  })
})

describe('bytes that are no text', () => {
  const bytes = Buffer.from([0x1f, 0x8b, 0xff, 0x00, 0xc3, 0x0a, 0xfe, 0x41])

  test('come out of clip and read as they came', async () => {
    const { dir, env } = inStore()
    const [input, out] = [join(dir, 'in.bin'), join(dir, 'out.bin')]
    writeFileSync(input, bytes)
    await shell(`spillway clip < ${input} > ${out}`, { env })
    expect(readFileSync(out)).toEqual(bytes)
    const saved = await new TruncationStorage(dir).saveBytes(bytes, { toolName: 'bash' })
    await shell(`spillway read --all ${saved} > ${out}`, { env })
    expect(readFileSync(out)).toEqual(bytes)
    await shell(`spillway read ${saved} > ${out}`, { env })
    expect(readFileSync(out)).toEqual(bytes)
  })
})

describe('a part of a saved output', () => {
  test('is asked for in ways that make sense', async () => {
    const { dir, env, spillway } = inStore()
    const path = await new TruncationStorage(dir).save(lines(600), { toolName: 'bash', sessionId: 's 1' })
    const [inside, outside, all, both, size, more, bare] = await Promise.all([
      spillway(['read', '--from-line', '2', '-n', '1', '--from-byte', '9', path]),
      spillway(['read', '--from-line', '2', '--from-byte', '0', path]),
      spillway(['read', '--all', '-n', '2', path]),
      spillway(['read', '--all', '--from-line', '2', '--from-byte', '9', path]),
      spillway(['read', '--bytes', '1k', path]),
      spillway(['read', '--store', dir, '--session', 's 1', path]),
      cli(['read', '-n', '1', basename(path)], { env, cwd: dirname(path) }),
    ])
    expect(inside).toMatchObject({ code: 0, stdout: 'ne 2\n' })
    expect([outside.code, outside.stderr]).toEqual([2, expect.stringContaining('--from-byte 0: is not in line 2')])
    expect([all.code, both.code]).toEqual([2, 2])
    expect(size).toMatchObject({ code: 0, stdout: lines(600).slice(0, 1024) })
    expect(more.stderr).toBe(`more: ${HERE} read --from-line 501 --lines 500 --store ${dir} --session 's 1' ${path}\n`)
    expect(bare).toMatchObject({ code: 0, stdout: 'line 1\n' })
  })
})

describe('permit, classify, verify and lint', () => {
  test('reports the decision in the exit code', async () => {
    const answers = await Promise.all([
      cli(['classify', 'prompt is too long: 213462 tokens > 200000 maximum']),
      cli(['classify', '--json'], { input: '{"error":{"type":"rate_limit_error","message":"Slow down"}}' }),
      cli(['permit', '--headless', 'rm -rf /']),
      cli(['permit', 'make']),
      cli(['permit', '--json', '--tool', 'read', '{"path":"a.txt"}']),
    ])
    expect(answers.map(({ code }) => code)).toEqual([0, 1, 1, 4, 0])
    const [overflow, rate, denied, asked, allowed] = answers.map(({ stdout }) => stdout)
    expect(overflow).toBe('overflow, confidence high, 213462 tokens, limit 200000 tokens, anthropic\n')
    expect(JSON.parse(rate!)).toMatchObject({ kind: 'rate', overflow: false })
    expect(denied).toMatch(/^deny\n {2}why: /)
    expect(asked).toContain('would settle it: allow bash shell:make')
    expect(JSON.parse(allowed!)).toMatchObject({ decision: 'allow', details: [{ decision: 'allow' }] })
  })

  test('follows the rules of a file', async () => {
    const config = join(tempDir(), 'config.jsonc')
    const rules = [{ domain: 'bash', pattern: 'make', decision: 'allow' }]
    writeFileSync(config, `// mine\n${JSON.stringify({ agents: { runtime: { permission: { rules } } } })}`)
    expect(await cli(['permit', '--config', config, 'make'])).toMatchObject({ code: 0 })
  })

  test('reports problems of a log and of a configuration in the exit code', async () => {
    const dir = tempDir()
    const log = new AuditLog({ dir, sessionId: 's' })
    await log.append({ type: 'decision', tool: 'bash' })
    const receipt = await log.append({ type: 'outcome', tool: 'bash' })
    await log.close()
    const file = join(dir, filesIn(dir)[0]!)
    const good = join(dir, 'good.jsonc')
    const bad = join(dir, 'bad.jsonc')
    writeFileSync(good, '{}')
    writeFileSync(bad, '{\n  "agents": { "runtime": { "truncation": { "maxLines": 0 } } }\n}')
    const [whole, cut, right, wrong, json, missing, folder] = await Promise.all([
      cli(['audit', 'verify', '--head', receipt!.hash, file]),
      cli(['audit', 'verify', '--head', 'f'.repeat(64), '--json', file]),
      cli(['config', 'lint', good]),
      cli(['config', 'lint', bad]),
      cli(['config', 'lint', '--json', bad]),
      cli(['config', 'lint', join(dir, 'none')]),
      cli(['config', 'lint', dir]),
    ])
    expect(whole).toMatchObject({ code: 0, stdout: `ok: 2 records, 1 writer\n  head: ${receipt!.hash}\n` })
    expect([cut.code, JSON.parse(cut.stdout).ok]).toEqual([1, false])
    expect(right).toMatchObject({ code: 0, stdout: 'ok\n' })
    expect(wrong.code).toBe(1)
    expect(wrong.stdout).toMatch(/^error: .*maxLines/)
    expect(JSON.parse(json.stdout)).toMatchObject([{ kind: 'error', line: 2 }])
    expect([missing.code, folder.code]).toEqual([3, 3])
    expect(folder.stderr).toContain('is not a file')
  })

  test.each([
    ['comments', '// mine\n', '', ['permission.rules[0].domain', 'permission.rules[1]']],
    ['what cannot be parsed', '', '}', []],
  ])('rules of a file with %s have the numbers that they have in it', async (_, before, rest, expected) => {
    const file = join(tempDir(), 'config.jsonc')
    const rules = [
      { domain: 'none', pattern: '*', decision: 'allow' },
      { domain: 'mcp', pattern: 'mcp:a/*', decision: 'allow' },
      { domain: 'mcp', pattern: '*', decision: 'ask' },
    ]
    writeFileSync(file, `${before}${JSON.stringify({ agents: { runtime: { permission: { rules } } } })}${rest}`)
    const { code, stdout } = await cli(['config', 'lint', '--json', file])
    const paths = (JSON.parse(stdout) as { path: string }[]).map(({ path }) => path.replace('agents.runtime.', ''))
    expect(code).toBe(1)
    expect(paths.filter((path) => path.startsWith('permission'))).toEqual(expected)
  })
})

describe('audit', () => {
  const written = async () => {
    const dir = tempDir()
    const log = new AuditLog({ dir, sessionId: 's' })
    await log.append({
      type: 'permission',
      tool: 'bash',
      decision: 'deny',
      targets: ['shell:rm -rf /'],
      reason: 'never',
    })
    await log.append({ type: 'outcome', tool: 'bash', outcome: 'ok\u001b[31m', durationMs: 12 })
    await log.close()
    return join(dir, filesIn(dir)[0]!)
  }

  test('show prints the records, one a line, with nothing that a terminal obeys', async () => {
    const file = await written()
    const { code, stdout } = await cli(['audit', 'show', file])
    const [first, second] = stdout.trimEnd().split('\n')
    expect(code).toBe(0)
    expect(first).toMatch(/^\d{4}-\d\d-\d\dT\S+Z {2}permission {2}bash {2}deny {2}shell:rm -rf \/ {2}never$/)
    expect(second).toMatch(/outcome {2}bash {2}ok\\u\{1b\}\[31m {2}12 ms$/)
    const one = await cli(['audit', 'show', '-n', '1', file])
    expect([one.stdout, one.stderr]).toEqual([`${second}\n`, `1 earlier record in ${file}; --all shows them\n`])
    expect(JSON.parse((await cli(['audit', 'show', '--json', file])).stdout)).toMatchObject([{ seq: 1 }, { seq: 2 }])
    writeFileSync(file, 'no record\nnull\n')
    expect(await cli(['audit', 'show', file])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('not a record'),
    })
  })

  test('verify reads several logs, and one that was changed makes the answer no', async () => {
    const [good, bad] = [await written(), await written()]
    writeFileSync(bad, readFileSync(bad, 'utf8').replace('deny', 'allo'))
    const { code, stdout } = await cli(['audit', 'verify', good, bad])
    expect(code).toBe(1)
    expect(stdout).toContain(`${good}: ok: 2 records`)
    expect(stdout).toContain(`${bad}: changed`)
  })

  test('the error of an unknown action names the nearest one', async () => {
    expect((await cli(['audit', 'verfy', 'x'])).stderr).toContain("did you mean 'verify'?")
  })
})

test('the error of a command in several words says that it is one argument', async () => {
  expect((await cli(['permit', 'git', 'status'])).stderr).toContain('is one argument, in quotes')
})

describe('a conversation', () => {
  const call = (id: number) => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id: `c${id}`, type: 'function', function: { name: 'bash', arguments: '{}' } }],
  })
  const result = (id: number) => ({ role: 'tool', tool_call_id: `c${id}`, content: `${id}: ${'output '.repeat(200)}` })
  const messages = [
    { role: 'user', content: 'go' },
    ...Array.from({ length: 8 }, (_, id) => [call(id), result(id)]).flat(),
    { role: 'assistant', content: 'done' },
  ]
  const isCut = (message: { role: string; content: string | null }) =>
    message.role === 'tool' && message.content!.length < 200

  test('has folded lines back, whose target is left out, with the ledger', async () => {
    const dir = tempDir()
    const ledger = new ToolResultLedger()
    const registry = new ToolRegistry({ ledger, fold: new FoldSession() })
    const text = Array.from({ length: 60 }, (_, line) => `export const value${line} = compute(${line})`).join('\n')
    registry.register({ name: 'read', execute: async () => text })
    const history: object[] = [{ role: 'user', content: 'go' }]
    for (const id of ['a', 'b']) {
      const tool_calls = [{ id, type: 'function', function: { name: 'read', arguments: `{"path":"${id}"}` } }]
      const [executed] = await registry.execute(tool_calls)
      history.push({ role: 'assistant', content: null, tool_calls })
      history.push({ role: 'tool', tool_call_id: id, content: executed?.result.output })
    }
    history.push({ role: 'assistant', content: 'ok' }, { role: 'user', content: 'go on' })
    const [file, known, broken] = ['h.json', 'ledger.json', 'broken.json'].map((name) => join(dir, name)) as [
      string,
      string,
      string,
    ]
    writeFileSync(file, JSON.stringify(history))
    writeFileSync(known, JSON.stringify(ledger))
    writeFileSync(broken, '{}')
    const [pruned, refused] = await Promise.all([
      cli(['prune', '--keep-recent', '1', '--ledger', known, file]),
      cli(['prune', '--ledger', broken, file]),
    ])
    expect(JSON.parse(pruned.stdout)[4].content).toBe(text)
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain(`--ledger ${broken}: Invalid option "state.version"`)
  })

  test('comes back in its own form without the old results', async () => {
    const dir = tempDir()
    const [array, object, jsonl] = ['a.json', 'o.json', 'l.jsonl'].map((name) => join(dir, name))
    writeFileSync(array!, JSON.stringify(messages))
    writeFileSync(object!, JSON.stringify({ model: 'm', messages }))
    const jsonLines = messages.map((message) => JSON.stringify(message)).join('\n')
    writeFileSync(jsonl!, jsonLines)
    const [first, second, third, fourth, report] = await Promise.all([
      cli(['prune', array!]),
      cli(['prune', '--keep-recent', '3', object!]),
      cli(['prune', '-o', join(dir, 'out'), jsonl!]),
      cli(['prune', '-'], { input: jsonLines }),
      cli(['prune', '--json', array!]),
    ])
    expect(JSON.parse(first.stdout).filter(isCut)).toHaveLength(7)
    expect(first.stderr).toMatch(/^7 items left out, \d+ -> \d+ tokens \(openai-chat; always\)\n$/)
    expect(JSON.parse(second.stdout)).toMatchObject({ model: 'm' })
    expect(JSON.parse(second.stdout).messages.filter(isCut)).toHaveLength(5)
    expect([third.code, third.stdout]).toEqual([0, ''])
    const written = readFileSync(join(dir, 'out'), 'utf8')
    expect(written).toBe(fourth.stdout)
    expect(written.trimEnd().split('\n')).toHaveLength(messages.length)
    expect(JSON.parse(report.stdout).report.pruned).toHaveLength(7)
    expect(readFileSync(array!, 'utf8')).toBe(JSON.stringify(messages))
  })

  test('has placeholders that name saved outputs of the store, and no other path', async () => {
    const store = tempDir()
    const output = await new TruncationService({ storageDirs: [store] }).output('text\n'.repeat(9000), {
      toolName: 'bash',
    })
    const { outputPath: path, content } = output as TruncatedResult
    const notices = [content, content.replaceAll(path, `/elsewhere/none_${basename(path)}`)]
    const tools = notices.flatMap((text, id) => [call(id), { ...result(id), content: text }])
    const input = JSON.stringify([messages[0], ...tools, messages.at(-1)])
    const prune = (...options: string[]) => cli(['prune', '--keep-recent', '0', ...options, '-'], { input })
    const named = ({ stdout }: { stdout: string }) => stdout.match(/\w+_\w+\.txt/g)
    expect(named(await prune('--store', store))).toEqual([basename(path)])
    expect(named(await prune())).toBeNull()
  })

  test('keeps the very text of the lines that nothing is done to', async () => {
    const untouched = '{ "role": "user", "content": "go",  "seed": 12345678901234567890 }'
    const input = [untouched, ...messages.map((message) => JSON.stringify(message))].join('\n')
    const { stdout } = await cli(['prune', '-'], { input })
    expect(stdout.slice(0, untouched.length + 1)).toBe(`${untouched}\n`)
    expect(stdout.split('\n').filter((line) => line !== '' && isCut(JSON.parse(line)))).toHaveLength(7)
  })

  test('keeps every digit of numbers, also beside what it changes', async () => {
    const id = '12345678901234567890'
    const numbered = messages.map((message, index) =>
      JSON.stringify({ ...message, id: 'ID', at: { ms: 1.5 } }).replace('"ID"', `${id.slice(0, -1)}${index % 10}`),
    )
    const array = `[${numbered.join(',')}]`
    const forms = [array, `{"seed":${id},"messages":${array}}`, numbered.join('\n')]
    const outputs = await Promise.all(forms.map((input) => cli(['prune', '-'], { input })))
    const shown = await Promise.all(forms.map((input) => cli(['prune', '--json', '-'], { input })))
    const digits = (text: string) => text.match(/\d{19,}/g)
    for (const [index, { stdout, stderr }] of outputs.entries()) {
      expect(stderr).toMatch(/^7 items left out/)
      expect(digits(stdout)).toEqual(digits(forms[index]!))
      expect(digits(shown[index]!.stdout)).toEqual(digits(index === 1 ? array : forms[index]!))
    }
  })

  test('with signed reasoning says what that prevents', async () => {
    const signed = Array.from({ length: 8 }, (_, at) => [
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: `s${at}` },
          { type: 'tool_use', id: `t${at}`, name: 'bash', input: {} },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${at}`, content: 'output '.repeat(200) }] },
    ]).flat()
    const { stderr } = await cli(['prune', '-'], {
      input: JSON.stringify([{ role: 'user', content: 'go' }, ...signed]),
    })
    expect(stderr).toMatch(/^0 items left out, .*nothing-to-free; signed reasoning binds the first \d+ messages\)\n$/)
  })

  test('in a session file keeps its entries, and the lines that nothing is done to', async () => {
    const session = new MemorySession()
    session.append({ type: 'label', label: 'begun' })
    for (const message of messages) session.append({ type: 'message', message, seed: 'SEED' })
    const seed = '12345678901234567890'
    const lines = session.entries().map((entry) => JSON.stringify(entry).replace('"SEED"', seed))
    const [plain, json] = await Promise.all([
      cli(['prune', '-'], { input: lines.join('\n') }),
      cli(['prune', '--json', '-'], { input: lines.join('\n') }),
    ])
    expect(plain.stderr).toMatch(/^7 items left out, \d+ -> \d+ tokens \(openai-chat; always\)\n$/)
    const written = plain.stdout.trimEnd().split('\n')
    const places = (entries: string[]) =>
      entries.map((line) => JSON.parse(line)).map(({ id, parentId }) => [id, parentId])
    expect(places(written)).toEqual(places(lines))
    expect(written.filter((line, at) => line !== lines[at] && line.includes(seed))).toHaveLength(7)
    expect(JSON.parse(json.stdout).messages.filter(isCut)).toHaveLength(7)
  })

  test('reports the place of an invalid one', async () => {
    const path = join(tempDir(), 'x.jsonl')
    writeFileSync(path, '{"role":"user","content":"a"}\nnot json\n')
    const { code, stderr } = await cli(['prune', path])
    expect([code, stderr]).toEqual([2, expect.stringContaining('x.jsonl:2: expected a JSON array')])
  })
})

describe('how it is called', () => {
  test.each([
    [[], 2, '', 'Usage: spillway <command>'],
    [['--help'], 0, 'Usage: spillway <command>', ''],
    [['--version'], 0, /^\d+\.\d+\.\d+\n$/, ''],
    [['help', 'clip'], 0, 'Usage: spillway clip [options] [file]', ''],
    [['permit', '-h'], 0, 'a person has to be asked', ''],
    [['nope'], 2, '', 'Unknown command "nope": expected one of run, clip'],
    [['rum'], 2, '', 'Unknown command "rum": did you mean run?'],
    [['help', 'prun'], 2, '', 'Unknown command "prun": did you mean prune?'],
    [['--versoin'], 2, '', 'Unknown option --versoin: did you mean --version?'],
    [['--helpp'], 2, '', 'Unknown option --helpp: did you mean --help?'],
    [['help', '--helpp'], 2, '', 'Unknown option --helpp: did you mean --help?'],
    [['--store', 'x', 'ls'], 2, '', 'Unknown option --store: options follow the command'],
    [['completion', 'fsh'], 2, '', "did you mean 'fish'?"],
    [['serach', 'x'], 2, '', 'Unknown command "serach": did you mean search?'],
    [
      ['run', '--timout', '5', '--', 'true'],
      2,
      '',
      'Unknown option --timout: did you mean --timeout? (spillway run --help)',
    ],
    [['run', '--max-line', '5', '--', 'true'], 2, '', 'did you mean --max-lines?'],
    [['config', 'lnt', 'x'], 2, '', 'received "lnt"; did you mean \'lint\'?'],
    [['mcp', '--nope', '--', 'x'], 2, '', /^(?!.*--json)/],
    [['run'], 2, '', 'missing argument <command>; usage: spillway run'],
    [['run', '--nope', '--', 'true'], 2, '', 'Unknown option --nope: expected one of --max-lines'],
    [['run', '--timeout', 'soon', '--', 'true'], 2, '', 'Invalid option --timeout: expected a time'],
    [['run', '--timeout', '0.1ms', '--', 'true'], 2, '', 'Invalid option --timeout: expected a time of at least 1ms'],
    [['clip', '--max-bytes', '1x'], 2, '', 'Invalid option --max-bytes: expected a size'],
    [['clip', '--direction', 'up'], 2, '', "Invalid option --direction: expected one of 'head', 'tail', 'both'"],
    [['clip', '--config', '/no/such'], 2, '', 'Invalid option --config: "/no/such" is not a file'],
    [['permit', '--vault', '/', 'ls'], 2, '', 'one above it or a root only with --allow-wide-vault, received "/"'],
    [['permit', '--config', '/no/such', 'ls'], 2, '', 'Invalid option --config: "/no/such" is not a file'],
    [['permit', '--config', '/dev/null', 'ls'], 2, '', 'Invalid option --config: "/dev/null" is not a file'],
    [['run', '--max-bytes', '0', '--', 'true'], 2, '', 'Invalid option --max-bytes: expected a size'],
    [['run', '--max-bytes', 'inf', '--', 'true'], 2, '', 'Invalid option --max-bytes: expected a finite size'],
    [['usage', 'more'], 2, '', 'unexpected argument "more"'],
    [['audit', 'check', 'x'], 2, '', "expected one of 'verify', 'show', received \"check\""],
    [['run', '--store', '', '--', 'true'], 2, '', 'Invalid option --store: expected STORE'],
    [['run', '--store', '/', '--', 'true'], 2, '', 'Invalid option --store: expected the path of a folder'],
    [
      ['run', '--store', 'gs://b/x', '--', 'true'],
      2,
      '',
      'Invalid option --store: expected a folder, s3://bucket/prefix',
    ],
    [['usage', '--store', 'S3://bucket/x'], 2, '', 'Invalid option --store: expected a folder, s3://bucket/prefix'],
    [['prune', '--store', 's3:bucket', 'x'], 2, '', 'Invalid option --store: expected a folder'],
    [['usage', '--store', 's3://b'], 2, '', 'Invalid option --store: '],
    [
      ['usage', '--store', 's3://u:hunter2@b/x'],
      2,
      '',
      'Invalid option --store: credentials do not belong in it: the environment has them',
    ],
    [
      ['usage', '--store', 'S3://u:hunter2@b/x'],
      2,
      '',
      "azblob://account/container/prefix, received S3://…; did you mean 's3://'?",
    ],
    [['usage', '--store', 's3:u:hunter2@b/x'], 2, '', 'azblob://account/container/prefix\n'],
    [['permit', '--store', 'gs://u:hunter2@b/x', 'ls'], 2, '', '--store: expected a folder, received gs://…\n'],
    [
      ['init', 'codex', '--dry-run', '--store', 's3://u:hunter2@b/x'],
      2,
      '',
      'Invalid option --store: credentials do not belong in it',
    ],
    [
      ['permit', '--store', 's3://bucket/x', 'ls'],
      2,
      '',
      'expected a folder on this machine, which this command needs, received s3://…',
    ],
    [['view', '--print', '--key-file', 'x'], 2, '', '--key-file: needs --audit'],
    [['usage', '--store= '], 2, '', 'Invalid option --store: expected the path of a folder'],
    [['read', '--session', '', 'x'], 2, '', 'Invalid option --session: expected ID'],
    [['run', '--cwd=', '--', 'true'], 2, '', 'Invalid option --cwd: expected DIR'],
    [['prune', '--protect', 'a', '--protect', '', '-'], 2, '', 'Invalid option --protect: expected TOOL'],
    [['run', '--', ''], 2, '', 'an argument is empty; usage: spillway run'],
    [['mcp', '--', '', 'x'], 2, '', 'an argument is empty; usage: spillway mcp'],
    [['read', ''], 2, '', 'an argument is empty; usage: spillway read'],
    [['audit', 'verify', ''], 2, '', 'an argument is empty; usage: spillway audit'],
    [['classify', ''], 1, 'other', ''],
    [['read', '--lines', '-1', 'x'], 2, '', 'Invalid option --lines: expected a value; one that begins with a dash is'],
    [
      ['tail', '-n', '-1'],
      2,
      '',
      'Invalid option --lines: expected a value; one that begins with a dash is typed --lines=-1',
    ],
    [['view', '--print', '--port', '65536'], 2, '', 'Invalid option --port: expected a whole number from 1 to 65535'],
    [
      ['run', '--max-file-bytes', '1k', '--', 'true'],
      2,
      '',
      'Invalid option --max-file-bytes: expected a whole number',
    ],
    [['mcp', '--url', 'nowhere'], 2, '', 'Invalid option --url: expected an address with http: or https:'],
  ] as const)('%j', async (args, code, out, err) => {
    const ran = await cli(args)
    expect(ran.code).toBe(code)
    for (const [text, said] of [
      [ran.stdout, out],
      [ran.stderr, err],
    ] as const) {
      if (said === '') expect(text).toBe('')
      else expect(text).toEqual(typeof said === 'string' ? expect.stringContaining(said) : expect.stringMatching(said))
    }
    expect(ran.stdout + ran.stderr).not.toContain('\x1b')
  })

  test('a wrong value of an option is wrong usage', async () => {
    const { dir, spillway } = inStore()
    const path = await new TruncationStorage(dir).save('a\n', { toolName: 'bash' })
    const conversation = join(dir, 'c.json')
    writeFileSync(conversation, '[]')
    const ran = await Promise.all([
      spillway(['search', path, '(']),
      spillway(['search', path, '']),
      spillway(['search', '-m', '100000', path, 'a']),
      spillway(['search', '-C', '101', path, 'a']),
      spillway(['search', '--after', 'x', path, 'a']),
      spillway(['prune', '--policy', 'foo', conversation]),
    ])
    expect(ran.map(({ code }) => code)).toEqual([2, 2, 2, 2, 2, 2])
    expect(ran.at(-1)!.stderr).toContain("Invalid option --policy: expected one of 'results'")
    expect(ran[3]!.stderr).toContain('Invalid option')
    expect((await spillway(['run', '--cwd', '/no/such', 'x'])).stderr).toContain(
      'spillway: Invalid option --cwd: expected the path of a folder, received "/no/such"',
    )
  })

  const COMMANDS = readdirSync(join(__dirname, '..', '..', 'lib', 'cli', 'commands')).map((name) =>
    basename(name, '.ts'),
  )

  test.each(['', ...COMMANDS])(
    'the help of "%s" fits a terminal of 60 and of 80 columns, and says the same',
    async (name) => {
      const helps = await Promise.all(
        [60, 80, 120].map((width) => cli([...(name === '' ? [] : [name]), '--help'], { env: { COLUMNS: `${width}` } })),
      )
      const [narrow, usual, wide] = helps.map(({ stdout }) => stdout) as [string, string, string]
      expect(narrow.split('\n').filter((line) => line.length > 60)).toEqual([])
      expect(usual.split('\n').filter((line) => line.length > 80)).toEqual([])
      // Lines of an example that continue can be copied as one command.
      const words = (text: string) => text.replaceAll(/ \\\n/g, ' ').replaceAll(/[\s#]+/g, ' ')
      expect([words(narrow), words(usual)]).toEqual([words(wide), words(wide)])
    },
  )

  test.each([
    ['0', 100],
    ['wide', 100],
    ['1e9', 120],
    ['5', 60],
  ])('COLUMNS of %s is no reason for lines of more than %i columns', async (given, most) => {
    const { code, stdout } = await cli(['usage', '--help'], { env: { COLUMNS: given } })
    expect(code).toBe(0)
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(most)
  })

  test('offers no JSON where a protocol is spoken', async () => {
    const [proxy, usage] = await Promise.all([cli(['mcp', '--help']), cli(['usage', '--help'])])
    expect(proxy.stdout).not.toContain('--json')
    expect(usage.stdout).toContain('--json')
    expect(await cli(['mcp', '--json', '--', 'cat'])).toMatchObject({ code: 2, stdout: '' })
  })

  test('has a code with --json for any failure', async () => {
    const { dir } = inStore()
    for (const args of [
      ['config', 'lint', '--json', dir],
      ['read', '--json', dir],
      ['clip', '--json', dir],
    ]) {
      const { code, stderr } = await cli(args)
      expect([code, JSON.parse(stderr)]).toMatchObject([3, { error: { code: expect.stringMatching(/^[A-Z_]+$/) } }])
    }
  })

  test('wrongly, with --json, is said in JSON', async () => {
    const { code, stderr } = await cli(['usage', '--json', '--nope'])
    expect([code, JSON.parse(stderr)]).toMatchObject([2, { error: { code: 'USAGE' } }])
  })
})
