import type { guardTool as guard } from '../../../lib/guard/guard-tool'
import type { HookRunnerOptions, Hooks } from '../../../lib/hooks/types'
import type { Outcome } from '../outcome'

/** The part of a row that this action reads. */
interface Setup {
  hooks?: HookSetup
}

/** Answers of hooks, and their subject: a prompt, parameters, or a tool call that returns its arguments. */
export interface HookSetup {
  answers: Partial<Record<keyof Hooks, unknown>>
  system?: string
  params?: object
  args?: unknown
}

interface Product {
  HookRunner: new (
    options: HookRunnerOptions,
  ) => {
    chatSystem(system: string): Promise<string>
    chatParams(params: object): Promise<object>
    toolBefore(call: object): Promise<unknown>
    toolAfter(call: object): Promise<unknown>
    toolFinal(call: object): Promise<unknown>
  }
  guardTool: typeof guard
}

const { guardTool }: Product = require('spillway')
const { HookRunner }: Product = require('spillway/extensions')

/** Asks the hooks of a row. */
export async function hooks(setup: Setup, outcome: Outcome): Promise<void> {
  const { answers, system, params, args } = setup.hooks as HookSetup
  const user = Object.fromEntries(Object.entries(answers).map(([name, answer]) => [name, () => answer])) as Hooks
  const problems: string[] = []
  const runner = new HookRunner({ user, onProblem: ({ message }) => void problems.push(message) })
  if (system !== undefined) outcome.facts.hooked = await runner.chatSystem(system)
  if (params !== undefined) outcome.facts.hooked = await runner.chatParams(params)
  if (args !== undefined) {
    const tool = { name: 'echo', execute: (given: unknown) => given }
    outcome.facts.hooked = await guardTool(tool, { hooks: runner }).execute(args as never)
  }
  outcome.facts.hookProblems = problems
}
