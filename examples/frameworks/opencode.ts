// OpenCode: save it as .opencode/plugins/spillway.ts.
import { withSpillway } from 'spillway/opencode'

export const Spillway = withSpillway({ contextWindow: 200_000, truncation: { global: { maxLines: 500 } } })
