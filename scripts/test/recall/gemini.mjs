// The peer `gemini` as recall.mjs calls it.
import { open } from './peers.mjs'

export const preview = await open('gemini', process.env.SPILLWAY_PEERS)
