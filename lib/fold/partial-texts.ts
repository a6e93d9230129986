/** Adds texts to an index of which the model sees only a part. */

import { call, native } from '../native/native'
import { randomBytes } from '../util/crypto'
import type { Stretch } from './results-in-view'

/** The number of the source below; those of all other texts are higher. */
const OWN_ID = 0
export const FIRST_ID = 1

/** Lines of the source. A longer stretch is several. */
const OWN_LINES = 256
/** The last three lines of a text are never folded, and four are the shortest run. */
const END_LINES = 7

/**
 * An index knows which lines of a text are not seen when it has folded them itself. So lines that are not seen are replaced by lines that
 * no tool can print, and folded against a source of such lines, which is forgotten at the end. All others count as they did.
 */
export class PartialTexts {
  private own: readonly string[] | undefined

  constructor(private readonly handle: object) {}

  /** Adds a text. `about` describes it as for `foldText`. */
  add(text: string, hidden: readonly Stretch[], about: { id: number; call: number; tool: string; args: string }): void {
    const own = this.lines()
    const lines = text.split('\n')
    for (const [from, to] of hidden) {
      for (let at = from; at < Math.min(to, lines.length); at++) lines[at] = own[(at - from) % OWN_LINES] as string
    }
    // Nothing is compared with a text whose lines are not all known: at least these are hidden.
    const end = [`@@ -0,0 +0,0 @@ ${own[0]}`, ...own.slice(0, END_LINES)]
    const given = { ...about, since: FIRST_ID, minLines: 4, minBytes: 1 }
    const folded = call(() => native.foldText(this.handle, [...lines, ...end].join('\n'), JSON.stringify(given)))
    if (folded === null || folded === undefined) call(() => native.foldForget(this.handle, [about.id], true))
  }

  close(): void {
    if (this.own !== undefined) call(() => native.foldForget(this.handle, [OWN_ID], false))
  }

  private lines(): readonly string[] {
    if (this.own !== undefined) return this.own
    const secret = randomBytes(24).join('')
    this.own = Array.from({ length: OWN_LINES }, (_, at) => `~ ${secret} ${at}`)
    const about = { id: OWN_ID, call: OWN_ID, tool: secret, protected: true }
    call(() => native.foldText(this.handle, (this.own as string[]).join('\n'), JSON.stringify(about)))
    return this.own
  }
}
