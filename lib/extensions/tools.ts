/** Tools that a user wrote as files of code. */

import { join, parse } from 'node:path'
import { pathOf } from '../config/config-file'
import type { ToolControls } from '../guard/controls'
import { guardTool } from '../guard/guard-tool'
import { Settings } from '../settings/settings'
import { boundMembers } from '../tools/bind-members'
import type { Tool } from '../tools/registry'
import { isArray } from '../util/guards'
import { messageOf } from '../util/message-of'
import { checkKeys, describe, isRecord, mismatch, wrong } from '../validation/validate'
import { loadModule } from './load-module'
import { checkFile, type ExtensionProblem, namesIn, Refusal } from './scan-folder'

/** Options of {@link loadTools}. */
export interface LoadToolsOptions {
  /**
   * The files are code that runs with all rights of this process. Unless this is `true`, the folder is not even read.
   * @default false
   */
  enabled?: boolean
  /**
   * The controls of each tool, as with `guardTool`: permission, loops, audit, truncation, hooks. Without it, the tools are
   * returned unchanged, for a host that guards all its tools itself.
   */
  controls?: ToolControls | undefined
  /**
   * Names of the host's own tools. A tool of that name in the folder, in any spelling (`BASH`, `read_file` and `readFile`), is
   * left out and reported.
   */
  reserved?: readonly string[]
  /**
   * Milliseconds that a file may take to load.
   * @default 10000
   */
  timeoutMs?: number
  /**
   * True if each file is first loaded in a separate thread, which can be ended: only then can an endless loop, or a file that ends
   * the process, be reported and left out. The top-level code of a file then runs twice. TypeScript files that need the `loader`
   * are not loaded there.
   * @default true
   */
  trial?: boolean
  /**
   * Loads `.ts`, `.mts` and `.cts` files and returns their exports, such as `(path) => jiti.import(path)`. Without it the runtime
   * must read TypeScript by itself.
   */
  loader?: ((path: string) => unknown) | undefined
  /**
   * True if a file may be a link to another.
   * @default false
   */
  followLinks?: boolean
}

/** Result of {@link loadTools}. */
export interface LoadedTools {
  /** Ordered by file name; within a file, the default export first, then by export name. */
  tools: Tool[]
  problems: ExtensionProblem[]
  /** The file of each tool, by its name. */
  paths: Record<string, string>
}

const KEYS = ['enabled', 'controls', 'reserved', 'timeoutMs', 'trial', 'loader', 'followLinks']
const LOAD_TIMEOUT_MS = 10_000

/** Tool names that providers accept. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/

/**
 * Loads the tools of a folder: every export of a `.js`, `.mjs`, `.cjs` or `.ts` file in it that has an `execute` function,
 * alone or in an array. A tool without a `name` gets the name of its file, or, if it is not the default export, the name of its
 * export. A file that does not load is reported with its path, and the others are used. If two tools have the same name, the first
 * one is used; names of the host take precedence. A loaded file is not reloaded until the process ends.
 *
 * @example
 * const { tools, problems } = await loadTools(join(homedir(), '.my-agent', 'tools'), {
 *   enabled: config.externalTools === true,
 *   controls: { permission: gate, truncation: service, audit: log },
 *   reserved: ['read', 'edit', 'bash'],
 * })
 * @throws SpillwayError `INVALID_ARGUMENT` for a path or an option of a wrong kind
 */
export async function loadTools(dir: string, options: LoadToolsOptions = {}): Promise<LoadedTools> {
  const folder = pathOf('dir', dir, 'the path of a folder')
  const { enabled, controls, reserved, followLinks, ...how } = readOptions(options)
  const problems: ExtensionProblem[] = []
  const tools = new Map<string, Tool>()
  const paths: Record<string, string> = Object.create(null)
  if (!enabled) return { tools: [], problems, paths }
  for (const name of await namesIn(folder, /(?<!\.d)\.[mc]?[jt]s$/, problems)) {
    const path = join(folder, name)
    const refuse = (error: unknown) => problems.push({ severity: 'error', path, message: messageOf(error) })
    try {
      await checkFile(path, followLinks)
      const found = toolsIn(await loadModule(path, how), parse(name).name)
      if (found.length === 0) throw new Refusal('exports no tool: nothing in it has an execute function')
      for (const [given, called] of found) {
        try {
          const tool = checked(given, called)
          if (reserved.some((name) => plain(name) === plain(tool.name)))
            throw new Refusal(`the tool '${tool.name}' is called like one of the host's`)
          const first = paths[tool.name]
          if (first !== undefined) throw new Refusal(`the tool '${tool.name}' is called like one of ${first}`)
          tools.set(tool.name, controls === undefined ? tool : guardTool(tool, controls))
          paths[tool.name] = path
        } catch (error) {
          refuse(error)
        }
      }
    } catch (error) {
      refuse(error)
    }
  }
  return { tools: [...tools.values()], problems, paths: { ...paths } }
}

function readOptions(options: unknown) {
  if (!isRecord(options)) throw wrong('options', options, 'an object')
  checkKeys('options', options, KEYS)
  const { enabled = false, controls, reserved = [], timeoutMs = LOAD_TIMEOUT_MS } = options as LoadToolsOptions
  const { trial = true, loader, followLinks = false } = options as LoadToolsOptions
  for (const [key, value] of Object.entries({ enabled, trial, followLinks })) {
    if (typeof value !== 'boolean') throw wrong(`options.${key}`, value, 'true or false')
  }
  if (!isArray(reserved) || reserved.some((name) => typeof name !== 'string')) {
    throw wrong('options.reserved', reserved, 'an array of names')
  }
  if (!(typeof timeoutMs === 'number' && timeoutMs > 0)) throw wrong('options.timeoutMs', timeoutMs, 'a number above 0')
  if (loader !== undefined && typeof loader !== 'function') throw wrong('options.loader', loader, 'a function')
  // A wrong control is an error of the call, and not of each file.
  if (controls !== undefined) guardTool({ name: 'tool', execute: () => undefined }, controls)
  return { enabled, controls, reserved, timeoutMs, trial, loader, followLinks }
}

/** A name without what permission does not look at, either. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[-_. ]/g, '')
}

/** Returns the exports that look like tools, each with the name to use if it has none. */
function toolsIn(exported: object, file: string): [tool: object, called: string][] {
  const found = new Map<object, string>()
  const add = (value: unknown, called: string) => {
    for (const one of isArray(value) ? value : [value]) {
      if (isRecord(one) && typeof one.execute === 'function' && !found.has(one)) found.set(one, called)
    }
  }
  const look = (module: Record<string, unknown>, inner: boolean) => {
    const { default: main } = module
    add(main, file)
    // A module of the older kind is the default export of the newer, and may have one of its own.
    if (!inner && isRecord(main) && typeof main.execute !== 'function') look(main, true)
    for (const name of Object.keys(module).sort()) add(module[name], name)
  }
  look(exported as Record<string, unknown>, false)
  return [...found]
}

/** The tool itself if it has a name, else one that does the same and has one. */
function checked(given: object, called: string): Tool {
  const tool = given as Tool
  const { name = called, description, truncation } = tool
  if (typeof name !== 'string' || !NAME.test(name)) {
    const shown = typeof name === 'string' ? `'${name.slice(0, 80)}'` : describe(name)
    throw new Refusal(`the name ${shown} is not allowed: it must have 1 to 64 letters, digits, _ and - of ASCII`)
  }
  if (description !== undefined && typeof description !== 'string') {
    throw new Refusal(`the description of '${name}': ${mismatch(description, 'a string')}`)
  }
  if (truncation !== undefined) new Settings({}).setTool(name, truncation)
  if (tool.name !== undefined) return tool
  return { ...boundMembers(tool), name, execute: (args, context) => tool.execute(args, context) }
}
