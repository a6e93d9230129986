/** Words for the targets of a call. */

import type { PendingRequest } from 'spillway'

const CHANGES = /edit|write|patch|create|delete|move|replace/i

/** Targets that a policy names of one call. */
const MAX_TARGETS = 256
const OUTSIDE = ', outside the folder'
export const isOutside = (words: string) => words.endsWith(OUTSIDE)

/** Returns sentences such as `changes ../out.txt, outside the folder`, each once, and those first that lead out of the folder. */
export function touchedBy(request: PendingRequest): string[] {
  const all = [...new Set(request.targets.map((target, at) => sentence(target, request, at)))]
  if (request.targets.length >= MAX_TARGETS) all.unshift('does more than is listed here')
  return all.sort((one, other) => Number(isOutside(other)) - Number(isOutside(one)))
}

function sentence(target: string, request: PendingRequest, at: number): string {
  const colon = target.indexOf(':')
  const [scheme, rest] = [target.slice(0, colon), target.slice(colon + 1)]
  switch (scheme) {
    case 'shell':
      return `runs ${rest}`
    case 'vault':
      return `${verbOf(request, at)} ${inFolder(rest.replace(/^\//, ''))}`
    case 'fs':
      return `${verbOf(request, at)} ${pathIn(rest, request.folder ?? request.vault)}`
    case 'url':
      return `requests ${rest}`
    case 'query':
      return `searches the web for ${rest}`
    case 'mcp':
      return `calls ${rest.slice(rest.indexOf('/') + 1)} of the server ${rest.slice(0, rest.indexOf('/'))}`
    default:
      return `uses ${rest || target}`
  }
}

/** The verb for a target; without a known domain, a command may read a file or write it. */
function verbOf({ tool, targets, domains, suggestedRules }: PendingRequest, at: number): string {
  const domain = domains?.[at] ?? suggestedRules[0]?.domain
  if (domain === 'read') return 'reads'
  if (domain === 'edit') return targets.some((target) => target.startsWith('shell:')) ? 'writes' : 'changes'
  return CHANGES.test(tool) ? 'changes' : /read|grep|glob|ls/i.test(tool) ? 'reads' : 'reads or writes'
}

/** A path as seen from the folder that the agent works in. */
function pathIn(path: string, vault: string | undefined): string {
  if (vault === undefined) return path
  const [to, from] = [path.split('/'), vault.replace(/\/$/, '').split('/')]
  let common = 0
  while (common < from.length && to[common] === from[common]) common += 1
  const up = from.length - common
  if (up === 0) return inFolder(to.slice(common).join('/'))
  const isNear = up <= 2 && common > 1
  return `${isNear ? [...Array(up).fill('..'), ...to.slice(common)].join('/') : path}${OUTSIDE}`
}

const inFolder = (path: string) => (path === '' ? 'the folder' : `${path}, in the folder`)
