/** Loads a file of foreign code, with a time limit. */

import { createRequire } from 'node:module'
import { extname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { constants, Script } from 'node:vm'
import { Worker } from 'node:worker_threads'
import { messageOf } from '../util/message-of'
import { startTimer } from '../util/timer'
import { TimeoutError, withTimeout } from '../util/with-timeout'
import { codeOf, Refusal } from './scan-folder'

type Import = (url: string) => Promise<Record<string, unknown>>

/** `import()` as Node has it: the compiler would make `require` of it. */
async function importModule(url: string): Promise<Record<string, unknown>> {
  try {
    return await (new Function('url', 'return import(url)') as Import)(url)
  } catch (error) {
    // Test runners have no `import()`, and some hosts make no code of texts. Node has another way, and warns that it is new.
    const isMissing = String(codeOf(error)).startsWith('ERR_VM_DYNAMIC_IMPORT') || error instanceof EvalError
    const importModuleDynamically = constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER
    if (!isMissing || importModuleDynamically === undefined) throw error
    const script = new Script('(url) => import(url)', { importModuleDynamically })
    return (script.runInThisContext() as Import)(url)
  }
}

/** Message of the worker thread that checks the file. */
type Trial = { loaded: true } | { code?: string; message: string }

const TRIAL = `
const { setImmediate } = require('node:timers')
const { parentPort, workerData } = require('node:worker_threads')
import(workerData).then(
  // An unhandled rejection ends the thread first, as it would end the process.
  () => setImmediate(() => parentPort.postMessage({ loaded: true })),
  (error) => parentPort.postMessage({ code: error?.code, message: String(error?.message ?? error).slice(0, 10000) }),
)`

/** A file that takes more than this while it loads would end the host, because it runs out of memory. */
const MAX_MEGABYTES = 512

/**
 * Loads a file in a thread that can be ended, and throws its fault: an endless loop, which could not be interrupted
 * here, the end of the process, use of all memory, an error.
 */
async function tryOut(url: string, timeoutMs: number): Promise<void> {
  const resourceLimits = { maxOldGenerationSizeMb: MAX_MEGABYTES }
  const worker = new Worker(TRIAL, { eval: true, workerData: url, resourceLimits, stdout: true, stderr: true })
  // Unread, what it prints would hold it up.
  worker.stdout.resume()
  worker.stderr.resume()
  const wait = startTimer(timeoutMs)
  const said = new Promise<Trial | undefined>((resolve, reject) => {
    worker.on('message', resolve)
    worker.on('error', (error) => resolve({ code: (error as NodeJS.ErrnoException).code, message: messageOf(error) }))
    worker.on('exit', (code) => resolve({ message: `it ended the process (exit code ${code})` }))
    wait.done.then((isLate) => isLate && resolve(undefined), reject)
  })
  try {
    const trial = await said
    if (trial === undefined) throw tooLong(timeoutMs)
    if (!('loaded' in trial)) throw problemOf(trial)
  } finally {
    wait.cancel()
    worker.terminate().catch(() => {})
  }
}

function tooLong(timeoutMs: number): Refusal {
  return new Refusal(`took longer than ${timeoutMs} ms to load`)
}

const TYPESCRIPT = /^\.[mc]?ts$/

/** Node reads no files of this kind. */
class UnknownKind extends Refusal {}

function problemOf({ code, message }: { code?: unknown; message: string }): Refusal {
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION') {
    const how = 'Node 22.18 or newer does, a loader such as tsx (node --import tsx), or the option loader'
    return new UnknownKind(`cannot be loaded, because nothing here reads TypeScript: ${how}`)
  }
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return new Refusal(`took more than ${MAX_MEGABYTES} MiB while it was loaded`)
  return new Refusal(`does not load: ${message.slice(0, 1000)}`)
}

/** How a file is loaded. */
export interface LoadModuleOptions {
  timeoutMs: number
  /** True if it is loaded in a thread of its own first. */
  trial: boolean
  /** Loads TypeScript. */
  loader?: (path: string) => unknown
}

/**
 * Returns the exports of a file.
 * @throws Refusal with a sentence
 */
export async function loadModule(path: string, { timeoutMs, trial, loader }: LoadModuleOptions): Promise<object> {
  const isTypeScript = TYPESCRIPT.test(extname(path))
  if (isTypeScript && loader !== undefined) return inTime(() => loader(path), timeoutMs)
  const url = pathToFileURL(path).href
  try {
    if (trial) await tryOut(url, timeoutMs)
    return await inTime(() => importModule(url), timeoutMs)
  } catch (error) {
    // A hook for `require` alone, such as ts-node, does not load modules.
    const require = createRequire(path)
    const isRegistered = error instanceof UnknownKind && extname(path) in (require.extensions ?? {})
    if (!isRegistered) throw error
    return inTime(() => require(path), timeoutMs)
  }
}

/** Resolves to the result if it is an object and arrives in time. */
async function inTime(work: () => unknown, timeoutMs: number): Promise<object> {
  try {
    const loaded = await withTimeout(timeoutMs, work)
    if ((typeof loaded === 'object' || typeof loaded === 'function') && loaded !== null) return loaded
    throw new Refusal('exports nothing')
  } catch (error) {
    if (error instanceof TimeoutError) throw tooLong(timeoutMs)
    throw error instanceof Refusal ? error : problemOf({ code: codeOf(error), message: messageOf(error) })
  }
}
