// The command that a person is asked about: prints a long log, and keeps a line for each time that it ran.

import { appendFileSync } from 'node:fs'

appendFileSync(process.env.DEPLOYED ?? '/dev/null', 'deployed\n')
for (let at = 1; at <= 30_000; at += 1) console.log(`copied file ${at} of 30000`)
console.log('deployed')
