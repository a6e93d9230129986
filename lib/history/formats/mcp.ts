/** Results of MCP tools: `{ content: [...], structuredContent?, isError? }`. Which call they answer is not in them. */

import { asText } from '../../util/guards'
import { contentWithText, fileOrMedia, type PartRules, readContent, textParts, withoutMedia } from './content-blocks'
import { defineFormat } from './define-format'
import { type Edit, REMOVED } from './immutable-edit'
import { asBoolean, elements, get, isJsonObject, jsonText, outputPathOf, watched } from './safe-read'

const TYPES = /^(text|image|audio|resource|resource_link)$/

/** The text of an embedded resource is read like any other; the resource keeps its place and its address. */
const blocks: PartRules = textParts(['text'], (block, type) => {
  const resource = get(block, 'resource')
  const text = type === 'resource' ? watched(resource, 'text') : undefined
  return typeof text === 'string' ? [['resource', 'text'], text] : fileOrMedia(block)
})

export const mcp = defineFormat({
  name: 'mcp',
  recognises(result) {
    const content = get(result, 'content')
    if (!Array.isArray(content) || 'role' in result || 'lc_namespace' in result || 'type' in result) return 0
    const found = elements(content)
    if (!found.every((block) => TYPES.test(asText(get(block, 'type'))))) return 0
    return found.length > 0 || typeof get(result, 'isError') === 'boolean' || 'structuredContent' in result ? 2 : 1
  },
  read(message) {
    const content = watched(message, 'content')
    const said = readContent(content, blocks)
    const structured = watched(message, 'structuredContent')
    const onlyStructure = said.text.length === 0 && isJsonObject(structured)
    const edits = (text: string, alone?: boolean): Edit[] => {
      const instead: Edit = [['content'], contentWithText(content, text, blocks, alone)]
      return onlyStructure ? [instead, [['structuredContent'], REMOVED]] : [instead]
    }
    const result = {
      callId: undefined,
      text: onlyStructure ? jsonText(structured) : said.text,
      media: said.media,
      isError: asBoolean(get(message, 'isError')),
      outputPath: outputPathOf(message, ['_meta']),
      isToolsPath: true,
      edits,
      withoutMedia: withoutMedia(['content'], content, blocks),
    }
    return { role: 'tool', results: [result] }
  },
})
