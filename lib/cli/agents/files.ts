/** The setting files of agents: finds them, changes them with a backup, and restores them. */

import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join, normalize, sep } from 'node:path'
import { diffLines } from 'diff'
import { updateConfig } from 'spillway/config'
import { isArray } from '../../util/guards'
import { makeFolder } from '../../util/make-folder'
import { messageOf } from '../../util/message-of'
import { UsageError } from '../command'
import { AGENTS } from '.'
import { extensionText, isOurFile, isWired, patchOf } from './hook-settings'
import type { Agent, AgentSettings, Patch, Wanted } from './types'

export type Scope = 'user' | 'project'

/** Returns the file with the settings of an agent. */
export function fileOf(agent: Agent, scope: Scope, named?: string): string {
  if (named !== undefined) return named
  const all = agent.files[scope].map((path) => join(scope === 'user' ? homedir() : process.cwd(), path))
  if (scope === 'user' && homedir() === '' && agent.files.user.length > 0)
    throw new UsageError('there is no home folder; give --project or --file')
  const [name, beginning = ''] = agent.variable ?? []
  const folder = scope === 'user' && name !== undefined ? process.env[name] : undefined
  const paths = folder ? agent.files.user.map((path) => join(folder, path.slice(beginning.length))) : all
  const [first] = paths
  if (first === undefined)
    throw new UsageError(`${agent.title} have no settings file of the user; name a file with --file`)
  return paths.find((path) => existsSync(path)) ?? first
}

export interface Change {
  file: string
  before: string | undefined
  after: string | undefined
  backup?: string
}

const backupOf = (file: string) => `${file}.spillway-backup`

function textOf(file: string): string | undefined {
  if (!existsSync(file)) return undefined
  if (statSync(file).isDirectory()) throw new Error(`${file}: is a folder, not a file`)
  return readFileSync(file, 'utf8')
}

/** @throws Error if the folder of the file is none */
function checkFolder(file: string): void {
  let folder = dirname(file)
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder)
  if (!statSync(folder).isDirectory()) throw new Error(`${folder}: is a file, so ${file} cannot be created`)
}

/** Returns the settings in a file; `{}` where there is none. @throws SpillwayError for a text that cannot be read */
export async function settingsOf(file: string): Promise<Record<string, unknown>> {
  const text = textOf(file)
  if (text === undefined || text.trim() === '') return {}
  let settings: Record<string, unknown> = {}
  await onCopy(file, (copy) =>
    updateConfig(copy, (current) => {
      settings = current
      return undefined
    }),
  )
  return settings
}

/** True if an agent's settings have Spillway in them. */
export async function isWiredIn(agent: Agent, file: string): Promise<boolean> {
  if (agent.wiring.kind === 'file') return isOurFile(textOf(file) ?? '')
  return isWired(agent, await settingsOf(file))
}

/** Returns the text of a file after a change, which is made to a copy. */
async function onCopy(file: string, change: (copy: string) => Promise<unknown>): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-init-'))
  try {
    const copy = join(folder, 'settings.json')
    if (existsSync(file)) copyFileSync(file, copy)
    await change(copy)
    return textOf(copy)
  } catch (error) {
    const { message = String(error) } = error as Partial<Error>
    const said = message.replaceAll(folder, dirname(file))
    throw new Error(said.includes(file) ? said : `${file}: ${said}`, { cause: error })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Returns the change to the settings of a file, which a problem with them names. */
function patchIn(file: string, ...[agent, settings, wanted]: Parameters<typeof patchOf>): Patch {
  try {
    return patchOf(agent, settings, wanted)
  } catch (error) {
    throw new Error(`${file}: ${messageOf(error)}`, { cause: error })
  }
}

/** Returns what a file would be with Spillway, or without it. */
export async function planned(agent: Agent, file: string, wanted: Wanted | undefined): Promise<Change> {
  const before = textOf(file)
  if (before === undefined && wanted !== undefined) checkFolder(file)
  if (agent.wiring.kind === 'file') {
    if (before !== undefined && !isOurFile(before))
      throw new Error(`${file}: was not written by spillway; nothing was changed`)
    return { file, before, after: wanted && extensionText() }
  }
  const apply = (copy: string) =>
    updateConfig(copy, (current) => {
      const patch = patchIn(file, agent, current, wanted)
      return Object.keys(patch).length > 0 ? patch : undefined
    })
  const settings = await settingsOf(file)
  if (Object.keys(patchIn(file, agent, settings, wanted)).length === 0) return { file, before, after: before }
  let after = await onCopy(file, apply)
  if (wanted === undefined && after !== undefined) after = await undone(agent, file, after)
  return { file, before, after }
}

/** The text of a file without Spillway: the backup if nothing else was changed since, nothing if nothing else is in it. */
async function undone(agent: Agent, file: string, after: string): Promise<string | undefined> {
  const left = contentOf(await parsed(after))
  const backup = textOf(backupOf(file))
  if (backup === undefined) {
    const { wiring } = agent
    const own = wiring.kind === 'hooks' ? JSON.stringify(wiring.file ?? {}) : '{}'
    return left === '{}' || left === own ? undefined : after
  }
  if (contentOf(await parsed(backup)) === left) return backup
  const formatted = formattedAs(backup, after)
  const isSame = (await parsed(formatted).then(contentOf, () => undefined)) === left
  return isSame ? formatted : after
}

/** The text with the spaces and line ends of another one, where nothing else differs. */
function formattedAs(before: string, after: string): string {
  let text = ''
  let [removed, added] = ['', '']
  const end = () => {
    text += bare(removed) === bare(added) ? removed : added
    ;[removed, added] = ['', '']
  }
  for (const part of diffLines(before, after)) {
    if (part.removed) removed += part.value
    else if (part.added) added += part.value
    else {
      end()
      text += part.value
    }
  }
  end()
  return text
}

/** JSON without the spaces between its words. */
const bare = (text: string): string => text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, '$1')

/**
 * JSON of settings without empty lists and objects, because taking out the last of ours leaves none where there may have been one, and
 * in one order: a member that is put back comes last.
 */
function contentOf(settings: unknown): string {
  const kept = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    if (isArray(value)) return value.length === 0 ? undefined : value.map(kept)
    const members = Object.entries(value).flatMap(([name, member]) => {
      const rest = kept(member)
      return rest === undefined ? [] : [[name, rest] as const]
    })
    if (members.length === 0) return undefined
    return Object.fromEntries(members.sort(([one], [other]) => (one < other ? -1 : 1)))
  }
  return JSON.stringify(kept(settings)) ?? '{}'
}

async function parsed(text: string): Promise<Record<string, unknown>> {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-init-'))
  try {
    const file = join(folder, 'settings.json')
    writeFileSync(file, text)
    return await settingsOf(file)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Writes what was planned, and keeps the file that was there before the first change beside it. */
export async function written(agent: Agent, change: Change, wanted: Wanted | undefined): Promise<Change> {
  const { file, before, after } = change
  if (before === after) return change
  try {
    if (wanted !== undefined) return await wire(agent, change, wanted)
    await takeOut(agent, change)
    return change
  } catch (error) {
    const message = messageOf(error)
    // Node says of a folder in a file system that is read-only that it is not there.
    const isRefused = ['EACCES', 'EPERM', 'EROFS', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')
    const more = isRefused ? '; nothing can be written there: --project or --file names another file' : ''
    throw message.includes(file) && more === '' ? error : new Error(`${file}: ${message}${more}`, { cause: error })
  }
}

async function takeOut(agent: Agent, { file, before, after }: Change): Promise<void> {
  if (after === undefined) rmSync(file, { force: true })
  else if (before === textOf(file)) writeFileSync(file, after)
  else await updateConfig(file, (current) => patchOf(agent, current, undefined))
  // Another setup in the same file is undone later.
  if (!hasSetup(await settingsOf(file))) rmSync(backupOf(file), { force: true })
  if (after === undefined) removeFolders(agent, file)
}

/** Removes the agent's own folders above a file that is gone, as far as nothing is left in them. */
function removeFolders(agent: Agent, file: string): void {
  const names = [...agent.files.user, ...agent.files.project].map(normalize)
  const name = names.find((known) => file.endsWith(sep + known))
  let folder = dirname(file)
  for (let above = dirname(name ?? '.'); above !== '.'; above = dirname(above)) {
    try {
      rmdirSync(folder)
    } catch {
      return
    }
    folder = dirname(folder)
  }
}

/** True if the settings have the setup of any agent in them: a host has its hooks and its servers in one file. */
const hasSetup = (settings: AgentSettings): boolean => AGENTS.some((agent) => isWired(agent, settings))

async function wire(agent: Agent, change: Change, wanted: Wanted): Promise<Change> {
  const { file, before, after } = change
  makeFolder(dirname(file), 0o777)
  // Checks the text that was read, not the file: another process may have changed it since.
  const isFirst = before !== undefined && agent.wiring.kind !== 'file' && !hasSetup(await parsed(before))
  const backup = backupOf(file)
  if (isFirst) writeFileSync(backup, before, { mode: statSync(file).mode & 0o777 })
  try {
    if (agent.wiring.kind === 'file') writeFileSync(file, after ?? '')
    // To what the file holds now: the agent may have written to it since.
    else await updateConfig(file, (current) => patchOf(agent, current, wanted))
  } catch (error) {
    if (isFirst) rmSync(backup, { force: true })
    throw error
  }
  return isFirst ? { ...change, backup } : change
}
