/** Questions of `spillway mcp` that its host cannot show: stores them for `spillway view`, with a time limit. */

import { setTimeout as pause } from 'node:timers/promises'
import type { McpProxyOptions } from 'spillway/mcp'
import type { Parsed } from './command'
import { type OutputStorage, onceEach, openSharedState } from './output-storage'
import { approvalsFolder } from './outputs'
import { duration, quoted, text } from './parse-values'
import { note, printable } from './terminal'

type Ask = NonNullable<McpProxyOptions['ask']>

/** Options of the proxy, and what ends the connection to the server of the questions. */
export interface AskedElsewhere {
  options: Pick<McpProxyOptions, 'ask' | 'approvalsDir'>
  close(): Promise<void>
}

const HOUR_MS = 3_600_000
/** A question of a worker that was killed is shown for so much longer than it could be answered. */
const SLACK_MS = 60_000

/** Questions wait on the server of shared state where one is named, else in a folder of this machine. */
export async function askElsewhere(values: Parsed['values'], storage: OutputStorage): Promise<AskedElsewhere> {
  const timeoutMs = duration(values, 'answer-timeout') ?? HOUR_MS
  const shared = await openSharedState(values)
  const place = shared === undefined ? placeOf(values) : `spillway view --coordination ${withoutSecrets(shared.url)}`
  const waited = text(values, 'answer-timeout') ?? '1h'
  const reason = `no one answered within ${waited}. Tell the user: questions of this server are answered with \`${place}\``
  const told = (ask: Ask): Ask => {
    return (request, context) => {
      note(`spillway mcp: may ${printable(request.tool)} be called? Answer within ${waited}: ${place}`)
      return ask(request, context)
    }
  }
  if (shared === undefined) {
    const ask: Ask = async (_request, { signal }) => {
      await pause(Math.min(timeoutMs, 2 ** 31 - 1), undefined, { signal })
      return { reject: reason }
    }
    return { options: { approvalsDir: approvalsFolder(storage), ask: told(ask) }, close: async () => {} }
  }
  const { FleetApprovals } = await import('spillway/remote')
  const { coordination } = shared
  const onError = onceEach((problem) =>
    note(`spillway mcp: ${printable(problem)}; calls wait for an answer until it is back`),
  )
  const approvals = new FleetApprovals({
    coordination,
    answerTimeoutMs: timeoutMs,
    // A call of a server that hangs is denied so much later.
    pollMs: 2000,
    timeoutReason: reason,
    keepMs: Math.ceil(timeoutMs) + SLACK_MS,
    onError,
  })
  // Known before the first question.
  let isOver = false
  void approvals.pending().catch((error) => isOver || onError(error))
  return {
    options: { ask: told(approvals.ask) },
    async close() {
      isOver = true
      await approvals.close()
      await coordination.close()
    },
  }
}

function placeOf(values: Parsed['values']): string {
  const store = text(values, 'store')
  return store === undefined ? 'spillway view' : `spillway view --store ${quoted(store)}`
}

/** A model and the log of a host read it: the host, the database, and what only we know of the rest. */
function withoutSecrets(url: string): string {
  if (!URL.canParse(url)) return 'URL'
  const { protocol, username, host, pathname, searchParams } = new URL(url)
  const ours = ['prefix', 'schema'].flatMap((name) => {
    const value = searchParams.get(name)
    return value === null ? [] : [`${name}=${value}`]
  })
  return quoted(
    `${protocol}//${username === '' ? '' : '…@'}${host}${pathname}${ours.length === 0 ? '' : `?${ours.join('&')}`}`,
  )
}
