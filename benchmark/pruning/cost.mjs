// The meter and the requests of `spillway report`, so that both count alike. They need the built package.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { ROOT } from '../../scripts/build/run.mjs'

const load = (name) => createRequire(import.meta.url)(join(ROOT, 'dist/report', name))

export const { RequestMeter } = load('meter.js')
export const { requestsOf, tokensOf, tokensOfText } = load('requests.js')

export const PRICES = { read: 0.1, write: 1.25 }
