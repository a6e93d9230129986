/** Runs a command and truncates its output, of any length. */

import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { types } from 'node:util'
import type { Capture } from '../capture/capture'
import { knownAs, SpillwayError } from '../errors'
import { native } from '../native/native'
import { TruncationService } from '../service/service'
import { rememberBounded } from '../truncation/bounded-output'
import { rememberPreview } from '../truncation/previews'
import type { TruncationContext, TruncationResult } from '../types'
import { elapsed } from '../util/clock'
import { messageOf } from '../util/message-of'
import { shellQuote } from '../util/shell-quote'
import { keepAlive, startTimer, type Timer } from '../util/timer'
import { tellCaller } from '../util/warn'
import { checkKeys, checkSignal, invalid, isRecord, readable, wrong } from '../validation/validate'
import { listenTo, type Output, openPipe } from './output-source'
import { type Exit, IS_WINDOWS, Stop, spawn, stopWhen } from './process-group'
import type { CommandResult, RunCommandOptions, RunningCommand } from './types'
import { checkNoNul, checkProgram, checkProgramArguments, checkVariables } from './validate'

const PROGRESS_MS = 250
const KILL_GRACE_MS = 2000

let defaultService: TruncationService | undefined

/**
 * Runs a program to its end and returns its exit code and its truncated output; the full output is saved in a file.
 *
 * The command runs in its own process group, which a timeout or an abort ends as a whole; the output so far is kept, and a note at
 * the end of the text says what happened. An exit code other than 0 is not an error. Background processes that the command leaves
 * running are not waited for and can no longer write to the output.
 *
 * @example
 * const { exitCode, output } = await runCommand('npm', ['test'], { timeoutMs: 120_000, sessionId })
 * messages.push({ role: 'tool', content: output.content })
 * @throws SpillwayError `COMMAND` when the program cannot be started, `INVALID_ARGUMENT` for a wrong argument
 */
export async function runCommand(
  file: string,
  args: readonly string[] = [],
  options: RunCommandOptions = {},
): Promise<CommandResult> {
  readable('options', () => checkArguments(file, args, options))
  options.signal?.throwIfAborted()
  defaultService ??= options.service ? undefined : new TruncationService()
  const service = options.service ?? defaultService!
  const capture = knownAs(KNOWN_AS, () => service.capture(contextOf(file, args, options)))
  try {
    return await run(service, capture, commandLine(file, args, options.shell), options)
  } catch (error) {
    capture.destroy()
    throw error
  }
}

/** Option names of the capture, and the caller's names for them. */
const KNOWN_AS = { options: 'options.truncation', 'context.': 'options.' }

function contextOf(file: string, args: readonly string[], options: RunCommandOptions): TruncationContext {
  const { toolName = 'bash', sessionId, messageId, toolCallId, query, truncation, defaults } = options
  const command = [options.shell ? file : shellQuote(file), ...args.map(shellQuote)].join(' ')
  return { toolName, sessionId, messageId, toolCallId, command, query, defaults, options: truncation }
}

interface CommandLine {
  file: string
  args: readonly string[]
  shell?: boolean | string
}

function commandLine(file: string, args: readonly string[], shell: boolean | string | undefined): CommandLine {
  if (!shell) return { file, args }
  if (IS_WINDOWS) return { file: [file, ...args].join(' '), args: [], shell }
  const text = [file, ...args.map(shellQuote)].join(' ')
  return { file: shell === true ? '/bin/sh' : shell, args: ['-c', text] }
}

async function run(
  service: TruncationService,
  capture: Capture,
  line: CommandLine,
  options: RunCommandOptions,
): Promise<CommandResult> {
  const started = elapsed()
  const source = options.separate ? undefined : openPipe(capture)
  let child: ChildProcess
  try {
    child = start(line, options, source?.writer)
  } catch (error) {
    source?.close()
    throw cannotStart(line.file, options, error)
  } finally {
    source?.closeWriter()
  }
  // Heard first: what a spawn that failed has to say comes on the next turn.
  const exited = exitOf(child, line.file, options)
  const output = source ?? listenTo(child, capture, options.separate === true)
  feed(child, options.input)
  const stop = new Stop(child, exited, options.killGraceMs ?? KILL_GRACE_MS)
  const forget = stopWhen(stop, options)
  // A failed capture takes no more input, and the command would wait indefinitely.
  capture.once('error', () => stop.now('aborted'))
  tellCaller('onStart', options.onStart, running(child, capture, stop))
  const progress = reportProgress(output, started, options.onProgress)
  const letGo = keepAlive()
  try {
    const { exitCode, signal } = await exited
    forget()
    await stop.done
    await output.end()
    const { reason } = stop
    capture.failed = reason !== undefined || exitCode !== 0
    capture.end()
    const result = await capture.result
    const byUser = !hasOwnReason(options.signal)
    const note = reason && native.commandNote(service.settings.handle, stop.limitMs, byUser)
    return {
      exitCode,
      signal,
      timedOut: reason === 'timedOut',
      aborted: reason === 'aborted',
      durationMs: elapsed() - started,
      output: rememberBounded(note === undefined ? result : withNote(result, note)),
      ...output.size(),
      ...(note !== undefined && { note }),
    }
  } finally {
    forget()
    progress.cancel()
    output.close()
    letGo()
  }
}

function start(line: CommandLine, options: RunCommandOptions, writer: number | undefined): ChildProcess {
  const { cwd, env, input, stdin = 'ignore' } = options
  const out = writer ?? 'pipe'
  const how: SpawnOptions = {
    cwd,
    env: env ? { ...process.env, ...env } : undefined,
    shell: line.shell,
    stdio: [input === undefined ? stdin : 'pipe', out, out],
    // The leader of a group of its own, so that everything it starts can be ended with it.
    detached: !IS_WINDOWS,
    windowsHide: true,
  }
  return spawn(line.file, line.args, how)
}

function exitOf(child: ChildProcess, file: string, options: RunCommandOptions): Promise<Exit> {
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }))
    child.on('error', (error) => {
      if (child.pid === undefined) reject(cannotStart(file, options, error))
    })
  })
  // Awaited a little later.
  exited.catch(() => {})
  return exited
}

function cannotStart(file: string, { cwd, shell }: RunCommandOptions, cause: unknown): SpillwayError {
  // The system says the same of both.
  const problem =
    cwd === undefined || isFolder(cwd) ? undefined : existsSync(cwd) ? 'is not a folder' : 'does not exist'
  if (problem) {
    const path = JSON.stringify(String(cwd))
    return invalid('options.cwd', `expected the path of a folder, received ${path}, which ${problem}`, {
      code: 'COMMAND',
      cause,
    })
  }
  const isMissing = !shell && (cause as NodeJS.ErrnoException).code === 'ENOENT'
  let hint = ''
  if (isMissing && /\s/.test(file.trim())) hint = '; a command line needs the option shell: true'
  else if (isMissing && !/[\\/]/.test(file)) hint = '; no folder of PATH has a program of this name'
  return new SpillwayError('COMMAND', `${JSON.stringify(file)} cannot be started: ${messageOf(cause)}${hint}`, {
    cause,
  })
}

function isFolder(path: string | URL): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

function feed({ stdin }: ChildProcess, input: string | Uint8Array | undefined): void {
  if (!stdin) return
  // A command need not read what it is given.
  stdin.on('error', () => {})
  stdin.end(input)
}

function running(child: ChildProcess, capture: Capture, stop: Stop): RunningCommand {
  return {
    pid: child.pid ?? 0,
    peek: () => capture.peek(),
    readRange: (range) => capture.readRange(range),
    stop: () => stop.now('aborted'),
  }
}

function reportProgress(
  output: Output,
  started: number,
  onProgress: RunCommandOptions['onProgress'],
): { cancel: () => void } {
  let next: Timer | undefined
  let isOver = false
  const tick = async () => {
    for (;;) {
      next = startTimer(PROGRESS_MS)
      await next.done
      if (isOver) return
      const { totalBytes, totalLines } = output.size()
      tellCaller('onProgress', onProgress, { bytes: totalBytes, lines: totalLines, elapsedMs: elapsed() - started })
    }
  }
  if (onProgress) void tick()
  const cancel = () => {
    isOver = true
    next?.cancel()
  }
  return { cancel }
}

/** True for a reason that the host gave: it may be a parent agent or a budget, and need not be the user. */
function hasOwnReason(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true && !(isRecord(signal.reason) && signal.reason.name === 'AbortError')
}

function withNote(result: TruncationResult, note: string): TruncationResult {
  const { content } = result
  const gap = content === '' ? '' : content.endsWith('\n') ? '\n' : '\n\n'
  const noted = { ...result, content: content + gap + note }
  if (noted.truncated) rememberPreview(noted)
  return noted
}

const OPTIONS: readonly (keyof RunCommandOptions)[] = [
  'cwd',
  'env',
  'input',
  'stdin',
  'timeoutMs',
  'killGraceMs',
  'signal',
  'onStart',
  'onProgress',
  'separate',
  'shell',
  'service',
  'toolName',
  'sessionId',
  'messageId',
  'toolCallId',
  'query',
  'truncation',
  'defaults',
]

function checkArguments(file: unknown, args: unknown, options: unknown): void {
  checkProgram('file', file)
  checkProgramArguments('args', args)
  if (!isRecord(options)) throw wrong('options', options, 'an object')
  checkKeys('options', options, OPTIONS)
  const { env, input, timeoutMs, killGraceMs, signal, onStart, onProgress, shell, service, separate, cwd, stdin } =
    options as RunCommandOptions
  // An empty `cwd` would mean the folder of this process, and a lost folder name would go unnoticed.
  if (cwd === '' || (cwd !== undefined && typeof cwd !== 'string' && typeof (cwd as URL | null)?.href !== 'string')) {
    throw wrong('options.cwd', cwd, 'the path of a folder')
  }
  if (typeof cwd === 'string') checkNoNul('options.cwd', cwd)
  if (env !== undefined) checkVariables('options.env', env)
  if (input !== undefined && typeof input !== 'string' && !types.isUint8Array(input)) {
    throw wrong('options.input', input, 'a string or a Uint8Array')
  }
  if (stdin !== undefined && stdin !== 'ignore' && !(stdin === 'inherit' && input === undefined)) {
    throw wrong('options.stdin', stdin, "'ignore', or without options.input 'inherit'")
  }
  for (const [name, ms] of Object.entries({ timeoutMs, killGraceMs })) {
    const min = name === 'timeoutMs' ? Number.MIN_VALUE : 0
    if (ms !== undefined && !(typeof ms === 'number' && Number.isFinite(ms) && ms >= min)) {
      throw wrong(
        `options.${name}`,
        ms,
        name === 'timeoutMs' ? 'a finite number above 0' : 'a finite number of at least 0',
      )
    }
  }
  checkSignal('options.signal', signal)
  for (const [name, callback] of Object.entries({ onStart, onProgress })) {
    if (callback !== undefined && typeof callback !== 'function') throw wrong(`options.${name}`, callback, 'a function')
  }
  if (separate !== undefined && typeof separate !== 'boolean')
    throw wrong('options.separate', separate, 'true or false')
  if (shell !== undefined && typeof shell !== 'boolean' && (typeof shell !== 'string' || shell === '')) {
    throw wrong('options.shell', shell, 'true, false, or the path of a shell')
  }
  if (typeof shell === 'string') checkNoNul('options.shell', shell)
  if (service !== undefined && !(service instanceof TruncationService)) {
    throw wrong('options.service', service, 'a TruncationService')
  }
}
