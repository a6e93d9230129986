/**
 * The texts that the benchmark feeds to both sides. Everything is pseudo random from a fixed seed: two runs, and two
 * machines, see the same bytes.
 *
 * Sizes are UTF-8 bytes, exact. A text is decoded from one buffer in one go, so that it is a flat string: one that was
 * put together from pieces would be flattened by the side that reads it first, which would pay for both.
 */
import { createHash } from 'node:crypto'
import { closeSync, openSync, writeSync } from 'node:fs'
import path from 'node:path'

export const KB = 1024
export const MB = 1024 * KB
export const GB = 1024 * MB

const LEVELS = ['INFO ', 'DEBUG', 'WARN ', 'ERROR', 'TRACE']
const WORDS = [
  'resolved',
  'compiling',
  'cache miss for',
  'linking',
  'finished',
  'retrying request to',
  'skipping',
  'watching',
  'expected one of',
  'assertion failed in',
]
const CJK =
  '的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经'
const EMOJI = Array.from('😀😂🚀🔥📦🐛🧪🎉🛠🔧🌊🪵🧵🦀🐙🍣🗃🤖')

/** The scripts by name: how one line of 80 columns is made. */
const LINE_MAKERS = {
  ascii(random) {
    const seconds = Math.floor(random() * 86400)
    const clock = [seconds / 3600, (seconds / 60) % 60, seconds % 60].map((n) => pad(Math.floor(n), 2)).join(':')
    const word = WORDS[Math.floor(random() * WORDS.length)]
    const head = `2026-01-31T${clock} ${LEVELS[Math.floor(random() * LEVELS.length)]} ${word} `
    return `${head}src/module_${pad(Math.floor(random() * 1e9), 9)}.ts:${'0123456789'.repeat(4)}`.slice(0, 79)
  },
  cjk(random) {
    let line = ''
    for (let i = 0; i < 40; i++) line += CJK[Math.floor(random() * CJK.length)]
    return line
  },
  emoji(random) {
    let line = ''
    for (let i = 0; i < 40; i++) line += EMOJI[Math.floor(random() * EMOJI.length)]
    return line
  },
}

export const SCRIPTS = { ascii: 'ASCII', cjk: 'CJK', emoji: 'emoji' }

/** Lines of the given script, exactly `size` bytes of UTF-8, as a buffer. */
export function makeBytes(script, size, seed = 1) {
  const bytes = Buffer.allocUnsafeSlow(size)
  // A long text repeats its first megabyte: making every line again would take longer than the benchmark.
  const block = makeBlock(script, Math.min(size, MB), seed)
  let filled = 0
  while (filled + block.length <= size) {
    block.copy(bytes, filled)
    filled += block.length
  }
  const rest = wholeCharacters(block, size - filled)
  block.copy(bytes, filled, 0, rest)
  bytes.fill('.', filled + rest)
  return bytes
}

/** The same as a flat string. */
export function makeText(script, size, seed = 1) {
  return makeBytes(script, size, seed).toString('utf8')
}

/** Several different texts of one size. Their number is a power of two, for the inner loops. */
export function makeTexts(script, size, count) {
  return Array.from({ length: count }, (_, index) => makeText(script, size, index + 1))
}

/**
 * Tool results of a long session, oldest first, each a JSON text of about `size` bytes.
 *
 * `keys: 'ends'` is how terminal tools print: the output first, then `stderr` and `exitCode`. `keys: 'middle'` has
 * the two between large fields, where nothing short of reading the text finds them.
 */
export function makeTerminalContents(count, size, keys) {
  const random = generator(7)
  return Array.from({ length: count }, () => {
    const seed = Math.floor(random() * 1e9)
    // Line breaks double in JSON; 80 columns lose about one byte in 80.
    const room = size - 120
    const value =
      keys === 'ends'
        ? { stdout: makeText('ascii', room, seed), stderr: '', exitCode: 0 }
        : {
            stdout: makeText('ascii', room >> 1, seed),
            stderr: '',
            exitCode: 0,
            log: makeText('ascii', room >> 1, seed),
          }
    return Buffer.from(JSON.stringify(value))
  })
}

/**
 * A history with one tool result per content, a minute apart. Objects and strings are new each time: nothing that was
 * remembered about an earlier history can help.
 */
export function makeHistory(contents, endsAt) {
  const messages = [
    { role: 'user', content: 'Make the tests pass.', timestamp: endsAt - (contents.length + 1) * 60_000 },
  ]
  contents.forEach((content, index) => {
    const timestamp = endsAt - (contents.length - index) * 60_000
    messages.push(...makeExchange(content, `call_${index}`, timestamp))
  })
  return messages
}

/** A call and its result. The tool's name is unknown, so that the content has to decide. */
export function makeExchange(content, id, timestamp) {
  return [
    {
      role: 'assistant',
      content: '',
      timestamp: timestamp - 1000,
      tool_calls: [{ id, type: 'function', function: { name: 'workspace_task', arguments: '{"step":"test"}' } }],
    },
    { role: 'tool', content: content.toString('utf8'), timestamp, tool_call_id: id },
  ]
}

function makeBlock(script, size, seed) {
  const random = generator(seed)
  const makeLine = LINE_MAKERS[script]
  const lines = []
  for (let length = 0; length < size; ) {
    const line = `${makeLine(random)}\n`
    lines.push(line)
    length += Buffer.byteLength(line)
  }
  const block = Buffer.from(lines.join(''))
  return block.subarray(0, size < MB ? wholeCharacters(block, size) : block.length)
}

/** How many of the first `size` bytes make whole characters. */
function wholeCharacters(bytes, size) {
  let end = Math.min(size, bytes.length)
  while (end > 0 && end < bytes.length && (bytes[end] & 0xc0) === 0x80) end -= 1
  return end
}

function pad(number, digits) {
  return String(number).padStart(digits, '0')
}

/** mulberry32: small, fast, and the same everywhere. */
function generator(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/** Parts of the large file; the last lines of some hold what a search looks for. */
const PARTS = 64
const NEEDLES = ['a needle in here', 'failed: ERR_TIMEOUT_1234', 'and another needle']

/**
 * A file of one gibibyte of ASCII lines for commands to print.
 *
 * @param {string} folder
 * @returns {{ path: string, lines: number, sha256: string }}
 */
export function makeLargeFile(folder) {
  const file = path.join(folder, 'large.txt')
  const hash = createHash('sha256')
  const part = makeBytes('ascii', GB / PARTS)
  part[part.length - 1] = 10
  const lines = part.reduce((sum, byte) => sum + (byte === 10 ? 1 : 0), 0)
  const open = openSync(file, 'w')
  for (let at = 0; at < PARTS; at += 1) {
    const needle = NEEDLES[at]
    if (needle !== undefined) part.write(needle, part.lastIndexOf(10, part.length - 2) - needle.length)
    hash.update(part)
    for (let written = 0; written < part.length; ) written += writeSync(open, part, written)
  }
  closeSync(open)
  return { path: file, lines: lines * PARTS, sha256: hash.digest('hex') }
}
