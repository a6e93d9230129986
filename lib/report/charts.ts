/** Charts of the page as SVG. Colors come from classes, because a strict content security policy forbids inline styles. */

/** One bar. */
export interface Bar {
  label: string
  /** Written at its end. */
  value: string
  size: number
  /** Where it begins, for bars that follow each other; 0 by default. */
  from?: number
  /** The class of its color. */
  color?: string
}

const [ROW, LABEL, WIDTH, VALUE] = [28, 210, 760, 180]

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** A text from elsewhere as text of the page, also in an attribute; control characters would be invisible. */
export function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[&<>"']/g, (character) => ENTITIES[character] as string)
    .replace(/[\p{Cc}\p{Cf}]/gu, '\ufffd')
}

/** Horizontal bars under each other, on one scale. */
export function bars(title: string, rows: readonly Bar[]): string {
  const ends = rows.flatMap(({ from = 0, size }) => [from, from + size])
  const min = Math.min(0, ...ends)
  const span = Math.max(1e-9, ...ends.map((end) => end - min))
  const place = (end: number) => LABEL + ((end - min) / span) * (WIDTH - LABEL - VALUE)
  const drawn = rows.map(({ label, value, size, from = 0, color = 'bar' }, at) => {
    const [y, x] = [at * ROW, place(Math.min(from, from + size))]
    const width = Math.max(1, place(Math.max(from, from + size)) - x)
    return [
      `<g><title>${escaped(`${label}: ${value}`)}</title>`,
      `<text class="label" x="${LABEL - 10}" y="${y + 19}" text-anchor="end">${escaped(shortened(label))}</text>`,
      `<rect class="${color}" x="${x.toFixed(1)}" y="${y + 5}" width="${width.toFixed(1)}" height="${ROW - 10}" rx="3"/>`,
      `<text class="value" x="${(x + width + 8).toFixed(1)}" y="${y + 19}">${escaped(value)}</text></g>`,
    ].join('')
  })
  const height = Math.max(ROW, rows.length * ROW)
  return wide(
    title,
    `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(title)}">${drawn.join('')}</svg>`,
  )
}

/** Scrolls sideways on a narrow screen, also with the keyboard. */
const wide = (label: string, content: string) =>
  `<div class="wide" role="region" aria-label="${escaped(label)}" tabindex="0">${content}</div>`

const MAX_LABEL_LENGTH = 30

function shortened(label: string): string {
  return label.length > MAX_LABEL_LENGTH ? `${label.slice(0, MAX_LABEL_LENGTH - 1)}…` : label
}

/** A table: the first column is text, the others are numbers. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (row: readonly string[], tag: 'td' | 'th') =>
    row.map((cell, at) => `<${tag}${at === 0 ? '' : ' class="number"'}>${escaped(cell)}</${tag}>`).join('')
  const body = rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n')
  const label = head.join(', ')
  return wide(label, `<table><thead><tr>${cells(head, 'th')}</tr></thead><tbody>\n${body}\n</tbody></table>`)
}
