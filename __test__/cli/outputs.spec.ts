/** Saved outputs from the command line: found again, read, searched, removed. */

import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { ODD_VALUES, oddJson } from '../support/odd-values'
import { tempDir } from '../support/temp'
import { CLI, cli, ended, HERE, type Ran, shell, start, until } from './support'

let store: string
let env: NodeJS.ProcessEnv
beforeEach(() => {
  store = join(tempDir(), 'outputs')
  env = { SPILLWAY_STORAGE_DIR: store }
})

const spillway = (...args: string[]): Promise<Ran> => cli(args, { env })
const save = (line: string, ...options: string[]) => spillway('run', ...options, '--shell', '--', line)
const listed = async (...args: string[]) => JSON.parse((await spillway('ls', '--json', ...args)).stdout)

describe('the record of a run', () => {
  test('is kept beside the output, with folder, exit code and time', async () => {
    const cwd = tempDir()
    const before = Date.now()
    expect((await save('seq 1 900; exit 3', '--cwd', cwd)).code).toBe(3)
    await spillway('run', '--', 'seq', '-f', '%g x', '1', '900')
    await cli(['clip'], { env, input: 'x\n'.repeat(5000) })
    const [clipped, words, line] = await listed()
    expect(line).toMatchObject({
      command: 'seq 1 900; exit 3',
      cwd,
      exitCode: 3,
      toolName: 'bash',
      lines: 900,
      bytes: 3492,
    })
    expect(line.startedAt).toBeGreaterThanOrEqual(before)
    expect(words.command).toBe("seq -f '%g x' 1 900")
    expect(clipped).toEqual({ path: expect.any(String), toolName: 'clip', savedAt: expect.any(Number), bytes: 10_000 })
    const { stdout } = await spillway('show', '-3')
    expect(stdout).toContain('command   seq 1 900; exit 3')
    expect(stdout).toContain('exit code 3')
    expect((await spillway('show', '--path')).stdout).toBe(`${clipped.path}\n`)
    expect(statSync(join(store, 'commands.jsonl')).mode & 0o077).toBe(0)
  })

  test('is listed by the folder of the store, as a word or an option', async () => {
    await save('seq 1 900')
    const all = await listed()
    for (const words of [[store], ['--store', store]]) {
      const { stdout } = await cli(['ls', '--json', ...words], { env: { SPILLWAY_STORAGE_DIR: tempDir() } })
      expect(JSON.parse(stdout)).toEqual(all)
    }
    const { code, stderr } = await spillway('ls', '--store', store, store)
    expect([code, stderr]).toEqual([2, expect.stringContaining('leave out one of them')])
  })

  test('is a table for people, with what a terminal must not get written out', async () => {
    await save("seq 1 900; printf '\\033[31m' # \u001b[31m\n")
    const { stdout } = await spillway('ls')
    expect(stdout).toMatch(/^-1 {2}\d+ s {2}3\.4 KiB {2}0 {2}seq 1 900;/)
    expect(stdout).toContain('\\u{1b}')
  })

  test('is left out where the log cannot be read or written, and nothing else is lost', async () => {
    await save('seq 1 900')
    appendFileSync(join(store, 'commands.jsonl'), 'no JSON\nnull\n[]\n{"path":5}\n')
    expect(await listed()).toHaveLength(1)
    const other = tempDir()
    const target = join(tempDir(), 'target')
    writeFileSync(target, '')
    symlinkSync(target, join(other, 'commands.jsonl'))
    const { code, stdout, stderr } = await cli(['run', '--store', other, '--', 'seq', '1', '900'], { env })
    expect([code, stdout.includes('Full output saved to')]).toEqual([0, true])
    expect(stderr).toContain('commands.jsonl')
    expect(readFileSync(target, 'utf8')).toBe('')
  })

  test('is forgotten with its output once the log is long', async () => {
    await save('seq 1 900')
    const file = join(store, 'commands.jsonl')
    appendFileSync(file, `${JSON.stringify({ path: '/gone', command: 'x'.repeat(4000) })}\n`.repeat(1100))
    await save('seq 1 901')
    expect(readFileSync(file, 'utf8').split('\n').filter(Boolean)).toHaveLength(2)
  })
})

test('an output is named by its path or counted from the newest, everywhere', async () => {
  await save('seq 1 900')
  await save('seq 2001 2900')
  const [newest, before] = (await listed()).map(({ path }: { path: string }) => path)
  for (const [args, expected] of [
    [['read', '-1', '--lines', '1'], '2001\n'],
    [['read', '--lines', '1', '-2'], '1\n'],
    [['read', before, '--lines', '1'], '1\n'],
    [['tail', '-n', '2'], '2899\n2900\n'],
    [['tail', '--lines', '1', '-2'], '900\n'],
    [['search', '-2', '^90.$'], '900:900\n'],
    [['search', '-c', '-1', '9$'], '90\n'],
    [['search', '-c', '-m', '7', '-1', '9$'], '7\n'],
    [['search', '-l', '-1', '2500'], `${newest}\n`],
    [['search', '-A', '1', '-B', '2', '-1', '^2500$'], '498-2498\n499-2499\n500:2500\n501-2501\n'],
    [['open', '--with', 'head -1'], '2001\n'],
    [['ls', '--paths'], `${newest}\n${before}\n`],
    [['ls', '--paths', '-n', '1'], `${newest}\n`],
  ] as const) {
    expect([args, (await spillway(...args)).stdout]).toEqual([args, expected])
  }
  const more = await spillway('read', '-1', '--lines', '2')
  expect(more.stderr).toBe(`more: ${HERE} read --from-line 3 --lines 2 ${newest}\n`)
  expect((await spillway('search', '-l', '-1', 'nothing')).code).toBe(1)
  const many = await spillway('read', '-3')
  expect([many.code, many.stderr]).toEqual([
    2,
    'spillway: -3: expected an output, such as -1 for the newest; 2 are saved\n',
  ])
  await spillway('rm', '-1')
  expect((await spillway('show', '-2')).stderr).toBe(
    'spillway: -2: expected an output, such as -1 for the newest; 1 is saved\n',
  )
  const other = await spillway('show', '--session', 'other')
  expect([other.code, other.stderr]).toEqual([
    3,
    expect.stringContaining('spillway: no output of session "other" is saved in /'),
  ])
  await spillway('rm', '-1')
  for (const command of ['last', 'show', 'tail', 'open', 'rm -1', 'search -1 text']) {
    const { code, stderr } = await spillway(...command.split(' '))
    expect([command, code, stderr]).toEqual([
      command,
      3,
      expect.stringMatching(/^spillway: no output is saved in .*\n$/),
    ])
  }
  const none = await spillway('ls')
  expect([none.code, none.stdout, none.stderr]).toEqual([0, '', expect.stringMatching(/^no output is saved in .*\n$/)])
})

describe('rm', () => {
  test('removes the outputs of its arguments, all resolved before the first is removed', async () => {
    for (const last of [900, 901, 902]) await save(`seq 1 ${last}`)
    const paths = (await listed()).map(({ path }: { path: string }) => path)
    expect((await spillway('rm', '-1', '-2', '-2')).stdout).toBe('removed 2 outputs\n')
    expect(paths.map((path: string) => existsSync(path))).toEqual([false, false, true])
    const again = await spillway('rm', paths[0])
    expect([again.code, again.stdout]).toEqual([1, 'removed 0 outputs; 1 not there\n'])
    // The record of a command is removed with its output.
    expect(readFileSync(join(store, 'commands.jsonl'), 'utf8').match(/seq 1 \d+/g)).toEqual(['seq 1 900'])
  })

  test('removes the outputs of a session and no others', async () => {
    await save('seq 1 900')
    for (const session of ['a', 'b']) await save('seq 1 900', '--session', session)
    expect(await listed('--session', 'a')).toHaveLength(1)
    expect((await spillway('rm', '--session', 'a')).stdout).toBe('removed 1 output\n')
    expect(await listed()).toHaveLength(2)
  })

  test.each([['/etc/passwd'], ['../x'], ['commands.jsonl']])('touches nothing else: %s', async (given) => {
    await save('seq 1 900')
    const { code, stderr } = await cli(['rm', given], { env, cwd: store })
    expect([code, stderr]).toEqual([3, expect.stringContaining('is not an output that this store saved')])
    expect(existsSync(join(store, 'commands.jsonl'))).toBe(true)
  })

  test('says what is missing', async () => {
    expect(await spillway('rm')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('missing argument <output>'),
    })
  })
})

test('the notice names the commands that read on, as they can be typed', async () => {
  const named = (await save('seq 1 900')).stdout
  expect(named).toContain(`Use \`${process.execPath} ${CLI} search\` to search that file.`)
  const folder = tempDir()
  mkdirSync(join(folder, 'bin'))
  symlinkSync(CLI, join(folder, 'bin', 'spillway'))
  const path = `${join(folder, 'bin')}:${process.env.PATH}`
  // As npx has it: the shell of the user does not.
  const ofNpm = join(folder, 'node_modules', '.bin')
  mkdirSync(ofNpm, { recursive: true })
  symlinkSync(CLI, join(ofNpm, 'spillway'))
  const npx = await shell('spillway run -- seq 1 9000', { env: { ...env, PATH: `${ofNpm}:${process.env.PATH}` } })
  expect(npx.stdout).toContain(`${CLI} search\``)
  for (const line of ['seq 1 9000 | spillway clip --language zh-CN', 'spillway run --direction head -- seq 1 9000']) {
    const { stdout } = await shell(line, { env: { ...env, PATH: path } })
    expect(stdout).toContain('`spillway search`')
    expect(stdout).toContain('`spillway read`')
    expect(stdout).not.toContain('spillway_')
  }
})

test('a file has a bound, which an option changes', async () => {
  const partial = await spillway('run', '--max-file-bytes', '10k', '--', 'seq', '1', '9000')
  expect(partial.stdout).toContain('.partial.txt')
  const [{ bytes, partial: isPartial }] = await listed()
  expect([bytes <= 10_240, isPartial]).toEqual([true, true])
  expect((await spillway('run', '--max-file-bytes', 'infinity', '--', 'seq', '1', '9000')).stdout).not.toContain(
    '.partial',
  )
})

test('--live shows the output on standard error while the command runs', async () => {
  const gate = join(tempDir(), 'gate')
  const line = `echo first; while [ ! -e ${gate} ]; do sleep 0.02; done; printf second`
  const child = start(process.execPath, [CLI, 'run', '--live', '--shell', '--', line], { env })
  child.stdin!.end()
  const end = ended(child)
  let seen = ''
  await new Promise<void>((resolve) => {
    child.stderr!.on('data', (bytes: Buffer) => {
      seen += bytes
      if (seen.includes('first\n')) resolve()
    })
  })
  writeFileSync(gate, '')
  expect(await end).toMatchObject({ code: 0, stdout: 'first\nsecond', stderr: 'first\nsecond\n' })
})

test('tail -f prints the output of a command that runs elsewhere, until it ends', async () => {
  const nothing = await spillway('tail', '-f')
  expect([nothing.code, nothing.stderr]).toEqual([1, expect.stringContaining('no command is running')])
  const gate = join(tempDir(), 'gate')
  const line = `seq 1 3; while [ ! -e ${gate} ]; do sleep 0.02; done; seq 4 6`
  const runs = ended(start(process.execPath, [CLI, 'run', '--shell', '--', line], { env }))
  await until(() => existsSync(store) && readdirSync(store).some((name) => name.endsWith('.sock')))
  const child = start(process.execPath, [CLI, 'tail', '-f'], { env })
  const end = ended(child)
  let seen = ''
  await new Promise<void>((resolve) => {
    child.stdout!.on('data', (bytes: Buffer) => {
      seen += bytes
      if (seen.includes('3\n')) resolve()
    })
  })
  writeFileSync(gate, '')
  expect((await runs).stdout).toBe('1\n2\n3\n4\n5\n6\n')
  expect(await end).toMatchObject({ code: 0, stdout: '1\n2\n3\n4\n5\n6\n', stderr: '' })
  expect(readdirSync(store)).toEqual([])
})

test('tail -f skips drafts of a killed process', async () => {
  mkdirSync(store, { recursive: true })
  writeFileSync(join(store, 'running-1.sock'), '')
  expect((await spillway('tail', '-f')).code).toBe(1)
  expect(readdirSync(store)).toEqual([])
})

test('last says what was run last, and how it ended', async () => {
  await save('seq 1 900')
  await save('seq 1 901; exit 3')
  const { stdout } = await spillway('last', '-n', '2')
  expect(stdout).toContain('command   seq 1 901; exit 3\n')
  expect(stdout).toMatch(/exit code 3\n[\s\S]*\n\n900\n901\n$/)
  const json = JSON.parse((await spillway('last', '--json', '-n', '1')).stdout)
  expect(json).toMatchObject({ exitCode: 3, end: '901\n' })
})

test('a pattern that cannot be read is named as the argument it is, with the option for a text', async () => {
  await save('seq 1 900')
  const { code, stderr } = await spillway('search', '-1', 'f(')
  expect([code, stderr]).toEqual([2, expect.stringMatching(/Invalid <pattern>: unclosed group.*; .*--literal/)])
})

/** Returns a new folder with an empty file of this name. */
function tempWith(name: string): string {
  const folder = tempDir()
  writeFileSync(join(folder, name), '')
  return folder
}

describe('the help', () => {
  test('is the manual page', async () => {
    const page = readFileSync(join(__dirname, '../../man/spillway.1'), 'utf8')
    expect((await spillway('help', '--man')).stdout).toBe(page)
    expect(page).toContain('.SS spillway search')
  })

  test('is completed by bash', async () => {
    const ask = (words: string) =>
      `COMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS[@]}-1)); _spillway; echo "\${COMPREPLY[@]}"`
    const { stdout } = await shell(
      `eval "$(spillway completion bash)"; ${[`spillway com`, `spillway run --dir`, `spillway run --direction ''`, `spillway search -`, `spillway init cod`, `spillway doctor codex op`, `spillway hook m`, `spillway init --file rea`, `spillway help pr`].map(ask).join('; ')}`,
      { env, cwd: tempWith('readable.json') },
    )
    const [command, option, values, search, ...names] = stdout.trimEnd().split('\n')
    expect(names).toEqual(['codex', 'opencode', '', 'readable.json', 'prune'])
    expect([command, option, values]).toEqual(['completion', '--direction', 'head tail both'])
    expect(search!.split(' ')).toEqual(expect.arrayContaining(['--literal', '-F', '-A', '--files-with-matches']))
  })

  test.each(['zsh', 'fish'])('is complete for %s', async (name) => {
    const { stdout } = await spillway('completion', name)
    for (const word of ['run', 'search', 'max-file-bytes', 'files-with-matches', 'claude-code'])
      expect(stdout).toContain(word)
  })

  test('names no other shell', async () => {
    expect(await spillway('completion', 'tcsh')).toMatchObject({
      code: 2,
      stderr: `spillway: Invalid argument <shell>: expected one of 'bash', 'zsh', 'fish', received "tcsh"\n`,
    })
  })
})

test('a log of commands with JSON of another kind is read without its wrong lines', async () => {
  for (let at = 0; at < ODD_VALUES.length; at++) await save(`seq 1 ${900 + at}`)
  const paths: string[] = (await listed()).map(({ path }: { path: string }) => path)
  const log = join(dirname(paths[0]!), 'commands.jsonl')
  const right = { command: 'make', cwd: '/', exitCode: 0, startedAt: 1, durationMs: 1000 }
  const lines = ODD_VALUES.flatMap(([, value], at) => {
    const wrong = Object.keys({ ...right, lines: 1 }).map((key) => [key, oddJson(value)] as const)
    const texts = wrong.map(([key, json]) =>
      JSON.stringify({ ...right, [key]: 'HERE', path: paths[at] }).replace('"HERE"', () => json),
    )
    return [oddJson(value), `{"path":${oddJson(value)},"command":"x"}`, ...texts]
  })
  writeFileSync(log, `${lines.join('\n')}\n`)
  const [table, newest, oldest] = await Promise.all([
    spillway('ls'),
    spillway('show'),
    spillway('show', `-${paths.length}`),
  ])
  expect([table.code, newest.code, oldest.code, table.stderr + newest.stderr + oldest.stderr]).toEqual([0, 0, 0, ''])
  expect(table.stdout.trimEnd().split('\n')).toHaveLength(paths.length)
})
