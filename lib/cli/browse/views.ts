/** The list of saved outputs and the viewer of one, as lines of a terminal and answers to keys. */

import type { TruncationStorage } from 'spillway'
import type { ApprovalSource } from 'spillway/view'
import { sizeText } from '../../util/format'
import type { RecordedOutput } from '../outputs'
import { ageText } from '../parse-values'
import { fitLine, fitText } from './fit-text'
import { QuestionView } from './questions'
import type { View } from './view'

const UP = new Set(['up', 'k'])
const DOWN = new Set(['down', 'j'])
const BACK = new Set(['q', 'escape', 'left', 'h'])

/** The list, the newest first. */
export class ListView implements View {
  private selected = 0

  constructor(
    private readonly storage: TruncationStorage,
    private outputs: readonly RecordedOutput[],
    private readonly isColoured: boolean,
    private readonly approvals: ApprovalSource,
  ) {}

  async draw(columns: number, rows: number): Promise<string[]> {
    const room = rows - 2
    const first = Math.max(0, Math.min(this.selected - Math.floor(room / 2), this.outputs.length - room))
    const lines = this.outputs.slice(first, first + room).map((output, at) => {
      const isSelected = first + at === this.selected
      const line = fitText(`${isSelected ? '>' : ' '} ${lineOf(output)}`, columns)
      return isSelected && this.isColoured ? `\x1b[7m${line}\x1b[0m` : line
    })
    const empty = this.outputs.length === 0 ? ['Nothing is saved yet. Run a command with spillway run.'] : []
    const filler = Array.from({ length: Math.max(0, room - lines.length - empty.length) }, () => '')
    const { length: waiting } = await this.approvals.pending()
    const asked = waiting === 0 ? '' : `  ${waiting} question${waiting === 1 ? ' waits' : 's wait'}`
    const title = `${this.outputs.length} saved output${this.outputs.length === 1 ? '' : 's'}, the newest first${asked}`
    const keys = `Up Down  Enter: open  ${waiting === 0 ? '' : 'a: answer  '}q: quit`
    return [fitText(title, columns), ...empty, ...lines, ...filler, fitText(keys, columns)]
  }

  async press(key: string, rows: number): Promise<View | 'back' | undefined> {
    const last = Math.max(0, this.outputs.length - 1)
    const to = (row: number) => {
      this.selected = Math.max(0, Math.min(row, last))
      return undefined
    }
    if (key === 'q' || key === 'escape') return 'back'
    if (key === 'a') return new QuestionView(this.approvals)
    if (UP.has(key)) return to(this.selected - 1)
    if (DOWN.has(key)) return to(this.selected + 1)
    if (key === 'pageup') return to(this.selected - rows + 2)
    if (key === 'pagedown' || key === ' ') return to(this.selected + rows - 2)
    if (key === 'home' || key === 'g') return to(0)
    if (key === 'end' || key === 'G') return to(last)
    const output = this.outputs[this.selected]
    if (['return', 'enter', 'right', 'l'].includes(key) && output) {
      return new OutputView(this.storage, output, this.isColoured)
    }
    return undefined
  }
}

function lineOf({ savedAt, bytes, exitCode, command, toolName }: RecordedOutput): string {
  const age = ageText(Date.now() - savedAt).padStart(5)
  const code = exitCode === undefined ? '' : `exit ${exitCode}`
  return `${age}  ${sizeText(bytes).padStart(10)}  ${code.padEnd(8)}  ${command ?? toolName}`
}

/** Lines that a terminal shows at most, and columns by which it moves to the side. */
const SIDE = 20
const BEYOND = Number.MAX_SAFE_INTEGER

/** One output, a page at a time, with a search. */
export class OutputView implements View {
  private line = 1
  private column = 0
  /** The pattern while it is typed. */
  private typing: string | undefined
  private pattern = ''
  private after: string | undefined
  private status = ''
  private isEnd = false

  constructor(
    private readonly storage: TruncationStorage,
    private readonly output: RecordedOutput,
    private readonly isColoured: boolean,
  ) {}

  async draw(columns: number, rows: number): Promise<string[]> {
    const room = rows - 2
    const { text, next } = await this.storage.readRange(this.output.path, { fromLine: this.line, lineCount: room })
    const lines = text.replace(/\n$/, '').split('\n')
    this.isEnd = next === undefined
    const shown = Array.from({ length: room }, (_, at) =>
      fitLine(lines[at] ?? '', columns, this.column, this.isColoured),
    )
    const place = `  line ${this.line}${this.isEnd ? ', end' : ''}`
    const title = fitText(this.output.command ?? this.output.toolName, columns - place.length) + place
    const keys = this.status || 'Up Down Space  g: start  G: end  /: search  n: next  q: back'
    return [title, ...shown, fitText(this.typing === undefined ? keys : `/${this.typing}`, columns)]
  }

  async press(key: string, rows: number): Promise<'back' | undefined> {
    if (this.typing !== undefined) return this.type(key)
    this.status = ''
    if (BACK.has(key) && !(key === 'left' && this.column > 0)) return 'back'
    const page = rows - 3
    if (UP.has(key)) this.line = Math.max(1, this.line - 1)
    else if (key === 'pageup' || key === 'b') this.line = Math.max(1, this.line - page)
    else if (DOWN.has(key) && !this.isEnd) this.line += 1
    else if ((key === 'pagedown' || key === ' ') && !this.isEnd) this.line += page
    else if (key === 'home' || key === 'g') this.line = 1
    else if (key === 'end' || key === 'G') this.line = await this.lastPage(page)
    else if (key === 'right') this.column += SIDE
    else if (key === 'left') this.column = Math.max(0, this.column - SIDE)
    else if (key === '/') this.typing = ''
    else if (key === 'n' && this.pattern !== '') await this.find()
    return undefined
  }

  private async lastPage(page: number): Promise<number> {
    const { totalLines = 1 } = await this.storage.readRange(this.output.path, { fromLine: BEYOND, lineCount: 1 })
    return Math.max(1, totalLines - page)
  }

  private async type(key: string): Promise<undefined> {
    const typed = this.typing ?? ''
    if (key === 'escape') this.typing = undefined
    else if (key === 'backspace') this.typing = typed.slice(0, -1)
    else if (key === 'return' || key === 'enter') {
      this.typing = undefined
      this.pattern = typed
      this.after = undefined
      if (typed !== '') await this.find()
    } else if ([...key].length === 1) this.typing = typed + key
  }

  /** Moves to the next match. */
  private async find(): Promise<void> {
    const options = { maxMatches: 1, ...(this.after !== undefined && { after: this.after }) }
    try {
      const { matches, next } = await this.storage.search(this.output.path, this.pattern, options)
      this.after = next
      const [match] = matches
      if (match) this.line = match.line
      this.status = match ? `line ${match.line}: ${this.pattern}` : `no more matches of ${this.pattern}`
    } catch (error) {
      this.status = (error as Error).message
    }
  }
}
