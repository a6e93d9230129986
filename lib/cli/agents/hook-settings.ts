/** The settings of an agent with and without Spillway in them. Nothing here writes a file. */

import { join, resolve } from 'node:path'
import { isArray } from '../../util/guards'
import { isRecord } from '../../validation/validate'
import { quoted } from '../parse-values'
import { isOwnPlugin, PACKAGE, program, runsOwn, wordsOfLine } from './own-paths'
import { serversPatch } from './server-settings'
import type { Agent, AgentSettings, Patch, Wanted, Wiring } from './types'

/** Returns a command line of the shell. */
export const lineOf = (words: readonly string[]): string => words.map(quoted).join(' ')

/** Returns the change that wires an agent, or with nothing wanted the change that removes it. */
export function patchOf(agent: Agent, settings: AgentSettings, wanted: Wanted | undefined): Patch {
  const { wiring } = agent
  switch (wiring.kind) {
    case 'hooks':
      return hooksPatch(agent, wiring, settings, wanted)
    case 'plugin':
      return listPatch(settings, wiring.list, isOwnPlugin, wanted && PACKAGE)
    case 'servers':
      return serversPatch(wiring.keys, settings, wanted)
    case 'file':
      return {}
  }
}

/** True if the settings of an agent name Spillway. */
export function isWired(agent: Agent, settings: AgentSettings): boolean {
  return Object.keys(patchOf(agent, settings, undefined)).length > 0
}

/** True for a command line that runs `spillway hook`, wherever the package is or was. */
function isOurHook(line: unknown, agent: string): line is string {
  if (typeof line !== 'string') return false
  const words = wordsOfLine(line)
  return runsOwn(words, 'hook') && words[words.indexOf('hook') + 1] === agent
}

type Hooks = Extract<Wiring, { kind: 'hooks' }>

function hooksPatch(
  { name: agent, hook: facts }: Agent,
  wiring: Hooks,
  settings: AgentSettings,
  wanted: Wanted | undefined,
): Patch {
  const { shape, command, timeout, fields, file, folders, namesEvent } = wiring
  const decides = wanted?.options.includes('--permission') === true
  // A hook that would never say anything would only cost its time.
  const events = Object.fromEntries(
    Object.entries(wiring.events).flatMap(([event, matcher]) => {
      if (facts?.events[event] !== 'before' || decides) return [[event, matcher]]
      const { wraps } = facts
      const isWrapped = wraps !== undefined && (!wraps.onDemand || wanted?.options.includes('--wrap-commands'))
      return isWrapped ? [[event, wraps.tool]] : []
    }),
  )
  const given = objectIn(settings, 'hooks', wanted)
  const hooks: Patch = {}
  for (const event of new Set([...Object.keys(given), ...Object.keys(events)])) {
    const before = given[event]
    if (before !== undefined && !isArray(before)) {
      // Another shape than the one that is known: nothing of it is changed.
      if (Object.hasOwn(events, event) && wanted) throw new Error(`hooks.${event} is not a list; nothing was changed`)
      continue
    }
    const entries = before ?? []
    const others = entries.flatMap((entry) => withoutOurs(entry, agent, command, shape))
    const line = wanted && [...[...program(), 'hook', agent], ...(namesEvent ? [event] : []), ...wanted.options]
    const hook = line && {
      ...(shape === 'groups' && { type: 'command' }),
      ...fields,
      [command]: lineOf(line),
      [timeout[0]]: timeout[1],
    }
    const isOurs = hook !== undefined && Object.hasOwn(events, event)
    const matcher = events[event]
    const own = shape === 'groups' ? { ...(matcher !== undefined && { matcher }), hooks: [hook] } : hook
    const after = isOurs ? [...others, own] : others
    if (same(after, entries)) continue
    hooks[event] = after.length > 0 ? after : null
  }
  const patch: Patch = {}
  if (Object.keys(hooks).length > 0) {
    const left = { ...given, ...hooks }
    const isEmpty = Object.values(left).every((value) => value === null)
    patch.hooks = isEmpty ? null : hooks
  }
  if (wanted) for (const [key, value] of Object.entries(file ?? {})) if (settings[key] === undefined) patch[key] = value
  if (folders !== undefined) {
    const [section, list] = folders
    const inner = objectIn(settings, section, wanted)
    const { SPILLWAY_STORAGE_DIR: own } = process.env
    const stores = [
      wanted?.store,
      own && resolve(own),
      ...hooksIn(settings, agent, command).map(({ line }) => storeIn(line)),
    ]
    const isStore = (value: unknown) =>
      typeof value === 'string' && (stores.includes(value) || /[\\/]spillway[\\/]tool-output$/.test(value))
    const change = listPatch(inner, list, isStore, wanted?.store)
    if (Object.keys(change).length > 0) {
      const left = Object.values({ ...inner, ...change }).every((value) => value === null)
      patch[section] = left ? null : change
    }
  }
  return patch
}

/** A member that is an object, empty if it is absent. Another shape than the one that is known is not written over. */
function objectIn(settings: AgentSettings, name: string, wanted: Wanted | undefined): AgentSettings {
  const given = settings[name]
  if (isRecord(given)) return given
  if (given != null && wanted !== undefined) throw new Error(`${name} is not an object; nothing was changed`)
  return {}
}

/** An entry without our command, and without the entry if nothing else is in it. */
function withoutOurs(entry: unknown, agent: string, command: string, shape: Hooks['shape']): unknown[] {
  if (!isRecord(entry)) return [entry]
  if (shape === 'flat') return isOurHook(entry[command], agent) ? [] : [entry]
  if (!isArray(entry.hooks)) return [entry]
  const others = entry.hooks.filter((hook) => !(isRecord(hook) && isOurHook(hook[command], agent)))
  if (others.length === entry.hooks.length) return [entry]
  return others.length === 0 ? [] : [{ ...entry, hooks: others }]
}

function listPatch(
  settings: AgentSettings,
  name: string,
  isOurs: (value: unknown) => boolean,
  wanted: string | undefined,
): Patch {
  const given = settings[name]
  if (given !== undefined && !isArray(given)) {
    if (wanted !== undefined) throw new Error(`${name} is not a list; nothing was changed`)
    return {}
  }
  const before = given ?? []
  const others = before.filter((value) => !isOurs(value))
  const after = wanted === undefined ? others : [...others, wanted]
  if (same(after, before)) return {}
  return { [name]: after.length > 0 ? after : null }
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** The first words of a file of our own. */
const MARK = '// Written by `spillway init`'

/** True for the text of a file that `spillway init` wrote. */
export const isOurFile = (text: string): boolean => text.startsWith(MARK)

/** Returns the extension for pi. */
export function extensionText(): string {
  const from = (...path: string[]) => JSON.stringify(join(PACKAGE, ...path))
  return `${MARK}; \`spillway init pi --undo\` removes it.
import { HistoryPruner, TruncationService } from ${from('index.mjs')}
import { extension } from ${from('dist', 'adapters', 'pi.mjs')}

const truncation = new TruncationService({ availableTools: ['read', 'grep'] })
export default extension({ truncation, history: () => new HistoryPruner() })
`
}

/** A command line of Spillway, and the event that the agent runs it at. */
export interface WiredHook {
  event: string
  line: string
}

/** Returns the command lines of Spillway in the settings of an agent with hooks, each once for an event. */
export function wiredHooks({ name, wiring }: Agent, settings: AgentSettings): WiredHook[] {
  return wiring.kind === 'hooks' ? hooksIn(settings, name, wiring.command) : []
}

function hooksIn(settings: AgentSettings, agent: string, command: string): WiredHook[] {
  if (!isRecord(settings.hooks)) return []
  return Object.entries(settings.hooks).flatMap(([event, list]) => {
    const entries = isArray(list) ? list : []
    const hooks = entries.flatMap((entry) => (isRecord(entry) && isArray(entry.hooks) ? entry.hooks : [entry]))
    const lines = hooks.map((hook) => (isRecord(hook) ? hook[command] : undefined))
    return [...new Set(lines.filter((line) => isOurHook(line, agent)))].map((line) => ({ event, line }))
  })
}

/** The store that a command line names. */
export function storeIn(line: string): string | undefined {
  const words = wordsOfLine(line)
  const at = words.indexOf('--store')
  return at === -1 ? undefined : words[at + 1]
}
