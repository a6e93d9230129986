/** A real terminal for specs, by tmux. */

import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { notHere } from '../support/only'
import { tempDir } from '../support/temp'
import { CLI, until } from './support'

const hasTmux = process.platform !== 'win32' && spawnSync('tmux', ['-V']).status === 0

/** A terminal, with a shell in it that has `spillway`. */
export class Terminal {
  readonly dir = tempDir()
  private readonly socket = `spillway-${randomUUID()}`
  private steps = 0

  constructor(columns = 100, rows = 50, variables = '') {
    const rc = join(this.dir, 'rc')
    const lines = [
      `spillway() { "${process.execPath}" "${CLI}" "$@"; }`,
      `export SPILLWAY_STORAGE_DIR="${this.dir}" TERM=xterm-256color PS1='$ '`,
      'unset NO_COLOR FORCE_COLOR NODE_OPTIONS COLORTERM',
      variables,
    ]
    writeFileSync(rc, lines.join('\n'))
    this.tmux(
      '-f',
      '/dev/null',
      'new-session',
      '-d',
      '-x',
      `${columns}`,
      '-y',
      `${rows}`,
      `bash --noprofile --rcfile ${rc} -i`,
    )
    terminals.add(this)
  }

  type(text: string): void {
    this.tmux('send-keys', '-l', text)
    this.press('Enter')
  }

  /** Presses keys, which arrive at once. */
  press(...keys: string[]): void {
    this.tmux('send-keys', ...keys)
  }

  /** Runs a line and waits until the shell is back; answers the exit code. */
  async run(line: string): Promise<number> {
    this.steps += 1
    const done = join(this.dir, `done-${this.steps}`)
    this.type(`${line}; echo $? > ${done}.new; mv ${done}.new ${done}`)
    await until(() => existsSync(done))
    return Number(readFileSync(done, 'utf8'))
  }

  /** Returns the text on the screen, with color codes if requested. */
  screen(...options: string[]): string {
    return this.tmux('capture-pane', '-p', ...options)
  }

  /** Everything that is written to it from now on goes into a file as well. */
  record(path: string): void {
    this.tmux('pipe-pane', `cat > ${path}`)
  }

  /** Changes the size. */
  resize(columns: number, rows: number): void {
    this.tmux('resize-window', '-x', `${columns}`, '-y', `${rows}`)
  }

  end(): void {
    this.tmux('kill-server')
  }

  private tmux(...args: string[]): string {
    return spawnSync('tmux', ['-L', this.socket, ...args], { encoding: 'utf8' }).stdout
  }
}

const terminals = new Set<Terminal>()

afterEach(() => {
  for (const terminal of terminals) terminal.end()
  terminals.clear()
})

export const inTerminal = (title: string, work: () => Promise<void>) =>
  hasTmux ? test(title, work) : notHere(title, 'needs tmux')
