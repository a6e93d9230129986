/**
 * Reader of front matter: the head of a Markdown file between two lines of dashes. Bundled into a file of its own, because a parser
 * of YAML is as large as the rest of the facade, and most processes read no front matter.
 */

import { isMap, Lexer, LineCounter, Parser, parseDocument } from 'yaml'

/** Longer heads are refused: checking that keys differ takes time with the square of their number. */
const MAX_HEAD_UNITS = 16_384

/** Most levels of lists and maps. Readers recurse once per level, and the stack of a process is limited. */
const MAX_DEPTH = 64

/** Matches a probable opening line in a wrong form: not the first line, more dashes, or longer ones. */
const ALMOST_OPENING = /^\s*(?=---|[-\u2010-\u2015\u2212]{2,}[ \t]*(?:\r?\n|$))/

/** A file taken apart. */
export interface FrontMatter {
  /** Members of the head as plain JSON; empty if there is none. */
  head: Record<string, unknown>
  /** Lines from 1, of each member of the head. */
  lines: Record<string, number>
  /** Text after the front matter. */
  body: string
}

/** A head that cannot be read, and where. */
export class FrontMatterError extends Error {
  constructor(
    message: string,
    readonly line: number,
  ) {
    super(message)
  }
}

/**
 * Reads the head, in YAML 1.2 (of which JSON is a part), without tags, aliases and merge keys.
 * @throws FrontMatterError
 */
export function readFrontMatter(text: string): FrontMatter {
  const content = text.startsWith('\ufeff') ? text.slice(1) : text
  const opening = /^---[ \t]*(\r?\n|$)/.exec(content)
  if (opening === null) {
    const almost = ALMOST_OPENING.exec(content)
    if (almost === null) return { head: {}, lines: {}, body: content }
    const line = almost[0].split('\n').length
    throw new FrontMatterError('a front matter begins with three dashes alone in the first line of the file', line)
  }
  const start = opening[0].length
  const closing = /^(?:---|\.\.\.)[ \t]*\r?$/m.exec(content.slice(start, start + MAX_HEAD_UNITS + 8))
  if (closing === null) {
    const isLong = content.length - start > MAX_HEAD_UNITS
    throw new FrontMatterError(
      isLong
        ? `the front matter does not end within ${MAX_HEAD_UNITS} characters`
        : 'the front matter does not end: a line of three dashes is missing',
      1,
    )
  }
  const end = start + closing.index
  const body = content.slice(end + closing[0].length)
  return { ...readYaml(content.slice(start, end)), body }
}

function readYaml(source: string): Omit<FrontMatter, 'body'> {
  const counter = new LineCounter()
  // The first line of the file is the opening one.
  const lineAt = (offset: number | undefined) => counter.linePos(offset ?? 0).line + 1
  checkTokens(source)
  const document = parseDocument(source, {
    lineCounter: counter,
    prettyErrors: false,
    schema: 'core',
    merge: false,
    stringKeys: true,
  })
  const fault = document.errors[0] ?? document.warnings[0]
  if (fault !== undefined) {
    const message = fault.code === 'NON_STRING_KEY' ? 'a name can only be a text' : firstLine(fault.message)
    throw new FrontMatterError(message, lineAt(fault.pos[0]))
  }
  const lines: Record<string, number> = Object.create(null)
  const { contents } = document
  if (contents === null) return { head: {}, lines }
  if (!isMap(contents)) {
    throw new FrontMatterError('the front matter is no mapping of names to values', lineAt(contents.range?.[0]))
  }
  for (const item of contents.items) {
    const { key } = item as { key?: { value?: unknown; range?: readonly number[] } | null }
    lines[String(key?.value)] = lineAt(key?.range?.[0])
  }
  try {
    // Values of tags and special numbers become plain JSON.
    return { head: JSON.parse(JSON.stringify(document.toJS({ maxAliasCount: 0 }))), lines }
  } catch (error) {
    const isAlias = /alias/i.test(String(error))
    throw new FrontMatterError(isAlias ? 'aliases are not read here' : 'the front matter cannot be read', 2)
  }
}

/** Refuses tags, and deep nesting before anything recurses into it: a stack that overflows inside a pattern ends the process. */
function checkTokens(source: string): void {
  const lines = new LineCounter()
  lines.addNewLine(0)
  const parser = new Parser(lines.addNewLine)
  for (const lexeme of new Lexer().lex(source)) {
    if (lexeme.startsWith('!')) {
      const { line } = lines.linePos(parser.offset)
      // A list of tools as a set would be a map without members, which forbids nothing.
      throw new FrontMatterError('tags are not read here', line + 1)
    }
    for (const _ of parser.next(lexeme));
    if (parser.stack.length > MAX_DEPTH) {
      const { line } = lines.linePos(parser.offset)
      throw new FrontMatterError(`the front matter is nested more than ${MAX_DEPTH} levels deep`, line + 1)
    }
  }
}

function firstLine(message: string): string {
  return message
    .slice(0, 200)
    .split('\n')[0]!
    .replace(/[\p{Cc}\p{Cf}]/gu, '\ufffd')
}
