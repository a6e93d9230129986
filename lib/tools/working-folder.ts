/** The folder that a call runs in. */

/** An object that may name a folder: the context of a call, the options of a registry or an adapter, a tool. */
export interface NamesFolder {
  workingDirectory?: unknown
}

/** The folder that the first of these names which names one. A member that is `undefined` or empty names none. */
export function folderFor(...named: readonly (NamesFolder | null | undefined)[]): string | undefined {
  for (const each of named) {
    const folder = each?.workingDirectory
    if (typeof folder === 'string' && folder !== '') return folder
  }
  return undefined
}
