/** A line of output as elements: terminal colours, search hits, and codes for characters that are invisible or change the direction. */

import { SEQUENCE } from './carriage-returns'
import { make } from './dom'

/** A style that SGR sequences set; it lasts beyond the end of a line. */
export interface Style {
  classes: string[]
  color?: string
  background?: string
}

export const PLAIN: Style = { classes: [] }

interface Piece {
  text: string
  style: Style
}

/** A part of a line's text to mark. */
export type Hit = [from: number, to: number]

/**
 * Characters that are shown by name: those that show nothing or turn the order of others. Joiners of emoji and letters are shown only
 * where there is nothing to join.
 */
const HIDDEN =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each of them is looked for by itself
  /((?![\t\n\u200c-\u200d\ufe0e-\ufe0f])[\p{Cc}\p{Cs}\p{DI}\u2028\u2029\ufff9-\ufffb]|(?<=[^\P{ASCII}0-9#*])[\u200c-\u200d\ufe0e-\ufe0f])/u

/** Splits a line into pieces of one style, and returns the style at its end. */
export function styledPieces(line: string, before: Style): { pieces: Piece[]; after: Style } {
  const pieces: Piece[] = []
  let [style, at] = [before, 0]
  const take = (to: number) => {
    if (to > at) pieces.push({ text: line.slice(at, to), style })
  }
  for (const match of line.matchAll(SEQUENCE)) {
    take(match.index)
    at = match.index + match[0].length
    if (match[2] === 'm') style = styled(style, match[1] ?? '')
  }
  take(line.length)
  return { pieces, after: style }
}

const ATTRIBUTES: Readonly<Record<number, string>> = {
  1: 'bold',
  2: 'dim',
  3: 'italic',
  4: 'underline',
  7: 'inverse',
  9: 'strike',
}
/** Codes that end attributes. */
const ENDS: Readonly<Record<number, string[]>> = {
  22: ['bold', 'dim'],
  23: ['italic'],
  24: ['underline'],
  27: ['inverse'],
  29: ['strike'],
}

function styled(before: Style, parameters: string): Style {
  const codes = parameters.split(/[;:]/).map(Number)
  let style: Style = { ...before, classes: [...before.classes] }
  for (let index = 0; index < codes.length; index += 1) {
    const code = codes[index] ?? 0
    const ended = ENDS[code]
    const attribute = ATTRIBUTES[code]
    if (code === 0) style = { classes: [] }
    else if (attribute !== undefined) style.classes = [...new Set([...style.classes, attribute])]
    else if (ended !== undefined) style.classes = style.classes.filter((name) => !ended.includes(name))
    else if (code === 38 || code === 48) {
      const { color, used } = extended(codes.slice(index + 1))
      style[code === 38 ? 'color' : 'background'] = color
      index += used
    } else if (code === 39) style.color = undefined
    else if (code === 49) style.background = undefined
    else if (basic(code, 30) !== undefined) style.color = basic(code, 30)
    else if (basic(code, 40) !== undefined) style.background = basic(code, 40)
  }
  return style
}

/** The variable of one of the 16 colours, from 30 to 37 and 90 to 97 for text. */
function basic(code: number, first: number): string | undefined {
  if (code >= first && code < first + 8) return variable(code - first)
  return code >= first + 60 && code < first + 68 ? variable(code - first - 52) : undefined
}

const variable = (index: number) => `var(--spillway-ansi-${index})`

/** A colour of 256, or of red, green and blue. */
function extended([kind, ...rest]: number[]): { color: string | undefined; used: number } {
  const [first = 0, green = 0, blue = 0] = rest
  if (kind === 2) return { color: `rgb(${first & 255} ${green & 255} ${blue & 255})`, used: 4 }
  if (kind !== 5) return { color: undefined, used: 0 }
  if (first < 16) return { color: variable(first), used: 2 }
  if (first >= 232) return { color: `rgb(${[0, 0, 0].fill(8 + (first - 232) * 10).join(' ')})`, used: 2 }
  const cube = first - 16
  const parts = [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((part) => (part ? part * 40 + 55 : 0))
  return { color: `rgb(${parts.join(' ')})`, used: 2 }
}

/** Fills an element with pieces, and marks the hits, which count in the text of all pieces. */
export function draw(into: HTMLElement, pieces: readonly Piece[], hits: readonly Hit[]): void {
  let at = 0
  const nodes: Node[] = []
  for (const { text, style } of pieces) {
    const parent = styleElement(style)
    let done = 0
    for (const [from, to] of hits) {
      const [start, end] = [Math.max(done, from - at), Math.min(text.length, to - at)]
      if (start >= end) continue
      parent.append(...showHidden(text.slice(done, start)), make('mark', {}, ...showHidden(text.slice(start, end))))
      done = end
    }
    parent.append(...showHidden(text.slice(done)))
    nodes.push(parent)
    at += text.length
  }
  into.replaceChildren(...nodes)
}

function styleElement({ classes, color, background }: Style): HTMLElement {
  const span = make('span', { className: classes.join(' ') })
  for (const [name, value, set] of [
    ['--colour', color, 'coloured'],
    ['--background', background, 'filled'],
  ] as const) {
    if (value === undefined) continue
    span.style.setProperty(name, value)
    span.classList.add(set)
  }
  return span
}

/** Text as nodes; a character that would be invisible is shown by its code. */
export function showHidden(text: string): (Node | string)[] {
  return text.split(HIDDEN).flatMap((part, index): (Node | string)[] => {
    if (part === '') return []
    if (index % 2 === 0) return [part]
    const code = part.codePointAt(0)!
    const label =
      code < 32 ? `^${String.fromCharCode(64 + code)}` : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
    return [make('span', { className: 'hidden', textContent: label })]
  })
}
