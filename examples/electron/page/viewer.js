// A viewer for outputs of any size: the page holds only the lines that it shows, and asks for others as it scrolls.

import { call } from './bridge.js'

const LINE_HEIGHT = 18
/** No browser lays out more than some tens of millions of pixels: beyond that, the bar stands for lines in proportion. */
const MOST_PIXELS = 8_000_000
const LONGEST_LINE = 2000

const $ = (id) => document.getElementById(id)
const [dialog, lines, space, text, matches] = [
  'viewer',
  'viewer-lines',
  'viewer-space',
  'viewer-text',
  'viewer-matches',
].map($)

// Keys scroll it, so it takes the focus.
lines.tabIndex = 0

let shown
let asked = 0

const visibleLines = () => Math.ceil(lines.clientHeight / LINE_HEIGHT)
const lastTop = () => Math.max(1, shown.totalLines - visibleLines() + 2)
const pixels = () => Math.min(MOST_PIXELS, shown.totalLines * LINE_HEIGHT)

/** Shows a saved output. */
export function view({ outputPath, totalLines, totalBytes, command }) {
  shown = { path: outputPath, totalLines, top: 1, marked: 0 }
  $('viewer-title').textContent =
    `${command}: ${totalLines.toLocaleString()} lines, ${(totalBytes / 2 ** 20).toFixed(1)} MiB`
  matches.hidden = true
  matches.replaceChildren()
  $('viewer-count').textContent = ''
  dialog.showModal()
  space.style.height = `${pixels()}px`
  lines.scrollTop = 0
  return show(1)
}

/** Reads and shows the lines from one of them on; an answer that comes after a newer question is dropped. */
async function show(top) {
  const { path } = shown
  shown.top = Math.min(Math.max(1, Math.round(top)), lastTop())
  asked += 1
  const number = asked
  try {
    const content = await readLines(path, shown.top, visibleLines())
    if (number === asked) draw(content)
  } catch (error) {
    if (number === asked) text.textContent = `${error.code}: ${error.message}`
  }
}

/** Reads lines; a range ends at 256 KiB, also in the middle of a line, and the next one begins with the line after it. */
async function readLines(path, from, count) {
  const read = []
  while (read.length < count && from + read.length <= shown.totalLines) {
    const range = await call('readOutput', { path, fromLine: from + read.length, lineCount: count - read.length })
    const found = range.text.split('\n').slice(0, Math.max(1, range.lineCount))
    read.push(...found)
  }
  return read
}

function draw(content) {
  const rows = content.slice(0, visibleLines()).map((line, index) => {
    const row = document.createElement('span')
    const number = shown.top + index
    row.className = number === shown.marked ? 'line marked' : 'line'
    row.dataset.line = number
    // A line may be as long as the output.
    row.textContent = line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line
    return row
  })
  text.replaceChildren(...rows)
  text.style.top = `${lines.scrollTop}px`
}

/** Goes to a line and marks it. */
function goTo(line) {
  shown.marked = line
  const top = Math.max(1, line - Math.floor(visibleLines() / 3))
  setBar(top)
  return show(top)
}

let settingBar = false
function setBar(top) {
  settingBar = true
  const share = lastTop() === 1 ? 0 : (top - 1) / (lastTop() - 1)
  lines.scrollTop = share * (pixels() - lines.clientHeight)
}

lines.addEventListener('scroll', () => {
  text.style.top = `${lines.scrollTop}px`
  if (settingBar) {
    settingBar = false
    return
  }
  const share = lines.scrollTop / Math.max(1, pixels() - lines.clientHeight)
  show(1 + share * (lastTop() - 1))
})

// Where the bar stands for many lines a pixel, wheel and keys still go line by line.
lines.addEventListener(
  'wheel',
  (event) => {
    event.preventDefault()
    moveBy(Math.sign(event.deltaY) * Math.max(1, Math.round(Math.abs(event.deltaY) / LINE_HEIGHT)))
  },
  { passive: false },
)

lines.addEventListener('keydown', (event) => {
  const page = visibleLines() - 2
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }
  if (!(event.key in steps)) return
  event.preventDefault()
  moveBy(steps[event.key])
})

function moveBy(count) {
  const top = Math.min(Math.max(1, shown.top + count), lastTop())
  setBar(top)
  show(top)
}

// Search -------------------------------------------------------------------------------------------------------------

$('viewer-search').addEventListener('submit', (event) => {
  event.preventDefault()
  const pattern = $('viewer-pattern').value
  if (pattern === '') return
  matches.replaceChildren()
  search({ path: shown.path, pattern, ignoreCase: $('viewer-case').checked })
})

async function search(query) {
  const count = $('viewer-count')
  count.textContent = 'searching …'
  try {
    const found = await call('searchOutput', query)
    matches.hidden = false
    matches.append(...found.matches.map(matchRow))
    const total = matches.querySelectorAll('button[data-line]').length
    count.textContent = `${total}${found.next ? '+' : ''} matches`
    if (found.next) matches.append(moreRow(query, found.next))
    if (query.after === undefined && found.matches.length > 0) await goTo(found.matches[0].line)
  } catch (error) {
    count.textContent = `${error.code}: ${error.message}`
  }
}

function rowWith(button) {
  const row = document.createElement('li')
  row.append(button)
  return row
}

function matchRow({ line, text: found }) {
  const button = document.createElement('button')
  button.type = 'button'
  button.dataset.line = line
  button.textContent = `${line.toLocaleString()}  ${found.slice(0, 200)}`
  button.addEventListener('click', () => goTo(line))
  return rowWith(button)
}

function moreRow(query, after) {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'More'
  button.addEventListener('click', () => {
    button.parentElement.remove()
    search({ ...query, after })
  })
  return rowWith(button)
}

$('viewer-close').addEventListener('click', () => dialog.close())
