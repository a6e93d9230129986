/**
 * A short list of tools: names and one line each. The model asks for the definition of a tool when it needs it; from then on the
 * tool is in the list. Hosts that read the list only once call it through a tool of ours.
 */

import { jsonOrSame } from '../../../util/json'
import { stringifyLossless } from '../../../util/lossless-json'
import { nearest } from '../../../util/suggest'
import { isRecord } from '../../../validation/validate'
import { capDeep } from '../answers'
import { IN_MEMORY } from '../items'

export const DESCRIBE_TOOL = 'describe_tool'
export const CALL_TOOL = 'call_tool'

/** A tool as it is listed. */
export interface ListedTool {
  name: string
  definition: Record<string, unknown>
  isOurs: boolean
}

/** Characters of the line about a tool. */
const LINE = 120
/** Bytes of an answer with definitions; longer texts in them are shortened step by step. */
const DEFINITIONS_BYTES = 14_000
const TEXT_CAPS = [4096, 1024, 256, 64]
const READER = {
  ...IN_MEMORY,
  headOf: (value: string, characters: number) => value.slice(0, characters),
  lengthOf: ({ length }: string) => length,
  isStandIn: () => false,
}

export class LazyTools {
  private readonly described = new Set<string>()

  /** @returns our two tools, those that read saved outputs, and the tools that were described */
  list(tools: readonly ListedTool[], maxDescription: number): object[] {
    const ours = tools.filter(({ isOurs }) => isOurs)
    // Each at the end: what a provider has cached of the list before it stays valid.
    const described = [...this.described].flatMap((name) => tools.find((tool) => tool.name === name) ?? [])
    const others = tools.filter(({ isOurs }) => !isOurs)
    return [describeTool(others, maxDescription), CALL, ...[...ours, ...described].map(({ definition }) => definition)]
  }

  /**
   * Answers a call of {@link DESCRIBE_TOOL}.
   * @returns isNew: the list has more tools than before
   */
  describe(args: unknown, tools: readonly ListedTool[]): { text: string; isError: boolean; isNew: boolean } {
    const all = tools.filter(({ isOurs }) => !isOurs)
    const wanted = namesIn(args)
    if (wanted === undefined)
      return { text: `"names" must be an array of names of tools.`, isError: true, isNew: false }
    if (wanted.length === 0) return { text: all.map(lineOf).join('\n'), isError: false, isNew: false }
    const unknown = wanted.filter((name) => !all.some((tool) => tool.name === name))
    if (unknown.length > 0)
      return { text: unknown.map((name) => unknownTool(name, all)).join('\n'), isError: true, isNew: false }
    const found = all.filter(({ name }) => wanted.includes(name))
    const isNew = found.some(({ name }) => !this.described.has(name))
    for (const { name } of found) this.described.add(name)
    return { text: `${definitionsOf(found)}\n\nCall them by name, or with ${CALL_TOOL}.`, isError: false, isNew }
  }
}

/** Returns the tool and the arguments of a call of {@link CALL_TOOL}. Models write the arguments as a text, too. */
export function callIn(args: unknown): { name: string; args: unknown } | undefined {
  if (!isRecord(args) || typeof args.name !== 'string') return undefined
  const { name, arguments: given = {} } = args
  return { name, args: jsonOrSame(given) }
}

/** Says that there is no tool with a name, and which one may be meant. */
export function unknownTool(name: string, tools: readonly ListedTool[]): string {
  const names = tools.map((tool) => tool.name)
  const near = nearest(name, names)
  const advice = near === undefined ? `${DESCRIBE_TOOL} without names lists all tools.` : `Did you mean ${near}?`
  return `There is no tool ${JSON.stringify(name.slice(0, 200).toWellFormed())}. ${advice}`
}

function namesIn(args: unknown): string[] | undefined {
  const names = isRecord(args) ? (args.names ?? args.name ?? []) : []
  const all: unknown[] = Array.isArray(names) ? names : [names]
  return all.every((name) => typeof name === 'string') ? all : undefined
}

/** The name of a tool and the first sentence of its description, on one line. */
function lineOf({ name, definition }: ListedTool): string {
  const { description } = definition
  if (typeof description !== 'string' || description.trim() === '') return name
  const [paragraph = ''] = description.trim().split(/\n\s*\n/)
  const [sentence = ''] = paragraph.replace(/\s+/g, ' ').split(/(?<=[.!?]) /)
  return `${name}: ${
    sentence.length > LINE
      ? `${sentence
          .slice(0, LINE - 1)
          .toWellFormed()
          .trimEnd()}…`
      : sentence
  }`
}

function definitionsOf(tools: readonly ListedTool[]): string {
  const own = tools.map(({ definition: { name, description, inputSchema } }) => ({ name, description, inputSchema }))
  let json = stringifyLossless(own) ?? ''
  for (const cap of TEXT_CAPS) {
    if (Buffer.byteLength(json) <= DEFINITIONS_BYTES) return json
    json = stringifyLossless(capDeep(own, cap, READER)) ?? ''
  }
  if (Buffer.byteLength(json) <= DEFINITIONS_BYTES) return json
  return stringifyLossless(own.map(({ name }) => ({ name, inputSchema: { type: 'object' } }))) ?? ''
}

/** Our tool that describes others, with as much about them as has room. */
function describeTool(tools: readonly ListedTool[], maxDescription: number): object {
  const intro = `Returns the definitions of tools: what they do and which arguments they take. Describe a tool before its first call. Tools:`
  const room = maxDescription - intro.length - 80
  const lines = tools.map(lineOf)
  const names = tools.map(({ name }) => name)
  const hasRoom = (texts: readonly string[], separator: string) => texts.join(separator).length <= room
  let about = lines.join('\n')
  if (!hasRoom(lines, '\n')) {
    let count = names.length
    while (count > 0 && !hasRoom(names.slice(0, count), ', ')) count -= 1
    const left = names.length - count
    const more = left > 0 ? `, and ${left} more` : ''
    about = `${names.slice(0, count).join(', ')}${more}. A call without names returns all of them with a line about each.`
  }
  return {
    name: DESCRIBE_TOOL,
    description: `${intro}\n${about}`,
    inputSchema: { type: 'object', properties: { names: { type: 'array', items: { type: 'string' } } } },
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  }
}

const CALL = {
  name: CALL_TOOL,
  description: `Calls a tool that ${DESCRIBE_TOOL} has described and that is not in the list of tools.`,
  inputSchema: {
    type: 'object',
    properties: { name: { type: 'string' }, arguments: { type: 'object' } },
    required: ['name'],
  },
}
