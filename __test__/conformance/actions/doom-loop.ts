import type {
  DoomLoopCall,
  DoomLoopOptions,
  DoomLoopResult,
  DoomLoopVerdict,
} from '../../../lib/loop-detection/detector'
import type { Outcome } from '../outcome'

/** The part of a row that this action reads. */
interface Setup {
  steps?: LoopStep[]
  options?: Record<string, unknown>
}

/** One step of a run. `{i}` in arguments and results is the number of the step's repetition, from 1. */
export interface LoopStep {
  tool?: string
  args?: unknown
  /** Recorded if the call may run. Without it nothing is. */
  result?: unknown
  isError?: boolean
  /** Recorded although the call must not run. */
  veto?: unknown
  times?: number
  /** The user's answer. */
  approve?: 'once' | 'always'
  toolCallId?: string
  /** Steps in turn, as often as `times` says. */
  sequence?: LoopStep[]
  startRun?: true
  say?: { role: 'user' | 'assistant'; text: string }
  /** The detector is saved and another continues. */
  resume?: true
}

interface Detector {
  startRun(): void
  check(call: DoomLoopCall): DoomLoopVerdict
  record(result: DoomLoopResult): void
  approve(toolCallId: string, approval: 'once' | 'always'): boolean
  observe(said: { role: 'user' | 'assistant'; text: string }): DoomLoopVerdict
  pending(): string[]
}

interface Product {
  DoomLoopDetector: {
    new (options?: DoomLoopOptions): Detector
    fromJSON(state: object, options?: DoomLoopOptions): Detector
  }
}

const { DoomLoopDetector }: Product = require('spillway')

/** The verdict in a word or two: `allow`, `warn same_tool`, `ask cycle`, `stop hard_cap`. */
export function inWords({ action, reason, warning }: DoomLoopVerdict): string {
  const word = warning === undefined ? action : 'warn'
  return reason === undefined ? word : `${word} ${reason}`
}

/** Equal neighbours as one: `allow*4`. */
export function folded(words: readonly string[]): string[] {
  const runs: [string, number][] = []
  for (const word of words) {
    const last = runs.at(-1)
    if (last?.[0] === word) last[1] += 1
    else runs.push([word, 1])
  }
  return runs.map(([word, times]) => (times === 1 ? word : `${word}*${times}`))
}

/** Plays the steps of a row and notes every verdict. */
export async function doomLoop(setup: Setup, outcome: Outcome): Promise<void> {
  const options = setup.options as DoomLoopOptions
  let detector = new DoomLoopDetector(options)
  const verdicts: string[] = []
  let number = 0

  const note = (verdict: DoomLoopVerdict, { approve }: LoopStep) => {
    verdicts.push(inWords(verdict))
    outcome.facts.count = verdict.count
    outcome.facts.message = verdict.message
    if (verdict.action !== 'ask' || approve === undefined) return
    expect(detector.approve(verdict.toolCallId as string, approve)).toBe(true)
  }
  const play = (step: LoopStep, i: number) => {
    if (step.startRun) detector.startRun()
    if (step.resume) detector = DoomLoopDetector.fromJSON(JSON.parse(JSON.stringify(detector)), options)
    if (step.say) note(detector.observe(step.say), step)
    for (const inner of step.sequence ?? []) repeat(inner, i)
    if (step.tool === undefined) return
    number += 1
    const toolCallId = step.toolCallId ?? `call_${number}`
    const before = verdicts.length
    note(detector.check({ toolCallId, tool: step.tool, args: numbered(step.args, i) }), step)
    const allowed = verdicts[before]?.startsWith('a') || verdicts[before]?.startsWith('w') || step.approve
    if (step.result !== undefined && allowed) {
      detector.record({ toolCallId, result: numbered(step.result, i), isError: step.isError })
    } else if (step.veto !== undefined) {
      detector.record({ toolCallId, result: step.veto, isError: true })
    }
  }
  const repeat = (step: LoopStep, i: number) => {
    for (let n = 1; n <= (step.times ?? 1); n++) play(step, step.times === undefined ? i : n)
  }
  for (const step of setup.steps ?? []) repeat(step, 1)
  outcome.facts.verdicts = folded(verdicts)
  outcome.facts.pending = detector.pending()
}

function numbered(value: unknown, i: number): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value).replaceAll('{i}', String(i)))
}
