// `npm run test:clients [-- word…]`: the agent programs that npm has, each with Spillway and a model on this machine that plays a
// script. It looks at the requests: is the notice in them, does the saved file have the whole output, can it be read from
// inside, does the beginning of a request stay as it was. Installs into `target/clients`. With `--record` the table in
// docs/clients.md and the fixtures that `npm test` reads are written.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { CLIENTS } from '../../__test__/clients/clients.mjs'
import { startModel } from '../../__test__/clients/model.mjs'
import servers from '../../__test__/clients/server.cjs'
import { main, ROOT } from '../build/run.mjs'
import { fillPage, formatFiles } from '../docs/fill-page.mjs'
import { installManifest, nodeOf } from './nodes.mjs'
import { endGroup, spawnGroup, useOwnTemporaryFolder } from './scratch.mjs'

const WORK = join(ROOT, 'target', 'clients')
const TIME_LIMIT_MS = 300_000
const LINES = 20_000
const WANTED = 15_000
const MAIN = join(ROOT, 'dist', 'cli', 'main.js')
const SERVER = join(ROOT, '__test__', 'clients', 'server.cjs')

/** A notice of Spillway's; a client that saves by itself has its own. */
const NOTICE = /Full output saved to: (\S+spillway\S+\.txt)/

/** A call of the tool that runs commands, as each client has it. */
const commandCalls = (command) => [
  { name: /^(bash|run_shell_command)$/i, args: { command, description: 'Prints lines' } },
  { name: /^exec_command$/, args: { cmd: command } },
]

/** Steps that print lines, read one of them back from the saved output, and end. */
function script({ notice = NOTICE }, found) {
  const command = `${process.execPath} ${SERVER} ${LINES}`
  const print = {
    call: [{ name: /print_lines$/, args: { count: LINES } }, ...commandCalls(command)],
  }
  const readBack = ({ last }) => {
    found.shown = last
    found.path = notice.exec(last)?.[1]
    if (found.path === undefined) throw new Error('the request has no notice')
    const lines = { offset: WANTED, limit: 5 }
    return {
      call: [
        { name: /read_output$/, args: { path: found.path, from_line: WANTED, line_count: 5 } },
        { name: /^read$/, args: { path: found.path, filePath: found.path, ...lines } },
        ...commandCalls(`${process.execPath} ${MAIN} read --from-line ${WANTED} --lines 5 ${found.path}`),
      ],
    }
  }
  const end = ({ last }) => {
    found.read = last
    return { text: 'Done.' }
  }
  return [print, readBack, end]
}

/** More than the pruner waits for where it does not know what the model costs. */
const STEPS = 40
/** No more than a preview of a command has, which would show a few of lines that are alike. */
const LINES_OF_STEP = 450

/** Steps that print so much that a pruner has something to leave out. */
function longScript() {
  const print = (_, at) => {
    const command = `${process.execPath} ${SERVER} ${LINES_OF_STEP + at}`
    return { call: [{ name: /^bash$/, args: { command, description: `Prints lines ${at}` } }] }
  }
  return [...Array.from({ length: STEPS }, print), { text: 'Done.' }]
}

/** Runs a program to its end, or to the end of its time with everything that it started. */
function runProgram({ command, args, env, cwd }) {
  const child = spawnGroup(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += chunk))
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      printed += `\nIt did not end within ${TIME_LIMIT_MS / 1000} s.\n`
      endGroup(child)
    }, TIME_LIMIT_MS)
    child.on('error', (error) => (printed += error.message))
    child.on('close', (code) => {
      clearTimeout(timer)
      resolve({ code, printed })
    })
  })
}

/** Ends what a client left running in a process group of its own: all that was started with the home of this run. */
function stopDaemons(folder) {
  if (process.platform !== 'linux') return
  for (const name of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const variables = readFileSync(`/proc/${name}/environ`, 'utf8').split('\0')
      if (variables.some((variable) => variable.startsWith(`HOME=${folder}/`))) process.kill(Number(name), 'SIGKILL')
    } catch {
      // It has ended, or is another user's.
    }
  }
}

/** A path that a notice names, in the words of Spillway or of a client, which may write results as JSON. */
const ANY_NOTICE = /(?:full output(?: saved to)?|saved to): ([^\s\]\\"]+)/gi

const sha256 = (text) => createHash('sha256').update(text).digest('hex')

/** A message to compare: without marks for a cache, and with one text as a text, which Claude Code writes in either form. */
const comparable = (message) =>
  JSON.stringify(message, (key, value) => {
    if (key === 'cache_control') return undefined
    const [only, ...others] = Array.isArray(value) ? value : [undefined, undefined]
    return only?.type === 'text' && others.length === 0 ? only.text : value
  })

/** How many messages of each request are no longer what they were in the one before it. */
function brokenPrefixes(requests) {
  return requests.slice(1).filter(({ messages }, at) => {
    const before = requests[at].messages
    return before.some((message, place) => comparable(message) !== comparable(messages[place]))
  }).length
}

/** Runs a client in a folder of its own, with a model that plays the steps. */
async function runClient(client, steps, run) {
  const { packages, scripts, node: major = 24 } = client
  const installed = join(WORK, 'installed', Object.keys(packages)[0].replaceAll('/', '+'))
  installManifest(installed, { private: true, dependencies: packages }, { scripts })
  const node = nodeOf(major)
  const folder = join(WORK, 'runs', run)
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  const work = join(folder, 'work')
  mkdirSync(work, { recursive: true })
  mkdirSync(join(folder, 'home'), { recursive: true })
  const model = await startModel(steps)
  const calls = join(folder, 'calls.jsonl')
  const server = [process.execPath, SERVER, '--record', calls]
  const proxy = [process.execPath, MAIN, 'mcp', '--server', 'lines', '--', ...server]
  const bin = (packaged, named) => {
    const { bin } = JSON.parse(readFileSync(join(installed, 'node_modules', packaged, 'package.json'), 'utf8'))
    return join(installed, 'node_modules', packaged, typeof bin === 'string' ? bin : bin[named])
  }
  const set = client.set({ bin, folder, work, origin: model.origin, server, proxy, packageFolder: ROOT })
  const isScript = /\.[cm]?js$/.test(set.command)
  const command = isScript ? node : set.command
  const args = isScript ? [set.command, ...set.args] : set.args
  const env = { PATH: process.env.PATH, TMPDIR: tmpdir(), LANG: 'C.UTF-8', TERM: 'dumb', CI: '1', ...set.env }
  let ended
  try {
    if (client.init !== undefined) execFileSync(process.execPath, [MAIN, 'init', ...client.init], { cwd: work, env })
    for (const first of set.before ?? []) {
      const { code, printed } = await runProgram({ command, args: first, env, cwd: work })
      if (code !== 0) throw new Error(`${first[0]}: ${printed.trim().split('\n').at(-1)}`)
    }
    ended = await runProgram({ command, args, env, cwd: work })
  } finally {
    stopDaemons(folder)
    await model.stop()
  }
  const lines = existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : []
  return { ...ended, requests: model.requests, failures: model.failures, asked: lines.map((line) => JSON.parse(line)) }
}

/** Checks each promise for a client, and returns the results with the requests it sent. */
async function tryClient(client) {
  const started = Date.now()
  const found = {}
  const { code, printed, requests, failures, asked } = await runClient(client, script(client, found), client.name)
  const whole = servers.linesOf(LINES)
  const places = new Set(Array.from((found.shown ?? '').matchAll(ANY_NOTICE), ([, place]) => place))
  const checks = {
    notice: found.path !== undefined && places.size === 1,
    whole: found.path !== undefined && existsSync(found.path) && sha256(readFileSync(found.path)) === sha256(whole),
    read: found.read?.includes(`line ${WANTED}: all is well`) === true,
    prefix: requests.length > 2 && brokenPrefixes(requests) === 0,
    ended: code === 0,
  }
  if (client.way === 'plugin') {
    const long = await runClient(client, longScript(), `${client.name}-long`)
    failures.push(...long.failures)
    checks.pruned = isPruned(long.requests)
  }
  const seconds = (Date.now() - started) / 1000
  return { checks, fixture: fixtureOf(client, asked, requests, found), printed, found, requests, failures, seconds }
}

/** The share of the price that a provider takes for what it has from the request before. */
const CACHED = 0.1

/** The price of requests, in characters: of each, the messages that it begins with as the one before it did cost a share. */
function costOf(requests) {
  const lengthOf = (texts) => texts.reduce((sum, { length }) => sum + length, 0)
  const costs = requests.map((texts, at) => {
    const changed = texts.findIndex((text, place) => text !== requests[at - 1]?.[place])
    const kept = changed === -1 ? texts.length : changed
    return CACHED * lengthOf(texts.slice(0, kept)) + lengthOf(texts.slice(kept))
  })
  return costs.reduce((sum, cost) => sum + cost, 0)
}

/** Returns true if most results are left out in the end, nothing else has changed, and all of it costs less than with them. */
function isPruned(requests) {
  const sent = requests.map(({ messages }) => messages.map(comparable))
  const atFirst = sent.at(-1).map((_, at) => sent.find((texts) => at < texts.length)[at])
  const isLeftOut = (text, at) =>
    text !== atFirst[at] && /result left out/.test(text) && text.length < atFirst[at].length
  const isAsExpected = (text, at) => text === atFirst[at] || isLeftOut(text, at)
  return (
    requests.length > STEPS &&
    sent.at(-1).filter(isLeftOut).length > STEPS / 2 &&
    sent.every((texts) => texts.every(isAsExpected)) &&
    costOf(sent) < costOf(sent.map(({ length }) => atFirst.slice(0, length)))
  )
}

const FIXTURES = join(ROOT, '__test__', 'clients', 'fixtures')
const PAGE = join(ROOT, 'docs', 'clients.md')
const LONG_TEXT = 200

/** The requests of a client, small and without facts of this machine: `{{text}}` stands for the result of the tool. */
function fixtureOf({ name, packages, way }, asked, requests, { shown }) {
  const { dialect, messages = [] } = requests.at(-1) ?? {}
  const isOurs = (text) => text.includes(ROOT) || text.includes(tmpdir())
  const short = (_key, value) => {
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
      return Object.fromEntries(Object.entries(value).filter(([key]) => !isOurs(key)))
    }
    if (typeof value !== 'string') return value
    if (shown && value.includes(shown)) return '{{text}}'
    return value.length > LONG_TEXT || isOurs(value) ? '…' : value
  }
  const paramsOf = (wanted) => asked.find(({ method }) => method === wanted)?.params
  const known = messages.filter(({ role }) => role !== 'system' && role !== 'developer')
  const fixture = { client: name, packages, way, dialect, initialize: paramsOf('initialize') }
  return JSON.parse(JSON.stringify({ ...fixture, call: paramsOf('tools/call'), messages: known }, short))
}

/** Writes the rows of what was run into the page; the rows of others stay. */
function recordRows(rows) {
  const page = readFileSync(PAGE, 'utf8')
  const known = new Map([...page.matchAll(/^\| `([\w-]+)` .*$/gm)].map(([row, name]) => [name, row]))
  for (const [name, row] of rows) known.set(name, row)
  const head =
    '| run | client | version | Spillway as | notice | whole | read | prefix | pruned | date |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |'
  const listed = CLIENTS.flatMap(({ name }) => known.get(name) ?? [])
  fillPage('docs/clients.md', 'results', [head, ...listed].join('\n'))
  formatFiles(FIXTURES)
}

function rowOf({ name, title, packages, way }, checks) {
  const marks = ['notice', 'whole', 'read', 'prefix', 'pruned'].map((check) =>
    check in checks ? (checks[check] ? 'yes' : 'no') : '–',
  )
  const version = Object.values(packages)[0]
  const as = way === 'mcp' ? 'MCP proxy' : way
  const cells = [`\`${name}\``, title, version, as, ...marks, new Date().toISOString().slice(0, 10)]
  return `| ${cells.join(' | ')} |`
}

await main(async () => {
  useOwnTemporaryFolder('clients')
  const { values, positionals } = parseArgs({
    options: { record: { type: 'boolean', default: false }, verbose: { type: 'boolean', default: false } },
    allowPositionals: true,
  })
  let failed = 0
  const rows = new Map()
  for (const client of CLIENTS) {
    if (positionals.length > 0 && !positionals.some((word) => client.name.includes(word))) continue
    let tried
    try {
      tried = await tryClient(client)
    } catch (error) {
      console.log(`- ${client.name}: skipped (${error.message.slice(0, 200)})`)
      continue
    }
    const { checks, printed, failures, found, requests, seconds } = tried
    rows.set(client.name, rowOf(client, checks))
    if (values.record) {
      mkdirSync(FIXTURES, { recursive: true })
      writeFileSync(join(FIXTURES, `${client.name}.json`), `${JSON.stringify(tried.fixture, null, 2)}\n`)
    }
    const broken = Object.keys(checks).filter((check) => !checks[check])
    console.log(
      `${broken.length === 0 ? '✓' : '✗'} ${client.name}: ${seconds.toFixed(1)} s, ${requests.length} requests${broken.length > 0 ? `, not: ${broken.join(', ')}` : ''}`,
    )
    if (broken.length > 0) failed += 1
    if (broken.length > 0 || values.verbose) {
      const ends = (text = '') => (text.length > 1500 ? `${text.slice(0, 700)}\n…\n${text.slice(-700)}` : text)
      console.log(
        [
          ...failures,
          printed.slice(-1500),
          'SHOWN',
          ends(found.shown),
          'READ',
          ends(found.read),
          'TOOLS',
          requests[0]?.tools.join(' '),
        ].join('\n'),
      )
    }
  }
  if (values.record) recordRows(rows)
  if (failed > 0) process.exitCode = 1
})
