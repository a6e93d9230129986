/**
 * The subcommands. Each is in its own file, which is loaded on demand, because a short run spends most of its time loading.
 */

import type { Command } from './command'

export const COMMANDS: Readonly<Record<string, () => Promise<{ default: Command }>>> = {
  run: () => import('./commands/run'),
  clip: () => import('./commands/clip'),
  ls: () => import('./commands/ls'),
  last: () => import('./commands/last'),
  show: () => import('./commands/show'),
  read: () => import('./commands/read'),
  tail: () => import('./commands/tail'),
  search: () => import('./commands/search'),
  open: () => import('./commands/open'),
  view: () => import('./commands/view'),
  browse: () => import('./commands/browse'),
  rm: () => import('./commands/rm'),
  usage: () => import('./commands/usage'),
  sweep: () => import('./commands/sweep'),
  report: () => import('./commands/report'),
  prune: () => import('./commands/prune'),
  classify: () => import('./commands/classify'),
  permit: () => import('./commands/permit'),
  audit: () => import('./commands/audit'),
  config: () => import('./commands/config'),
  mcp: () => import('./commands/mcp'),
  init: () => import('./commands/init'),
  doctor: () => import('./commands/doctor'),
  hook: () => import('./commands/hook'),
  completion: () => import('./commands/completion'),
}

/** All of them, in the order of the help. */
export async function all(): Promise<Command[]> {
  const loaded = await Promise.all(Object.values(COMMANDS).map((load) => load()))
  return loaded.map((command) => command.default)
}
