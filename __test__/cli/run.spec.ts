import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onLinux, onUnix } from '../support/only'
import { filesIn, tempDir } from '../support/temp'
import { CLI, cli, ended, HERE, isAlive, shell, start, until } from './support'

const inStore = () => ({ env: { SPILLWAY_STORAGE_DIR: tempDir() } })

describe('spillway run', () => {
  test('prints what is short as it is, and passes on how the command ended', async () => {
    const script = 'process.stdout.write("out"); process.stderr.write("err"); process.exitCode = 7'
    const ran = await cli(['run', '--', process.execPath, '-e', script], inStore())
    expect(ran).toMatchObject({ code: 7, stderr: '' })
    expect(['outerr', 'errout']).toContain(ran.stdout)
  })

  test('prints both ends of what is long, and where all of it is', async () => {
    const { env } = inStore()
    const script = 'for (let i = 1; i <= 9000; i += 1) console.log(i)'
    const { code, stdout } = await cli(['run', '--', process.execPath, '-e', script], { env })
    expect(code).toBe(0)
    expect(stdout).toMatch(/^1\n2\n(.*\n)*8999\n9000\n\nThe tool call succeeded/)
    const [, path] = /saved to: (.*)/.exec(stdout) ?? []
    expect(readFileSync(path!, 'utf8')).toBe(Array.from({ length: 9000 }, (_, at) => `${at + 1}\n`).join(''))
  })

  test('prints an error far from both ends, unless the user wants one end or has a strategy', async () => {
    const { env } = inStore()
    const script =
      'const log = () => { for (let i = 1; i <= 4000; i += 1) console.log(i) }; log(); console.log("error: disk full"); log()'
    const config = join(tempDir(), 'spillway.json')
    writeFileSync(config, JSON.stringify({ agents: { runtime: { truncation: { strategy: 'line' } } } }))
    const cases: [options: string[], isPrinted: boolean][] = [
      [[], true],
      [['--max-lines', '100'], true],
      [['--direction', 'tail'], false],
      [['--strategy', 'default'], false],
      [['--config', config], false],
    ]
    for (const [options, isPrinted] of cases) {
      const { stdout } = await cli(['run', ...options, '--', process.execPath, '-e', script], { env })
      expect([options, stdout.includes('\nerror: disk full\n')]).toEqual([options, isPrinted])
    }
  })

  test('the notice has the exit code of a command that failed, and a timeout names its option and unit', async () => {
    const { env } = inStore()
    const failing = 'for (let i = 1; i <= 9000; i += 1) console.log(i); process.exitCode = 3'
    const failed = await cli(['run', '--', process.execPath, '-e', failing], { env })
    expect(failed.code).toBe(3)
    expect(failed.stdout).toMatch(/\n9000\n\n[^\n]*failed[^\n]*\nFull output saved to: [^\n]+\n[^\n]*\nExit code: 3\n$/)
    const hanging = 'console.log("begun"); setInterval(() => {}, 1000)'
    const late = await cli(['run', '--timeout', '0.7s', '--', process.execPath, '-e', hanging], { env })
    expect(late.code).toBe(124)
    expect(late.stdout).toMatch(/ran longer than 0\.7 s\. [^\n]*with a larger --timeout\.\n$/)
    expect(late.stdout).not.toContain('milliseconds')
  })

  test('keeps a preview that the command printed itself, also in a session and at the end of a pipe', async () => {
    const { env } = inStore()
    const long = `${process.execPath} -e 'for (let i = 1; i <= 9000; i += 1) console.log(i)'`
    for (const session of [[], ['--session', 's']]) {
      const wrap = ['run', ...session, '--shell', '--']
      const inner = `${process.execPath} ${CLI} ${wrap.join(' ')} "${long}"`
      for (const line of [
        inner,
        `${inner}; echo done`,
        `${long} | ${process.execPath} ${CLI} clip ${session.join(' ')}`,
      ]) {
        const { stdout } = await cli([...wrap, line], { env })
        const notices = stdout.match(/Full output saved to: .*/g) ?? []
        expect([line, notices.length]).toEqual([line, 1])
        const [, path = ''] = /saved to: (.*)/.exec(stdout) ?? []
        expect(readFileSync(path, 'utf8')).toMatch(/^1\n2\n(.*\n)*9000\n$/)
      }
      const clipped = await cli(['clip', ...session], { env, input: '0123456789\n'.repeat(9000) })
      const again = await cli(['clip', ...session], { env, input: clipped.stdout })
      expect(again.stdout).toBe(clipped.stdout)
      expect(JSON.parse((await cli(['clip', '--json', ...session], { env, input: clipped.stdout })).stdout)).toEqual({
        content: clipped.stdout,
        truncated: false,
      })
    }
    // The limits of the outer command hold.
    const short = ['run', '--max-lines', '20', '--shell', '--', `${process.execPath} ${CLI} run --shell -- "${long}"`]
    expect((await cli(short, { env })).stdout.split('\n').length).toBeLessThan(40)
    const same = ['run', '--max-lines', '500', '--shell', '--', `${process.execPath} ${CLI} run --shell -- "${long}"`]
    expect((await cli(same, { env })).stdout.match(/Full output saved to: .*/g)).toHaveLength(1)
    const config = join(tempDir(), 'spillway.json')
    writeFileSync(config, JSON.stringify({ agents: { runtime: { truncation: { maxLines: 20 } } } }))
    const configured = ['clip', '--config', config]
    const clipped = await cli(['clip'], { env, input: '0123456789\n'.repeat(9000) })
    expect((await cli(configured, { env, input: clipped.stdout })).stdout.split('\n').length).toBeLessThan(40)
    // Those of the previews are removed.
    expect(filesIn(env.SPILLWAY_STORAGE_DIR).filter((name) => name.endsWith('.txt'))).toHaveLength(13)
  })

  test('says how the command ended after a preview that it printed', async () => {
    const { env } = inStore()
    const go = join(tempDir(), 'go')
    const inner = `${HERE} run -- seq 1 9000`
    const line = `trap '' INT HUP; ${inner}; touch ${go}; sleep 60`
    const child = start(process.execPath, [CLI, 'run', '--shell', '--', line], { env })
    const end = ended(child)
    await until(() => existsSync(go))
    // The second signal ends the command.
    for (const signal of ['SIGHUP', 'SIGINT'] as const) child.kill(signal)
    const { stdout } = await end
    expect(stdout.match(/Full output saved to: /g)).toHaveLength(1)
    expect(stdout).toMatch(/\n9000\n\nThe tool call succeeded(.*\n)+\n[^\n]*aborted[^\n]*\n$/)
  })

  test('takes every strategy by its name', async () => {
    const { env } = inStore()
    const names = ['default', 'auto', 'line', 'byte', 'smart', 'json', 'diff', 'csv', 'tests']
    const ran = await Promise.all(names.map((name) => cli(['clip', '--strategy', name], { env, input: 'line\n' })))
    expect(ran.map(({ stdout, stderr }) => stdout + stderr)).toEqual(names.map(() => 'line\n'))
    expect((await cli(['clip', '--help'], { env })).stdout.replace(/\s+/g, ' ')).toContain(`: ${names.join(', ')}.`)
  })

  describe('--watched', () => {
    const watched = async (line: string, seen: RegExp, { env } = inStore()) => {
      const go = join(tempDir(), 'go')
      const wait = `until [ -e ${go} ]; do sleep 0.02; done`
      const args = ['run', '--watched', '--max-bytes', '9000', '--', 'bash', '-c', line.replace('WAIT', wait)]
      const child = start(process.execPath, [CLI, ...args], { env })
      let along = ''
      child.stdout!.on('data', (bytes: Buffer) => {
        along += bytes
        if (seen.test(along)) writeFileSync(go, '')
      })
      return { ...(await ended(child)), along }
    }

    onUnix('shows the output while the command runs, and the rest at its end', async () => {
      const cases: [line: string, seen: RegExp, whole: string][] = [
        ['echo LISTENING; WAIT; echo bye; exit 3', /^LISTENING\n$/, 'LISTENING\nbye\n'],
        ['printf "é "; WAIT; echo bye; exit 3', /^é $/, 'é bye\n'],
        ['sleep 0.8; echo begun; WAIT; exit 3', /^begun\n$/, 'begun\n'],
      ]
      for (const [line, seen, whole] of cases)
        expect(await watched(line, seen)).toMatchObject({ code: 3, stdout: whole, stderr: '' })
    })

    onLinux('ends the command when it is killed, as agents do with a process group', async () => {
      const marker = join(tempDir(), 'pid')
      const line = `sleep 0.5; echo $$ > ${marker}.new; mv ${marker}.new ${marker}; sleep 1000`
      const child = start(process.execPath, [CLI, 'run', '--watched', '--', 'bash', '-c', line], inStore())
      await until(() => existsSync(marker))
      child.kill('SIGKILL')
      await until(() => !isAlive(Number(readFileSync(marker, 'utf8'))))
    })

    onUnix('leaves out what nobody can follow, and ends with the preview', async () => {
      const { stdout } = await watched('seq 1 5000; WAIT; seq 5001 9000', /\n5000\n/)
      const [along = '', preview = ''] = stdout.split('\n5000\n')
      expect(along).toMatch(/^\[19,\d{3} bytes left out\]\n4\d{3}\n/)
      expect(stdout.length).toBeLessThan(14_000)
      const [, path = ''] = /saved to: (\S+)/.exec(preview) ?? []
      expect(readFileSync(path, 'utf8')).toMatch(/^1\n2\n(.|\n)*\n8999\n9000\n$/)
      expect(preview).toMatch(/\n8999\n9000\n\nThe tool call succeeded/)
    })

    onUnix('prints the end of a command that was left out in between, though its output is no preview', async () => {
      const { stdout } = await watched('seq -f "line %g of it" 300; WAIT; echo bye', /300 of it\n/)
      expect(stdout).toMatch(/^\[[^\n]*left out\]\n/)
      expect(stdout).toMatch(/300 of it\n(bye\n)?line 1 of it\nline 2 (.|\n)*\nline 300 of it\nbye\n$/)
    })
  })

  test('gives the command the standard input', async () => {
    const copy = 'process.stdin.pipe(process.stdout)'
    const ran = await cli(['run', '--', process.execPath, '-e', copy], { ...inStore(), input: 'through and through' })
    expect(ran).toMatchObject({ code: 0, stdout: 'through and through' })
  })

  test('reads no option after the command', async () => {
    const print = 'console.log(JSON.stringify(process.argv.slice(1)))'
    const args = ['run', process.execPath, '-e', print, '--', '--json', '-x', '--', 'y']
    const { stdout } = await cli(args, inStore())
    expect(JSON.parse(stdout)).toEqual(['--json', '-x', '--', 'y'])
  })

  test('says in JSON all that is known', async () => {
    const { env } = inStore()
    const args = ['run', '--json', '--max-lines', '2', '--direction', 'head', '--session', 's 1', '--tool', 'build']
    const script = 'console.log("a\\nb\\nc\\nd")'
    const { stdout } = await cli([...args, '--', process.execPath, '-e', script], { env })
    const answer = JSON.parse(stdout)
    expect(answer).toMatchObject({ exitCode: 0, signal: null, totalLines: 4, truncated: true, keptLines: 2 })
    expect(answer.outputPath.startsWith(env.SPILLWAY_STORAGE_DIR)).toBe(true)
    expect(filesIn(env.SPILLWAY_STORAGE_DIR)).toEqual(['commands.jsonl', expect.stringMatching(/^s_1-\w+[/\\]build_/)])
  })

  test('says what could not be started, as shells do', async () => {
    const missing = await cli(['run', '--', join(tempDir(), 'nope')], inStore())
    expect([missing.code, missing.stdout]).toEqual([127, ''])
    expect(missing.stderr).toMatch(/cannot be started/)
    const named = await cli(['run', '--', 'no-such-program'], inStore())
    expect([named.code, named.stderr]).toEqual([
      127,
      expect.stringContaining('no folder of PATH has a program of this name'),
    ])
    const json = await cli(['run', '--json', '--', `/${'n'.repeat(100_000)}`], inStore())
    expect(json.code).toBe(126)
    expect(json.stderr.length).toBeLessThan(1500)
    const unknown = await cli(['run', '--json', '--', join(tempDir(), 'nope')], inStore())
    expect([unknown.code, JSON.parse(unknown.stderr)]).toMatchObject([127, { error: { code: 'COMMAND' } }])
    const long = await cli(['run', '--', 'x/'.repeat(1000)], inStore())
    expect(long.stderr.length).toBeLessThan(1000)
    const nowhere = await cli(['run', '--cwd', '/no/such', '--', process.execPath, '--version'], inStore())
    const others = await cli(['run', '--cwd', '/no/such', '--', process.execPath, '--json'], inStore())
    expect(others.stderr).toBe(nowhere.stderr)
    const bare = await cli(['run', '--cwd', '/no/such', process.execPath, '--json'], inStore())
    expect(bare.stderr).toBe(nowhere.stderr)
    expect([nowhere.code, nowhere.stderr]).toEqual([3, expect.stringContaining('/no/such')])
  })

  onUnix('hands a line to the shell, and says so where one was meant', async () => {
    const options = inStore()
    const line = 'echo a b | tr a c && exit 3'
    const meant = await cli(['run', '--', line], options)
    expect([meant.code, meant.stdout]).toEqual([127, ''])
    expect(meant.stderr).toContain(`spillway run --shell -- ${JSON.stringify(line)}`)
    // The option of the library is none of the command.
    expect(meant.stderr).not.toContain('shell: true')
    for (const args of [
      ['run', '--shell', '--', line],
      ['run', '-c', line],
    ]) {
      expect(await cli(args, options)).toMatchObject({ code: 3, stdout: 'c b\n', stderr: '' })
    }
    expect((await cli(['run', '-c', '--', 'echo', 'a;', 'echo', 'b'], options)).stdout).toBe('a\nb\n')
  })

  onUnix('ends a command that takes too long', async () => {
    const { code, stdout } = await shell('spillway run --timeout 200ms -- sh -c "echo begun; exec sleep 60"', inStore())
    expect(code).toBe(124)
    expect(stdout).toMatch(/^begun\n[\s\S]*ran longer than 200 ms[\s\S]*\n$/)
  })

  onUnix('ends as a command that was killed', async () => {
    expect((await shell('spillway run -- sh -c "kill -9 $$"', inStore())).code).not.toBe(0)
    expect((await shell("spillway run -- sh -c 'kill -9 $$'", inStore())).code).toBe(137)
  })

  for (const [signal, last, code, shown] of [
    ['SIGINT', 'exit 0', 0, 'begun\ncaught\n'],
    // Bash tells of the death of its `sleep` in between.
    ['SIGQUIT', 'exit 7', 7, expect.stringMatching(/^begun\n[\s\S]*caught\n$/)],
    ['SIGTERM', 'trap - SIGTERM; kill -TERM $$', 143, expect.stringMatching(/^begun\n[\s\S]*caught\n$/)],
    ['SIGINT', 'trap - SIGINT; kill -INT $$', 130, 'begun\ncaught\n'],
  ] as const) {
    onUnix(`passes ${signal} on, shows what came, and ends with ${code}, as the command does`, async () => {
      const { env } = inStore()
      const marker = join(tempDir(), 'ready')
      const script = `trap 'echo caught; ${last}' ${signal}; echo begun; : > ${marker}; while :; do sleep 0.02; done`
      const child = start(process.execPath, [CLI, 'run', '--', 'bash', '-c', script], { env })
      const end = ended(child)
      await until(() => existsSync(marker))
      child.kill(signal)
      expect(await end).toMatchObject({ code, stdout: shown, stderr: '' })
    })
  }

  onUnix('says that bytes were no text', async () => {
    const { stdout, stderr } = await shell("spillway run -- printf 'a\\377b'", inStore())
    expect([stdout, stderr]).toEqual(['a\ufffdb', expect.stringContaining('not UTF-8')])
  })

  onUnix('ends a command that does not hear Ctrl-C with the second, and everything that it started', async () => {
    const { env } = inStore()
    const marker = join(tempDir(), 'ready')
    const heard = `${marker}.heard`
    const wait = 'while :; do sleep 0.02; done'
    const script = `trap ': > ${heard}' INT; sleep 1000 & echo $! > ${marker}.new; mv ${marker}.new ${marker}; ${wait}`
    const child = start(process.execPath, [CLI, 'run', '--', 'bash', '-c', script], { env })
    const end = ended(child)
    await until(() => existsSync(marker))
    child.kill('SIGINT')
    await until(() => existsSync(heard))
    child.kill('SIGINT')
    expect((await end).code).toBe(130)
    expect(isAlive(Number(readFileSync(marker, 'utf8')))).toBe(false)
  })

  onUnix('is quiet when nobody reads on, and still passes the code on', async () => {
    const line = "spillway run --max-bytes 10m --max-lines 1000000 -- sh -c 'seq 300000; exit 5' | head -1"
    const { stdout, stderr } = await shell(`set -o pipefail; ${line}; echo "$?"`, inStore())
    expect([stdout, stderr]).toEqual(['1\n5\n', ''])
  })
})

describe('in pipes', () => {
  onLinux('a word that cannot be said does not change how it ends', async () => {
    const lines = ['spillway run -- /no/such', 'spillway usage --nope', "spillway run -- sh -c 'echo out; exit 5'"]
    const line = lines.map((each) => `${each} 2> /dev/full; echo $?`).join('; ')
    expect((await shell(line, inStore())).stdout).toBe('127\n2\nout\n5\n')
  })

  onUnix('a reader that stops early is no fault', async () => {
    const { env } = inStore()
    const made = await cli(['clip', '--json', '--max-lines', '1'], { env, input: 'line\n'.repeat(400_000) })
    const { outputPath } = JSON.parse(made.stdout)
    const line = `spillway read --all ${outputPath} | head -2; echo "\${PIPESTATUS[0]}"`
    expect(await shell(line, { env })).toMatchObject({ stdout: 'line\nline\n141\n', stderr: '' })
  })

  for (const [signal, expected] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    onUnix(`clip shows what came before ${signal}`, async () => {
      const { env } = inStore()
      const child = start(process.execPath, [CLI, 'clip'], { env })
      const end = ended(child)
      // Far more than a pipe holds: when it is gone, most of it has been read.
      await new Promise((resolve) => child.stdin!.write('line\n'.repeat(400_000), resolve))
      child.kill(signal)
      const { code, stdout, stderr } = await end
      expect([code, stderr]).toEqual([expected, ''])
      expect(stdout).toMatch(/^line\nline\n[\s\S]*saved to: /)
    })
  }

  test('a file is clipped like a stream', async () => {
    const { env } = inStore()
    const path = join(env.SPILLWAY_STORAGE_DIR, 'not-ours.log')
    writeFileSync(path, 'x\n'.repeat(5000))
    const [file, piped] = await Promise.all([
      cli(['clip', '--max-lines', '2', path], { env }),
      cli(['clip', '--max-lines', '2', '-'], { env, input: 'x\n'.repeat(5000) }),
    ])
    const bare = (text: string) => text.replace(/clip_\w+/, '')
    expect(bare(file.stdout)).toBe(bare(piped.stdout))
    expect(file.stdout).toMatch(/^x\nx\n[\s\S]*4998 lines[\s\S]*\n$/)
  })
})
