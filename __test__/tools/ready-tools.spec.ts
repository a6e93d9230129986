import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import {
  createTruncationMiddleware,
  guardTool,
  type PendingRequest,
  PermissionGate,
  PermissionPolicy,
  runCommand,
  SpillwayError,
  ToolRegistry,
  ToolResultLedger,
  TruncationService,
} from 'spillway'
import {
  createEditTool,
  createGrepTool,
  createReadTool,
  createShellTool,
  FileReads,
  type ReadyTool,
} from 'spillway/tools'
import { HERE } from '../cli/support'
import { onUnix } from '../support/only'
import { tempDir } from '../support/temp'

const outputOf = async (tool: ReadyTool, args: unknown, context = {}): Promise<string> =>
  (await tool.execute(args, context)).output
const node = JSON.stringify(process.execPath)
const PRINTED = 'for (let n = 1; n <= 10_000; n++) console.log(n)'
const PRINT = { command: `${node} -e "${PRINTED}"` }
const smallService = () => new TruncationService({ maxLines: 10, storageDir: tempDir() })

/** A folder with these files. */
function folder(files: Record<string, string | Buffer>): string {
  const cwd = tempDir()
  for (const [name, content] of Object.entries(files)) writeFileSync(join(cwd, name), content)
  return cwd
}

describe('every tool', () => {
  const tools = [createShellTool(), createReadTool(), createEditTool(), createGrepTool()]

  test.each(tools)('$name says what is wrong with its arguments, and never throws', async (tool) => {
    for (const args of [undefined, 1, [], 'x', {}, { unknown: 1 }, { path: 1, command: 1, pattern: 1 }]) {
      const result = await tool.execute(args)
      expect(result).toMatchObject({ success: false, metadata: { truncated: false } })
      expect(result.output).toMatch(/^Error: /)
    }
    const aborted = await tool.execute({ command: 'exit 0', pattern: 'x' }, { signal: AbortSignal.abort() })
    expect(aborted.output).toBe('Error: The call was cancelled.')
  })

  test.each<[string, (options: never) => ReadyTool, object, string]>([
    ['cwd', createReadTool, { cwd: 1 }, 'cwd'],
    ['an unknown option', createReadTool, { maxline: 1 }, 'maxLines'],
    ['a name', createReadTool, { name: '' }, 'name'],
    ['lines', createReadTool, { maxLines: 0 }, 'maxLines'],
    ['bytes', createReadTool, { maxBytes: 10 }, 'maxBytes'],
    ['what is no FileReads', createEditTool, { reads: new Map() }, 'reads'],
    ['a timeout', createShellTool, { timeoutMs: -1 }, 'timeoutMs'],
    ['a service', createShellTool, { service: {} }, 'service'],
    ['a program', createGrepTool, { ripgrep: true }, 'ripgrep'],
  ])('refuses %s', (_, create, options, field) => {
    expect(() => create(options as never)).toThrow(SpillwayError)
    expect(() => create(options as never)).toThrow(field)
  })
})

describe('read', () => {
  test('shows numbered lines, and says where to go on', async () => {
    const cwd = folder({ 'a.txt': Array.from({ length: 30 }, (_, at) => `line ${at + 1}`).join('\r\n') })
    const read = createReadTool({ cwd, maxLines: 10 })
    expect(await outputOf(read, { path: 'a.txt', offset: 3, limit: 2 })).toBe(
      '     3\tline 3\n     4\tline 4\n[More lines follow: offset 5]',
    )
    const first = await read.execute({ file_path: 'a.txt', limit: 999 })
    expect(first.metadata.truncated).toBe(true)
    expect(first.output.split('\n')).toHaveLength(11)
    expect(await outputOf(read, { path: 'a.txt', offset: 25 })).toMatch(/ 30\tline 30$/)
    expect(await outputOf(read, { path: 'a.txt', offset: 31 })).toBe('[No line 31: the file has 30 lines.]')
    expect(await outputOf(read, { path: 'a.txt' }, { workingDirectory: tempDir() })).toMatch(/does not exist/)
  })

  test('pages join to the whole, with lines of any length', async () => {
    const cwd = tempDir()
    const read = createReadTool({ cwd, maxBytes: 1024, maxLineChars: 300 })
    const line = fc.string({ unit: fc.constantFrom('a', 'ä', '€', '😀', ' '), maxLength: 140 })
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 40 }), async (lines) => {
        writeFileSync(join(cwd, 'p.txt'), `${lines.join('\n')}\n`)
        const seen: string[] = []
        for (let offset: number | undefined = 1; offset !== undefined; ) {
          const page = await outputOf(read, { path: 'p.txt', offset })
          expect(Buffer.byteLength(page)).toBeLessThan(1024 + 100)
          const more = /\n\[More lines follow: offset (\d+)\]$/.exec(page)
          seen.push(...(more ? page.slice(0, more.index) : page).split('\n').map((one) => one.slice(7)))
          offset = more ? Number(more[1]) : undefined
        }
        expect(seen).toEqual(lines)
      }),
      { numRuns: 40 },
    )
  })

  test('cuts a line that is too long, of any size', async () => {
    const cwd = folder({ 'long.txt': '' })
    truncateSync(join(cwd, 'long.txt'), 0)
    writeFileSync(join(cwd, 'long.txt'), `${'x'.repeat(5_000_000)}\nend\n`)
    const shown = await outputOf(createReadTool({ cwd }), { path: 'long.txt' })
    expect(shown).toContain('… [a line of 5000000 bytes]')
    expect(shown).toMatch(/ 2\tend$/)
    expect(shown.length).toBeLessThan(2200)
  })

  test.each<[string, Buffer, RegExp]>([
    ['png', Buffer.from('\x89PNG\r\n\x1a\n\0', 'latin1'), /a PNG image/],
    ['jpg', Buffer.from('\xff\xd8\xff\xe0', 'latin1'), /a JPEG image/],
    ['pdf', Buffer.from('%PDF-1.7'), /a PDF document/],
    ['utf16', Buffer.from('\ufefftext', 'utf16le'), /UTF-16/],
    ['bin', Buffer.from([1, 2, 0, 3]), /is binary, 4 bytes/],
  ])('refuses a %s plainly', async (name, content, words) => {
    expect(await outputOf(createReadTool({ cwd: folder({ [name]: content }) }), { path: name })).toMatch(words)
  })

  test('says that a path is missing where none was given', async () => {
    expect(await outputOf(createReadTool(), { path: '' })).toContain(
      '"path": expected a path that is not empty and has no NUL',
    )
  })

  test('text that begins like a picture is text', async () => {
    const cwd = folder({ a: 'GIF89a is a format', b: 'BM', c: '' })
    expect(await outputOf(createReadTool({ cwd }), { path: 'a' })).toMatch(/1\tGIF89a/)
    expect(await outputOf(createReadTool({ cwd }), { path: 'b' })).toMatch(/1\tBM/)
    expect(await outputOf(createReadTool({ cwd }), { path: 'c' })).toBe('[The file is empty.]')
  })

  onUnix('follows links, and refuses folders, pipes and circles', async () => {
    const cwd = folder({ 'a.txt': 'hello' })
    symlinkSync('a.txt', join(cwd, 'link'))
    symlinkSync('circle', join(cwd, 'circle'))
    execFileSync('mkfifo', [join(cwd, 'pipe')])
    const read = createReadTool({ cwd })
    expect(await outputOf(read, { path: 'link' })).toBe('     1\thello')
    expect(await outputOf(read, { path: '.' })).toMatch(/is a folder/)
    expect(await outputOf(read, { path: 'pipe' })).toMatch(/a device or a pipe/)
    expect(await outputOf(read, { path: 'circle' })).toMatch(/leads back to itself/)
  })

  onUnix('permission: in the vault it runs, outside and by a link that leads there the user is asked', async () => {
    const outside = folder({ 'b.txt': 'secret' })
    const cwd = folder({ 'a.txt': 'hello' })
    symlinkSync(join(outside, 'b.txt'), join(cwd, 'link'))
    const asked: PendingRequest[] = []
    const permission = new PermissionGate({
      policy: new PermissionPolicy({ vault: cwd }),
      ask: (request) => {
        asked.push(request)
        return { reject: true }
      },
    })
    const read = guardTool(createReadTool({ cwd }), { permission })
    const run = async (path: string) => (await read.execute({ path }, { workingDirectory: cwd })) as { output: string }
    expect((await run('a.txt')).output).toMatch(/hello/)
    for (const path of ['link', join(outside, 'b.txt')]) expect((await run(path)).output).not.toMatch(/secret/)
    expect(asked).toHaveLength(2)
  })
})

describe('edit', () => {
  test('replaces the one place, and keeps line ends, mark and mode', async () => {
    const cwd = folder({ 'a.txt': '\ufeffone\r\ntwo\r\nthree\r\n' })
    chmodSync(join(cwd, 'a.txt'), 0o640)
    const edit = createEditTool({ cwd })
    expect(await outputOf(edit, { path: 'a.txt', old_string: 'two\nthree', new_string: '2\n3\n4' })).toBe(
      `Edited ${join(cwd, 'a.txt')}: lines 2-4.`,
    )
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('\ufeffone\r\n2\r\n3\r\n4\r\n')
    expect(statSync(join(cwd, 'a.txt')).mode & 0o777).toBe(process.platform === 'win32' ? 0o666 : 0o640)
    expect(readdirSync(cwd)).toEqual(['a.txt'])
  })

  test('changes nothing but the one place, for any text', async () => {
    const cwd = tempDir()
    const path = join(cwd, 'p.txt')
    const edit = createEditTool({ cwd })
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '\r\n', '€', '😀', '$&', '\\'), maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(text, text, text, text, async (before, old, after, fresh) => {
        const content = before + old + after
        writeFileSync(path, content)
        const isUnique = old !== '' && content.indexOf(old) === content.lastIndexOf(old)
        const isCrlf = content.includes('\r\n') && !/(?:^|[^\r])\n/.test(content)
        const plain = (value: string) => (isCrlf ? value.replaceAll(/\r?\n/g, '\r\n') : value)
        const { success } = await edit.execute({ path, old_text: old, new_text: fresh })
        const expected = isUnique ? content.replace(old, () => plain(fresh)) : content
        expect(readFileSync(path, 'utf8')).toBe(expected)
        expect(success).toBe(isUnique && old !== plain(fresh))
      }),
      { numRuns: 200 },
    )
    expect(readdirSync(cwd)).toEqual(['p.txt'])
  })

  test.each<[string, string | Buffer, object, RegExp]>([
    ['a text that is not there', 'a b', { old_text: 'c' }, /not in/],
    ['a text that is there twice', 'a a', { old_text: 'a' }, /more than once/],
    ['a text that overlaps itself', 'aaa', { old_text: 'aa' }, /more than once/],
    ['the same text', 'a', { old_text: 'a', new_text: 'a' }, /the same/],
    ['bytes that are no UTF-8', Buffer.from([0x61, 0xff, 0x62]), { old_text: 'a' }, /not UTF-8/],
    ['a picture', Buffer.from('\x89PNG\0', 'latin1'), { old_text: 'P' }, /PNG/],
    ['a new file where one is', 'a', { old_text: '' }, /exists/],
    ['half a character', 'a', { old_text: '\ud83d' }, /old_text/],
  ])('refuses %s, and leaves the file as it was', async (_, content, args, words) => {
    const cwd = folder({ 'a.txt': content })
    const given = { path: 'a.txt', old_text: 'a', new_text: 'x', ...args }
    expect(await outputOf(createEditTool({ cwd }), given)).toMatch(words)
    expect(readFileSync(join(cwd, 'a.txt'))).toEqual(Buffer.from(content))
    expect(readdirSync(cwd)).toEqual(['a.txt'])
  })

  test('writes a new file, and says of a missing one or a missing folder that it is', async () => {
    const cwd = tempDir()
    const edit = createEditTool({ cwd })
    expect(await outputOf(edit, { path: 'new.txt', old_text: '', new_text: 'hello\n' })).toMatch(/^Wrote/)
    expect(readFileSync(join(cwd, 'new.txt'), 'utf8')).toBe('hello\n')
    expect(await outputOf(edit, { path: 'none.txt', old_text: 'a', new_text: 'b' })).toMatch(/does not exist/)
    expect(await outputOf(edit, { path: 'no/folder.txt', old_text: '', new_text: 'b' })).toMatch(/does not exist/)
    const both = ['1', '2'].map((new_text) => edit.execute({ path: 'race.txt', old_text: '', new_text }))
    expect((await Promise.all(both)).filter(({ success }) => success)).toHaveLength(1)
  })

  test('writes no preview in the place of the whole, but edits a file that has a notice', async () => {
    const service = smallService()
    const { content } = await service.output('line\n'.repeat(5000), { toolName: 'grep' })
    const cwd = tempDir()
    const edit = createEditTool({ cwd })
    writeFileSync(join(cwd, 'whole.txt'), 'one\ntwo\n')
    const refused = /^Error: new_text has the notice of a truncated output/
    expect(await outputOf(edit, { path: 'copy.txt', old_text: '', new_text: content })).toMatch(refused)
    expect(existsSync(join(cwd, 'copy.txt'))).toBe(false)
    expect(await outputOf(edit, { path: 'whole.txt', old_text: 'two', new_text: content })).toMatch(refused)
    expect(readFileSync(join(cwd, 'whole.txt'), 'utf8')).toBe('one\ntwo\n')
    writeFileSync(join(cwd, 'page.md'), `# Notices\n\n${content}\n`)
    expect(await outputOf(edit, { path: 'page.md', old_text: '# Notices', new_text: '# A notice' })).toMatch(/^Edited/)
    expect(await outputOf(edit, { path: 'page.md', old_text: '# A notice', new_text: content })).toMatch(/^Edited/)
  })

  onUnix('edits what a link leads to, and neither a file with two names nor a read-only one', async () => {
    const cwd = folder({ 'a.txt': 'one', 'b.txt': 'two', 'c.txt': 'three' })
    symlinkSync('a.txt', join(cwd, 'link'))
    linkSync(join(cwd, 'b.txt'), join(cwd, 'b2.txt'))
    const edit = createEditTool({ cwd })
    await edit.execute({ path: 'link', old_text: 'one', new_text: '1' })
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('1')
    expect(readFileSync(join(cwd, 'link'), 'utf8')).toBe('1')
    expect(await outputOf(edit, { path: 'b.txt', old_text: 'two', new_text: '2' })).toMatch(/2 names/)
    expect(await outputOf(edit, { path: '.', old_text: 'two', new_text: '2' })).toMatch(/is a folder/)
    chmodSync(join(cwd, 'c.txt'), 0o444)
    // Root may write everything.
    if (process.getuid?.() !== 0) {
      expect(await outputOf(edit, { path: 'c.txt', old_text: 'three', new_text: '3' })).toMatch(/read-only/)
    }
  })

  test('a file that was not read, or that has changed since, is refused', async () => {
    const cwd = folder({ 'a.txt': 'one two' })
    const reads = new FileReads()
    const read = createReadTool({ cwd, reads })
    const edit = createEditTool({ cwd, reads })
    const change = (old_text: string, new_text: string) => outputOf(edit, { path: 'a.txt', old_text, new_text })
    expect(await change('one', '1')).toMatch(/was not read yet/)
    await read.execute({ path: 'a.txt' })
    expect(await change('one', '1')).toMatch(/^Edited/)
    expect(await change('two', '2')).toMatch(/^Edited/)
    writeFileSync(join(cwd, 'a.txt'), 'another text')
    expect(await change('text', 'x')).toMatch(/has changed since it was read/)
    await read.execute({ path: 'a.txt' })
    reads.clear()
    expect(await change('text', 'x')).toMatch(/was not read yet/)
    expect(await outputOf(edit, { path: 'new.txt', old_text: '', new_text: 'n' })).toMatch(/^Wrote/)
    expect(await outputOf(edit, { path: 'new.txt', old_text: 'n', new_text: 'm' })).toMatch(/^Edited/)
  })
})

describe('bash', () => {
  test('gives the output and the exit code', async () => {
    const bash = createShellTool()
    expect(await bash.execute({ command: `${node} -e "console.log(1)"` })).toMatchObject({
      success: true,
      output: '1\n',
    })
    const failed = await bash.execute({ cmd: `${node} -e "console.log(2); process.exit(3)"` })
    expect(failed).toMatchObject({ success: false, output: '2\n[Exit code 3]', metadata: { exitCode: 3 } })
    expect(await outputOf(bash, { command: 'exit 0' })).toBe('[No output]')
    expect(await outputOf(bash, { command: 'a\0b' })).toMatch(/NUL/)
    expect(await outputOf(bash, {})).toContain(
      '"command": expected a command that is not empty and has no NUL, received undefined',
    )
  })

  test.each<[string, (service: TruncationService, ledger: ToolResultLedger) => Promise<unknown>]>([
    [
      'guardTool',
      (service, ledger) =>
        guardTool(createShellTool({ service }), { ledger, truncation: service }).execute(PRINT, { toolCallId: 'a' }),
    ],
    [
      'guardTool around runCommand',
      (service, ledger) => {
        const execute = () => runCommand(process.execPath, ['-e', PRINTED], { service })
        return guardTool({ name: 'bash', execute }, { ledger, truncation: service }).execute({}, { toolCallId: 'a' })
      },
    ],
    [
      'ToolRegistry',
      (service, ledger) => {
        const registry = new ToolRegistry({ ledger })
        registry.setTruncationMiddleware(createTruncationMiddleware({ service }))
        registry.register(createShellTool({ service }))
        return registry.execute([{ id: 'a', name: 'bash', arguments: PRINT }])
      },
    ],
  ])('the ledger has the size of all that was printed, and the report counts it once: %s', async (_what, run) => {
    const [service, ledger] = [smallService(), new ToolResultLedger()]
    await run(service, ledger)
    expect(ledger.get('a')?.bytes).toBe(48_894)
    expect(service.report()).toMatchObject({ outputs: 1, truncated: 1 })
  })

  test('saves what is long; the preview with its exit code is never cut again', async () => {
    const service = smallService()
    const bash = createShellTool({ service })
    const command = `${node} -e "for (let i = 0; i < 99; i++) console.log('row ' + i); process.exitCode = 1"`
    const { output, metadata } = await bash.execute({ command }, { sessionId: 's' })
    expect(output).toMatch(/\[Exit code 1\]$/)
    expect(metadata).toMatchObject({ truncated: true, exitCode: 1 })
    expect(readFileSync(metadata.truncationPath as string, 'utf8').split('\n')).toHaveLength(100)
    const smaller = new TruncationService({ maxLines: 3, storageDir: tempDir() })
    expect((await smaller.output(output, { toolName: 'other' })).content).toBe(output)
    const guarded = (await guardTool(bash, { truncation: smaller }).execute({ command })) as { output: string }
    expect(guarded.output.replaceAll(/\S+\.txt/g, 'F')).toBe(output.replaceAll(/\S+\.txt/g, 'F'))
  })

  test('leaves a preview alone that spillway run printed into the same store, within the default limits', async () => {
    const storageDir = tempDir()
    const env = { SPILLWAY_STORAGE_DIR: undefined }
    const command = `${HERE} run --direction tail --store ${storageDir} -- ${node} -e "for (let i = 0; i < 3000; i++) console.log('row ' + i)"; exit 3`
    const run = async (service: TruncationService) => {
      const { output, metadata } = await createShellTool({ service, env }).execute({ command })
      const names = output.match(/saved to: \S+/g) ?? []
      return { output, metadata, names }
    }
    const service = new TruncationService({ storageDir })
    const { output, metadata, names } = await run(service)
    expect(names).toEqual([`saved to: ${metadata.truncationPath}`])
    expect(readFileSync(metadata.truncationPath as string, 'utf8').split('\n')).toHaveLength(3001)
    expect(output).toMatch(/\n\[Exit code 3\]$/)
    const outer = await guardTool(createShellTool({ service, env }), { truncation: service }).execute({ command })
    expect((outer as { output: string }).output.match(/saved to: /g)).toHaveLength(1)

    const smaller = await run(new TruncationService({ storageDir, maxLines: 20, tools: { bash: { maxLines: 20 } } }))
    expect(smaller.output.split('\n').length).toBeLessThan(40)
    expect(smaller.names).toHaveLength(2)
    // Another store does not know it.
    expect((await run(new TruncationService({ storageDir: tempDir() }))).names.length).toBeGreaterThan(1)
  })

  test('a timeout, the most that the model may ask for, and an abort keep the output so far', async () => {
    const forever = `${node} -e "console.log('begun'); setInterval(() => {}, 1000)"`
    const bash = createShellTool({ timeoutMs: 60_000, maxTimeoutMs: 1500 })
    const ended = await bash.execute({ command: forever, timeout_ms: 999_999 })
    expect(ended).toMatchObject({ success: false, output: expect.stringMatching(/begun[\s\S]*1\.?5/) })
    const controller = new AbortController()
    const aborting = createShellTool({ onStart: () => controller.abort() })
    expect((await aborting.execute({ command: forever }, { signal: controller.signal })).success).toBe(false)
  })

  test('runs in its folder with its environment, and shows its output while it runs', async () => {
    const cwd = tempDir()
    const peeked: string[] = []
    let stop = () => {}
    const bash = createShellTool({
      cwd,
      env: { SPILLWAY_TEST: 'here' },
      onStart: (running) => {
        stop = running.stop
      },
      onProgress: ({ bytes }) => {
        if (bytes > 0) stop()
        peeked.push(String(bytes))
      },
    })
    const command = `${node} -e "console.log(process.cwd(), process.env.SPILLWAY_TEST); setInterval(() => {}, 1000)"`
    const { output } = await bash.execute({ command })
    expect(output).toContain(`${cwd} here`)
    expect(peeked.length).toBeGreaterThan(0)
  })
})

describe('grep', () => {
  const files = () => {
    const cwd = folder({ 'a.txt': 'one\nTwo (x)\nthree', 'b.bin': Buffer.from('two\0two'), 'c.txt': 'nothing' })
    mkdirSync(join(cwd, 'node_modules'))
    writeFileSync(join(cwd, 'node_modules', 'd.txt'), 'two')
    mkdirSync(join(cwd, 'sub'))
    writeFileSync(join(cwd, 'sub', 'e.txt'), 'two')
    return cwd
  }
  /** A program that answers like ripgrep, because the real one is not everywhere. */
  const standIn = (code: string) => {
    const path = join(tempDir(), 'rg')
    writeFileSync(path, `#!${process.execPath}\n${code}`)
    chmodSync(path, 0o755)
    return path
  }

  test.each([
    ['without ripgrep', false as const],
    ['with a program that is missing', '/nowhere/rg'],
  ])('finds lines %s', async (_, ripgrep) => {
    const cwd = files()
    const grep = createGrepTool({ cwd, ripgrep })
    expect(await outputOf(grep, { pattern: 'two', ignore_case: true })).toBe(
      `${join(cwd, 'a.txt')}:2:Two (x)\n${join(cwd, 'sub', 'e.txt')}:1:two`,
    )
    expect(await outputOf(grep, { pattern: '(x)', literal: true, path: 'a.txt', context: 1 })).toBe(
      ['-1-one', ':2:Two (x)', '-3-three'].map((rest) => join(cwd, 'a.txt') + rest).join('\n'),
    )
    expect(await outputOf(grep, { pattern: 'four' })).toBe('[No match]')
    expect(await outputOf(grep, { pattern: '(' })).toMatch(/^Error: .*pattern/)
    expect(await outputOf(grep, { pattern: 'x', path: 'none' })).toMatch(/does not exist/)
    expect(await outputOf(grep, { pattern: 'x', path: 'b.bin' })).toMatch(/binary/)
    expect(await outputOf(grep, { pattern: 'x', context: 99 })).toMatch(/context/)
  })

  onUnix('asks ripgrep where there is one, and its errors reach the model', async () => {
    const cwd = files()
    const grep = createGrepTool({ cwd, ripgrep: standIn('console.log(process.argv.slice(2).join(" "))') })
    const asked = await outputOf(grep, { pattern: '-x', literal: true, ignore_case: true, context: 2 })
    expect(asked).toMatch(new RegExp(`--fixed-strings --ignore-case --context=2 --regexp -x -- ${cwd}\n$`))
    const none = createGrepTool({ cwd, ripgrep: standIn('process.exit(1)') })
    expect(await none.execute({ pattern: 'x' })).toMatchObject({ success: true, output: '[No match]' })
    const broken = createGrepTool({ cwd, ripgrep: standIn('console.error("regex parse error"); process.exit(2)') })
    expect(await broken.execute({ pattern: '(' })).toMatchObject({ success: false, output: 'regex parse error\n' })
  })

  test.each([
    ['*.txt', ['a.txt', 'src/b.txt', 'src/deep/c.txt']],
    ['*.{ts,tsx}', ['src/d.ts', 'src/e.tsx']],
    ['src/*', ['src/b.txt', 'src/d.ts', 'src/e.tsx']],
    ['/src/*.txt', ['src/b.txt']],
    ['src/**/*.txt', ['src/b.txt', 'src/deep/c.txt']],
    ['**/c.txt', ['src/deep/c.txt']],
    ['?.[!t]s', []],
    ['[a-b].txt', ['a.txt', 'src/b.txt']],
    ['a+(1).txt', []],
  ])('searches only files with a path like %s', async (glob, found) => {
    const cwd = tempDir()
    for (const path of ['a.txt', 'src/b.txt', 'src/deep/c.txt', 'src/d.ts', 'src/e.tsx']) {
      mkdirSync(dirname(join(cwd, path)), { recursive: true })
      writeFileSync(join(cwd, path), 'one')
    }
    const grep = createGrepTool({ cwd, ripgrep: false })
    const expected = found.map((path) => `${join(cwd, path)}:1:one`).join('\n')
    expect(await outputOf(grep, { pattern: 'one', glob })).toBe(expected || '[No match]')
    // A file that is named is searched, whatever its name.
    expect(await outputOf(grep, { pattern: 'one', glob, path: 'a.txt' })).toBe(`${join(cwd, 'a.txt')}:1:one`)
  })

  onUnix('gives ripgrep the pattern of paths, in the folder that it is relative to', async () => {
    const cwd = files()
    const program = standIn('console.log(process.cwd(), process.argv.slice(2).join(" "))')
    const asked = await outputOf(createGrepTool({ cwd, ripgrep: program }), { pattern: 'x', glob: 'e*', path: 'sub' })
    expect(asked).toMatch(new RegExp(`^${realpathSync(join(cwd, 'sub'))} .* --glob=e\\* --regexp x -- ${cwd}/sub\n$`))
    for (const glob of ['!*.ts', '', 'x'.repeat(201), 7])
      expect(await outputOf(createGrepTool({ cwd }), { pattern: 'x', glob })).toMatch(/^Error: .*glob/)
  })

  test('saves what is long', async () => {
    const cwd = folder({ 'a.txt': 'match\n'.repeat(500) })
    const found = await createGrepTool({ cwd, ripgrep: false, service: smallService() }).execute({ pattern: 'match' })
    expect(found.metadata.truncated).toBe(true)
    expect(readFileSync(found.metadata.truncationPath as string, 'utf8').split('\n')).toHaveLength(500)
  })
})
