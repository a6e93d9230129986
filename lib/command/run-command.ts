/** Runs a command and bounds what it prints, however much that is. */

import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { constants } from 'node:os'
import type { Readable } from 'node:stream'
import { types } from 'node:util'
import type { Capture } from '../capture/capture'
import { knownAs, SpillwayError } from '../errors'
import { background, call, native } from '../native/native'
import { TruncationService } from '../service/service'
import { rememberBounded } from '../truncation/bounded-output'
import { rememberPreview } from '../truncation/previews'
import type { TruncationContext, TruncationResult } from '../types'
import { elapsed } from '../util/clock'
import { messageOf } from '../util/message-of'
import { keepAlive, startTimer, type Timer } from '../util/timer'
import { catchLater, warn } from '../util/warn'
import { checkKeys, checkSignal, invalid, isRecord, readable, wrong } from '../validation/validate'
import { Labels } from './stream-labels'
import type { CommandResult, RunCommandOptions, RunningCommand } from './types'
import { checkNoNul, checkProgram, checkProgramArguments, checkVariables } from './validate'

const IS_WINDOWS = process.platform === 'win32'
const PROGRESS_MS = 250
const KILL_GRACE_MS = 2000
/**
 * First wait before checking if a group of processes has ended. Each further wait is twice as long, because a check reads all the
 * processes of the system.
 */
const FIRST_LOOK_MS = 20
const LAST_LOOK_MS = 500
/** Where the output comes through streams: how long it may be silent, and go on, once the command has ended. */
const QUIET_MS = 100
const MOST_MS = 1000

/** Loaded with the first command: it is a tenth of the time that loading the package takes, and many never run one. */
function spawn(file: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const childProcess: typeof import('node:child_process') = require('node:child_process')
  return childProcess.spawn(file, args, options)
}

let defaultService: TruncationService | undefined

/**
 * Runs a program to its end and returns its exit and its truncated output; the whole output is in a file.
 *
 * The command has a process group of its own, which is ended as a whole by a timeout or an abort; the output so far
 * is kept, and a note at the end of the text says what happened. A command that ends with another code than 0 is a
 * result like any other. A process that it leaves behind is not waited for; it can no longer write to the output.
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
  const capture = knownAs(KNOWN_AS, () => service.capture(contextOf(options)))
  try {
    return await run(service, capture, commandLine(file, args, options.shell), options)
  } catch (error) {
    capture.destroy()
    throw error
  }
}

/** Option names of the capture, and the caller's names for them. */
const KNOWN_AS = { options: 'options.truncation', 'context.': 'options.' }

function contextOf(options: RunCommandOptions): TruncationContext {
  const { toolName = 'bash', sessionId, messageId, toolCallId, query, truncation } = options
  return { toolName, sessionId, messageId, toolCallId, query, options: truncation }
}

interface CommandLine {
  file: string
  args: readonly string[]
  shell?: boolean | string
}

function commandLine(file: string, args: readonly string[], shell: boolean | string | undefined): CommandLine {
  if (!shell) return { file, args }
  if (IS_WINDOWS) return { file: [file, ...args].join(' '), args: [], shell }
  const text = [file, ...args.map(quoted)].join(' ')
  return { file: shell === true ? '/bin/sh' : shell, args: ['-c', text] }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
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
  tell('onStart', options.onStart, running(child, capture, stop))
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
    const note = reason && endedNote(service, reason === 'timedOut' ? options.timeoutMs : undefined)
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

interface Exit {
  exitCode: number | null
  signal: string | null
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

function cannotStart(file: string, { cwd }: RunCommandOptions, cause: unknown): SpillwayError {
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
  return new SpillwayError('COMMAND', `${JSON.stringify(file)} cannot be started: ${messageOf(cause)}`, { cause })
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

/** Where the output of a command comes from. */
interface Output {
  /** Resolves when everything that the command wrote has been taken in. */
  end: () => Promise<void>
  close: () => void
  /** How much the command has printed. */
  size: () => { totalBytes: number; totalLines: number }
}

interface PipeOutput extends Output {
  writer: number
  closeWriter: () => void
}

/** A pipe that the binary empties, where there is one: what comes through it is never seen by JavaScript. */
function openPipe({ inflow }: Capture): PipeOutput | undefined {
  if (IS_WINDOWS || !inflow.isDirect) return undefined
  const pipe = call(() => native.pipeOpen(inflow.handle))
  const writer = native.pipeWriter(pipe)
  if (typeof writer !== 'number') return undefined
  return {
    writer,
    closeWriter: () => native.pipeCloseWriter(pipe),
    end: () => background(() => native.pipeEnd(pipe)),
    close: () => native.pipeClose(pipe),
    size: () => inflow.size(),
  }
}

function listenTo(child: ChildProcess, capture: Capture, isLabelled: boolean): Output {
  const labels = isLabelled ? new Labels() : undefined
  const streams = [child.stdout, child.stderr].filter((stream) => stream !== null)
  let heard = 0
  const write = (bytes: Uint8Array) => {
    heard += 1
    if (bytes.length === 0 || capture.write(bytes)) return
    for (const stream of streams) stream.pause()
    capture.once('drain', () => {
      for (const stream of streams) stream.resume()
    })
  }
  const closed = Promise.all(streams.map((stream, index) => listenToOne(stream, index, labels, write)))
  return {
    end: async () => {
      // Quiet is when nothing came for a while; a stream that we paused ourselves is not quiet.
      const until = elapsed() + MOST_MS
      for (;;) {
        const before = heard
        const quiet = startTimer(QUIET_MS)
        const isClosed = await Promise.race([closed.then(() => true), quiet.rings.then(() => false)])
        quiet.cancel()
        const isOver = heard === before || elapsed() >= until
        if (isClosed || (isOver && !capture.writableNeedDrain)) break
      }
      for (const stream of streams) stream.destroy()
      if (labels) write(labels.rest())
    },
    close: () => {
      for (const stream of streams) stream.destroy()
    },
    size: () => (labels ?? capture.inflow).size(),
  }
}

const NAMES = ['stdout', 'stderr'] as const

function listenToOne(
  stream: Readable,
  index: number,
  labels: Labels | undefined,
  write: (bytes: Uint8Array) => void,
): Promise<void> {
  const name = NAMES[index] ?? 'stdout'
  stream.on('data', (bytes: Buffer) => write(labels ? labels.label(name, bytes) : bytes))
  stream.on('error', () => {})
  return new Promise((resolve) => stream.once('close', resolve))
}

/** Ends a command and everything that it started: first by asking. */
class Stop {
  reason: 'timedOut' | 'aborted' | undefined
  /** Resolves when all of it has ended, or has been killed. */
  done: Promise<void> = Promise.resolve()

  constructor(
    private readonly child: ChildProcess,
    private readonly exited: Promise<Exit>,
    private readonly graceMs: number,
  ) {}

  now(reason: 'timedOut' | 'aborted'): void {
    if (this.reason !== undefined || this.child.pid === undefined || hasExited(this.child)) return
    this.reason = reason
    this.done = this.end(this.child.pid)
    this.done.catch(() => {})
  }

  private async end(pid: number): Promise<void> {
    signalGroup(pid, 'SIGTERM')
    const grace = startTimer(this.graceMs)
    let isOver = false
    grace.rings.then(() => {
      isOver = true
    })
    await Promise.race([this.exited, grace.rings])
    for (let wait = FIRST_LOOK_MS; !isOver && isAlive(pid); wait = Math.min(2 * wait, LAST_LOOK_MS)) {
      const look = startTimer(wait)
      await Promise.race([look.rings, grace.rings])
      look.cancel()
    }
    grace.cancel()
    signalGroup(pid, 'SIGKILL')
  }
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

/** True if anything of the group is left that has not ended. */
function isAlive(pid: number): boolean {
  if (IS_WINDOWS) return false
  try {
    process.kill(-pid, 0)
  } catch {
    return false
  }
  return process.platform !== 'linux' || hasRunning(pid)
}

/** A zombie process still counts for a signal. */
function hasRunning(group: number): boolean {
  try {
    return readdirSync('/proc').some((name) => /^\d+$/.test(name) && isRunning(name, group))
  } catch {
    return true
  }
}

function isRunning(pid: string, group: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the program is in brackets, and may have anything in it.
    const [state, , itsGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return Number(itsGroup) === group && state !== 'Z' && state !== 'X'
  } catch {
    return false
  }
}

function signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (IS_WINDOWS) {
    // There are no process groups; the tree is killed.
    spawn('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true }).on('error', () => {})
    return
  }
  try {
    process.kill(-pid, constants.signals[signal])
  } catch {
    // Gone already.
  }
}

/** Stops at the timeout and at the signal, until the answer is called. */
function stopWhen(stop: Stop, { timeoutMs, signal }: RunCommandOptions): () => void {
  const abort = () => stop.now('aborted')
  signal?.addEventListener('abort', abort, { once: true })
  const timeout = timeoutMs === undefined ? undefined : startTimer(timeoutMs)
  timeout?.rings.then((isUp) => {
    if (isUp) stop.now('timedOut')
  })
  return () => {
    timeout?.cancel()
    signal?.removeEventListener('abort', abort)
  }
}

function running(child: ChildProcess, capture: Capture, stop: Stop): RunningCommand {
  return {
    pid: child.pid ?? 0,
    peek: () => capture.peek(),
    readRange: (range) => capture.readRange(range),
    stop: () => stop.now('aborted'),
  }
}

/** Calls what the caller gave us; a failure of it is not one of the command. */
function tell<T>(name: string, callback: ((value: T) => unknown) | undefined, value: T): void {
  try {
    catchLater(name, callback?.(value))
  } catch (error) {
    warn(name, error)
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
      await next.rings
      if (isOver) return
      const { totalBytes, totalLines } = output.size()
      tell('onProgress', onProgress, { bytes: totalBytes, lines: totalLines, elapsedMs: elapsed() - started })
    }
  }
  if (onProgress) void tick()
  const cancel = () => {
    isOver = true
    next?.cancel()
  }
  return { cancel }
}

function endedNote(service: TruncationService, timeoutMs: number | undefined): string {
  return native.commandNote(service.settings.handle, timeoutMs)
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
    const least = name === 'timeoutMs' ? Number.MIN_VALUE : 0
    if (ms !== undefined && !(typeof ms === 'number' && Number.isFinite(ms) && ms >= least)) {
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
