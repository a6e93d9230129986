/** Outputs of commands that still run, together with those that are saved. */

import type { CommandResult, RunningCommand } from '../command/types'
import { SpillwayError } from '../errors'
import { MemoryStorage } from '../storage/memory-storage'
import type { OutputAccess, RangeResult, ReadRange, SearchOptions, SearchResult } from '../storage/read'
import type { StorageUsage, SweepReport } from '../storage/retention'
import { canSay, isSavedOutput } from '../storage/saved-outputs'
import { exitCodeOf } from '../util/exit-code'
import { tellCaller } from '../util/warn'
import { wrong } from '../validation/validate'
import { outputSource } from './source-checks'
import type { ListedOutput, OutputProgress, OutputSource } from './sources'

/** Milliseconds between two looks at an output that is followed. */
const EVERY_MS = 100
/** Outputs of finished commands that are still known by the name they had while they ran. */
const MAX_FINISHED = 1000

/** Facts of a command that its saved output is listed with. */
type CommandFacts = Pick<ListedOutput, 'command' | 'cwd' | 'startedAt' | 'durationMs' | 'exitCode' | 'lines'>

/** Where the output of a finished command is. */
interface FinishedOutput {
  source: OutputSource
  path: string
  sessionId?: string | undefined
  facts?: CommandFacts
}

interface LiveOutput {
  running: RunningCommand
  about: Omit<ListedOutput, 'path' | 'bytes'>
  sessionId: string | undefined
}

/** Facts about a command that was started. */
export interface StartedCommand {
  command: string
  cwd?: string
  toolName?: string
  sessionId?: string
}

/** The output of a command that has ended. */
interface EndedOutput {
  content: unknown
  outputPath?: string
}

/**
 * A source that also lists and follows the outputs of running commands, under names such as `running:1`. When a command has
 * finished, its name refers to the saved output, which is listed with the command. Everything else that the source of saved outputs
 * offers (removing, sweeping, the size of the store, opening) is offered here too.
 *
 * @example
 * const live = new LiveOutputs(storage)
 * let path = ''
 * const result = await runCommand('npm', ['test'], {
 *   service,
 *   onStart: (running) => { path = live.start(running, { command: 'npm test' }) },
 * })
 * await live.finish(path, result)
 */
export class LiveOutputs implements OutputSource {
  private readonly live = new Map<string, LiveOutput>()
  private readonly finished = new Map<string, FinishedOutput>()
  /** Outputs that were too short to be saved. */
  private readonly short = new MemoryStorage()
  private count = 0

  /** Absent, like the members that follow, if the source has no such member. */
  readonly usage?: () => Promise<StorageUsage>
  readonly sweep?: () => Promise<SweepReport>
  /** Removes the output of a command that has ended. Returns false if it did not exist. */
  readonly remove?: (path: string) => Promise<boolean>
  readonly open?: (path: string) => Promise<void>
  readonly downloadUrl?: (path: string) => Promise<string>

  constructor(private readonly saved: OutputSource) {
    if (!outputSource[1](saved)) throw wrong('saved', saved, outputSource[0])
    if (saved.usage) this.usage = async () => saved.usage!()
    if (saved.sweep) this.sweep = async () => saved.sweep!()
    if (saved.remove) this.remove = async (path) => this.removeAt(path)
    if (saved.open) this.open = async (path) => saved.open!(this.fileAt(path, 'opened'))
    if (saved.downloadUrl) this.downloadUrl = async (path) => saved.downloadUrl!(this.fileAt(path, 'downloaded'))
  }

  /** Adds the output of a command that runs, and returns its name. */
  start(running: RunningCommand, { sessionId, toolName = 'bash', ...about }: StartedCommand): string {
    this.count += 1
    const path = `running:${this.count}`
    const now = Date.now()
    const facts = { ...about, toolName, savedAt: now, startedAt: now, isRunning: true }
    this.live.set(path, { running, about: facts, sessionId })
    return path
  }

  /**
   * Records the end of a command: its result, or only the `output` of that, which leaves the exit code unknown. An output that was
   * not truncated has no file: it is kept in memory, as long as a `MemoryStorage` has room.
   */
  async finish(path: string, ended: CommandResult | EndedOutput): Promise<void> {
    const live = this.live.get(path)
    if (live === undefined) return
    const { content, outputPath }: EndedOutput = 'output' in ended ? ended.output : ended
    const text = typeof content === 'string' ? content : ''
    const { about, sessionId } = live
    const at: FinishedOutput =
      outputPath === undefined
        ? { source: this.short, path: await this.short.save(text, { toolName: about.toolName }), sessionId }
        : { source: this.saved, path: outputPath, sessionId, facts: factsOf(about, ended) }
    this.live.delete(path)
    this.finished.set(path, at)
    if (this.finished.size > MAX_FINISHED) this.finished.delete(this.finished.keys().next().value as string)
  }

  async readRange(path: string, range: ReadRange, access: OutputAccess = {}): Promise<RangeResult> {
    const live = this.liveAt(path, access)
    if (live) return live.running.readRange(range)
    const { source, path: at } = this.savedAt(path, access)
    return source.readRange(at, range, source === this.saved ? access : {})
  }

  async search(path: string, pattern: string, options: SearchOptions = {}): Promise<SearchResult> {
    const { source, path: at } = this.savedAt(path, options)
    if (this.liveAt(path, options)) this.checkEnded(path, 'searched')
    if (source.search === undefined) {
      throw new SpillwayError('INVALID_ARGUMENT', `${path}: its source has no search`, { field: 'path' })
    }
    return source.search(at, pattern, source === this.saved ? options : { ...options, sessionId: undefined })
  }

  async list(access: OutputAccess = {}): Promise<ListedOutput[]> {
    const ofSession = [...this.live].filter(([, one]) => isOf(one, access))
    const running = ofSession.reverse().map(async ([path, { about, running }]) => ({
      ...about,
      path,
      bytes: await sizeOf((range) => running.readRange(range)).catch(() => 0),
    }))
    const saved = (await this.saved.list?.(access)) ?? []
    const known = new Map([...this.finished.values()].map(({ path, facts }) => [path, facts]))
    return [...(await Promise.all(running)), ...saved.map((one) => ({ ...known.get(one.path), ...one }))]
  }

  follow(path: string, listener: (progress: OutputProgress) => void): () => void {
    let [known, isStopped] = [-1, false]
    const stop = () => {
      isStopped = true
      clearInterval(timer)
    }
    const look = async () => {
      const isFinished = !this.live.has(path)
      const totalBytes = await sizeOf((range) => this.readRange(path, range)).catch(() => Math.max(0, known))
      if (isStopped || (totalBytes === known && !isFinished)) return
      known = totalBytes
      if (isFinished) stop()
      const at = this.finished.get(path)
      tellCaller('listener', listener, { totalBytes, isFinished, ...(at?.source === this.saved && { path: at.path }) })
    }
    const timer = setInterval(look, EVERY_MS)
    void look()
    return stop
  }

  /** True if the storage saved the output at a path. */
  owns(path: string): boolean {
    return canSay(this.saved) && isSavedOutput(path, this.saved)
  }

  private async removeAt(path: string): Promise<boolean> {
    this.checkEnded(path, 'removed')
    const { source, path: at } = this.savedAt(path, {})
    const isRemoved = source === this.short || (await this.saved.remove!(at))
    for (const [name, one] of this.finished) if (one.path === at) this.finished.delete(name)
    return isRemoved
  }

  /** The path of the file that a name refers to. */
  private fileAt(path: string, verb: string): string {
    this.checkEnded(path, verb)
    const { source, path: at } = this.savedAt(path, {})
    if (source === this.saved) return at
    throw new SpillwayError('INVALID_ARGUMENT', `${path}: was too short to be saved in a file`, { field: 'path' })
  }

  private checkEnded(path: string, verb: string): void {
    if (!this.live.has(path)) return
    const problem = `${path}: can be ${verb} when the command has ended`
    throw new SpillwayError('INVALID_ARGUMENT', problem, { field: 'path' })
  }

  private liveAt(path: string, access: OutputAccess): LiveOutput | undefined {
    const live = this.live.get(path)
    if (live !== undefined) checkSession(path, live, access)
    return live
  }

  private savedAt(path: string, access: OutputAccess): FinishedOutput {
    const at = this.finished.get(path)
    if (at !== undefined) checkSession(path, at, access)
    return at ?? { source: this.saved, path }
  }
}

function factsOf({ command, cwd, startedAt }: LiveOutput['about'], ended: CommandResult | EndedOutput): CommandFacts {
  const facts: CommandFacts = {
    ...(command !== undefined && { command }),
    ...(cwd !== undefined && { cwd }),
    ...(startedAt !== undefined && { startedAt }),
  }
  if (!('output' in ended)) return facts
  const { exitCode, signal, durationMs, totalLines } = ended
  return { ...facts, exitCode: exitCodeOf(exitCode, signal), durationMs, lines: totalLines }
}

type OfSession = Pick<LiveOutput | FinishedOutput, 'sessionId'>

function isOf({ sessionId }: OfSession, access: OutputAccess): boolean {
  return access.sessionId === undefined || access.sessionId === sessionId
}

function checkSession(path: string, output: OfSession, access: OutputAccess): void {
  if (isOf(output, access)) return
  throw new SpillwayError('STORAGE_NOT_OWNED', `${path}: is an output of another session`, { field: 'path' })
}

async function sizeOf(read: (range: ReadRange) => Promise<RangeResult>): Promise<number> {
  return (await read({ fromByte: 0, byteCount: 1 })).totalBytes
}
