/** The oldest question that waits in a session of this user, as lines of a terminal, and the answers to it. */

import type { GateResponse, PendingRequest, SuggestedRule } from 'spillway'
import type { ApprovalSource } from 'spillway/view'
import { fitText, wrapText } from './fit-text'
import type { View } from './view'

export class QuestionView implements View {
  private shown: PendingRequest | undefined
  /** Enter was typed for this question: keys that were meant for what was there before answer nothing. */
  private isChosen = false
  private top = 0
  /** All of it was on the screen: nothing is allowed that was not seen. */
  private isWhole = false
  private status = ''

  constructor(private readonly source: ApprovalSource) {}

  get subject(): string | undefined {
    return this.shown?.id
  }

  async draw(columns: number, rows: number): Promise<string[]> {
    const [question, ...others] = await this.source.pending()
    if (question?.id !== this.shown?.id) {
      this.shown = question
      this.isChosen = false
      this.top = 0
      this.isWhole = false
    }
    if (question === undefined) return [fitText(this.status || 'No question waits.', columns), '', 'q: back']
    const room = rows - 2
    const lines = wrapText(textOf(question), columns)
    this.top = Math.max(0, Math.min(this.top, lines.length - room))
    this.isWhole ||= this.top + room >= lines.length
    const title = `May ${question.tool} do this?${others.length > 0 ? `  (${others.length} more wait)` : ''}`
    const part = Array.from({ length: room }, (_, at) => lines[this.top + at] ?? '')
    return [fitText(title, columns), ...part, fitText(this.status || this.keysFor(question), columns)]
  }

  private keysFor({ suggestedRules: [rule] }: PendingRequest): string {
    if (!this.isChosen) return 'Enter: answer  q: back'
    if (!this.isWhole) return 'Down: the rest of the call, before it can be allowed  n: deny  q: back'
    const always = rule === undefined ? '' : `a: always ${rule.pattern}  `
    return `y: once  ${always}n: deny  q: back`
  }

  async press(key: string, rows: number, seen: string | undefined): Promise<'back' | undefined> {
    const { shown } = this
    this.status = ''
    if (key === 'q' || key === 'escape') return 'back'
    if (key === 'down' || key === 'j') this.top += 1
    else if (key === 'up' || key === 'k') this.top -= 1
    else if (key === 'pagedown' || key === ' ') this.top += rows - 3
    else if (key === 'pageup') this.top -= rows - 3
    else if (shown === undefined || shown.id !== seen) return undefined
    else if (key === 'return' || key === 'enter') this.isChosen = true
    else if (this.isChosen) await this.answer(shown, key)
    return undefined
  }

  private async answer(question: PendingRequest, key: string): Promise<void> {
    const [rule] = question.suggestedRules
    if (key === 'n') await this.respond(question, { reject: true })
    else if (!this.isWhole) return
    else if (key === 'y') await this.respond(question, 'once')
    else if (key === 'a' && rule !== undefined) await this.respond(question, 'always', rule)
  }

  private async respond({ id }: PendingRequest, response: GateResponse, rule?: SuggestedRule): Promise<void> {
    try {
      await this.source.respond(id, response, rule)
    } catch (error) {
      this.status = (error as Error).message
    }
  }
}

/** Targets that a policy names of one call. */
const MAX_TARGETS = 256

/** Returns the arguments of a call, what they touch, and why it is asked about. */
function textOf({ args, targets, reasons, cwd }: PendingRequest): string {
  const { command } = (args ?? {}) as { command?: unknown }
  const call = typeof command === 'string' ? command : JSON.stringify(args, null, 2)
  return [
    '',
    call,
    '',
    ...[...new Set(targets)].map((target) => `- ${target}`),
    ...(cwd === undefined ? [] : [`in ${cwd}`]),
    ...reasons,
    ...(targets.length >= MAX_TARGETS ? ['It does more than is listed here.'] : []),
  ].join('\n')
}
