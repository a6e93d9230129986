/** Reads and searches a large file, see `read-back.mjs`, and prints samples as JSON: milliseconds, and bytes of memory. */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { collectGarbage } from '../measure.mjs'
import { loadSubject } from '../subject.mjs'

const { what, folder, path, lines, bytes, rounds, query } = JSON.parse(process.argv[2])
const { TruncationStorage } = loadSubject({ self: false })
const LINES = 200

const result = what === 'pages' ? await pages() : await searches()
process.stdout.write(JSON.stringify(result))

async function pages() {
  const samples = { byByte: [], byLine: [], first: [], counted: [], memory: [] }
  // The first reads are of code that is compiled, and of a file that is not in memory.
  await read(new TruncationStorage(folder), { fromLine: lines })
  for (let round = 0; round < rounds; round += 1) {
    const storage = new TruncationStorage(folder)
    samples.counted.push(clock(() => spawnSync('wc', ['-l', path])))
    collectGarbage('full')
    writeFileSync('/proc/self/clear_refs', '5')
    const before = memory('VmRSS')
    samples.first.push(await timed(storage, { fromLine: lines }))
    for (let part = 1; part <= 9; part += 2) {
      samples.byByte.push(await timed(storage, { fromByte: Math.floor((bytes / 10) * part) }))
      samples.byLine.push(await timed(storage, { fromLine: Math.floor((lines / 10) * part), lineCount: LINES }))
    }
    samples.memory.push(memory('VmHWM') - before)
  }
  return samples
}

async function searches() {
  const { pattern, ignoreCase = false } = query
  const storage = new TruncationStorage(folder)
  const samples = { ours: [], numbering: [], counting: [] }
  const ripgrep = (form) => {
    let found
    const options = ['--no-config', '-j1', form, '--no-filename', '--no-heading', ...(ignoreCase ? ['-i'] : [])]
    const ms = clock(() => {
      found = spawnSync('rg', [...options, pattern, path], { encoding: 'utf8', maxBuffer: 2 ** 26 })
    })
    return { ms, found: found.stdout }
  }
  for (let round = 0; round <= rounds; round += 1) {
    const start = performance.now()
    const { matches, truncated } = await storage.search(path, pattern, { ignoreCase })
    const ms = performance.now() - start
    const numbered = ripgrep('-n')
    const counted = ripgrep('-c')
    const lines = numbered.found.split('\n').slice(0, -1)
    const same = lines.every((line, at) => Number(line.split(':', 1)[0]) === matches[at]?.line)
    if (truncated || !same || lines.length !== matches.length || Number(counted.found || 0) !== matches.length) {
      throw new Error(`${pattern}: ${matches.length} lines, and ripgrep found ${lines.length}`)
    }
    if (round === 0) continue
    samples.ours.push(ms)
    samples.numbering.push(numbered.ms)
    samples.counting.push(counted.ms)
  }
  return samples
}

async function timed(storage, range) {
  const start = performance.now()
  await read(storage, range)
  return performance.now() - start
}

async function read(storage, range) {
  const { text } = await storage.readRange(path, range)
  if (text.length === 0) throw new Error(`nothing at ${JSON.stringify(range)}`)
}

function clock(work) {
  const start = performance.now()
  work()
  return performance.now() - start
}

function memory(field) {
  const found = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync('/proc/self/status', 'utf8'))
  return Number(found[1]) * 1024
}
