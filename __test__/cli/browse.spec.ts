/** `spillway browse` in a real terminal. */

import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PermissionGate, PermissionPolicy } from 'spillway'
import { shareApprovals } from 'spillway/view'
import { CLI, cli, until } from './support'
import { inTerminal, Terminal } from './tmux'

/** A terminal with three outputs in its store: of `seq 1 5000`, of a failed command, and of one with hostile text. */
async function open(columns = 80, rows = 24, variables = ''): Promise<Terminal> {
  const terminal = new Terminal(columns, rows, variables)
  const env = { SPILLWAY_STORAGE_DIR: terminal.dir }
  await cli(['run', '--', 'seq', '1', '5000'], { env })
  await cli(['run', '--max-lines', '5', '--shell', '--', 'seq 100; exit 3'], { env })
  await cli(
    [
      'run',
      '--max-lines',
      '5',
      '--shell',
      '--',
      "printf '\\033[2J\\033]0;title\\007'; printf '你%.0s' $(seq 200); seq 50",
    ],
    { env },
  )
  return terminal
}

const rowsOf = (terminal: Terminal) => terminal.screen().replace(/\n$/, '').split('\n')
const shows = (terminal: Terminal, text: string | RegExp) =>
  until(() => (typeof text === 'string' ? terminal.screen().includes(text) : text.test(terminal.screen())))

/** Another session, whose questions the terminal shows. */
function sessionThatAsks(terminal: Terminal) {
  const gate = new PermissionGate(new PermissionPolicy())
  const { close } = shareApprovals(gate, { dir: join(terminal.dir, 'approvals') })
  const ask = (command: string) =>
    gate.request({ tool: 'bash', args: { command }, toolCallId: randomUUID(), cwd: terminal.dir })
  return { gate, ask, close }
}

/** Chooses the question on the screen, and answers it. */
async function answered(terminal: Terminal, key: string): Promise<void> {
  terminal.press('Enter')
  await shows(terminal, /^(y: once|Down: the rest of the call)/m)
  terminal.press(key)
}

describe('browse', () => {
  inTerminal('lists outputs, opens one, searches in it, and gives the terminal back', async () => {
    const terminal = await open()
    terminal.type('echo before')
    await shows(terminal, /^before$/m)
    const ended = terminal.run('spillway browse')
    await shows(terminal, '3 saved outputs, the newest first')
    expect(rowsOf(terminal)).toHaveLength(24)
    terminal.press('Down')
    await shows(terminal, /^> .*exit 3 .*seq 100/m)
    terminal.press('Down')
    await shows(terminal, /^> .*exit 0 .*seq 1 5000$/m)
    terminal.press('Enter')
    await shows(terminal, /^seq 1 5000 {2}line 1\n1\n2\n/)
    terminal.press('Space')
    await shows(terminal, /line 22\n22\n/)
    terminal.press('G')
    await shows(terminal, /, end\n[\s\S]*\n5000\n/)
    for (const key of ['g', '/', '4', '2', '.', '$', 'Enter']) terminal.press(key)
    await shows(terminal, /line 420\n420\n|line 42\d\n/)
    terminal.press('n')
    await shows(terminal, 'line 421')
    for (const key of ['/', '(', 'Enter']) terminal.press(key)
    await shows(terminal, 'unclosed group')
    terminal.press('q')
    await shows(terminal, '3 saved outputs')
    terminal.press('q')
    expect(await ended).toBe(0)
    await shows(terminal, /^before$/m)
    expect(terminal.screen()).not.toContain('saved outputs')
    terminal.type('echo after')
    await shows(terminal, /^after$/m)
  })

  inTerminal('shows hostile text without harm, and follows the size of the terminal', async () => {
    const terminal = await open(40, 10)
    terminal.type('spillway browse')
    await shows(terminal, '3 saved outputs')
    terminal.press('Enter')
    await shows(terminal, String.raw`\u{1b}[2J\u{1b}]0;title\u{7}`)
    expect(rowsOf(terminal)).toHaveLength(10)
    terminal.resize(60, 12)
    await until(
      () => rowsOf(terminal).length === 12 && terminal.screen().includes('Up Down Space  g: start  G: end  /: search'),
    )
  })

  inTerminal('answers a question of another process, once all of it was seen', async () => {
    const terminal = await open(60, 12)
    const { gate, ask, close } = sessionThatAsks(terminal)
    try {
      const ended = terminal.run('spillway browse')
      await shows(terminal, '3 saved outputs')
      const long = ask(`echo ${'✅你'.repeat(200)} end`)
      await shows(terminal, '1 question waits')
      terminal.press('a')
      await shows(terminal, 'May bash do this?')
      await answered(terminal, 'y')
      expect(gate.pending()).toHaveLength(1)
      for (let page = 0; page < 12; page += 1) terminal.press('PageDown')
      await shows(terminal, /y: once/)
      await answered(terminal, 'y')
      expect(await long).toMatchObject({ decision: 'allow', by: 'once' })
      const short = ask('make')
      await shows(terminal, /^make$/m)
      await answered(terminal, 'n')
      expect(await short).toMatchObject({ decision: 'deny', by: 'reject' })
      const always = ask('seq 1 2')
      await shows(terminal, /^seq 1 2$/m)
      await answered(terminal, 'a')
      expect(await always).toMatchObject({ decision: 'allow', by: 'always' })
      await shows(terminal, 'No question waits.')
      terminal.press('q')
      terminal.press('q')
      expect(await ended).toBe(0)
    } finally {
      close()
    }
  })

  inTerminal('says that a call does more than is listed', async () => {
    const terminal = await open(60, 12)
    const { ask, close } = sessionThatAsks(terminal)
    try {
      terminal.type('spillway browse')
      await shows(terminal, '3 saved outputs')
      void ask(Array.from({ length: 300 }, (_, index) => `make ${index}`).join('\n'))
      await shows(terminal, '1 question waits')
      terminal.press('a')
      await shows(terminal, 'May bash do this?')
      terminal.press(...Array(200).fill('PageDown'))
      await shows(terminal, 'It does more than is listed here.')
    } finally {
      close()
    }
  })

  inTerminal('takes no answer that was typed for what was on the screen before', async () => {
    const terminal = await open(60, 12)
    const { gate, ask, close } = sessionThatAsks(terminal)
    try {
      terminal.type('spillway browse')
      await shows(terminal, '3 saved outputs')
      const first = ask('make')
      const second = ask('seq 1 2')
      await shows(terminal, '2 questions wait')
      // Typed when the list was on the screen; then without a choice.
      terminal.press('a', 'Enter', 'y', 'q')
      terminal.press('a')
      await shows(terminal, /^make$/m)
      terminal.press('y', 'a', 'n', 'q')
      await shows(terminal, '2 questions wait')
      terminal.press('a')
      await shows(terminal, /^make$/m)
      terminal.press('Enter', 'y', 'Enter', 'y', 'q')
      await shows(terminal, '1 question waits')
      expect(await first).toMatchObject({ decision: 'allow', by: 'once' })
      expect(gate.pending()).toHaveLength(1)
      gate.respond(gate.pending()[0]!.id, { reject: true })
      await second
    } finally {
      close()
    }
  })

  inTerminal('has no colours with NO_COLOR, and a mark at the selected line all the same', async () => {
    for (const [variables, isColoured] of [
      ['export NO_COLOR=1', false],
      ['', true],
    ] as const) {
      const terminal = await open(80, 24, variables)
      terminal.type('spillway browse')
      await shows(terminal, /^> /m)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: a sequence of the terminal
      expect(/\x1b\[7m>/.test(terminal.screen('-e'))).toBe(isColoured)
    }
  })

  inTerminal('shows lines of an output as they would look there, in their colours if it has any', async () => {
    const script = "printf '\\033[31mred\\033[0m \\033[8mseen\\033[0m\\n10 %%\\r100 %%\\nlong text\\rshort\\n'; seq 50"
    for (const [variables, isColoured] of [
      ['export NO_COLOR=1', false],
      ['', true],
    ] as const) {
      const terminal = new Terminal(40, 10, variables)
      await cli(['run', '--max-lines', '5', '--shell', '--', script], { env: { SPILLWAY_STORAGE_DIR: terminal.dir } })
      terminal.type('spillway browse')
      await shows(terminal, '1 saved output')
      terminal.press('Enter')
      await shows(terminal, / {2}line 1\nred seen\n100 %\nshorttext\n1\n/m)
      expect(terminal.screen('-e').includes('\u001b[31mred\u001b[39m seen')).toBe(isColoured)
      terminal.press('q')
      terminal.press('q')
    }
  })

  inTerminal('gives the terminal back when it is ended, and when an output is gone', async () => {
    const terminal = await open()
    const stopped = terminal.run('spillway browse')
    await shows(terminal, '3 saved outputs')
    terminal.press('C-c')
    expect(await stopped).toBe(0)
    const file = join(terminal.dir, 'pid')
    const killed = terminal.run(`bash -c 'echo $$ > ${file}; exec "${process.execPath}" "${CLI}" browse'`)
    await shows(terminal, '3 saved outputs')
    process.kill(Number(readFileSync(file, 'utf8')), 'SIGTERM')
    expect(await killed).toBe(143)
    expect(terminal.screen()).not.toContain('3 saved outputs')
    const gone = terminal.run('spillway browse')
    await shows(terminal, '3 saved outputs')
    await cli(['rm', '-1'], { env: { SPILLWAY_STORAGE_DIR: terminal.dir } })
    terminal.press('Enter')
    expect(await gone).toBe(3)
    await shows(terminal, 'spillway:')
    terminal.type('echo typed')
    await shows(terminal, /^typed$/m)
  })

  inTerminal('ends by the signal when its terminal is closed', async () => {
    const terminal = await open()
    const [script, status] = [join(terminal.dir, 'script'), join(terminal.dir, 'status')]
    writeFileSync(
      script,
      `trap : HUP\n"${process.execPath}" "${CLI}" browse\necho $? > ${status}.new\nmv ${status}.new ${status}\n`,
    )
    terminal.type(`exec bash ${script}`)
    await shows(terminal, '3 saved outputs')
    terminal.end()
    await until(() => existsSync(status))
    expect(readFileSync(status, 'utf8')).toBe('129\n')
  })
})

test('without a terminal it says what to use instead', async () => {
  expect(await cli(['browse'])).toMatchObject({ code: 2, stderr: expect.stringContaining('browse needs a terminal') })
})
