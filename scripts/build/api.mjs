// The API reference: a page for the root and for each subpath, with every name that it exports, its comment and its declaration.
// A name that the root exports too is on the page of its feature. Written by `entries.mjs`, which finds the pages stale when the types
// have changed.

import ts from 'typescript'
import { adapterDeclarations } from './declarations.mjs'

const SECTIONS = [
  ['Classes', ts.isClassDeclaration],
  ['Functions', ts.isFunctionDeclaration],
  ['Constants', ts.isVariableStatement],
  ['Types', (node) => ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)],
]

/** The import and the page of an entry point; the root has no name. */
const importOf = (name) => (name === '' ? 'spillway' : `spillway/${name}`)
const pageOf = (name) => `${name === '' ? 'spillway' : name}.md`
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

/** A private constructor is shown: it says that callers cannot make one. */
const isPrivate = (member) =>
  !ts.isConstructorDeclaration(member) &&
  ((member.name !== undefined && ts.isPrivateIdentifier(member.name)) ||
    member.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword) === true)

/** Returns the declaration as it is written, without `export declare`, its comment and private members. */
function declarationOf(node, source, name) {
  let text = ''
  let at = node.getStart(source)
  for (const member of ts.isClassDeclaration(node) ? node.members.filter(isPrivate) : []) {
    text += source.text.slice(at, member.getFullStart())
    at = member.end
  }
  text += source.text.slice(at, node.end)
  const code = text.replace(/^(export )?(declare )?/, '').replaceAll('\t', '  ')
  const [own] = namesOf(node)
  return own === name ? code : code.replace(new RegExp(`\\b${own}\\b`), name)
}

/** The exported declarations of all files by name; overloads of a function are several of one name. */
function declaredIn(files) {
  const found = new Map()
  for (const [path, text] of files) {
    const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
    const nodes = source.statements.filter((node) => isExported(node) && !ts.isExportDeclaration(node))
    for (const node of nodes)
      for (const name of namesOf(node)) found.set(name, [...(found.get(name) ?? []), { node, source }])
  }
  return found
}

/** The names in the sections of a page: `[title, names]`. */
const sectionsOf = (names, declared) =>
  SECTIONS.map(([title, is]) => [title, names.filter((name) => is(declared.get(name)[0].node)).sort()]).filter(
    ([, some]) => some.length > 0,
  )

/** Where names are documented that an entry point has and that are on other pages. */
const linksTo = (entry, links) =>
  links.length > 0 ? [`**Documented with [${importOf(entry)}](${pageOf(entry)})**: ${links.join(', ')}`] : []

/** A page with the names that it documents, and links to those that are on other pages. */
function pageText(entry, names, declared, elsewhere) {
  const parts = []
  const contents = []
  const anchors = anchorsOf()
  for (const [title, some] of sectionsOf(names, declared)) {
    anchors(title)
    contents.push(`**${title}**: ${some.map((name) => `[\`${name}\`](#${anchors(name)})`).join(', ')}`)
    parts.push(`## ${title}\n`)
    for (const name of some) {
      const same = declared.get(name)
      const docs = same.flatMap(({ node }) => docsOf(node))
      const code = same.map(({ node, source }) => declarationOf(node, source, name)).join('\n')
      parts.push([`### ${name}`, ...docs, `\`\`\`ts\n${code}\n\`\`\``].join('\n\n'), '')
    }
  }
  const text = [`# \`${importOf(entry)}\`\n`, `${[...contents, ...elsewhere].join('\n\n')}\n`, ...parts].join('\n')
  return `${text.trimEnd()}\n`
}

const isValue = ([{ node }]) => !ts.isInterfaceDeclaration(node) && !ts.isTypeAliasDeclaration(node)

const rowOf = (entry, links) => `| [\`${importOf(entry)}\`](${pageOf(entry)}) | ${links.join(', ')} |`

/** All pages by their paths, from the text of the declaration files and the names that each entry point exports. */
export function apiPages(files, exported) {
  const declared = declaredIn(files)
  // The page of a name is that of the first feature that has it; the root documents what belongs to no feature.
  const pages = new Map()
  for (const [entry, names] of [...exported].reverse()) for (const name of names) pages.set(name, entry)
  for (const name of exported.get('')) {
    const feature = [...exported].find(([entry, names]) => entry !== '' && names.includes(name))
    pages.set(name, feature?.[0] ?? '')
  }
  const link = (name) => `[\`${name}\`](${pageOf(pages.get(name))}#${name.toLowerCase()})`
  const made = new Map()
  const rows = []
  for (const [entry, names] of exported) {
    const own = names.filter((name) => pages.get(name) === entry)
    const others = [...exported.keys()].filter((other) => other !== entry)
    const elsewhere = others.flatMap((other) => {
      const there = names.filter((name) => pages.get(name) === other).sort()
      return linksTo(other, there.map(link))
    })
    made.set(`docs/api/${pageOf(entry)}`, pageText(entry, own, declared, elsewhere))
    rows.push(
      rowOf(
        entry,
        names
          .filter((name) => isValue(declared.get(name)))
          .sort()
          .map(link),
      ),
    )
  }
  for (const [entry, own] of adapterDeclarations()) {
    const anchor = (name) => `[\`${name}\`](${pageOf(entry)}#${name.toLowerCase()})`
    made.set(`docs/api/${pageOf(entry)}`, pageText(entry, [...own.keys()], own, []))
    rows.push(rowOf(entry, [...own].flatMap(([name, same]) => (isValue(same) ? [anchor(name)] : [])).sort()))
  }
  const index = [
    '# API reference\n',
    'One page for each entry point, made from its types. A subpath has all names of its feature; the root has those that most',
    'agents use. Adapters come last; [recipes.md](../recipes.md) shows them in use. Error codes are in [errors.md](../errors.md).\n',
    '| import | classes, functions and constants |',
    '| --- | --- |',
    ...rows,
  ]
  made.set('docs/api/README.md', `${index.join('\n')}\n`)
  return made
}

/** The anchor of a heading: without capitals, and numbered where two are the same then. */
function anchorsOf() {
  const seen = new Map()
  return (heading) => {
    const anchor = heading.toLowerCase()
    const before = seen.get(anchor) ?? 0
    seen.set(anchor, before + 1)
    return before === 0 ? anchor : `${anchor}-${before}`
  }
}
