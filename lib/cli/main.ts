#!/usr/bin/env node
/** The command `spillway`. */

import nodeModule from 'node:module'

// Caches compiled code for modules that are loaded from here on (Node 22.8 and later).
;(nodeModule as { enableCompileCache?: () => unknown }).enableCompileCache?.()

void import('./router').then(({ runTyped }) => runTyped(process.argv.slice(2)))
