// Keeps the language of the project plain: looks for banned openings and words in comments, pages, messages and test titles.
//
//   node scripts/test/words.mjs                 checks every room
//   node scripts/test/words.mjs src/json docs   checks these folders or files
//
// This is a list of habits, not a grammar checker. A word that is right in one place can be quoted: `code` is not looked at.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, extname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const ls = (folder) => readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`)

/** How a sentence must not begin, and what to write instead. */
const OPENINGS = [
  [/^What\b(?!.*\?)/, 'a verb or a noun: "Returns …", "The part that …"'],
  [/^Whoever\b/, 'the noun: "A caller that …"'],
  [/^Whether\b/, '"Returns true if …", "True if …"'],
  [/^So (many|much|long|often|far)\b/, '"At most …", "Number of …"'],
  [/^(Of|Beside) (?!course)/, 'the subject first'],
  [/^(Whatever|Where nothing|Nothing (for|if|when|where|but))\b/, 'the subject first: "Every …", "`undefined` if …"'],
]

/** The same for titles of tests, which begin with a small letter. */
const TITLE_OPENINGS = [
  ...OPENINGS.map(([pattern, instead]) => [new RegExp(pattern.source, 'i'), instead]),
  [/^nothing\b/i, 'a verb or a noun: "changes no file", "keeps …"'],
]

/** The same for cells that describe a module, and openings that titles may have. */
const CELL_OPENINGS = [
  ...TITLE_OPENINGS,
  [/^(which|how|when|where)\b/i, 'a noun or a verb: "matching of …", "reads …"'],
]

/** Words and phrases, and what to write instead. */
const WORDS = [
  [/\b(nobody|somebody|anybody|whoever|whosoever)\b/i, '"no caller", "another process", the noun'],
  [/\banew\b/i, '"again"'],
  [/\blikewise\b/i, '"also", "the same way"'],
  [/\bfor ever\b/i, '"forever", "indefinitely"'],
  [/\bso many\b(?! (more|of them) that)/i, 'the number: "`count` lines", "at most n"'],
  [
    /(?<!left |lag |lags |lies |layer )\bbehind (it|them|that|which|this|the (last|end|first|one|other|next)|its|each|a (name|word|line|colon|comma|quote|command|text|number|newline|cut))\b/i,
    '"after"',
  ],
  [/\b(is|are|was|were|be) told\b|\btells? apart\b/i, '"is given", "is reported", "distinguish"'],
  [/\b(let|lets|letting) go\b/i, '"remove", "prune", "release"'],
  [/\b(comes?|becomes?|became) of (it|them|this|that|a|an|the)\b/i, '"the result of"'],
  [/\bgoes (for|without|to|by|on|in|out|with|up|down)\b/i, '"is sent to", "applies", "continues", …'],
  [
    /\b(that|which|it|there|text|line|name|this) stands? (in|at|on|alone|before|after|between|there|by|beside)\b/i,
    '"is in", "is at"',
  ],
  [/\bpurse\b/i, '"savings budget"'],
  [/\b(hears?|heard) (of|about|from|an|the)\b/i, '"is notified", "receives"'],
  [/\bno (gain|use)\b.*\bno\b|\bnot? .{0,20}\bwithout no\b/i, 'one negation'],
  [/\b(his|her) own\b|\bof his\b/i, '"its own", "their own"'],
  [/\bno look\b(?!-)|\bneeds no other look\b/i, '"is skipped"'],
  [/\b(asks?|asked) (it|them) what\b/i, '"queries"'],
  [/\bgone through\b/i, '"read", "scanned"'],
]

/** The same for Chinese. */
const CHINESE = [
  [/[。，、；：！？] +(?=[^\s|])/u, 'no space after it'],
  [/(编码|编程|智能|AI ?|子)代理/u, '"智能体"'],
]

/** The parts of the tree that are counted for themselves. */
const ROOMS = [
  ...ls('src'),
  ...ls('lib'),
  ...['tests', 'fuzz', 'torture', 'scripts', 'benchmark', '__test__', 'docs', 'examples'],
  ...['README.md', 'README.zh-CN.md', 'CONTRIBUTING.md', 'AGENTS.md', 'SECURITY.md', 'CHANGELOG.md'],
]

/** Not written by us, or made by a build. */
const SKIPPED =
  /(^|\/)(node_modules|target|dist|results|corpus|fixtures|snapshots|__snapshots__|data|recordings?)(\/|$)|(^|\/)docs\/api(\.md|\/)|\.d\.m?ts$|^scripts\/test\/words\.mjs$/

function* files(path) {
  const name = relative(ROOT, path)
  if (SKIPPED.test(name)) return
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isDirectory()) for (const entry of readdirSync(path).sort()) yield* files(join(path, entry))
  else if (found && ['.rs', '.ts', '.mts', '.mjs', '.md'].includes(extname(path))) yield path
}

/** Pieces of prose in a file: `{ line, text }`. `openings` are those that it must not have, `literal` is true for messages. */
function prose(path) {
  const source = readFileSync(path, 'utf8')
  if (path.endsWith('.md')) return markdown(source)
  return path.endsWith('.rs') ? rust(source) : typescript(path, source)
}

function markdown(source) {
  const found = []
  let fenced = false
  for (const [index, text] of source.split('\n').entries()) {
    if (/^\s*(```|~~~)/.test(text)) fenced = !fenced
    else if (!fenced)
      for (const cell of text.startsWith('|') ? text.split('|') : [text])
        found.push({ line: index + 1, text: cell.replace(/^[\s>#*-]+/, '') })
  }
  return found
}

const COMMENT = /^\s*(?:\/\/[/!]?|\/\*\*?|\*(?!\/))\s?(.*?)(?:\*\/)?\s*$/

/** Joins the comment lines that belong to one paragraph, so that a sentence over two lines is one. */
function comments(lines, first = 1, isComment = (text) => /^\s*\/\//.test(text)) {
  const found = []
  let open
  let fenced = false
  for (const [index, text] of lines.entries()) {
    const inner = isComment(text) ? COMMENT.exec(text)?.[1].trim() : undefined
    if (inner?.startsWith('```')) fenced = !fenced
    if (inner === undefined) fenced = false
    if (!inner || fenced || inner.startsWith('```')) open = undefined
    else if (inner.startsWith('|'))
      for (const [column, cell] of inner.split('|').entries())
        found.push({ line: first + index, text: cell.trim(), openings: column === 2 ? CELL_OPENINGS : OPENINGS })
    else if (open && !/^[-*\d#@]/.test(inner)) open.text += ` ${inner}`
    else {
      open = { line: first + index, text: inner.replace(/^([-*#]+|@\w+) /, '') }
      found.push(open)
    }
  }
  return found
}

/** True for literals of three words or more, and for Chinese ones. Those in capitals are constants. */
const isMessage = (text) => /\S\s+\S.*\s.*[a-z]|\p{Script=Han}/u.test(text)

/** Comments, messages (literals of three words or more outside of tests) and the names of tests. */
function rust(source) {
  const lines = source.split('\n')
  const found = comments(lines)
  let test = false
  for (const [index, text] of lines.entries()) {
    if (/^\s*\/\//.test(text)) continue
    if (/#\[cfg\(test\)\]|proptest! \{/.test(text)) test = true
    const name = /^\s*fn (\w+)\(/.exec(text)?.[1]
    if (name?.split('_').length > 3) found.push({ line: index + 1, text: name.replaceAll('_', ' ') })
    if (test) continue
    const trailing = /[;,{}] \/\/ (.*)$/.exec(text)
    if (trailing) found.push({ line: index + 1, text: trailing[1] })
    for (const [, literal] of text.matchAll(/"((?:[^"\\]|\\.)*)"/g)) {
      if (isMessage(literal)) found.push({ line: index + 1, text: literal, literal: true })
    }
  }
  return found
}

function typescript(path, source) {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true)
  const lineOf = (at) => file.getLineAndCharacterOfPosition(at).line + 1
  const found = []
  const seen = new Set()
  const literal = (node) => {
    const title =
      ts.isCallExpression(node.parent) &&
      /^(it|test|describe|step)\b/.test(node.parent.expression.getText(file)) &&
      node.parent.arguments[0] === node
    const text = node.text
    if (title) found.push({ line: lineOf(node.getStart(file)), text, openings: TITLE_OPENINGS })
    else if (!/__test__|benchmark/.test(path) && isMessage(text))
      found.push({ line: lineOf(node.getStart(file)), text, literal: true })
  }
  const visit = (node) => {
    if (
      ts.isStringLiteral(node) ||
      ts.isNoSubstitutionTemplateLiteral(node) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddle(node) ||
      ts.isTemplateTail(node)
    )
      literal(node)
    const children = node.getChildren(file)
    if (children.length === 0) {
      const ranges = [
        ...(ts.getLeadingCommentRanges(source, node.pos) ?? []),
        ...(ts.getTrailingCommentRanges(source, node.end) ?? []),
      ]
      let joined
      for (const { pos, end } of ranges) {
        if (seen.has(pos)) continue
        seen.add(pos)
        const text = source.slice(pos, end)
        const line = lineOf(pos)
        if (joined && joined.last === line - 1 && text.startsWith('//')) {
          joined.lines.push(text)
          joined.last = line
        } else {
          joined = { line, last: text.startsWith('//') ? line : -1, lines: text.split('\n') }
          found.push(joined)
        }
      }
    }
    for (const child of children) if (child.kind !== ts.SyntaxKind.JSDoc) visit(child)
  }
  visit(file)
  return found.flatMap((piece) => (piece.lines ? comments(piece.lines, piece.line, () => true) : [piece]))
}

const plain = (text) =>
  text
    .replace(/`[^`]*`/g, '`x`')
    .replace(/"[^"]*"/g, '"x"')
    .replace(/“[^”]*”/g, '"x"')

function check(path) {
  const problems = []
  for (const { line, text, openings = OPENINGS, literal } of prose(path)) {
    const where = `${relative(ROOT, path)}:${line}`
    const cleaned = plain(text)
    const sentences = literal ? [] : cleaned.split(/(?<=[.:;!]) (?=[A-Z])/)
    for (const sentence of sentences) {
      for (const [pattern, instead] of openings)
        if (pattern.test(sentence.trim()))
          problems.push(`${where}: begins "${sentence.trim().slice(0, 50)}": write ${instead}`)
    }
    for (const [pattern, instead] of [...WORDS, ...CHINESE]) {
      const match = pattern.exec(cleaned)
      if (match) problems.push(`${where}: "${match[0]}": write ${instead}`)
    }
  }
  return problems
}

const asked = process.argv.slice(2)
const targets = asked.length > 0 ? asked : ROOMS
const counts = new Map()
const checked = new Set()
let failed = 0
for (const room of targets) {
  for (const path of files(resolve(ROOT, room))) {
    if (checked.has(path)) continue
    checked.add(path)
    const problems = check(path)
    counts.set(room, (counts.get(room) ?? 0) + problems.length)
    failed += problems.length
    for (const problem of problems) console.log(problem)
  }
}
for (const [room, count] of counts) if (count > 0) console.log(`${room}: ${count}`)
console.log(`words: ${checked.size} files, ${failed} problems`)
if (failed > 0) process.exitCode = 1
