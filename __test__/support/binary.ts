/** The binary that was built here, for what the facade does not show of it. */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(__dirname, '..', '..')

export const BINARY = join(ROOT, readdirSync(ROOT).find((name) => /^spillway\..*\.node$/.test(name)) ?? 'none.node')
