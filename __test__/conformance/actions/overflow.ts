import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { everything } from '../../support/everything'
import type { Outcome } from '../outcome'
import { builtFrom, type Recipe, textOf } from '../recipes'

/** The part of a row that this action reads. */
interface Setup {
  overflow?: OverflowSetup
  options?: Record<string, unknown>
}

type Facts = Record<string, unknown>

/** A result: a text, or parts of which `"image"` is one. `{file}` in a text is the path of a saved output. */
type ResultRecipe = Recipe | { parts: (Recipe | 'image')[] } | { text: Recipe; details: unknown }

/** A piece of a history in the format of pi. A turn is an answer with a call per result, and the results. */
export type HistoryRecipe =
  | { user: Recipe }
  | { say: Recipe }
  | { turn: ResultRecipe[]; times?: number; tool?: string }
  | { value: unknown }

/** Input of the rows about histories that do not fit. */
export interface OverflowSetup {
  window?: number | 'NaN' | 'Infinity'
  history?: HistoryRecipe[]
  /** Requests of one session, one after the other: what is added before each, and its options. */
  requests?: { add?: HistoryRecipe[]; options?: Facts }[]
  /** Entries of a session that are not messages, by the index of the message before them. */
  others?: { after: number; entry: Facts }[]
  session?: 'fails'
  /** The provider's answers, attempt by attempt. */
  attempts?: ('overflow' | 'ok')[]
  /** Results of compaction, one for each time. */
  compactions?: ('half' | 'nothing' | 'fails')[]
  recover?: Facts
  /** Messages that are added to a guarded session, and `"flush"`. */
  appends?: unknown[]
  hooks?: ('blocks' | 'marks' | 'transforms users')[]
  model?: Facts
  usage?: Facts
  auto?: boolean
}

interface Package {
  calculateMaxToolResultChars(window: number, options?: Facts): number
  getToolResultTextLength(message: unknown): number
  sessionLikelyHasOversizedToolResults(params: Facts): boolean
  truncateOversizedToolResultsInMessages(
    messages: Facts[],
    window: number,
    options?: Facts,
  ): { messages: Facts[]; truncatedCount: number }
  truncateOversizedToolResultsInSession(params: Facts): Promise<Facts>
  projectToolResults(messages: Facts[], options: Facts): { messages: Facts[]; state: unknown; report: Facts }
  TruncationStorage: new (dir: string) => object
  recoverFromOverflow(options: Facts): Promise<{ messages: Facts[]; report: Facts & { state: Facts } }>
  isContextFull(options: Facts): boolean
  MemorySession: new () => Facts & Memory
  guardSession(session: Memory, options: Facts): Guarded
}

interface Memory {
  entries(): Facts[]
  leaf(): string | null
  append(entry: Facts): string
  branch(id: string | null): void
}

interface Guarded {
  append(entry: Facts): Promise<string>
  flush(): Promise<void>
  pending(): string[]
}

const product = everything as unknown as Package

/** The `{file}` of the rows: a file with the name of an output, in a folder that a storage owns. */
const FILE = 'bash_1700000000000_aaaaaaaaaaaaa.txt'
const storageOf = ({ dir }: Outcome) => ({ storage: new product.TruncationStorage(dir) })

type Run = (setup: Setup, outcome: Outcome) => Promise<void>

export const overflowActions = {
  async overflowText(setup, outcome) {
    const { messages } = history([{ turn: [outcome.givenText] }], outcome)
    const options = { maxTotalChars: false, ...setup.options }
    const { messages: returned } = product.truncateOversizedToolResultsInMessages(messages, window(setup), options)
    outcome.text = textsOf(returned)[0] as string
    Object.assign(outcome.facts, { truncated: returned !== messages, length: outcome.text.length })
  },

  async overflowCap(setup, outcome) {
    outcome.facts.cap = product.calculateMaxToolResultChars(window(setup), setup.options)
  },

  async overflowMessages(setup, outcome) {
    const { messages } = history(overflowOf(setup).history ?? [], outcome)
    const before = JSON.stringify(messages)
    const { maxTotalChars, ...options } = { ...setup.options }
    const total = maxTotalChars === undefined ? {} : { maxTotalChars }
    const likely = { messages, contextWindowTokens: window(setup), ...options, ...total }
    const { messages: returned, truncatedCount } = product.truncateOversizedToolResultsInMessages(
      messages,
      window(setup),
      { ...storageOf(outcome), ...options, ...total },
    )
    record(outcome, messages, returned)
    Object.assign(outcome.facts, {
      truncatedCount,
      before,
      likely: product.sessionLikelyHasOversizedToolResults(likely),
      measured: messages.map(product.getToolResultTextLength),
    })
  },

  async overflowProject(setup, outcome) {
    const { requests = [{}], history: first = [] } = overflowOf(setup)
    let { messages } = history(first, outcome)
    let state: unknown
    const shown: string[][] = []
    let returned = messages
    for (const { add = [], options } of requests) {
      messages = [...messages, ...history(add, outcome, messages.length).messages]
      const projected = product.projectToolResults(messages, {
        contextWindowTokens: window(setup),
        ...storageOf(outcome),
        ...setup.options,
        ...options,
        ...(state === undefined ? {} : { state: JSON.parse(JSON.stringify(state)) }),
      })
      state = projected.state
      returned = projected.messages
      shown.push(textsOf(returned))
      outcome.facts.rebaselined = projected.report.rebaselined
    }
    record(outcome, messages, returned)
    Object.assign(outcome.facts, { shown, stable: shown.every((texts, n) => isPrefix(shown[n - 1] ?? [], texts)) })
  },

  async overflowSession(setup, outcome) {
    const { history: recipe = [], others = [], session: broken } = overflowOf(setup)
    const session = new product.MemorySession()
    const { messages } = history(recipe, outcome)
    const ids = messages.map((message, at) => {
      const id = session.append({ type: 'message', message })
      for (const { after, entry } of others)
        if (after === at)
          session.append({ ...entry, ...(entry.names !== undefined && { [entry.names as string]: id }) })
      return id
    })
    const before = session.entries()
    const guarded = broken === 'fails' ? failing(session) : session
    const done = await product.truncateOversizedToolResultsInSession({
      session: guarded,
      contextWindowTokens: window(setup),
      ...setup.options,
    })
    const entries = session.entries()
    const branch = pathOf(entries, session.leaf())
    const shown = textsOf(branch.flatMap((entry) => (entry.type === 'message' ? [entry.message as Facts] : [])))
    outcome.text = shown.join('\n')
    Object.assign(outcome.facts, done, {
      lengths: shown.map((text) => text.length),
      longest: Math.max(0, ...shown.map((text) => text.length)),
      oldEntriesKept: before.every((entry, at) => entry === entries[at]),
      types: branch.map((entry) => entry.type),
      sharedWithOld: branch.filter((entry) => before.includes(entry)).length,
      names: branch.flatMap((entry) => {
        const name = entry.names === undefined ? undefined : entry[entry.names as string]
        return name === undefined
          ? []
          : [ids.includes(name as string) ? 'old' : branch.some(({ id }) => id === name) ? 'new' : 'nothing']
      }),
    })
  },

  async overflowGuard(setup, outcome) {
    const { appends = [], hooks = [] } = overflowOf(setup)
    const session = new product.MemorySession()
    const seen: string[] = []
    const guard = product.guardSession(session, { ...setup.options, ...hooksOf(hooks, seen) })
    for (const one of appends) {
      if (one === 'flush') await guard.flush()
      else await guard.append({ type: 'message', message: builtFrom(one) })
    }
    const stored = session.entries().map(({ message }) => message as Facts)
    outcome.text = textsOf(stored).join('\n')
    Object.assign(outcome.facts, {
      roles: stored.map(({ role }) => role),
      stored,
      seen,
      length: outcome.text.length,
      pending: guard.pending(),
    })
  },

  async overflowLoop(setup, outcome) {
    const { history: recipe = [], attempts = [], compactions = [], recover } = overflowOf(setup)
    let { messages } = history(recipe, outcome)
    let state: unknown
    let compacted = 0
    outcome.facts.compactions = 0
    const reports: Facts[] = []
    let tried = 0
    for (const answer of attempts) {
      tried++
      outcome.facts.attempts = tried
      if (answer === 'ok') break
      const recovered = await product.recoverFromOverflow({
        messages,
        contextWindowTokens: window(setup),
        overflow: { overflow: true, kind: 'overflow' },
        // The rows count four characters to a token.
        estimateTokens: (text: string) => text.length / 4,
        ...storageOf(outcome),
        ...setup.options,
        ...recover,
        ...(state === undefined ? {} : { state }),
        compact: (given: Facts[]) => {
          const what = compactions[compacted++] ?? 'nothing'
          outcome.facts.compactions = compacted
          if (what === 'fails') throw new Error('the summary failed')
          return what === 'nothing' ? undefined : half(given)
        },
      })
      messages = recovered.messages
      state = recovered.report.state
      reports.push(recovered.report)
    }
    const steps = reports.flatMap((report) => (report.steps as Facts[]).filter(({ event }) => event !== 'nothing'))
    Object.assign(outcome.facts, {
      compactions: compacted,
      attempts: tried,
      steps: steps.map(({ step }) => step),
      results: steps.map(({ results }) => results),
      resume: reports.at(-1)?.resume,
      state,
    })
  },

  async contextFull(setup, outcome) {
    const { model = {}, usage = {}, auto } = overflowOf(setup)
    outcome.facts.full = product.isContextFull({ model, usage, ...(auto !== undefined && { auto }) })
  },
} satisfies Record<string, Run>

function overflowOf(setup: Setup): OverflowSetup {
  return setup.overflow ?? {}
}

function window(setup: Setup): number {
  return Number(overflowOf(setup).window ?? 2_000_000)
}

function history(recipes: HistoryRecipe[], outcome: Outcome, from = 0): { messages: Facts[] } {
  const messages: Facts[] = []
  const file = join(outcome.dir, FILE)
  const text = (recipe: Recipe) => textOf(recipe).replaceAll('{file}', file)
  for (const recipe of recipes) {
    if ('user' in recipe) messages.push({ role: 'user', content: text(recipe.user) })
    else if ('say' in recipe) messages.push({ role: 'assistant', content: [{ type: 'text', text: text(recipe.say) }] })
    else if ('value' in recipe) messages.push(builtFrom(recipe.value) as Facts)
    else {
      for (let n = 0; n < (recipe.times ?? 1); n++) {
        const start = from + messages.length
        const ids = recipe.turn.map((_, at) => `call_${start}_${at}`)
        const toolName = recipe.tool ?? 'bash'
        messages.push({
          role: 'assistant',
          content: ids.map((id) => ({ type: 'toolCall', id, name: toolName, arguments: {} })),
        })
        recipe.turn.forEach((result, at) => {
          messages.push({ role: 'toolResult', toolCallId: ids[at], toolName, ...resultOf(result, text) })
        })
      }
    }
  }
  writeFileSync(file, 'the full output')
  return { messages: deepFreeze(messages) }
}

function resultOf(recipe: ResultRecipe, text: (recipe: Recipe) => string): Facts {
  const block = (part: Recipe) =>
    part === 'image' ? { type: 'image', data: '', mimeType: 'image/png' } : { type: 'text', text: text(part) }
  if (typeof recipe === 'object' && 'parts' in recipe) return { content: recipe.parts.map(block) }
  if (typeof recipe === 'object' && 'details' in recipe) {
    const details = JSON.parse(text(JSON.stringify(recipe.details)))
    return { content: [block(recipe.text)], details }
  }
  return { content: [block(recipe as Recipe)] }
}

/** The texts of the results. */
function textsOf(messages: readonly Facts[]): string[] {
  return messages
    .filter(({ role }) => role === 'toolResult' || role === 'tool')
    .map(({ content }) =>
      typeof content === 'string'
        ? content
        : (content as { type: string; text?: string }[]).map((part) => part.text ?? '').join(''),
    )
}

function record(outcome: Outcome, given: Facts[], returned: Facts[]): void {
  const texts = textsOf(returned)
  outcome.given = given
  outcome.returned = returned
  outcome.text = texts.join('\n')
  outcome.facts.outputPath = join(outcome.dir, FILE)
  Object.assign(outcome.facts, {
    lengths: texts.map((text) => text.length),
    total: texts.reduce((sum, text) => sum + text.length, 0),
    shortest: Math.min(...texts.map((text) => text.length)),
    changed: given.flatMap((message, at) => (returned[at] === message ? [] : [at])),
    types: returned.map(({ content }) => (Array.isArray(content) ? content.map(({ type }) => type) : 'text')),
    parts: returned.flatMap(({ role, content }) =>
      role === 'toolResult' ? [(content as { text?: string }[]).map((part) => part.text?.length ?? -1)] : [],
    ),
    last: texts.at(-1),
    lastLength: texts.at(-1)?.length,
  })
}

function isPrefix(before: string[], after: string[]): boolean {
  return before.every((text, at) => after[at] === text)
}

function pathOf(entries: Facts[], leaf: string | null): Facts[] {
  const path: Facts[] = []
  for (let id = leaf; id !== null; ) {
    const entry = entries.find((one) => one.id === id) as Facts
    path.unshift(entry)
    id = entry.parentId as string | null
  }
  return path
}

function failing(session: Memory): Memory {
  let left = 1
  return {
    entries: () => session.entries(),
    leaf: () => session.leaf(),
    branch: (id) => session.branch(id),
    append(entry) {
      if (left-- === 0) throw new Error('the disk is full')
      return session.append(entry)
    },
  }
}

function hooksOf(names: string[], seen: string[]): Facts {
  const hooks: Facts = {}
  if (names.includes('blocks')) hooks.beforeWrite = () => ({ block: true })
  if (names.includes('marks')) hooks.beforeWrite = (message: Facts) => ({ ...message, marked: true })
  if (names.includes('transforms users')) {
    hooks.transform = (message: Facts) => {
      seen.push(message.role as string)
      return message.role === 'user' ? { ...message, content: 'transformed' } : message
    }
  }
  return hooks
}

/** The newer half of a history, from a user's message on. */
function half(messages: Facts[]): Facts[] {
  const at = messages.findIndex(({ role }, n) => n >= messages.length / 2 && role === 'user')
  return [{ role: 'user', content: 'a summary' }, ...messages.slice(at < 0 ? messages.length : at)]
}

function deepFreeze<T>(value: T): T {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(deepFreeze)
  }
  return value
}
