import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from './support'
import { inTerminal, Terminal } from './tmux'

/** How the system says that a process is doing, in a letter. */
function stateOf(pid: number): string | undefined {
  return /^State:\s+(\w)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
}

describe('in a terminal', () => {
  inTerminal('progress is shown while a command runs, and gone when it has ended', async () => {
    const terminal = new Terminal()
    const go = join(terminal.dir, 'go')
    const ended = terminal.run(`spillway run -- sh -c 'seq 20; until [ -e ${go} ]; do sleep 0.02; done; exit 5'`)
    await until(() => terminal.screen().includes('» '))
    expect(terminal.screen()).toMatch(/» \d+ s, \d+ B, 20 lines/)
    writeFileSync(go, '')
    expect(await ended).toBe(5)
    expect(terminal.screen()).toMatch(/\n1\n2\n3\n/)
    expect(terminal.screen()).not.toContain('» ')
  })

  inTerminal('a help is wrapped between words where the terminal is narrow', async () => {
    const terminal = new Terminal(60, 300)
    expect(await terminal.run('spillway run --help')).toBe(0)
    const screen = terminal.screen()
    expect(screen).toContain(
      '\nRuns a command, prints a preview of its output, and saves\nthe full output in a file.\n',
    )
    expect(screen).toMatch(/\nBoth streams .{20,48}\n/)
    expect(screen).toMatch(/\n {6}--max-bytes SIZE\n {6}Maximum bytes of the preview, such as .*\n {6}511m\./)
    expect(await terminal.run('clear; spillway --help')).toBe(0)
    expect(terminal.screen()).toMatch(/\nTruncates tool output .{20,38}\n[a-z]+ /)
  })

  inTerminal('Ctrl-C ends the command, and what came is shown', async () => {
    const terminal = new Terminal()
    const ready = join(terminal.dir, 'ready')
    const code = join(terminal.dir, 'code')
    terminal.type(`spillway run -- sh -c 'echo begun; : > ${ready}; exec sleep 1000'`)
    await until(() => existsSync(ready))
    terminal.press('C-c')
    // The shell drops the rest of a line that Ctrl-C came into.
    await until(() => /^(\^C)?begun$/m.test(terminal.screen()))
    terminal.type(`echo $? > ${code}.new; mv ${code}.new ${code}`)
    await until(() => existsSync(code))
    expect(readFileSync(code, 'utf8')).toBe('130\n')
  })

  inTerminal('Ctrl-Z stops the command too, and it goes on with us', async () => {
    const terminal = new Terminal()
    const ready = join(terminal.dir, 'ready')
    const go = join(terminal.dir, 'go')
    const wait = `until [ -e ${go} ]; do sleep 0.02; done`
    terminal.type(`spillway run -- sh -c 'echo $$ > ${ready}.new; mv ${ready}.new ${ready}; ${wait}; echo went on'`)
    await until(() => existsSync(ready))
    const command = Number(readFileSync(ready, 'utf8'))
    terminal.press('C-z')
    await until(() => stateOf(command) === 'T')
    await until(() => /\[1\].*Stopped/.test(terminal.screen()))
    writeFileSync(go, '')
    terminal.type('fg')
    await until(() => terminal.screen().includes('\nwent on\n'))
    expect(terminal.screen()).not.toContain('» ')
  })

  inTerminal('a question is shown, and the answer is not written over', async () => {
    const terminal = new Terminal()
    const ended = terminal.run(`spillway run -- sh -c 'printf "Name? "; read x; echo "hello $x"'`)
    await until(() => /^Name\? *$/m.test(terminal.screen()))
    terminal.type('Ada')
    expect(await ended).toBe(0)
    expect(terminal.screen()).toMatch(/^Name\? Ada$/m)
    expect(terminal.screen()).toMatch(/^Name\? hello Ada$/m)
  })

  inTerminal('--watched gives the command the terminal', async () => {
    const terminal = new Terminal()
    expect(
      await terminal.run(`spillway run --watched -- sh -c 'test -t 1 && echo "a ""terminal"; seq 30; exit 5'`),
    ).toBe(5)
    expect(terminal.screen()).toContain('\na terminal\n1\n2\n')
    const ended = terminal.run(`spillway run --watched -- sh -c 'printf "Na""me? "; read x; echo "hello $x"'`)
    await until(() => /^Name\? *$/m.test(terminal.screen()))
    terminal.type('Ada')
    expect(await ended).toBe(0)
    expect(terminal.screen()).toContain('\nhello Ada\n')
    expect(await terminal.run('spillway run --watched --timeout 100ms -- sleep 100')).toBe(124)
    expect(await terminal.run('spillway run --watched -- ./none')).toBe(127)
  })

  inTerminal('what a search finds is marked in its line', async () => {
    const terminal = new Terminal()
    await terminal.run(`spillway run -- seq 1 900 > ${join(terminal.dir, 'shown')}`)
    await terminal.run(`clear; spillway search -1 '^7.7$'`)
    expect(terminal.screen('-e')).toContain('\x1b[31m757')
  })

  inTerminal('there is no progress where nothing can be written over', async () => {
    const terminal = new Terminal()
    const log = join(terminal.dir, 'log')
    terminal.record(log)
    await terminal.run('TERM=dumb spillway run -- sleep 0.6; echo "en""ded"')
    await until(() => existsSync(log) && readFileSync(log, 'utf8').includes('ended'))
    expect(readFileSync(log, 'utf8')).not.toContain('»')
  })

  inTerminal('there are colors, and none where they are not wanted', async () => {
    const terminal = new Terminal()
    expect(await terminal.run('spillway permit --headless make')).toBe(1)
    expect(terminal.screen('-e')).toContain('\x1b[31mdeny')
    await terminal.run('clear; NO_COLOR=1 spillway permit --headless make')
    expect(terminal.screen('-e')).not.toContain('\x1b[31m')
    await terminal.run('clear; spillway permit --headless make | cat')
    expect(terminal.screen('-e')).toMatch(/^deny$/m)
  })

  inTerminal('clip refuses a terminal as input, and a command reads what is typed', async () => {
    const terminal = new Terminal()
    expect(await terminal.run('spillway clip')).toBe(2)
    expect(terminal.screen()).toContain('standard input is a terminal')
    const ready = join(terminal.dir, 'ready')
    const ended = terminal.run(`spillway run -- sh -c ': > ${ready}; cat'`)
    await until(() => existsSync(ready))
    terminal.type('typed in')
    terminal.press('C-d')
    expect(await ended).toBe(0)
    expect(terminal.screen()).toMatch(/typed in\n[\s\S]*typed in\n/)
  })
})
