/** Facts from the names of tools, cached by name. */

import { call, native } from '../native/native'
import type { PrunerSettings } from './options'

/** Facts from the name of a tool. */
export interface ToolFact {
  /** In the binary's terms. */
  readonly facts: number
  /** Its results stay. */
  readonly stays: boolean
  /** Its calls may read or change files. */
  readonly handlesFiles: boolean
  /** Its calls run commands. */
  readonly runsCommands: boolean
}

export class ToolFacts {
  private readonly known = new Map<string, ToolFact>()

  constructor(private readonly settings: Pick<PrunerSettings, 'protectedTools' | 'onlyTools'>) {}

  of(name: string | undefined): ToolFact {
    const { protectedTools, onlyTools } = this.settings
    if (name === undefined)
      return { facts: 0, stays: onlyTools !== undefined, handlesFiles: false, runsCommands: false }
    let known = this.known.get(name)
    if (known === undefined) {
      const isOneOf = (tools: readonly string[]) => call(() => native.isOneOfTools(name, [...tools]))
      const facts = call(() => native.toolFacts([name]))[0] as number
      known = {
        facts,
        stays: isOneOf(protectedTools) || (onlyTools !== undefined && !isOneOf(onlyTools)),
        handlesFiles: call(() => native.handlesFiles(name)),
        runsCommands: (facts & native.FACT_TERMINAL) !== 0,
      }
      this.known.set(name, known)
    }
    return known
  }
}
