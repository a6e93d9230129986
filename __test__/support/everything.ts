/** All names of the package: those of its root and of every feature's subpath. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const manifest = JSON.parse(readFileSync(join(__dirname, '..', '..', 'package.json'), 'utf8')) as {
  exports: Record<string, { require?: { default?: string } }>
}

/** The subpaths of features; the others are adapters. */
export const SUBPATHS = Object.entries(manifest.exports).flatMap(([name, entry]) =>
  entry.require?.default?.startsWith('./dist/entries/') ? [name.slice(2)] : [],
)

export const everything: Record<string, unknown> = Object.assign(
  {},
  ...['spillway', ...SUBPATHS.map((name) => `spillway/${name}`)].map((name) => require(name)),
)
