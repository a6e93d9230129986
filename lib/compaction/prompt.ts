/** Prompt of the summariser. */

import { messageJson } from '../history/estimate'
import { get } from '../history/formats/safe-read'
import type { ResultText } from '../history/message-cache'
import { joinedText } from '../history/message-cache'
import type { MessageView } from '../history/message-view'
import { wordsOf } from '../history/summary'
import { trimmed, trimOf } from '../pruning/trim'
import { isArray } from '../util/guards'
import { safeStringify } from '../util/safe-stringify'
import type { CompactionEnvironment } from './types'

/** UTF-16 units of each output in the prompt: tried in order until everything fits. The first is pi's number. */
const OUTPUT_UNITS = [2000, 800, 300, 120]
/** Weight of spoken text against other text. */
const SAID = 4
/** Other parts of the request are named, not repeated. */
const ENVIRONMENT_UNITS = 2000

/** Parts of a prompt. */
export interface PromptParts {
  views: readonly MessageView[]
  /** The messages of these views. */
  messages: readonly unknown[]
  previousSummary: string | undefined
  environment: CompactionEnvironment | undefined
  chinese: boolean
  /** Input limit of the summariser, in tokens. */
  tokens: number
  /** Tokens of a text. */
  size: (text: string) => number
  /** The same of many. */
  sizes: (texts: readonly string[]) => ArrayLike<number>
}

/** Returns a prompt for these messages, as long as the summariser can read. It is made again for other instructions. */
export function promptMaker(parts: PromptParts): (instructions: string) => string {
  const { previousSummary, environment } = parts
  const context = environment === undefined ? '' : environmentText(environment, parts.chinese)
  const before = previousSummary === undefined ? '' : tagged('previous-summary', previousSummary)
  let body: string | undefined
  return (instructions) => {
    const around = [instructions, context, before].filter((text) => text !== '')
    body ??= conversation(parts, parts.tokens - parts.size(around.join('\n\n')) - 64)
    return [...around, body].join('\n\n')
  }
}

/** A tag that the text inside cannot close. */
function tagged(tag: string, text: string): string {
  const closing = new RegExp(`<(/?)(${TAGS.join('|')})`, 'gi')
  return `<${tag}>\n${text.replace(closing, '<\u200b$1$2').toWellFormed()}\n</${tag}>`
}

const TAGS = ['conversation', 'previous-summary', 'environment']

function conversation(parts: PromptParts, room: number): string {
  const longest = longestOf(parts)
  let entries: string[] = []
  let tried = ''
  for (const units of OUTPUT_UNITS) {
    // A pass that truncates nothing more changes nothing.
    const cuts = `${Math.min(longest.output, units)} ${Math.min(longest.said, units * SAID)}`
    if (cuts === tried) continue
    tried = cuts
    entries = parts.views.map((view, at) => entry(view, parts, at, units))
    const text = tagged('conversation', entries.join('\n\n'))
    if (parts.size(text) <= room) return text
  }
  return shortened(entries, parts, room)
}

/** UTF-16 units of the longest texts: of messages, and of all others. */
function longestOf({ views, messages }: PromptParts): { said: number; output: number } {
  const longest = { said: 0, output: 0 }
  views.forEach((view, at) => {
    const others = [...view.calls.map(({ argsText }) => argsText), ...view.results.map(({ text }) => joinedText(text))]
    if (view.role === 'other') others.push(messageJson(messages, at))
    longest.said = Math.max(longest.said, joinedText(view.text).length)
    for (const text of others) longest.output = Math.max(longest.output, text.length)
  })
  return longest
}

/** The first message and the newest that there is room for. */
function shortened(entries: string[], { sizes: sizesOf, chinese }: PromptParts, room: number): string {
  const sizes = sizesOf(entries)
  let left = room - (sizes[0] ?? 0)
  let from = entries.length
  while (from > 1 && left - (sizes[from - 1] as number) > 0) left -= sizes[--from] as number
  const note = wordsOf(chinese).omitted.replace('{n}', String(from - 1))
  const kept = from <= 1 ? entries : [entries[0] as string, note, ...entries.slice(from)]
  return tagged('conversation', kept.join('\n\n'))
}

function entry(view: MessageView, { messages, chinese }: PromptParts, at: number, units: number): string {
  const cut = (text: ResultText, maxChars: number) => {
    const rule = { maxChars, headChars: Math.floor(maxChars * 0.6), tailChars: Math.floor(maxChars * 0.25) }
    const trim = trimOf(text, rule, chinese ? 'zh-CN' : 'en', undefined)
    return trim === undefined ? joinedText(text) : trimmed(text, { ...trim, suffix: '' })
  }
  if (view.role === 'other') return `[?]\n${cut(messageJson(messages, at), units)}`
  const lines: string[] = []
  const said = cut(view.text, units * SAID)
  if (said !== '' || (view.calls.length === 0 && view.results.length === 0)) lines.push(`[${view.role}]\n${said}`)
  if (view.media > 0) lines.push(`[${view.role}] (${view.media} × image or file)`)
  for (const { name, argsText } of view.calls) lines.push(`[call ${name ?? '?'}]\n${cut(argsText, units)}`)
  for (const { toolName, text, isError, media } of view.results) {
    const about = [toolName, isError === true ? 'error' : '', media > 0 ? `${media} × image or file` : '']
    lines.push(`[${['result', ...about].filter(Boolean).join(', ')}]\n${cut(text, units)}`)
  }
  return lines.join('\n')
}

function environmentText({ systemPrompt, tools, skills }: CompactionEnvironment, chinese: boolean): string {
  const short = (text: string) => {
    const rule = { maxChars: ENVIRONMENT_UNITS, headChars: ENVIRONMENT_UNITS - 200, tailChars: 0 }
    const trim = trimOf(text, rule, chinese ? 'zh-CN' : 'en', undefined)
    return trim === undefined ? text : trimmed(text, { ...trim, suffix: '' })
  }
  const parts: string[] = []
  if (systemPrompt) parts.push(`[system prompt]\n${short(systemPrompt)}`)
  if (tools !== undefined) parts.push(`[tools]\n${short(toolNames(tools))}`)
  if (skills !== undefined) parts.push(`[skills]\n${short(environmentPart(skills))}`)
  return parts.length === 0 ? '' : tagged('environment', parts.join('\n\n'))
}

/** The names of tools, if they have any. */
function toolNames(tools: unknown): string {
  try {
    const list = isArray(tools) ? tools : Object.entries(Object(tools)).map(([name]) => ({ name }))
    const names = list.map((tool) => get(tool, 'name') ?? get(get(tool, 'function'), 'name'))
    if (names.length > 0 && names.every((name) => typeof name === 'string')) return names.join(', ')
  } catch {
    // They are shown as they are.
  }
  return environmentPart(tools)
}

/** A part of what is sent beside the history, as the text that it is sent as. */
function environmentPart(part: unknown): string {
  return typeof part === 'string' ? part : safeStringify(part)
}

/** Other parts of the request, as texts. */
export function environmentTexts(environment: CompactionEnvironment | undefined): string[] {
  const { systemPrompt, tools, skills } = environment ?? {}
  return [systemPrompt, tools, skills].filter((part) => part !== undefined).map(environmentPart)
}
