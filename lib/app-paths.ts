/** The places that a desktop agent keeps outputs in. */

import { homedir } from 'node:os'
import { join } from 'node:path'
import { wrong } from './context'
import { SpillwayError } from './errors'

/** Folders of an application, for `storageDirs`: the vault first, then the application's own. */
export interface AppPaths {
  /** `<vault>/.agent-output` */
  vaultDir(vault: string): string
  /** `~/.<app>/agent-output` */
  dataDir: string
}

/**
 * The places of an application, by its name. Nothing is made here.
 *
 * @example
 * const { vaultDir, dataDir } = appPaths('moryflow')
 * new TruncationService({ storageDirs: [vaultDir(vault), dataDir] })
 * @throws SpillwayError `INVALID_ARGUMENT` unless the name is of letters, digits, `.`, `_` and `-` and begins with one of the first two
 */
export function appPaths(appName: string): AppPaths {
  if (typeof appName !== 'string' || !/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(appName)) {
    const problem = 'allowed is a name of up to 64 letters, digits, dots, underscores and dashes'
    throw new SpillwayError('INVALID_ARGUMENT', `appName: ${problem}`, { field: 'appName' })
  }
  return {
    vaultDir: (vault) => {
      if (typeof vault !== 'string' || vault.trim() === '') throw wrong('vault', vault, 'the path of a folder')
      return join(vault, '.agent-output')
    },
    dataDir: join(homedir(), `.${appName}`, 'agent-output'),
  }
}
