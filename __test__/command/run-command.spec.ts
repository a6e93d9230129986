import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CommandProgress, type RunCommandOptions, runCommand, SpillwayError } from 'spillway'
import { runChild } from '../support/child'
import { onUnix } from '../support/only'
import { cut, makeListening, makeService, numbered, rejection } from '../support/outputs'
import { filesIn, tempDir } from '../support/temp'

/** A script for Node itself, which is there on every system. */
function node(script: string, options: RunCommandOptions = {}, ...args: string[]) {
  return runCommand(process.execPath, ['-e', script, ...args], { service: makeService(), ...options })
}

function sh(script: string, options: RunCommandOptions = {}) {
  return runCommand(script, [], { service: makeService(), shell: true, ...options })
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    // There may be no process to reap it.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

describe('the output of a command', () => {
  test('comes back as it is, with how it ended', async () => {
    const { service, events } = makeListening()
    const result = await node('console.log("hello")', { service, toolCallId: 'c1' })
    expect(result).toMatchObject({ exitCode: 0, signal: null, timedOut: false, aborted: false, totalBytes: 6 })
    expect(result.output).toStrictEqual({ content: 'hello\n', truncated: false })
    expect(result.durationMs).toBeGreaterThan(0)
    expect(result).not.toHaveProperty('note')
    expect(events).toMatchObject([{ type: 'skipped', toolName: 'bash', toolCallId: 'c1' }])
  })

  onUnix('can come from what this process reads', () => {
    const script = `const run = (options) => spillway.runCommand(process.execPath, ['-e', 'process.stdin.pipe(process.stdout)'], options)
      const { output } = await run({ stdin: 'inherit' })
      const refused = await run({ stdin: 'inherit', input: 'a' }).catch(({ field }) => field)
      answer([output.content, refused])`
    const under = ['sh', '-c', 'printf typed | "$@"', 'sh']
    expect(runChild(script, { under })).toEqual(['typed', 'options.stdin'])
  })

  test('is bounded and kept whole, however long it is', async () => {
    const dir = tempDir()
    const service = makeService({ storageDirs: [dir] })
    const result = await node('process.stdout.write("line of text\\n".repeat(2000000))', { service, sessionId: 's' })
    const output = cut(result.output)
    expect([output.keptLines, output.totalLines, result.totalBytes]).toEqual([500, 2_000_000, 26_000_000])
    expect(readFileSync(output.outputPath, 'utf8')).toBe('line of text\n'.repeat(2_000_000))
    expect(filesIn(dir)).toHaveLength(1)
  })

  test.each(['head', 'both', 'tail'] as const)('with direction %s: where it failed, its end is shown', async (end) => {
    const service = makeService({ global: { direction: end, maxLines: 10 } })
    for (const lines of [20, 2000]) {
      const text = numbered(lines)
      for (const exitCode of [0, 3]) {
        const script = `process.stdout.write(${JSON.stringify(text)}); process.exitCode = ${exitCode}`
        const { output } = await node(script, { service, toolName: 'make' })
        const expected = await service.output(text, { toolName: 'make', failed: exitCode !== 0 })
        const shown = (result: typeof output) => ({ ...cut(result), outputPath: '', content: undefined, hint: '' })
        expect(shown(output)).toStrictEqual(shown(expected))
        expect(output.content.includes(`line ${lines}\n`) || output.content.endsWith(`line ${lines}`)).toBe(
          exitCode !== 0 || end !== 'head',
        )
      }
    }
    const asked = await node('console.log("a\\nb"); process.exitCode = 1', {
      service,
      truncation: { direction: 'head', maxLines: 1 },
    })
    expect(asked.output.content).toMatch(/^a\n/)
  })

  test('is what output() makes of it', async () => {
    const service = makeService()
    const { output } = await node(`process.stdout.write(${JSON.stringify(`${numbered(3000)}\n你好`)})`, { service })
    const direct = cut(await service.output(Buffer.from(`${numbered(3000)}\n你好`), { toolName: 'bash' }))
    const bare = ({ outputPath, ...rest }: typeof direct) =>
      JSON.parse(JSON.stringify(rest).replaceAll(outputPath, '{path}'))
    expect(bare(cut(output))).toEqual(bare(direct))
  })

  test('keeps the order in which both streams were written', async () => {
    const script = 'const {writeSync} = require("fs"); for (let i = 0; i < 200; i++) writeSync(1 + (i % 2), i + "\\n")'
    const { output } = await node(script)
    expect(output.content).toBe(Array.from({ length: 200 }, (_, i) => `${i}\n`).join(''))
  })

  test('can be labelled by stream', async () => {
    const script = `
      const wait = () => new Promise((resolve) => setTimeout(resolve, 100))
      const main = async () => {
        process.stdout.write('one\\ntw'); await wait()
        process.stderr.write('bad\\n'); await wait()
        process.stdout.write('o\\nend')
      }
      main()`
    const { output } = await node(script, { separate: true })
    expect(output.content).toBe('[stdout]\none\n[stderr]\nbad\n[stdout]\ntwo\nend')
  })

  onUnix('keeps its lines whole where they are labelled, however much comes at once', async () => {
    // More than a pipe holds, so that a read ends inside a line while the other stream speaks.
    const script = 'yes 0123456789abcdef | head -20000 & yes "FEDCBA9876543210" | head -20000 >&2; wait'
    const { output } = await sh(script, { separate: true, truncation: { maxLines: 1e6, maxBytes: 1e7 } })
    const lines = new Set(output.content.split('\n'))
    expect([...lines].sort()).toEqual(['', '0123456789abcdef', 'FEDCBA9876543210', '[stderr]', '[stdout]'])
  })

  test('is passed to a strategy of the caller too', async () => {
    const strategy = { name: 's', needsTruncation: () => true, truncate: () => ({ content: 'SHORT' }) }
    const { output } = await node('console.log("long")', { service: makeService({ strategy }) })
    expect(cut(output).preview).toBe('SHORT')
  })

  test('can be a great deal through the streams, too', async () => {
    const { output, totalBytes, totalLines } = await node('process.stdout.write("0123456789\\n".repeat(500000))', {
      separate: true,
    })
    // The label is in the text, but the command did not print it.
    expect([totalBytes, totalLines]).toEqual([5_500_000, 500_000])
    expect(cut(output).totalLines).toBe(500_001)
  })
})

describe('a command gets', () => {
  test('input, folder and variables', async () => {
    const cwd = tempDir()
    const script =
      'process.stdin.on("data", (d) => process.stdout.write(d)).on("end", () => console.log(process.cwd(), process.env.A, process.env.HOME))'
    const { output } = await node(script, { cwd, env: { A: '1', HOME: undefined }, input: 'in ' })
    expect(output.content).toBe(`in ${cwd} 1 undefined\n`)
    expect((await node('', { input: new Uint8Array(2_000_000) })).exitCode).toBe(0)
  })

  onUnix('arguments that a shell would read otherwise', async () => {
    const args = ["it's", '$HOME', 'a b', '*', '']
    const { output } = await runCommand('printf "<%s>"', args, { shell: true, service: makeService() })
    expect(output.content).toBe("<it's><$HOME><a b><*><>")
    const direct = await runCommand('printf', ['<%s>', ...args], { service: makeService() })
    expect(direct.output.content).toBe(output.content)
  })
})

describe('how a command ends', () => {
  test('another exit code is a result, and the notice does not say that it went well', async () => {
    const result = await node(`process.stdout.write(${JSON.stringify(numbered(600))}); process.exitCode = 42`)
    expect(result.exitCode).toBe(42)
    expect(result.output.content).toContain('failed')
  })

  onUnix('a signal is a result', async () => {
    expect(await sh('kill -9 $$')).toMatchObject({ exitCode: null, signal: 'SIGKILL', aborted: false })
  })

  test('a program that is not there is an error', async () => {
    const dir = tempDir()
    const service = makeService({ storageDirs: [dir] })
    const error = await rejection(runCommand('/no/such/program', [], { service }))
    expect(error).toBeInstanceOf(SpillwayError)
    expect(error).toMatchObject({ code: 'COMMAND', cause: { code: 'ENOENT' } })
    expect((error as Error).message).not.toContain('shell')
    const line = await rejection(runCommand('seq 3', [], { service }))
    expect(line).toMatchObject({ code: 'COMMAND', message: expect.stringMatching(/shell: true$/) })
    expect(await rejection(node('', { service, cwd: '/no/such/folder' }))).toMatchObject({ code: 'COMMAND' })
    expect(filesIn(dir)).toEqual([])
  })

  test('wrong arguments are named', async () => {
    const wrong = (options: object) => rejection(runCommand('x', [], options as RunCommandOptions))
    expect(await rejection(runCommand('', []))).toMatchObject({ code: 'INVALID_ARGUMENT', field: 'file' })
    expect(await rejection(runCommand('x', [1] as never))).toMatchObject({ field: 'args[0]' })
    for (const [file, args, options, field] of [
      ['a\0b', [], {}, 'file'],
      ['x', ['y', 'a\0'], {}, 'args[1]'],
      ['x', [], { cwd: 'a\0' }, 'options.cwd'],
      ['x', [], { cwd: null }, 'options.cwd'],
      ['x', [], { cwd: '' }, 'options.cwd'],
      ['x', [], { shell: '/bin/sh\0' }, 'options.shell'],
      ['x', [], { env: { A: null } }, 'options.env.A'],
      ['x', [], { env: { A: 1 } }, 'options.env.A'],
      ['x', [], { env: { A: 'a\0b' } }, 'options.env.A'],
      ['x', [], { env: { 'A\0': 'b' } }, 'options.env.A\\0'],
      ['x', [], { env: { 'A=B': 'c' } }, 'options.env.A=B'],
      ['x', [], { toolName: 5 }, 'options.toolName'],
      ['x', [], { truncation: 5 }, 'options.truncation'],
      ['x', [], { truncation: { maxLines: 0 } }, 'options.truncation.maxLines'],
    ] as const) {
      const error = await rejection(runCommand(file, args, options as RunCommandOptions))
      expect(error).toMatchObject({
        code: 'INVALID_ARGUMENT',
        field,
        message: expect.stringMatching(/expected .*, received/),
      })
    }
    expect(await wrong({ timeoutMs: 0 })).toMatchObject({ field: 'options.timeoutMs' })
    expect(await wrong({ timeoutMs: Number.NaN })).toMatchObject({ field: 'options.timeoutMs' })
    expect(await wrong({ input: 5 })).toMatchObject({ field: 'options.input' })
    expect(await wrong({ service: {} })).toMatchObject({ field: 'options.service' })
  })

  onUnix('a timeout ends everything it started, keeps the output and says so', async () => {
    const { service, events } = makeListening()
    const result = await sh('sleep 60 & echo "pid $!"; echo partial; sleep 60; wait', { service, timeoutMs: 500 })
    expect(result).toMatchObject({ timedOut: true, aborted: false, exitCode: null, signal: 'SIGTERM' })
    expect(result.durationMs).toBeLessThan(10_000)
    expect(result.output.content).toMatch(
      /^pid \d+\npartial\n\nThe command was ended because it ran longer than 500 ms/,
    )
    expect(result.output.content.endsWith(result.note!)).toBe(true)
    expect(isAlive(Number(/pid (\d+)/.exec(result.output.content)![1]))).toBe(false)
    expect(events.map(({ type }) => type)).toEqual(['skipped'])
  })

  onUnix('a call under a timeout is waited for by a process that has nothing else to do', () => {
    const told = runChild(
      `const service = new spillway.TruncationService({ storageDirs: [input] })
       const script = '(trap "" TERM; echo $BASHPID $$; sleep 60) & sleep 60'
       const result = await spillway.runCommand('sh', ['-c', script], { service, timeoutMs: 300, killGraceMs: 300 })
       answer([result.timedOut, result.output.content.split(' ').length > 1])`,
      { input: tempDir() },
    )
    expect(told).toEqual([true, true])
  })

  onUnix('what has ended and was not buried yet is not waited for', async () => {
    const result = await sh('sleep 60 & echo started; sleep 60', { timeoutMs: 300, killGraceMs: 30_000 })
    expect(result.timedOut).toBe(true)
    expect(result.durationMs).toBeLessThan(20_000)
  })

  test('a timeout is never early', async () => {
    const result = await node('setInterval(() => {}, 1000)', { timeoutMs: 150 })
    expect(result.durationMs).toBeGreaterThanOrEqual(150)
  })

  test('a folder that is not there is what is wrong, and not the program', async () => {
    const cwd = join(tempDir(), 'missing')
    expect(await rejection(runCommand(process.execPath, ['-v'], { cwd }))).toMatchObject({
      code: 'COMMAND',
      field: 'options.cwd',
      message: expect.stringContaining('missing'),
    })
    expect(await rejection(runCommand(process.execPath, ['-v'], { cwd: process.execPath }))).toMatchObject({
      code: 'COMMAND',
      field: 'options.cwd',
      message: expect.stringContaining('is not a folder'),
    })
  })

  onUnix('one that does not want to end is killed', async () => {
    const result = await sh('trap "" TERM; echo "pid $$"; while :; do sleep 0.05; done', {
      timeoutMs: 300,
      killGraceMs: 300,
    })
    expect(result).toMatchObject({ timedOut: true, signal: 'SIGKILL' })
  })

  onUnix('one that cleans up when it is asked to end has the time to say so', async () => {
    const result = await sh('trap "echo cleaned; exit 3" TERM; echo on; while :; do sleep 0.05; done', {
      timeoutMs: 400,
    })
    expect(result).toMatchObject({ timedOut: true, exitCode: 3 })
    expect(result.output.content).toMatch(/^on\n(.*\n)?cleaned\n/)
  })

  test('an abort keeps the output and says so', async () => {
    const controller = new AbortController()
    const service = makeService({ language: 'zh-CN' })
    const running = node('console.log("started"); setInterval(() => {}, 1000)', {
      service,
      signal: controller.signal,
      onProgress: ({ bytes }) => bytes > 0 && controller.abort(),
    })
    const result = await running
    expect(result).toMatchObject({ aborted: true, timedOut: false })
    expect(result.output.content).toBe('started\n\n命令已被用户中止。')
  })

  test.each([
    [
      'a timeout',
      undefined,
      /^The command was ended because it ran longer than \d+ ms/,
      { timedOut: true, aborted: false },
    ],
    ['a parent', new Error('the parent has ended'), /^The command was aborted\.$/, { timedOut: false, aborted: true }],
    ['a user', new DOMException('', 'AbortError'), /^The command was aborted by the user\.$/, { aborted: true }],
  ])('the note after an abort by %s says so', async (_, reason, note, ended) => {
    const controller = new AbortController()
    const signal = reason === undefined ? AbortSignal.timeout(200) : controller.signal
    const onStart = () => reason && controller.abort(reason)
    const result = await node('setInterval(() => {}, 1000)', { signal, onStart })
    expect(result).toMatchObject({ ...ended, note: expect.stringMatching(note) })
    expect(result.output.content).toBe(result.note)
  })

  test('an abort before the start rejects with its reason', async () => {
    const reason = new Error('no')
    expect(await rejection(node('', { signal: AbortSignal.abort(reason) }))).toBe(reason)
  })

  for (const separate of [false, true]) {
    onUnix(`a child that stays behind is not waited for${separate ? ', with labels' : ''}`, async () => {
      const result = await sh('sleep 30 & echo "pid $!"', { timeoutMs: 20_000, separate })
      expect(result).toMatchObject({ exitCode: 0, timedOut: false })
      expect(result.durationMs).toBeLessThan(5000)
      const pid = Number(/pid (\d+)/.exec(result.output.content)![1])
      expect(isAlive(pid)).toBe(true)
      process.kill(pid)
    })
  }

  onUnix('a child that stays behind and goes on talking is not waited for', async () => {
    const stop = join(tempDir(), 'stop')
    const result = await sh(`(while [ ! -e "${stop}" ]; do echo noise || exit; sleep 0.01; done) & echo on`)
    writeFileSync(stop, '')
    expect(result.exitCode).toBe(0)
    expect(result.durationMs).toBeLessThan(10_000)
  })
})

describe('while a command runs', () => {
  test('progress is reported a few times a second', async () => {
    const seen: CommandProgress[] = []
    await node('let n = 0; const t = setInterval(() => { console.log(n++); if (n > 10) clearInterval(t) }, 100)', {
      onProgress: (progress) => seen.push(progress),
    })
    expect(seen.length).toBeGreaterThan(1)
    expect(seen.length).toBeLessThan(20)
    expect(seen.at(-1)!.bytes).toBeGreaterThan(0)
    expect(seen.at(-1)!.lines).toBeGreaterThan(0)
    expect(seen.map(({ elapsedMs }) => elapsedMs)).toEqual(seen.map(({ elapsedMs }) => elapsedMs).sort((a, b) => a - b))
  })

  test('one that never ends can be read and stopped', async () => {
    let read: Promise<unknown[]> | undefined
    const result = await node(
      'console.log("ready"); for (let n = 0; n < 5000; n += 1) console.log(n); setInterval(() => {}, 1000)',
      {
        onStart: (server) => {
          const isReady = async (): Promise<unknown[]> => {
            const range = await server.readRange({ fromLine: 5001, lineCount: 1 })
            if (range.text !== '4999\n') return isReady()
            return [range.fromLine, await server.peek(), isAlive(server.pid)]
          }
          read = isReady().finally(server.stop)
        },
      },
    )
    expect(await read).toEqual([5001, expect.objectContaining({ truncated: true, totalLines: 5001 }), true])
    expect(result).toMatchObject({ aborted: true, totalLines: 5001 })
    expect(result.note).toBeDefined()
  })

  test('a callback that throws is reported and stops nothing', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const result = await node('setTimeout(() => console.log("done"), 600)', {
      onProgress: () => {
        throw new Error('planted')
      },
      onStart: () => {
        throw new Error('planted')
      },
    })
    expect(result.output.content).toBe('done\n')
    expect(warn).toHaveBeenCalledWith('onStart: planted', 'SpillwayWarning')
    expect(warn).toHaveBeenCalledWith('onProgress: planted', 'SpillwayWarning')
    warn.mockRestore()
  })

  test('faked timers do not stop a timeout', async () => {
    jest.useFakeTimers()
    try {
      const result = await node('setInterval(() => {}, 1000)', { timeoutMs: 300 })
      expect(result.timedOut).toBe(true)
    } finally {
      jest.useRealTimers()
    }
  })

  onUnix('no descriptor of ours is left open, here or in the command', async () => {
    if (!existsSync('/proc/self/fd')) return
    const count = 'console.log(require("fs").readdirSync("/proc/self/fd").length)'
    const alone = (await node(count)).output.content
    const before = filesIn('/proc/self/fd').length
    const all = await Promise.all(Array.from({ length: 10 }, () => node(count)))
    expect(new Set(all.map(({ output }) => output.content))).toEqual(new Set([alone]))
    expect(filesIn('/proc/self/fd').length).toBeLessThanOrEqual(before + 1)
  })

  test('without a service it uses one of its own', async () => {
    const { output } = await runCommand(process.execPath, ['-e', 'console.log(1)'])
    expect(output).toStrictEqual({ content: '1\n', truncated: false })
  })
})
