// The peer `pi-tail` as recall.mjs calls it.
import { open } from './peers.mjs'

export const preview = await open('pi-tail', process.env.SPILLWAY_PEERS)
