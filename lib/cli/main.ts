#!/usr/bin/env node
/** The command `spillway`. */

import nodeModule from 'node:module'

// What is compiled once is not compiled again, where Node knows how (22.8 and later). It holds for what is loaded from here on.
;(nodeModule as { enableCompileCache?: () => unknown }).enableCompileCache?.()

void import('./router').then(({ runTyped }) => runTyped(process.argv.slice(2)))
