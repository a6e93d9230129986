/**
 * A text, described as data: rows stay short and their inputs exact, however long the texts are.
 */
export type Recipe =
  | string
  | { repeat: Recipe; times: number }
  | { lines: string; count: number; from?: number; end?: string }
  | { concat: Recipe[] }
  | { json: unknown; indent?: number }

/** The text that a recipe stands for. `{i}` in a line is its number. */
export function textOf(recipe: Recipe): string {
  if (typeof recipe === 'string') return recipe
  if ('repeat' in recipe) return textOf(recipe.repeat).repeat(recipe.times)
  if ('concat' in recipe) return recipe.concat.map(textOf).join('')
  if ('json' in recipe) return JSON.stringify(builtFrom(recipe.json), null, recipe.indent)
  if ('lines' in recipe) {
    const from = recipe.from ?? 0
    const lines = Array.from({ length: recipe.count }, (_, n) => recipe.lines.replaceAll('{i}', String(from + n)))
    return lines.join('\n') + (recipe.end ?? '')
  }
  throw new Error(`not a recipe: ${JSON.stringify(recipe)}`)
}

/** A value, described as data: itself, except that `{ "$text": recipe }` anywhere inside is the recipe's text. */
export function builtFrom(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(builtFrom)
  if (value === null || typeof value !== 'object') return value
  if ('$text' in value) return textOf(value.$text as Recipe)
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, builtFrom(inner)]))
}

/** UTF-8 that keeps lone surrogates (WTF-8): Node's own encoders would replace them, and a saved file must not. */
export function exactBytes(text: string): Buffer {
  const chunks: Buffer[] = []
  let wellFormed = ''
  for (const character of text) {
    const point = character.codePointAt(0) as number
    if (point < 0xd800 || point > 0xdfff) {
      wellFormed += character
      continue
    }
    chunks.push(
      Buffer.from(wellFormed),
      Buffer.from([0xe0 | (point >> 12), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63)]),
    )
    wellFormed = ''
  }
  return Buffer.concat([...chunks, Buffer.from(wellFormed)])
}

/** How lines are counted: by line breaks (Spillway's rule), or as the pieces between `\n` (the upstream rule). */
export type LineRule = 'breaks' | 'split'

export function lineCount(text: string, rule: LineRule): number {
  const pieces = text.split('\n')
  return rule === 'breaks' && pieces.at(-1) === '' ? pieces.length - 1 : pieces.length
}
