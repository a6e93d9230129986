// The strategy `smart` as recall.mjs calls it: the preview alone, without the notice.
import { createRequire } from 'node:module'

const { MemoryStorage, TruncationService } = createRequire(import.meta.url)('../../..')
const service = new TruncationService({ strategy: 'smart', storage: new MemoryStorage() })

export async function preview(text, { tool, maxLines, maxBytes }) {
  const result = await service.output(text, { toolName: tool, options: { skip: false, maxLines, maxBytes } })
  return result.truncated ? result.preview : text
}
