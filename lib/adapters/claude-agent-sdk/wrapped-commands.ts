/** Commands of the SDK's Bash tool that run under `spillway run`, which saves what a failed command prints as well. */

import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isSavedOutput, type OutputOwner, rememberOutput } from '../../storage/saved-outputs'
import { randomUUID } from '../../util/crypto'
import { LruCache } from '../../util/lru-cache'
import { shellQuote } from '../../util/shell-quote'
import { isRecord } from '../../validation/validate'

/** The SDK cuts the middle out of the message of a failed tool above 10,000 characters; the notice needs some of them. */
const MAX_BYTES = 9000
const MAX_LINES = 500

interface Wrapped {
  /** The arguments as they were judged. */
  args: Record<string, unknown>
  /** Has the folder that the command ended in. */
  endFile: string
}

interface BashCall {
  tool: string
  toolCallId: string
  sessionId?: string
}

/** The wrapped calls that are open. Without a folder nothing is wrapped. */
export class WrappedCommands {
  readonly #folder: string | undefined
  readonly #storage: OutputOwner | undefined
  readonly #open = new LruCache<string, Wrapped>(1000)

  constructor(folder: string | undefined, storage: OutputOwner | undefined) {
    this.#folder = folder
    this.#storage = storage
  }

  /** The arguments of a call with its command under `spillway run`; of another tool, and in the background, as they are. */
  wrap<A>(call: BashCall, args: A): A {
    if (this.#folder === undefined || call.tool !== 'Bash' || !isRecord(args)) return args
    if (typeof args.command !== 'string' || args.run_in_background === true) return args
    const endFile = join(tmpdir(), `spillway-${randomUUID()}.cwd`)
    this.#open.set(call.toolCallId, { args, endFile })
    return { ...args, command: wrapped(args.command, this.#folder, endFile, call.sessionId) }
  }

  /** The arguments of a call as they were before it was wrapped. */
  asWritten(toolCallId: string, args: Record<string, unknown>): Record<string, unknown> {
    return this.#open.get(toolCallId)?.args ?? args
  }

  /** Returns an ended call as it was judged; `undefined` if it was not wrapped. */
  end({ toolCallId }: BashCall): Wrapped | undefined {
    const call = this.#open.get(toolCallId)
    if (call !== undefined) rmSync(call.endFile, { force: true })
    return call
  }

  /** True if a call is wrapped, so that its output is bounded already. */
  isWrapped(toolCallId: string | undefined): boolean {
    return toolCallId !== undefined && this.#open.get(toolCallId) !== undefined
  }

  forget({ toolCallId }: BashCall): void {
    this.#open.delete(toolCallId)
  }

  /** The saved output that the notice of a wrapped command names first, if the storage has it. */
  outputOf(printed: string): string | undefined {
    const folder = this.#folder
    const at = folder === undefined ? -1 : printed.indexOf(folder)
    // The notice ends a line with the path; as JSON the line feed is an escape.
    const path = at === -1 ? undefined : /^.*?\.txt(?=\s|\\n|"|$)/.exec(printed.slice(at))?.[0]
    if (path === undefined || !isSavedOutput(path, this.#storage)) return undefined
    rememberOutput(path)
    return path
  }
}

/**
 * The SDK's shell keeps the folder that a command ended in for the next one, if the command succeeded. The inner shell writes
 * it to a file, and the outer one changes to it.
 */
function wrapped(command: string, folder: string, endFile: string, sessionId: string | undefined): string {
  const program = [process.execPath, join(__dirname, '..', 'cli', 'main.js'), 'run', '--store', folder]
  const limits = ['--max-bytes', String(MAX_BYTES), '--max-lines', String(MAX_LINES)]
  const session = sessionId === undefined ? [] : ['--session', sessionId]
  const end = shellQuote(endFile)
  const inner = `trap ${shellQuote(`pwd -P > ${end}`)} EXIT\n${command}`
  const words = [...program, ...limits, ...session, '--', 'bash', '-c', inner]
  return `${words.map(shellQuote).join(' ')} && { [ ! -s ${end} ] || cd "$(cat ${end})"; }`
}
