// `node scripts/docs/man.mjs`: writes the manual page from the help of the command. A spec holds it to the help.

import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../build/run.mjs'

const page = execFileSync(process.execPath, [join(ROOT, 'dist', 'cli', 'main.js'), 'help', '--man'])
mkdirSync(join(ROOT, 'man'), { recursive: true })
writeFileSync(join(ROOT, 'man', 'spillway.1'), page)
