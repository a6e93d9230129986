/** The places that a desktop agent keeps outputs in. */

import { homedir } from 'node:os'
import { join } from 'node:path'
import { native } from '../native/native'
import { wrong } from '../validation/validate'

/** Folders of an application, for `storageDirs`: first the one in the vault, then the application's own. */
export interface AppPaths {
  /** `<vault>/.agent-output` */
  vaultDir(vault: string): string
  /** `~/.<app>/agent-output` */
  dataDir: string
}

/**
 * Returns the folders of an application, by its name. No folder is created.
 *
 * A name with spaces, such as Electron's `productName`, becomes one of dashes: `My Agent` is `my-agent`. In Electron
 * `app.getPath('userData')` is the better place for `dataDir` where the application need not share it with others.
 *
 * @example
 * const { vaultDir, dataDir } = appPaths('moryflow')
 * new TruncationService({ storageDirs: [vaultDir(vault), dataDir] })
 * @throws SpillwayError `INVALID_ARGUMENT` unless the name is of letters, digits, spaces, `.`, `_` and `-` and begins with one of the first two
 */
export function appPaths(appName: string): AppPaths {
  // By characters, not by the locale: the folder must be the same on every machine. A separator never gets into it.
  if (
    typeof appName !== 'string' ||
    !/^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}._ -]{0,62}[\p{L}\p{N}\p{M}_-])?$/u.test(appName)
  ) {
    throw wrong(
      'appName',
      appName,
      'a name of up to 64 letters, digits, spaces, dots, underscores and dashes, such as "my-agent"',
    )
  }
  const folder = appName.includes(' ') ? appName.toLowerCase().replaceAll(/ +/g, '-') : appName
  return {
    vaultDir: (vault) => {
      if (typeof vault !== 'string' || vault.trim() === '') throw wrong('vault', vault, 'the path of a folder')
      return join(vault, native.PROJECT_DIR)
    },
    dataDir: join(homedir(), `.${folder}`, 'agent-output'),
  }
}
