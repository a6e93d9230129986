/** Answers of several servers as one. */

import { isRecord } from '../../../validation/validate'

/** The answer of a server to `initialize`. */
export interface Introduction {
  server: string
  result: Record<string, unknown>
}

/** Capabilities that are passed on. Tasks are not: their ids do not say whose they are. */
const PASSED_ON = ['tools', 'prompts', 'resources', 'completions', 'logging']

/** Returns the answer to `initialize`: the oldest protocol that a server speaks, the capabilities that any of them has. */
export function mergedIntroduction(all: readonly Introduction[], version: string): Record<string, unknown> {
  const versions = all.flatMap(({ result }) =>
    typeof result.protocolVersion === 'string' ? [result.protocolVersion] : [],
  )
  const [protocolVersion] = versions.sort()
  const capabilities: Record<string, Record<string, unknown>> = {}
  for (const { result } of all) {
    const own = isRecord(result.capabilities) ? result.capabilities : {}
    for (const name of PASSED_ON) {
      if (isRecord(own[name])) capabilities[name] = either(capabilities[name] ?? {}, own[name])
    }
  }
  // Servers come later, or end.
  capabilities.tools = { ...capabilities.tools, listChanged: true }
  const instructions = instructionsOf(all)
  return {
    protocolVersion,
    capabilities,
    serverInfo: { name: 'spillway', version },
    ...(instructions !== '' && { instructions }),
  }
}

/** True where either is. */
function either(one: Record<string, unknown>, other: Record<string, unknown>): Record<string, unknown> {
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return Object.fromEntries([...names].map((name) => [name, one[name] === true || other[name] === true]))
}

function instructionsOf(all: readonly Introduction[]): string {
  const given = all.flatMap(({ server, result: { instructions } }) =>
    typeof instructions === 'string' && instructions.trim() !== '' ? [{ server, instructions }] : [],
  )
  if (all.length === 1) return given[0]?.instructions ?? ''
  return given.map(({ server, instructions }) => `# ${server}\n\n${instructions}`).join('\n\n')
}
