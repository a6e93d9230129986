import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { endChild } from '../support/child'

/** Characters with a meaning for the shell, and words with a meaning for this package. */
const TOKENS = [
  ...[
    '! ',
    '[[ ',
    ' ]]',
    '(( ',
    ' ))',
    '$((',
    '$(',
    ')',
    '(',
    '{ ',
    '}',
    '${',
    '"',
    "'",
    '`',
    '$',
    '\\',
    "$'",
    '$"',
    '<<E\n',
    '<<<',
    '<(',
  ],
  ...[
    '>',
    '<',
    '2>&1 ',
    '&> ',
    '| ',
    '|| ',
    '&& ',
    '& ',
    '; ',
    ';;',
    '\n',
    'case x in ',
    'esac ',
    'if ',
    'then ',
    'fi ',
    'elif ',
  ],
  ...[
    'for i in ',
    'do ',
    'done ',
    'while ',
    'function f ',
    'f() ',
    'coproc ',
    'time ',
    'cd a ',
    'env ',
    'sudo ',
    'xargs ',
    'find . -exec ',
  ],
  ...[
    'a=b ',
    'A=$A ',
    'a[',
    '[ ',
    '{a,b}',
    '* ',
    '~/ ',
    '# ',
    'x ',
    '-x ',
    'cat a ',
    'rm b ',
    'E\n',
    'eval ',
    'sh -c ',
    'git ',
    '"$x"',
    '$(x)',
    'é',
    '\\\n',
  ],
]

/** Constructs that are made of more than two tokens, or that end what they began. */
const CONSTRUCTS = [
  ...[
    'cd a && ',
    'cd a; ',
    'git -C a ',
    'env A=b ',
    'env -S ',
    'sudo env nice timeout 5 ',
    'x=$(y) ',
    'V=a; cat $V; ',
    'cat a b; ',
    'rm -rf a* ',
    'rm -rf $x ',
  ],
  ...[
    'for i in a b; do cat $i; done; ',
    'for i in a b; do ',
    'if x; then y; fi; ',
    'case x in a) y ;; esac; ',
    'case x in x) ',
    'f() { x; }; ',
    'alias a=b b=a; a b; ',
    'ln -s a b; rm -rf b/; ',
    '[[ ! x ]] && ',
    '[[ a && b || c ]]; ',
  ],
  ...[
    'cat <<E\nx\nE\n',
    'echo "$(x)" ',
    '"a $b c" ',
    'a{b,c}d ',
    'x > a ',
    'x | y | ',
    'sh -c "x" ',
    'watch "x y" ',
    'unknown cat a ',
    '*(',
    'git log -- a ',
    "git commit -m 'x' ",
    'find . -exec x ; ',
    '~"$',
    '=~"$',
    '. ssh h ',
    'A+=$A ',
  ],
]

/** Names that a command gives each other: `#` is the number of the name, and `@` the one of the next. */
const NAMES = [
  'ln -s a@ a#; cat a#/x; rm -rf a#/; ',
  'ln -s a@/b a#; cp a#/x y; ',
  'alias a#=a@; a# x; ',
  "alias a#='a@ a@'; a# x; ",
  'hash -p a@ a#; a# x; ',
  'declare -n v#=v@; cat $v#; ',
  'v#=$v@$v@; rm -rf $v#; ',
  'v#=$v@=$TOKEN=$v@ echo $v#; ',
  'ln -s a@ a; ln -s a# a; cat a/x; rm -rf a/; ',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a name that a shell looks up
  'export v#=v@; cat ${!v#}; ',
  'f#() { f@; f@; }; f#; ',
  'cp /bin/sh a#; ./a# a@; ',
  'echo "./a@" > a#; sh a#; ',
  'eval "v#=\\$v@"; cat $v#; ',
  'trap a@ EXIT; git config alias.a# a@; git a#; ',
]

const body = `
  const { TOKENS, CONSTRUCTS } = input
  const policies = [
    new spillway.PermissionPolicy({ vault: '/vault', rules: [{ domain: 'bash', pattern: '*', decision: 'allow' }] }),
    new spillway.PermissionPolicy({
      vault: '/vault',
      readOnlyCommands: true,
      rules: [{ domain: 'read', pattern: 'private/**', decision: 'deny' }, { domain: 'bash', pattern: 'git *', decision: 'allow' }],
    }),
  ]
  const made = (unit, length) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length)
  // The answer to an equal call is known: each has another description.
  let calls = 0
  const timed = (command, policy) => {
    const args = { command, description: String(calls++) }
    const began = process.hrtime.bigint()
    policy.evaluate({ tool: 'bash', args })
    return Number(process.hrtime.bigint() - began) / 1e6
  }
  const slow = []
  // Four times as long may take eight times as long, unless that is nothing. What else runs on the machine only makes a time
  // longer: the shortest of a few counts where it is not certain.
  const grows = (unit, length, nothing, most, policy) => {
    if (timed(made(unit, 4 * length), policy) <= nothing) return
    const commands = [1, 2, 4].map((times) => made(unit, times * length))
    const times = commands.map((command) => timed(command, policy))
    const isWrong = () => times[2] > most || (times[2] > nothing && (times[2] > 8 * times[0] || times[2] > 4 * times[1]))
    for (let tries = 0; tries < 8 && isWrong(); tries += 1)
      commands.forEach((command, at) => { times[at] = Math.min(times[at], timed(command, policy)) })
    if (isWrong()) slow.push([unit, 4 * length, ...times.map(Math.round)])
  }
  const peak = () => process.resourceUsage().maxRSS / 1024
  timed(made('ls; ', 131_072), policies[0])
  const before = peak()
  for (const unit of [...TOKENS, ...CONSTRUCTS])
    for (const policy of policies) grows(unit, 32_768, input.nothing, input.most, policy)
  const megabytes = Math.round(peak() - before)
  for (const a of TOKENS) for (const b of TOKENS) grows(a + b, 1024, input.nothing, input.most, policies[0])
  answer({ slow, megabytes: megabytes > 64 ? megabytes : 'at most 64' })
`

test('no command ends or stalls the process or fills its memory by repetition', () => {
  // Builds without optimisation run these, too: they take ten times as long.
  const input = { TOKENS, CONSTRUCTS, nothing: 50, most: 1000 }
  const { status, signal, stdout, stderr } = endChild(body, { input, timeoutMs: 240_000 })
  expect({ status, signal, stderr }).toEqual({ status: 0, signal: null, stderr: '' })
  expect(JSON.parse(stdout)).toEqual({ slow: [], megabytes: 'at most 64' })
}, 260_000)

test('nor do names that lead to themselves, to each other or ever further', () => {
  const code = `
    const { parentPort, workerData: { file, units } } = require('node:worker_threads')
    const { PermissionPolicy } = require(file)
    const policy = new PermissionPolicy({ vault: '/vault', rules: [{ domain: 'bash', pattern: '*', decision: 'allow' }] })
    const one = (unit, number, next) => unit.replaceAll('#', number).replaceAll('@', next)
    const slow = []
    for (const unit of units) {
      const commands = [
        one(unit, 1, 1),
        one(unit, 1, 2) + one(unit, 2, 1),
        ...[30, 3000].map((count) => Array.from({ length: count }, (_, at) => one(unit, at, at + 1)).join('')),
        Array.from({ length: 3000 }, (_, at) => one(unit, at + 1, at)).join(''),
      ]
      for (const [at, command] of commands.entries()) {
        const began = process.cpuUsage()
        policy.evaluate({ tool: 'bash', args: { command } })
        const { user, system } = process.cpuUsage(began)
        if ((user + system) / 1000 > 500) slow.push([unit, at, Math.round((user + system) / 1000)])
      }
    }
    parentPort.postMessage(slow)`
  const inWorker = `
    const { Worker } = require('node:worker_threads')
    const workerData = { file: require.resolve(${JSON.stringify(`${__dirname}/../../index.js`)}), units: input.NAMES }
    const worker = new Worker(input.code, { eval: true, workerData, resourceLimits: { stackSizeMb: 1 } })
    const slow = await new Promise((resolve, reject) => {
      worker.once('message', resolve).once('error', reject).once('exit', () => reject(new Error('no answer')))
    })
    answer(slow)`
  const { status, signal, stdout } = endChild(inWorker, { input: { NAMES, code }, timeoutMs: 120_000 })
  expect({ status, signal, slow: JSON.parse(stdout || 'null') }).toEqual({ status: 0, signal: null, slow: [] })
}, 150_000)

test('nor does any program of the table with many words', () => {
  const table = readFileSync(join(__dirname, '../../src/permission/shell/programs.txt'), 'utf8')
  const rows = table.split('\n').filter((line) => line.includes('|'))
  const names = rows.flatMap((line) => line.slice(0, line.indexOf('|')).trim().split(' '))
  expect(names.length).toBeGreaterThan(1_500)
  // The words of a name take a millisecond or two; builds without optimisation take ten times as long.
  const slowest = `
    const policy = new spillway.PermissionPolicy({ vault: '/vault' })
    const words = ' a'.repeat(4096)
    const time = (name, round) => {
      const began = process.cpuUsage()
      policy.evaluate({ tool: 'bash', args: { command: name + words, description: String(round) } })
      const { user, system } = process.cpuUsage(began)
      return (user + system) / 1000
    }
    answer(input.filter((name) => [1, 2, 3].every((round) => time(name, round) > 50)))`
  const { stdout, stderr } = endChild(slowest, { input: names, timeoutMs: 120_000 })
  expect({ stderr, slow: JSON.parse(stdout) }).toEqual({ stderr: '', slow: [] })
}, 150_000)

test('nor in a thread of its own', () => {
  const inWorker = `
    const { Worker } = require('node:worker_threads')
    const code = 'const { workerData: { file, units } } = require("node:worker_threads");'
      + 'const { PermissionPolicy } = require(file); const policy = new PermissionPolicy({ vault: "/vault" });'
      + 'for (const unit of units) for (const size of [16384, 131072]) policy.evaluate({ tool: "bash", args: { command: unit.repeat(size / unit.length) } })'
    const file = require.resolve(${JSON.stringify(`${__dirname}/../../index.js`)})
    const worker = new Worker(code, { eval: true, workerData: { file, units: input.units }, resourceLimits: { stackSizeMb: 1 } })
    await new Promise((resolve, reject) => worker.once('exit', resolve).once('error', reject))
    answer('ok')`
  const units = [...TOKENS, ...CONSTRUCTS, '[[ ! ! ', '( ( (', '$( $( ', '"$(', '${x:-', 'if if ', '{ { ']
  expect(endChild(inWorker, { input: { units }, timeoutMs: 120_000 })).toMatchObject({
    status: 0,
    signal: null,
    stdout: '"ok"',
  })
}, 150_000)

test('a command that is too much is asked about where everything is allowed, and what destroys is denied', () => {
  const policy = new (require('../..').PermissionPolicy)({
    vault: '/vault',
    rules: [{ domain: 'bash', pattern: '*', decision: 'allow' }],
  })
  const decide = (command: string, mode?: string) => policy.evaluate({ tool: 'bash', args: { command }, mode }).decision
  for (const wrapper of ['env ', 'nice ', 'sudo ', 'timeout 5 ', 'command ', 'exec ']) {
    expect(decide(`${wrapper.repeat(5000)}ls`)).toBe('ask')
    expect(decide(`${wrapper.repeat(5000)}rm -rf /`, 'full_access')).toBe('deny')
  }
  expect(decide(`${'cd a && '.repeat(5000)}ls`)).toBe('ask')
  expect(decide(`${'[[ ! '.repeat(5000)}x ]]`)).toBe('ask')
})

test('a reason quotes only the beginning of a long word', () => {
  const policy = new (require('../..').PermissionPolicy)({ vault: '/vault' })
  for (const unit of ['~"$', '$x', '*/../', '../', 'a/../../']) {
    const { reasons } = policy.evaluate({ tool: 'bash', args: { command: `cat x${unit.repeat(5000)}` } })
    expect(reasons.map((reason: string) => reason.slice(0, 400))).toEqual(reasons)
  }
})

test('more settings of git than are read are asked about, even with full access', () => {
  const policy = new (require('../..').PermissionPolicy)({ vault: '/vault' })
  const settings = (count: number) => Array.from({ length: count }, (_, at) => `'color.a${at}=b'`).join(' ')
  const decide = (count: number, command: string) => {
    const variable = `GIT_CONFIG_PARAMETERS="${settings(count)} 'core.worktree=/etc'"`
    return policy.evaluate({ tool: 'bash', args: { command: `${variable} ${command}` }, mode: 'full_access' }).decision
  }
  expect([31, 32].map((count) => decide(count, 'git status'))).toEqual(['allow', 'ask'])
  expect([31, 32].map((count) => decide(count, 'git clean -fdx'))).toEqual(['deny', 'ask'])
})

test('commands that the parser would try for years are asked about at once, at any depth', () => {
  const body = `
    const policy = new spillway.PermissionPolicy({ vault: '/vault', rules: [{ domain: 'bash', pattern: '*', decision: 'allow' }] })
    for (const opener of input) for (let times = 1; times <= 201; times = times < 32 ? times + 1 : times + 60)
      for (const end of ['', ' ls', '; esac', ' )', '; done', '; }'])
        policy.evaluate({ tool: 'bash', args: { command: opener.repeat(times) + end.repeat(times) } })
    answer('ok')`
  const input = [
    ...[
      '( ',
      '((',
      '$(',
      '"$(',
      '`',
      '{ ',
      '[[ ( ',
      '[[ ! ',
      '<(',
      '${x:-',
      'case x in x) ',
      'case x in (x) ( ',
      'f() { ',
    ],
    ...[
      'if ',
      'if x; then ',
      'while ',
      'for i in a; do ',
      'coproc ',
      'time ',
      '! ',
      'function f { ',
      'select x in a; do ',
    ],
  ]
  expect(endChild(body, { input, timeoutMs: 120_000 })).toMatchObject({ status: 0, signal: null, stdout: '"ok"' })
}, 150_000)

test('nor does code of another language, or the script of a search', () => {
  // Each is the start of a command, what is repeated in it, and its end.
  const input = [
    ...[
      'def a',
      'def a: fork ',
      'def a(): fork(a(',
      'fork while 1 ',
      'x while 1 ',
      'while(1){fork();',
      'while(1)spawn(',
      'loop{x+=1;',
    ].map((unit) => ["python3 -c '", unit, "fork'"]),
    ...[
      'rename ',
      'rename a,',
      'kill(',
      'kill 9 ',
      'chmod(',
      'cpSync(',
      'rmSync(a);a="/";',
      'for(</',
      'os.remove(',
      'os.remove(os.listdir("/etc")',
      'x=os.listdir("/etc")\nos.remove(x)\n',
      '"\\"',
      '`\\',
    ].map((unit) => ["perl -e '", unit, 'unlink(os.listdir("/etc"))\'']),
    ...['>', '> ', '{}>', '"$1" > '].map((unit) => ["find /etc -exec sh -c 'echo ", unit, "' \\;"]),
  ]
  const slowest = `
    const policy = new spillway.PermissionPolicy({ vault: '/vault', rules: [{ domain: 'bash', pattern: '*', decision: 'allow' }] })
    answer(input.filter(([start, unit, end]) => {
      const began = process.cpuUsage()
      policy.evaluate({ tool: 'bash', args: { command: start + unit.repeat(120_000 / unit.length) + end } })
      const { user, system } = process.cpuUsage(began)
      return (user + system) / 1000 > 1000
    }))`
  expect(JSON.parse(endChild(slowest, { input, timeoutMs: 120_000 }).stdout)).toEqual([])
}, 150_000)

test('nor does what a command is given grow where it is put in', () => {
  // Each is one text, one that is repeated, and so on.
  const input = [
    ["echo '", '$1 ', "' | xargs sh -c 'rm $@ ", '$1 ', "'"],
    ["echo '", '"$@" $* $0 $1 ', "' | xargs sh -c '", '"$@" $* $0 $1 ', "'"],
    ["echo '", 'a ', "' | xargs -I{} rm ", '{}', ''],
    ["echo '", '$1 ', "' | xargs -I{} sh -c '", '{} ', "'"],
    ['', 'read x <<< ', ''],
  ]
  const slowest = `
    const policy = new spillway.PermissionPolicy({ vault: '/vault', rules: [{ domain: 'bash', pattern: '*', decision: 'allow' }] })
    const before = process.resourceUsage().maxRSS
    const slow = input.filter((parts) => {
      const command = parts.map((part, at) => at % 2 === 0 ? part : part.repeat(60_000 / part.length)).join('')
      const began = process.cpuUsage()
      policy.evaluate({ tool: 'bash', args: { command } })
      const { user, system } = process.cpuUsage(began)
      return (user + system) / 1000 > 1000
    })
    answer({ slow, isLarge: process.resourceUsage().maxRSS - before > 64 * 1024 })`
  expect(JSON.parse(endChild(slowest, { input, timeoutMs: 120_000 }).stdout)).toEqual({ slow: [], isLarge: false })
}, 150_000)
