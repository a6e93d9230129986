/** Takes one gibibyte in, see `stream.mjs`, and prints the milliseconds, and the bytes of memory at the peak over before. */
import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { collectGarbage } from '../measure.mjs'
import { loadSubject } from '../subject.mjs'

const { name, large, into, peer, check } = JSON.parse(process.argv[2])
// A command that reads and writes: what copies inside the system would be no yardstick.
const COMMAND = ['dd', [`if=${large.path}`, 'bs=64k', 'status=none']]

const sides = { runCommand, writable, cli, pi, shell, pipe }
const work = await sides[name]()
collectGarbage('full')
// The peak of the process so far is of no interest.
writeFileSync('/proc/self/clear_refs', '5')
const before = memory('VmRSS')
const start = performance.now()
const saved = await work()
const ms = performance.now() - start
const peak = memory('VmHWM') - before
if (check) await checkSaved(saved)
process.stdout.write(JSON.stringify({ ms, memory: peak }))

async function runCommand() {
  const service = await warm()
  const { runCommand: run } = loadSubject({ self: false })
  return async () => saving((await run(...COMMAND, { service })).output)
}

async function writable() {
  const service = await warm()
  return async () => {
    const capture = service.capture({ toolName: 'bash' })
    spawn(...COMMAND, { stdio: ['ignore', 'pipe', 'inherit'] }).stdout.pipe(capture)
    return saving(await capture.result)
  }
}

async function cli() {
  const { command } = loadSubject({ self: false })
  const [file, args] = COMMAND
  return async () => {
    const all = [command, 'run', '--json', '--store', into, '--', file, ...args]
    const { stdout } = await promisify(execFile)(process.execPath, all)
    return saving(JSON.parse(stdout))
  }
}

/** A service that has run: loading and compiling is not what is measured. */
async function warm() {
  const { TruncationService, runCommand: run } = loadSubject({ self: false })
  const service = new TruncationService({ storageDirs: [into], sweepOnSave: false })
  await run('dd', [`if=${large.path}`, 'bs=64k', 'count=64', 'status=none'], { service })
  return service
}

function saving({ outputPath, totalLines }) {
  return { path: outputPath, lines: totalLines }
}

async function pi() {
  const { OutputAccumulator } = await import(peer)
  const take = (args) =>
    new Promise((resolve, reject) => {
      const all = new OutputAccumulator()
      const child = spawn(COMMAND[0], args, { stdio: ['ignore', 'pipe', 'inherit'] })
      child.stdout.on('data', (chunk) => all.append(chunk))
      child.on('error', reject)
      child.on('close', async () => {
        all.finish()
        const { fullOutputPath, truncation } = all.snapshot({ persistIfTruncated: true })
        await all.closeTempFile()
        // It counts what comes after the last line feed as a line, even if that is nothing.
        resolve({ path: fullOutputPath, lines: truncation.totalLines - 1 })
      })
    })
  await take([...COMMAND[1], 'count=64'])
  return () => take(COMMAND[1])
}

function shell() {
  return byShell('>')
}

/** The cost of reading a pipe and doing nothing else. */
function pipe() {
  return byShell('| cat >')
}

async function byShell(redirection) {
  const file = path.join(into, 'shell.txt')
  return () =>
    new Promise((resolve, reject) => {
      const child = spawn('sh', ['-c', `dd if='${large.path}' bs=64k status=none ${redirection} '${file}'`])
      child.on('error', reject)
      child.on('close', () => resolve({ path: file, lines: large.lines }))
    })
}

async function checkSaved({ path: file, lines }) {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file, { highWaterMark: 2 ** 20 })) hash.update(chunk)
  if (hash.digest('hex') !== large.sha256) throw new Error(`${name}: the file is not what the command printed`)
  if (lines !== large.lines) throw new Error(`${name}: counted ${lines} lines instead of ${large.lines}`)
}

function memory(field) {
  const found = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync('/proc/self/status', 'utf8'))
  return Number(found[1]) * 1024
}
