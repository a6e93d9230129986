/**
 * How many commands of real agents are asked about, and why.
 *
 *     node benchmark/permission/questions.mjs FOLDER [--rules FILE] [--list ask|deny]
 *
 * FOLDER holds conversations, one in each `*.jsonl.gz`, a message a line with `toolCalls: [{ name, args }]`. The vault of each is
 * guessed from the paths in it. The rules are those of the specs; the preset is what a developer would switch on.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { PermissionPolicy } from '../../index.mjs'

const TOOLS =
  /^(bash|shell|exec|exec_command|execute_bash|run_command|run_shell_command|local_shell|terminal|shell_command)$/i
const EVERYDAY = new URL('../../__test__/permission/everyday.json', import.meta.url)

const [folder, ...options] = process.argv.slice(2)
const option = (name) => (options.includes(name) ? options[options.indexOf(name) + 1] : undefined)
if (folder === undefined) throw new Error('usage: questions.mjs FOLDER [--rules FILE] [--list ask|deny]')

const { rules } = JSON.parse(readFileSync(option('--rules') ?? EVERYDAY, 'utf8'))
const preset = options.includes('--bare') ? {} : { readOnlyCommands: true, scratchFolders: ['/tmp', '/private/tmp'] }

const counts = { allow: 0, ask: 0, deny: 0 }
const causes = new Map()
for (const name of readdirSync(folder).filter((file) => file.endsWith('.jsonl.gz'))) {
  const lines = gunzipSync(readFileSync(join(folder, name)))
    .toString('utf8')
    .split('\n')
    .filter(Boolean)
  const calls = lines.flatMap((line) => JSON.parse(line).toolCalls ?? [])
  const { vault, home } = foldersOf(calls)
  process.env.HOME = home
  const policy = new PermissionPolicy({ vault, rules, ...preset })
  for (const { name: tool, args } of calls) {
    const command = args?.command ?? args?.cmd
    if (!TOOLS.test(tool) || typeof command !== 'string') continue
    const { decision, reasons } = policy.evaluate({
      tool: 'bash',
      args: { command, ...(args.workdir && { workdir: args.workdir }) },
    })
    counts[decision]++
    if (decision === 'allow') continue
    if (option('--list') === decision) console.log(JSON.stringify({ vault, command, reasons }))
    for (const cause of new Set(reasons.map(causeOf))) {
      const known = causes.get(cause) ?? { in: 0, alone: 0 }
      known.in++
      if (reasons.every((reason) => causeOf(reason) === cause)) known.alone++
      causes.set(cause, known)
    }
  }
}

const total = counts.allow + counts.ask + counts.deny
if (option('--list') === undefined) {
  const share = (count) => `${((count / total) * 100).toFixed(1)} %`
  console.log(
    `${total} commands: ${Object.entries(counts)
      .map(([name, count]) => `${name} ${share(count)}`)
      .join(', ')}`,
  )
  const sorted = [...causes].sort(([, a], [, b]) => b.in - a.in).slice(0, 60)
  for (const [cause, known] of sorted)
    console.log(`${String(known.in).padStart(6)} ${String(known.alone).padStart(6)}  ${cause}`)
}

/** A reason without what is particular to the command. */
function causeOf(reason) {
  return reason
    .replace(/(asks about|denies|matches) (\w+):.*/s, (_, verb, scheme) => `${verb} ${scheme}:…`)
    .replace(/^.* (is not known beforehand|can become an option)$/s, '… $1')
    .replace(/^(what|where) .* ((?:runs|leads) is not known)$/s, '$1 … $2')
    .replace(/^the file .* is not/s, 'the file … is not')
    .replace(/^the folder of .* is not/s, 'the folder of … is not')
}

/** The folder that most paths of a conversation lie in, and the home of its user. */
function foldersOf(calls) {
  const paths = calls.flatMap(({ args }) => {
    const texts = Object.values(args ?? {}).filter((value) => typeof value === 'string' && value.length < 10_000)
    return texts.flatMap((text) => text.match(/(?<![\w.$~/-])\/[\w.@+-]+(?:\/[\w.@+-]+)*/g) ?? [])
  })
  const own = paths.filter(
    (path) => !/^\/(tmp|dev|etc|usr|bin|var|proc|opt|private|sys|root)\b|^\/[^/]{0,3}$/.test(path),
  )
  const workdirs = calls.map(({ args }) => args?.workdir ?? args?.cwd).filter((path) => typeof path === 'string')
  const home = own.map((path) => /^\/(Users|home)\/[^/]+/.exec(path)?.[0]).find(Boolean) ?? '/root'
  const counted = new Map()
  for (const path of [...own, ...workdirs]) {
    const parts = path.split('/')
    for (let at = 2; at <= parts.length; at++) {
      const prefix = parts.slice(0, at).join('/')
      if (!home.startsWith(prefix) && at <= home.split('/').length + 3)
        counted.set(prefix, (counted.get(prefix) ?? 0) + 1)
    }
  }
  const most = Math.max(0, ...counted.values())
  const best = [...counted].filter(([, count]) => count >= most * 0.85).sort(([a], [b]) => b.length - a.length)[0]
  return { vault: best?.[0] ?? '/workspace', home }
}
