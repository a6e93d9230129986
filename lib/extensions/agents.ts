/** Agents that a user wrote as Markdown files. */

import { isUtf8 } from 'node:buffer'
import { join, parse } from 'node:path'
import { pathOf } from '../config/config-file'
import { type ModelParameters, readParameters, withParameters } from '../hooks/parameters'
import { isArray } from '../util/guards'
import { messageOf } from '../util/message-of'
import { checkKeys, invalidOption, isRecord, mismatch, wrong } from '../validation/validate'
import type { FrontMatter } from './front-matter'
import { bytesOf, type ExtensionProblem, namesIn, Refusal } from './scan-folder'

/** An agent: its identity, its system prompt, and the tools it may use. */
export interface AgentDefinition {
  /** The front matter's `id`, else the name of the file without `.md`; at most 100 characters, in one form of Unicode (NFC). */
  id: string
  /** For people. The front matter's `name`, else the id. */
  name: string
  /** Purpose, for a model that chooses among agents. */
  description?: string
  /** The front matter's `systemPrompt`, else what follows the front matter, without white space around it. */
  systemPrompt: string
  /** The id of the model, in the host's terms. */
  model?: string
  /**
   * From the front matter's `modelSettings`, and from `temperature`, `topP` (`top_p`) and `maxTokens` (`max_tokens`) beside
   * them.
   */
  modelSettings?: ModelParameters
  /**
   * The only tools that it may use. Without it, all. From a list, a text with commas, or a map of names to `true` and `false`.
   */
  tools?: string[]
  /** Tools that it may not use. */
  disallowedTools?: string[]
  /** The file. */
  path: string
  /** Other keys of the front matter, for the application. */
  metadata: Record<string, unknown>
}

/** Options of {@link loadAgents}. */
export interface LoadAgentsOptions {
  /**
   * True if a file may be a link to another.
   * @default false
   */
  followLinks?: boolean
}

/** Result of {@link loadAgents}. */
export interface LoadedAgents {
  /** In the order of the names of their files. */
  agents: AgentDefinition[]
  problems: ExtensionProblem[]
}

/** Larger files are refused: a prompt that is longer leaves no room for anything else. */
const MAX_FILE_BYTES = 1024 * 1024

const MAX_ID_UNITS = 100
const MAX_TOOLS = 1000

/** Other names for parameters that agents of other systems have at the top of their front matter. */
const TOP_PARAMETERS: Readonly<Record<string, keyof ModelParameters>> = {
  temperature: 'temperature',
  topP: 'topP',
  top_p: 'topP',
  maxTokens: 'maxTokens',
  max_tokens: 'maxTokens',
}

type Restriction = 'tools' | 'disallowedTools'

/** Restrictions of an agent, without case and separators: other systems spell them differently. */
const RESTRICTIONS: ReadonlyMap<string, Restriction> = new Map([
  ['tools', 'tools'],
  ['allowedtools', 'tools'],
  ['disallowedtools', 'disallowedTools'],
])

/** Other spellings of known keys. */
const MAY_RESTRICT = /tools|^tool$|^(?:dis)?allow(?:ed)?$|^den(?:y|ied)$/
const MAY_RESTRICT_A_TOOL =
  /allow|den[yi]|block|forbid|exclu|inclu|disab|enab|permi|restrict|avail|except|only|list|ban/

/** Keys that are Spillway's. */
const KEYS = [
  ...['id', 'name', 'description', 'systemPrompt', 'model', 'modelSettings'],
  ...Object.keys(TOP_PARAMETERS),
]

/**
 * Reads the agents of a folder: each `*.md` in it, at most 1,000 of at most 1 MiB, is one. A front matter in YAML or JSON,
 * between two lines of three dashes, describes the agent; the rest is its system prompt. A fault in a file is reported
 * with its path, and the others are read. If two agents have the same id, the first file by name is used. A missing
 * folder has no agents.
 *
 * @param dir such as `~/.my-agent/agents`, with `~` already replaced
 * @example
 * const { agents, problems } = await loadAgents(join(homedir(), '.my-agent', 'agents'))
 * for (const { path, message } of problems) console.warn(`${path}: ${message}`)
 * @throws SpillwayError `INVALID_ARGUMENT` for a path or an option of a wrong kind
 */
export async function loadAgents(dir: string, options: LoadAgentsOptions = {}): Promise<LoadedAgents> {
  const folder = pathOf('dir', dir, 'the path of a folder')
  if (!isRecord(options)) throw wrong('options', options, 'an object')
  checkKeys('options', options, ['followLinks'])
  const { followLinks = false } = options as LoadAgentsOptions
  if (typeof followLinks !== 'boolean') throw wrong('options.followLinks', followLinks, 'true or false')
  const problems: ExtensionProblem[] = []
  const agents = new Map<string, AgentDefinition>()
  for (const name of await namesIn(folder, /\.md$/i, problems)) {
    const path = join(folder, name)
    try {
      const agent = await readAgent(path, followLinks, problems)
      const first = agents.get(agent.id)
      if (first !== undefined) throw new Refusal(`has the id '${agent.id}', which is that of ${first.path}`)
      agents.set(agent.id, agent)
    } catch (error) {
      const { line, field } = error as { line?: number; field?: string }
      const message = messageOf(error)
      problems.push({ severity: 'error', path, message, ...(field && { field }), ...(line && { line }) })
    }
  }
  return { agents: [...agents.values()], problems }
}

async function readAgent(path: string, followLinks: boolean, problems: ExtensionProblem[]): Promise<AgentDefinition> {
  const bytes = await bytesOf(path, MAX_FILE_BYTES, followLinks)
  if (!isUtf8(bytes)) throw new Refusal('is not UTF-8')
  const { readFrontMatter } = await import('./front-matter')
  const front = readFrontMatter(bytes.toString())
  const { head, lines } = front
  const warn = (field: string, message: string) =>
    problems.push({ severity: 'warning', path, message, field, ...(lines[field] && { line: lines[field] }) })
  const text = (field: string): string | undefined => {
    const value = Object.hasOwn(head, field) ? head[field] : undefined
    if (typeof value === 'string') return value.trim() === '' ? undefined : value.trim().toWellFormed()
    if (value !== undefined && value !== null) {
      warn(field, `${invalidOption(field, mismatch(value, 'a string'))}; write it in quotes`)
    }
    return undefined
  }
  const id = (text('id') ?? parse(path).name).normalize('NFC')
  if (id.length > MAX_ID_UNITS || !/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}/\\\ufffd]+$/u.test(id)) {
    throw refusal('id', `id: allowed are up to ${MAX_ID_UNITS} characters without slashes and controls`, front)
  }
  const body = front.body.trim()
  const own = text('systemPrompt')
  if (own !== undefined && body !== '') warn('systemPrompt', 'systemPrompt: counts, and the text of the file does not')
  const systemPrompt = own ?? body
  if (systemPrompt === '') throw new Refusal('has no system prompt: there is no text')
  const [description, model] = [text('description'), text('model')]
  const modelSettings = parametersOf(head, warn)
  const keys = restrictionsOf(front)
  const { tools, disallowedTools } = toolsOf(front, keys)
  return {
    id,
    name: text('name') ?? id,
    ...(description !== undefined && { description }),
    systemPrompt,
    ...(model !== undefined && { model }),
    ...(Object.keys(modelSettings).length > 0 && { modelSettings }),
    ...(tools !== undefined && { tools }),
    ...(disallowedTools !== undefined && { disallowedTools }),
    path,
    metadata: Object.fromEntries(
      Object.entries(head).filter(([key]) => ![...KEYS, keys.tools, keys.disallowedTools].includes(key)),
    ),
  }
}

function parametersOf(head: Record<string, unknown>, warn: (field: string, message: string) => void): ModelParameters {
  const { modelSettings = {} } = head
  if (!isRecord(modelSettings)) warn('modelSettings', invalidOption('modelSettings', mismatch(modelSettings, 'a map')))
  const given = isRecord(modelSettings) ? modelSettings : {}
  const { change, problems } = readParameters(given, 'modelSettings')
  for (const message of problems) warn('modelSettings', message)
  let all: ModelParameters = withParameters({}, change)
  for (const [key, name] of Object.entries(TOP_PARAMETERS)) {
    if (!Object.hasOwn(head, key)) continue
    const top = readParameters({ [name]: head[key] }, '')
    for (const message of top.problems) warn(key, message.replace(/"[^"]*"/, `"${key}"`))
    // `modelSettings` wins: it is written for this agent's model.
    all = { ...withParameters({}, top.change), ...all }
  }
  return all
}

/**
 * The key of each restriction. A key that may be a misspelt restriction must not grant anything, either.
 */
function restrictionsOf(front: FrontMatter): Record<Restriction, string> {
  const keys: Partial<Record<Restriction, string>> = {}
  for (const key of Object.keys(front.head)) {
    const plain = key
      .normalize('NFKC')
      .toLowerCase()
      .replace(/[-_.\s]/g, '')
    const meant = RESTRICTIONS.get(plain)
    if (meant === undefined) {
      if (!MAY_RESTRICT.test(plain) && !(plain.includes('tool') && MAY_RESTRICT_A_TOOL.test(plain))) continue
      throw refusal(
        key,
        `Unknown option "${key}": it looks like a restriction of tools; expected one of tools, disallowedTools`,
        front,
      )
    }
    if (keys[meant] !== undefined)
      throw refusal(key, invalidOption(key, `means the same as ${keys[meant]}; give one of them`), front)
    keys[meant] = key
  }
  return { tools: 'tools', disallowedTools: 'disallowedTools', ...keys }
}

/** Returns the tools that an agent may use. An agent with an unreadable restriction is refused, never left unrestricted. */
function toolsOf(
  front: FrontMatter,
  keys: Record<Restriction, string>,
): { tools?: string[]; disallowedTools?: string[] } {
  const { [keys.tools]: tools, [keys.disallowedTools]: disallowedTools } = front.head
  const denied = disallowedTools === undefined ? [] : namesOf(keys.disallowedTools, disallowedTools, front)
  if (tools === undefined) return denied.length > 0 ? { disallowedTools: denied } : {}
  if (!isRecord(tools)) {
    const allowed = namesOf(keys.tools, tools, front)
    return { tools: allowed, ...(denied.length > 0 && { disallowedTools: denied }) }
  }
  const entries = Object.entries(tools)
  if (entries.length > MAX_TOOLS || entries.some(([, value]) => typeof value !== 'boolean')) {
    throw refusal(keys.tools, invalidOption(keys.tools, 'expected a map of names to true or false'), front)
  }
  const { '*': others = true } = tools
  const named = (wanted: boolean) =>
    entries.filter(([key, value]) => key !== '*' && value === wanted).map(([key]) => key.toWellFormed())
  const all = [...denied, ...named(false)]
  return { ...(others === false && { tools: named(true) }), ...(all.length > 0 && { disallowedTools: all }) }
}

function namesOf(field: string, value: unknown, front: FrontMatter): string[] {
  const names = typeof value === 'string' ? value.split(',').map((name) => name.trim()) : value
  const list = isArray(names) ? names.filter((name) => name !== '') : []
  if (!isArray(names) || list.length > MAX_TOOLS || list.some((name) => typeof name !== 'string')) {
    throw refusal(field, invalidOption(field, mismatch(value, 'a list of names')), front)
  }
  return (list as string[]).map((name) => name.toWellFormed())
}

function refusal(field: string, message: string, { lines }: FrontMatter): Error {
  return Object.assign(new Refusal(message), { field, line: lines[field] })
}
