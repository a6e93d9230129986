/**
 * The scope of a call from the middleware to the tool. LangChain runs a tool long after the middleware has allowed the call, and keeps
 * values of its own for a call in the same way.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { type CallScope, callScope } from '../../tools/call-scope'

const scopes = new AsyncLocalStorage<CallScope>()

/** Keeps the scope of the call that is starting for all that it starts. */
export function keepScope<T>(start: () => T): T {
  return scopes.run(callScope(), start)
}

/** The scope that was kept for the call of a tool. */
export function keptScope(): CallScope {
  return scopes.getStore() ?? {}
}
