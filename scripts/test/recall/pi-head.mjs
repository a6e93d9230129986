// The peer `pi-head` as recall.mjs calls it.
import { open } from './peers.mjs'

export const preview = await open('pi-head', process.env.SPILLWAY_PEERS)
