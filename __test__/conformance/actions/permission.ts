/** A tool call, or a step of a dialogue with the gate. */
export interface PermissionStep {
  tool?: string
  args?: unknown
  sessionId?: string
  mode?: string
  headless?: boolean
  cwd?: string
  /** Requests a command through a gate, under this id. */
  request?: string
  command?: string
  /** Answers the request with this id. */
  respond?: string
  with?: 'once' | 'always' | { reject: string | true }
  abort?: string
  restart?: true
}

interface Gate {
  request(call: object): Promise<{ decision: string; by: string; message?: string }>
  respond(id: string, response: unknown): Promise<void>
  pending(): { id: string; toolCallId: string }[]
  toJSON(): unknown
}

interface Product {
  PermissionPolicy: new (options: object) => { evaluate(call: object): Record<string, unknown> }
  PermissionGate: (new (policy: object, options?: object) => Gate) & { fromJSON(state: object, policy: object): Gate }
}

const { PermissionPolicy, PermissionGate }: Product = require('spillway')

/** Decides about each call, or plays the steps; `decisions`, `targets`, `patterns` and `answers` are what came out. */
export async function permission(
  setup: { calls?: PermissionStep[]; options?: Record<string, unknown> },
  facts: Record<string, unknown>,
): Promise<void> {
  const options = { vault: '/vault', ...setup.options }
  const policy = new PermissionPolicy(options)
  const calls = setup.calls ?? []
  const verdicts = calls.filter(({ tool }) => tool !== undefined).map((call) => policy.evaluate(call))
  facts.decisions = verdicts.map(({ decision }) => decision)
  facts.targets = verdicts.map(({ targets }) => targets)
  facts.patterns = verdicts.map(({ rule }) => (rule as { pattern: string } | null)?.pattern ?? null)
  facts.suggested = verdicts.map(({ suggestedRules }) =>
    (suggestedRules as { pattern: string }[]).map(({ pattern }) => pattern),
  )

  const events: { type: string }[] = []
  let gate = new PermissionGate(policy, { onEvent: (event: { type: string }) => events.push(event) })
  const answers: Record<string, string> = {}
  const controllers: Record<string, AbortController> = {}
  const idOf = (name: string) => gate.pending().find(({ toolCallId }) => toolCallId === name)?.id ?? 'none'
  for (const step of calls) {
    if (step.request !== undefined) {
      const name = step.request
      controllers[name] = new AbortController()
      const { signal } = controllers[name]
      const { sessionId = 's1', command = '' } = step
      answers[name] = 'pending'
      const answered = gate.request({ toolCallId: name, tool: 'bash', args: { command }, sessionId, signal })
      void answered.then(({ decision, by, message }) => {
        answers[name] = [decision, by, ...(message ? [message] : [])].join(' ')
      })
    } else if (step.respond !== undefined) {
      await gate.respond(idOf(step.respond), step.with).catch((error: { code: string }) => {
        answers[step.respond as string] = error.code
      })
    } else if (step.abort !== undefined) controllers[step.abort]?.abort()
    else if (step.restart)
      gate = PermissionGate.fromJSON(JSON.parse(JSON.stringify(gate)), new PermissionPolicy(options))
    await new Promise(setImmediate)
  }
  facts.answers = answers
  facts.pendingCalls = gate.pending().map(({ toolCallId }) => toolCallId)
  facts.gateEvents = events.map(({ type }) => type)
}
