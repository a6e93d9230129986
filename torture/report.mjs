/** The results as a table, and the page that shows it between two marks. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const MARKS = ['<!-- torture:start -->', '<!-- torture:end -->']
const WORDS = { passed: 'kept', failed: '**broken**', skipped: 'not tried', compared: '–' }

export function markdown({ startedAt, environment, rows }) {
  const lines = ['| bars | what is done | what is found | promise |', '| --- | --- | --- | --- |']
  for (const { bars, name, figures, status, reason } of rows) {
    const found = figures.map(([value, word]) => `${value.toLocaleString('en')} ${word}`)
    if (status === 'skipped' || status === 'failed') found.push(reason)
    const cells = [bars, name, found.join(', '), WORDS[status]]
    lines.push(`| ${cells.map((cell) => cell.replaceAll('|', '\\|').split('\n')[0]).join(' | ')} |`)
  }
  const { cores, kernel, node, rustc, fileSystem } = environment
  const where = `${cores} cores, Linux ${kernel}, ${fileSystem}, Node ${node}, rustc ${rustc}, ${startedAt.slice(0, 10)}`
  return `${lines.join('\n')}\n\n${where}`
}

/** Puts the table into a page, if there is one with the marks; says whether it did. */
export function updateDocument(path, table) {
  if (!existsSync(path)) return false
  const text = readFileSync(path, 'utf8')
  const [from, to] = [text.indexOf(MARKS[0]), text.indexOf(MARKS[1])]
  if (from < 0 || to < from) return false
  writeFileSync(path, `${text.slice(0, from)}${MARKS[0]}\n\n${table}\n\n${text.slice(to)}`)
  return true
}
