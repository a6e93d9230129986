/** Packages that become part of the files in `dist/`, because users install none. All others stay names: frameworks, and the binary's. */
export const TAKEN_IN = ['diff', 'yaml']
