/** The results as a table. */

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
