/** Which record of a ledger belongs to which result: providers that number the calls of each answer use an id again. */

import { isDeepStrictEqual } from 'node:util'
import type { ToolResultRecord } from '../types'
import { groupedBy } from '../util/grouped'
import { hasPointers } from './fold-records'
import { recordsOf, type ToolResultKnowledge } from './ledger'
import { joinedText, type ResultText } from './message-cache'
import type { CallView } from './message-view'
import { maySayPath } from './saved-path'

type Known = Readonly<ToolResultRecord>

/** A result whose record is wanted. */
export interface AskedResult {
  /** The id of its call. */
  readonly id: string | undefined
  readonly text: ResultText
  readonly called: CallView | undefined
}

/**
 * The records of the results of one history, which may grow. The newest result of an id has the newest record, and so on to the oldest:
 * a history loses its oldest messages first. If an id is used more than once, a record is skipped whose arguments are not those of the call,
 * and where records are missing, one that the text does not bear out.
 */
export class KnownResults {
  /** The records of the results of each id so far, in the order of the results. */
  private readonly given = new Map<string, (Known | undefined)[]>()

  constructor(
    private readonly ledger: ToolResultKnowledge | undefined,
    private readonly tell: (thrown: unknown) => void,
  ) {}

  /** Returns the record of each of these results, which come after all that were read before. */
  read(results: readonly AskedResult[]): (Known | undefined)[] {
    const found = new Array<Known | undefined>(results.length).fill(undefined)
    const { ledger } = this
    if (ledger === undefined) return found
    const places = groupedBy(results.keys(), (place) => results[place]?.id)
    for (const [id, asked] of places) {
      const records = recordsOf(ledger, id, this.tell)
      const before = this.given.get(id) ?? []
      const matched = matches(
        asked.map((place) => results[place] as AskedResult),
        records.slice(1 + lastGiven(records, before)),
        records.length > 1 || before.length > 0,
      )
      for (const [nth, place] of asked.entries()) found[place] = matched[nth]
      before.push(...matched)
      this.given.set(id, before)
    }
    return found
  }

  /** Forgets the newest result of an id. */
  drop(id: string): void {
    this.given.get(id)?.pop()
  }
}

/** Returns the records of the results of a history. */
export function knownResults(
  ledger: ToolResultKnowledge | undefined,
  results: readonly AskedResult[],
  tell: (thrown: unknown) => void,
): (Known | undefined)[] {
  return new KnownResults(ledger, tell).read(results)
}

/** The place of the newest record that an earlier result has. */
function lastGiven(records: readonly Known[], before: readonly (Known | undefined)[]): number {
  const last = before.findLast((record) => record !== undefined)
  if (last === undefined) return -1
  const at = records.indexOf(last)
  // A ledger may make a new object for each answer, and learn more about a call later.
  return at >= 0 ? at : records.findIndex(({ endedAt }) => endedAt === last.endedAt)
}

function matches(
  results: readonly AskedResult[],
  records: readonly Known[],
  isUsedAgain: boolean,
): (Known | undefined)[] {
  if (!isUsedAgain && results.length === 1) return [records.at(-1)]
  const isComplete = records.length >= results.length
  const matched: (Known | undefined)[] = []
  let next = records.length - 1
  for (const result of results.toReversed()) {
    const { called, text } = result
    const args = called?.args()
    let at = namedBy(text, records, next) ?? next
    while (at >= 0) {
      const record = records[at] as Known
      const isOther = args !== undefined && record.args !== undefined && !isDeepStrictEqual(record.args, args)
      if (!isOther && (isComplete || isBorneOut(record, text))) break
      at--
    }
    matched.push(records[at])
    if (at >= 0) next = at - 1
  }
  return matched.reverse()
}

/** The place of the newest record up to `last` whose saved output a text names; `undefined` if it names none. */
function namedBy(text: ResultText, records: readonly Known[], last: number): number | undefined {
  const shown = joinedText(text)
  if (!maySayPath(shown)) return undefined
  for (let at = last; at >= 0; at--) {
    const path = records[at]?.outputPath
    if (path !== undefined && shown.includes(path)) return at
  }
  return undefined
}

function isBorneOut({ outputPath, folds }: Known, text: ResultText): boolean {
  const shown = joinedText(text)
  return (outputPath === undefined || shown.includes(outputPath)) && (folds === undefined || hasPointers(shown, folds))
}
