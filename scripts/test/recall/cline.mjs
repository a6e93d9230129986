// The peer `cline` as recall.mjs calls it.
import { open } from './peers.mjs'

export const preview = await open('cline', process.env.SPILLWAY_PEERS)
