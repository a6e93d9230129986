/** Clocks that differ, or jump, with the shared state of one process. */

import { MemoryCoordination } from 'spillway/remote'
import { clockContract } from './clocks'

const coordination = new MemoryCoordination()
clockContract(() => [coordination, coordination])
