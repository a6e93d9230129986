// `node scripts/docs/session.mjs [--check]`: records the terminal session that README shows. The commands run for real in an empty folder, and
// what they print becomes `docs/images/session.svg`, line by line. Paths and names that differ from run to run are replaced, so
// the file changes only when the output does. With `--check` nothing is written, and a difference fails.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { main, ROOT } from '../build/run.mjs'

const COLUMNS = 104
const LINE_HEIGHT = 18
const CHAR_WIDTH = 8.05
/** Seconds between two commands, and between two lines of what one prints. */
const PAUSE = 1.4
const PER_LINE = 0.12
/** Seconds that the whole screen stays before the session starts again. */
const REST = 8
/** The longest part of an output that is shown. */
const MAX_LINES = 20

/** A build that fails in the middle of 40,000 lines. */
const BUILD = `
for (let n = 1; n <= 40000; n++) {
  console.log('[' + n + '/40000] Compiling module_' + n)
  if (n === 23456) console.log("error[E0308]: mismatched types\\n  --> src/cart.rs:41:17\\n   |\\n41 |     total: cart.discount,\\n   |            ^^^^^^^^^^^^^ expected u64, found String\\n")
}
console.log('error: could not compile cart (lib) due to 1 previous error')
process.exitCode = 101
`

const escapeXml = (text) => text.replace(/[&<>]/g, (letter) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[letter])

/** Runs a command of the package and returns what a terminal would show. */
function run(args, cwd, env) {
  const { stdout, stderr } = spawnSync(process.execPath, [join(ROOT, 'dist', 'cli', 'main.js'), ...args], {
    cwd,
    env: { ...process.env, ...env, NO_COLOR: '1' },
    encoding: 'utf8',
  })
  return `${stdout}${stderr}`.trimEnd().split('\n')
}

/** The lines that fit the picture: the first and the last, with one that says how many are missing. */
function fitted(lines) {
  const cut = lines.map((line) => (line.length > COLUMNS ? `${line.slice(0, COLUMNS - 1)}…` : line))
  if (cut.length <= MAX_LINES) return cut
  return [...cut.slice(0, MAX_LINES / 2), `⋮ (${cut.length - MAX_LINES} lines more)`, ...cut.slice(-MAX_LINES / 2)]
}

/** One line of the picture: when it appears, in seconds from the start. */
function rows(session) {
  const found = []
  let at = 0.4
  for (const { typed, printed } of session) {
    found.push({ text: `$ ${typed}`, at, kind: 'typed' })
    at += PAUSE
    for (const text of printed) {
      const kind = /^(error|✗)/.test(text) ? 'error' : /truncated|Full output|Use /.test(text) ? 'notice' : 'plain'
      found.push({ text, at, kind })
      at += PER_LINE
    }
    found.push({ text: '', at, kind: 'plain' })
    at += PAUSE
  }
  return { rows: found, end: at + REST }
}

function svg({ rows, end }) {
  const [width, height] = [Math.ceil(COLUMNS * CHAR_WIDTH) + 40, rows.length * LINE_HEIGHT + 40]
  const percent = (seconds) => ((100 * seconds) / end).toFixed(2)
  const steps = [...new Set(rows.map(({ at }) => at))]
  const names = new Map(steps.map((at, index) => [at, `l${index}`]))
  const keyframes = steps.map(
    (at) =>
      `@keyframes ${names.get(at)}{0%,${percent(at)}%{opacity:0}${(Number(percent(at)) + 0.01).toFixed(2)}%,100%{opacity:1}}.${names.get(at)}{animation:${names.get(at)} ${end.toFixed(1)}s infinite}`,
  )
  const lines = rows.map(
    ({ text, at, kind }, index) =>
      `<text class="${kind} ${names.get(at)}" x="20" y="${34 + index * LINE_HEIGHT}" xml:space="preserve">${escapeXml(text)}</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A build that prints 40,000 lines, run with spillway">
<style>
text{font:13.4px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#c9d1d9}
.typed{fill:#7ee787}.error{fill:#ff7b72}.notice{fill:#79c0ff}
@media (prefers-reduced-motion:reduce){text{animation:none!important}}
${keyframes.join('\n')}
</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
${lines.join('\n')}
</svg>
`
}

/** Fails with the first line that differs. */
function compare(recorded, picture) {
  if (recorded === picture) return
  const before = recorded.split('\n')
  const now = picture.split('\n')
  const at = now.findIndex((line, index) => line !== before[index])
  throw new Error(
    `docs/images/session.svg is not what the commands print: run node scripts/docs/session.mjs and commit it\n- ${before[at]}\n+ ${now[at]}`,
  )
}

await main(async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'spillway-session-')))
  try {
    writeFileSync(join(folder, 'build.mjs'), BUILD)
    // Where the command is in the path, the notice calls it by its name.
    const programs = join(folder, 'bin')
    mkdirSync(programs)
    symlinkSync(join(ROOT, 'dist', 'cli', 'main.js'), join(programs, 'spillway'))
    const PATH = `${programs}${delimiter}${process.env.PATH}`
    const env = { SPILLWAY_STORAGE_DIR: join(folder, 'outputs'), PATH }
    const first = run(['run', '--max-lines', '14', '--', 'node', 'build.mjs'], folder, env)
    const path = first.join('\n').match(/saved to: (\S+)/)?.[1]
    if (!path) throw new Error(`no output was saved:\n${first.join('\n')}`)
    const found = run(['search', path, 'error', '--context', '2'], folder, env)
    const calm = (lines) =>
      lines.map((line) => line.replaceAll(path, '~/.local/share/spillway/tool-output/node_1764000000000_9f3k2m.txt'))
    const session = [
      { typed: 'spillway run --max-lines 14 -- node build.mjs', printed: fitted(calm(first)) },
      { typed: "spillway search PATH 'error' --context 2", printed: fitted(calm(found)) },
    ]
    const target = join(ROOT, 'docs', 'images', 'session.svg')
    const picture = svg(rows(session))
    if (!process.argv.includes('--check')) writeFileSync(target, picture)
    else compare(readFileSync(target, 'utf8'), picture)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
