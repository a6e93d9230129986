// A program that bundlers make one file of: the package goes in, its binary stays outside.

import * as spillway from 'spillway'
import use from '../use.cjs'

await use(spillway)
console.log('bundled')
