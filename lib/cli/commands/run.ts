/** `spillway run`: runs a command and truncates its output. */

import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { type CommandResult, type RunningCommand, runCommand, SpillwayError } from 'spillway'
import type { RemoteStorage } from 'spillway/remote'
import { native } from '../../native/native'
import { COMMAND_DEFAULTS } from '../../settings/call-defaults'
import { recordPreview } from '../../storage/printed-previews'
import { exitCodeOf } from '../../util/exit-code'
import { countText, sizeText } from '../../util/format'
import { type Command, type Parsed, UsageError } from '../command'
import { recordCommand } from '../command-log'
import { Live } from '../live-output'
import { Followers } from '../live-socket'
import { keptPreview } from '../nested-preview'
import { savingIn, withBucket } from '../output-storage'
import { localFolder, storeFolderOf } from '../outputs'
import { bytes } from '../parse-sizes'
import { duration, quoted, text } from '../parse-values'
import { Prompt } from '../prompt'
import {
  LIMITS,
  openStorage,
  READERS,
  serviceOf,
  shownOf,
  truncationOptions,
  WORDING,
  withReaders,
} from '../shared-options'
import { SPOOL, STORE_OR_BUCKET } from '../store-options'
import { EXIT, note, onClosedPipe, Progress, print, printJson } from '../terminal'
import { Watched } from '../watched-output'

const command: Command = {
  name: 'run',
  summary: 'Runs a command, prints a preview of its output, and saves the full output in a file.',
  usage: '[options] -- <command> [arguments]',
  about: `Both streams of the command are printed in the order in which they were written. An output within the limits (500 lines and 50 KiB)
is printed unchanged; for a longer one, a preview and the path of the full output are printed. The preview has the errors and their
context, the totals and both ends; with --direction, or where the settings name a strategy or a direction, what those say.
The command reads standard input. Ctrl-C is passed on to it; a second Ctrl-C ends it and everything that it started.`,
  options: {
    ...LIMITS,
    shell: {
      type: 'boolean',
      short: 'c',
      help: 'Run the command in a shell, as one text: pipes, redirections, variables.',
    },
    timeout: { type: 'string', value: 'TIME', help: 'Kill the command after TIME: 500ms, 30s, 5m.' },
    cwd: { type: 'string', value: 'DIR', help: 'The working directory of the command.' },
    separate: { type: 'boolean', help: 'Label the text of standard output and standard error.' },
    tool: { type: 'string', value: 'NAME', help: 'The tool whose settings apply. Default: bash.' },
    session: { type: 'string', value: 'ID', help: 'Save the output in the folder of this session.' },
    'max-file-bytes': {
      type: 'string',
      value: 'SIZE',
      help: 'Maximum bytes of the file; for a longer output, the first and the last part are kept. Default: 1g; infinity for no limit.',
    },
    live: { type: 'boolean', help: 'Show the output on standard error while the command runs.' },
    watched: {
      type: 'boolean',
      help: 'For an agent that reads the output while the command runs: show only a part of it meanwhile. On a terminal, the output is unchanged.',
    },
    ...STORE_OR_BUCKET,
    ...SPOOL,
    ...WORDING,
  },
  positionals: [1, Number.POSITIVE_INFINITY],
  passesOn: true,
  exits: [
    ['N', 'the exit code of the command; 128 plus the number of the signal that ended it'],
    ['2', 'wrong usage'],
    ['3', 'Spillway itself failed'],
    ['124', '--timeout ended it'],
    ['126, 127', 'it cannot be executed; it was not found'],
    ['130', 'Ctrl-C ended it'],
  ],
  examples: [
    ['spillway run -- npm test', 'failures and totals, and the path of the full output'],
    [
      'spillway run --direction tail --timeout 10m -- cargo build',
      'the last 500 lines instead of errors and their context',
    ],
    ["spillway run --shell -- 'make 2>&1 | tee log'", 'a pipeline'],
    ['spillway run --json -- git log -p | jq -r .outputPath', 'only the path of the full output'],
  ],
  run,
}

export default command

/** A command that never stops printing must not fill the disk. */
const MAX_FILE_BYTES = 2 ** 30

function run(parsed: Parsed): Promise<number> {
  const { watched, live } = parsed.values
  if (watched === true && (live === true || parsed.json))
    throw new UsageError('--watched cannot be combined with --live or --json')
  // An agent asks for a terminal to talk with a program, which has to know that it has one.
  if (watched === true && process.stdout.isTTY) return runInTerminal(parsed)
  return withBucket(parsed.values, (bucket) => runSavingIn(bucket, parsed))
}

async function runSavingIn(bucket: RemoteStorage | undefined, { values, positionals, json }: Parsed): Promise<number> {
  const isShell = values.shell === true
  // A shell takes one text; several words are joined as it would have been typed.
  const [file = '', ...args] = isShell ? [positionals.join(' ')] : positionals
  const maxFileBytes = bytes(values, 'max-file-bytes') ?? MAX_FILE_BYTES
  const service = serviceOf(values, {
    availableTools: READERS,
    ...savingIn(bucket),
    ...(Number.isFinite(maxFileBytes) && { maxFileBytes }),
  })
  const startedAt = Date.now()
  const live = values.live === true ? new Live((text) => process.stderr.write(text)) : undefined
  const watched = values.watched === true ? new Watched((text) => process.stdout.write(text)) : undefined
  const followers = new Followers(() => (bucket === undefined ? openStorage(values).getStorageDir() : localFolder()))
  const progress = new Progress()
  const prompt = new Prompt(progress)
  const signals = new Signals()
  let result: CommandResult
  try {
    result = await runCommand(file, args, {
      service,
      stdin: 'inherit',
      cwd: text(values, 'cwd'),
      timeoutMs: duration(values, 'timeout'),
      ...(isShell && { shell: true }),
      separate: values.separate === true,
      toolName: text(values, 'tool'),
      sessionId: text(values, 'session'),
      truncation: truncationOptions(values),
      defaults: COMMAND_DEFAULTS,
      onStart: (running) => {
        signals.passOnTo(running)
        live?.follow(running)
        watched?.follow(running)
        followers.allow(running)
        prompt.watch(running)
      },
      onProgress: ({ bytes, lines, elapsedMs }) => {
        if (live === undefined && !prompt.isOpen(bytes, elapsedMs))
          progress.show(`» ${(elapsedMs / 1000).toFixed(0)} s, ${sizeText(bytes)}, ${countText(lines, 'line')}`)
      },
    })
  } catch (error) {
    throw oneText(error, positionals)
  } finally {
    progress.clear()
    signals.restore()
    await live?.end()
    await watched?.end()
    await followers.end()
  }
  result = { ...result, output: await keptPreview(result.output, values, bucket, result.note) }
  const code = codeOf(result, signals.first)
  const { output } = result
  if (output.truncated && output.outputPath !== '') {
    recordCommand(storeFolderOf(values, output.outputPath), {
      path: output.outputPath,
      command: isShell ? file : positionals.map(quoted).join(' '),
      cwd: resolve(text(values, 'cwd') ?? '.'),
      exitCode: code,
      startedAt,
      durationMs: Date.now() - startedAt,
      lines: output.totalLines,
    })
  }
  onClosedPipe(code)
  if (json) {
    const { output: _output, ...facts } = result
    await printJson({ ...facts, ...withReaders(output) })
  } else {
    const named = withEnding({ ...result, output: withReaders(output) }, code, values)
    // On a terminal all of it has just been shown.
    const isSeen = live !== undefined && process.stdout.isTTY === true
    if (named.output.truncated && named.output.outputPath !== '') {
      const { outputPath } = named.output
      recordPreview(storeFolderOf(values, outputPath), outputPath, shown(named))
    }
    if (!isSeen) await print(watched?.rest(shown(named), output.truncated) ?? shown(named))
    else if (named.output.truncated) await print(`${named.output.hint ?? ''}\n`)
    if (!result.output.truncated && result.output.content.includes(REPLACEMENT)) {
      note(
        'spillway: bytes of the output that are not UTF-8 are shown as U+FFFD; to save them unchanged, pipe the command into spillway clip',
      )
    }
  }
  // A sweep may be under way; the reader has everything already.
  await service.close()
  return code
}

/** Runs a command that has this terminal to itself. */
function runInTerminal({ values, positionals }: Parsed): Promise<number> {
  const isShell = values.shell === true
  const [file = '', ...args] = isShell ? [positionals.join(' ')] : positionals
  const child = spawn(file, args, { stdio: 'inherit', shell: isShell, cwd: text(values, 'cwd') })
  let isLate = false
  const limit = duration(values, 'timeout')
  const late =
    limit === undefined
      ? undefined
      : setTimeout(() => {
          isLate = child.kill()
        }, limit)
  // Keys reach the command by themselves.
  for (const signal of ['SIGINT', 'SIGQUIT']) process.on(signal, () => {})
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
  return new Promise<number>((resolve, reject) => {
    child.once('error', (cause) => {
      const message = `${JSON.stringify(file)} cannot be started: ${cause.message}`
      reject(oneText(new SpillwayError('COMMAND', message, { cause }), positionals))
    })
    child.once('close', (code, signal) => resolve(isLate ? EXIT.timedOut : exitCodeOf(code, signal)))
  }).finally(() => clearTimeout(late))
}

/** Adds to the error of a program that is not there what to do if it is a whole line for a shell. */
function oneText(error: unknown, positionals: readonly string[]): unknown {
  const [file = '', ...args] = positionals
  const isMissing = (error as { cause?: { code?: string } } | undefined)?.cause?.code === 'ENOENT'
  if (!isMissing || args.length > 0 || !/[\s|&;<>$]/.test(file) || !(error instanceof SpillwayError)) return error
  const name = JSON.stringify(file)
  const message = `${name} cannot be started: there is no such program; to run it by the shell: spillway run --shell -- ${name}`
  return new SpillwayError(error.code, message, { cause: error.cause })
}

/** Says in the notice how the command ended: its exit code, and of a timeout the option that allows more, in its own unit. */
function withEnding(result: CommandResult, code: number, values: Parsed['values']): CommandResult {
  const { output, note: ending, timedOut } = result
  const language = text(values, 'language') ?? 'en'
  if (timedOut && ending !== undefined && output.content.endsWith(ending)) {
    const [, number, unit = 's'] = /^([\d.]+)([a-z]+)?$/i.exec(text(values, 'timeout') ?? '') ?? []
    const said = native.commandTimeoutNote(language, `${number} ${unit}`, '--timeout')
    return { ...result, note: said, output: { ...output, content: output.content.slice(0, -ending.length) + said } }
  }
  if (!output.truncated) return result
  const { hint } = output
  const at = hint === undefined || code === 0 || ending !== undefined ? -1 : output.content.lastIndexOf(hint)
  if (hint === undefined || at === -1) return result
  const said = `${hint}\n${native.exitCodeLine(language, code)}`
  const content = output.content.slice(0, at) + said + output.content.slice(at + hint.length)
  return { ...result, output: { ...output, content, hint: said } }
}

/** Replacement of bytes that are not text. */
const REPLACEMENT = '\ufffd'

/** A notice after the output ends with a line feed, as any text of ours. */
function shown({ output, note: ending }: CommandResult): string {
  const text = shownOf(output)
  return ending !== undefined && !text.endsWith('\n') ? `${text}\n` : text
}

function codeOf(
  { exitCode, signal, timedOut, aborted }: CommandResult,
  interrupted: NodeJS.Signals | undefined,
): number {
  if (timedOut) return EXIT.timedOut
  // Ended by us at the second signal: how it then ended says nothing of its own. Else it may have caught the first one.
  if (aborted && interrupted !== undefined) return exitCodeOf(undefined, interrupted)
  return exitCodeOf(exitCode, signal)
}

const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const

/** Time in which a process that stops itself is stopped, whatever thread gets the signal and whatever else the machine does. */
const STOPPED_WITHIN_MS = 1000

/** The command has a process group of its own, so what ends us does not reach it by itself. */
class Signals {
  first: NodeJS.Signals | undefined
  private running: RunningCommand | undefined
  /** True if Ctrl-Z was pressed before it was known which process to stop. */
  private isToSuspend = false
  private resumption: NodeJS.Timeout | undefined
  private readonly listeners = PASSED_ON.map((signal) => [signal, () => this.hear(signal)] as const)

  constructor() {
    for (const [signal, listener] of this.listeners) process.on(signal, listener)
    process.on('SIGTSTP', this.suspend)
  }

  passOnTo(running: RunningCommand): void {
    this.running = running
    if (this.first !== undefined) this.send(this.first)
    if (this.isToSuspend) this.suspend()
  }

  restore(): void {
    for (const [signal, listener] of this.listeners) process.off(signal, listener)
    process.off('SIGTSTP', this.suspend)
    process.off('SIGCONT', this.resume)
    clearTimeout(this.resumption)
  }

  /** Ctrl-Z: stops the command and then us; both go on together. */
  private readonly suspend = (): void => {
    this.isToSuspend = this.running === undefined
    if (this.isToSuspend) return
    // Its session has no terminal, and systems do not let the gentler signal stop one without.
    this.send('SIGSTOP')
    process.off('SIGTSTP', this.suspend)
    process.on('SIGCONT', this.resume)
    process.kill(process.pid, 'SIGTSTP')
    // It is not stopped if no shell could resume it.
    this.resumption = setTimeout(this.resume, STOPPED_WITHIN_MS)
  }

  private readonly resume = (): void => {
    clearTimeout(this.resumption)
    process.off('SIGCONT', this.resume)
    this.send('SIGCONT')
    process.on('SIGTSTP', this.suspend)
  }

  private hear(signal: NodeJS.Signals): void {
    if (this.first !== undefined) {
      this.running?.stop()
      return
    }
    this.first = signal
    this.send(signal)
  }

  private send(signal: NodeJS.Signals): void {
    const { running } = this
    if (running === undefined) return
    try {
      process.kill(process.platform === 'win32' ? running.pid : -running.pid, signal)
    } catch {
      // It has just ended.
    }
  }
}
