/** Recognises results that are already previews, so that they are not truncated again. */

import { existsSync } from 'node:fs'
import { isPrintedPreview, MAX_PREVIEW } from '../../storage/printed-previews'
import { allTexts } from './payload'

/**
 * True for a result with a preview that `spillway run` or `clip` printed, by its digest. The proxy of MCP keeps no digests: a
 * result of an MCP tool is a preview if it has the form of one and names an output in the store. A tool that knows the path of one can
 * imitate that, and gets no more than the length of a preview through by it.
 */
export async function isPreview(
  result: unknown,
  isMcp: boolean,
  dirs: () => Promise<readonly string[]>,
): Promise<boolean> {
  // Most results name no output, and need no more than this.
  const named = allTexts(result).filter((text) => text.length <= MAX_PREVIEW && text.includes('.txt'))
  if (named.length === 0) return false
  const { containsTruncationMarker } = await import('spillway/truncation')
  const shown = named.filter((text) => containsTruncationMarker(text))
  if (shown.length === 0) return false
  const all = await dirs()
  return shown.some((text) => isPrintedPreview(all, text) || (isMcp && all.some((dir) => namesOutput(text, dir))))
}

function namesOutput(text: string, dir: string): boolean {
  const at = text.indexOf(dir)
  const path = at === -1 ? undefined : /^.*?\.txt/.exec(text.slice(at))?.[0]
  return path !== undefined && existsSync(path)
}
