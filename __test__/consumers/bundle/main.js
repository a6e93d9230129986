// A program that bundlers make one file of: the package goes in, its binary stays outside.

import * as spillway from 'spillway'
import { containsTruncationMarker } from 'spillway/truncation'
import use from '../use.cjs'

if (containsTruncationMarker('x')) throw new Error('there is no marker')
await use(spillway)
console.log('bundled')
