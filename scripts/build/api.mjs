// The API reference: every name that `index.d.ts` exports, with what its comment says and its declaration. Written by
// `entries.mjs`, which finds it stale when the types have changed.

import ts from 'typescript'

const SECTIONS = [
  ['Classes', ts.isClassDeclaration],
  ['Functions', ts.isFunctionDeclaration],
  ['Constants', ts.isVariableStatement],
  ['Types', (node) => ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)],
]

const HEAD = `# API reference

Everything that \`spillway\` exports, made from its types. The pages in this folder explain how things work together;
[errors.md](errors.md) has the error codes.
`

/** The names of a statement. */
const namesOf = (node) =>
  ts.isVariableStatement(node) ? node.declarationList.declarations.map(({ name }) => name.text) : [node.name.text]

const isExported = (node) => node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true

/** The comment right in front of a node: the last one, because the file's own may stand before it. */
function commentOf(node) {
  const comments = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc)
  return comments.at(-1)
}

/** Text of a comment, with its links as code. */
const proseOf = (comment) => {
  const text = ts.getTextOfJSDocComment(comment)?.trim() ?? ''
  return text.replaceAll(/\{@link\s+([^}]+)\}/g, (_, name) => `\`${name.trim()}\``)
}

function docsOf(node) {
  const doc = commentOf(node)
  if (!doc) return []
  const parts = [proseOf(doc.comment)]
  const tags = doc.tags ?? []
  const rows = tags.filter(ts.isJSDocParameterTag).map((tag) => `- \`${tag.name.getText()}\`: ${proseOf(tag.comment)}`)
  if (rows.length > 0) parts.push(rows.join('\n'))
  for (const tag of tags) {
    const name = tag.tagName.text
    const text = proseOf(tag.comment)
    if (name === 'returns' || name === 'throws') parts.push(`${name === 'returns' ? 'Returns' : 'Throws'} ${text}`)
    if (name === 'deprecated') parts.push(`**Deprecated.** ${text}`)
    if (name === 'example') parts.push(`\`\`\`ts\n${text.replaceAll(/^```\w*\n?|```$/gm, '').trim()}\n\`\`\``)
  }
  return parts.filter((part) => part !== '')
}

/** The declaration as it stands in the file, without `export declare` and the comment in front of it. */
const declarationOf = (node, source) =>
  source.text
    .slice(node.getStart(source), node.end)
    .replace(/^export (declare )?/, '')
    .replaceAll('\t', '  ')

/** The whole page, from the text of `index.d.ts`. */
export function apiPage(text) {
  const source = ts.createSourceFile('index.d.ts', text, ts.ScriptTarget.Latest, true)
  const nodes = source.statements.filter(isExported)
  const parts = [HEAD]
  const contents = []
  const anchors = anchorsOf()
  for (const [title, is] of SECTIONS) {
    const entries = nodes
      .filter(is)
      .flatMap((node) => namesOf(node).map((name) => ({ name, node })))
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    // Overloads of a function are one entry.
    const byName = groupByName(entries)
    anchors(title)
    contents.push(`**${title}**: ${[...byName.keys()].map((name) => `[\`${name}\`](#${anchors(name)})`).join(', ')}`)
    parts.push(`## ${title}\n`)
    for (const [name, same] of byName) {
      const docs = same.flatMap(({ node }) => docsOf(node))
      const code = same.map(({ node }) => declarationOf(node, source)).join('\n')
      parts.push([`### ${name}`, ...docs, `\`\`\`ts\n${code}\n\`\`\``].join('\n\n'), '')
    }
  }
  parts.splice(1, 0, `${contents.join('\n\n')}\n`)
  return `${parts.join('\n').trimEnd()}\n`
}

/** What pages make of headings: without capitals, and numbered where two are the same then. */
function anchorsOf() {
  const seen = new Map()
  return (heading) => {
    const anchor = heading.toLowerCase()
    const before = seen.get(anchor) ?? 0
    seen.set(anchor, before + 1)
    return before === 0 ? anchor : `${anchor}-${before}`
  }
}

function groupByName(entries) {
  const groups = new Map()
  for (const entry of entries) groups.set(entry.name, [...(groups.get(entry.name) ?? []), entry])
  return groups
}
