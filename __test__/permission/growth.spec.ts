import { endChild } from '../support/child'

/** What a shell reads as something of its own, and words that this package does. */
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
    'f() { x; }; ',
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
    'git log -- a ',
    "git commit -m 'x' ",
    'find . -exec x ; ',
  ],
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
  const timed = (command, policy) => {
    const began = process.hrtime.bigint()
    policy.evaluate({ tool: 'bash', args: { command } })
    return Number(process.hrtime.bigint() - began) / 1e6
  }
  // The shortest of a few: what else runs on the machine only makes it longer.
  const time = (command, policy, tries = 3) => Math.min(...Array.from({ length: tries }, () => timed(command, policy)))
  const slow = []
  const check = (unit, length, most, by = policies) => {
    for (const policy of by) {
      let took = timed(made(unit, length), policy)
      if (took > most) took = time(made(unit, length), policy)
      if (took > most) slow.push([unit, length, Math.round(took)])
    }
  }
  for (const unit of [...TOKENS, ...CONSTRUCTS]) {
    check(unit, 131_072, input.most)
    const [short, long] = [16_384, 65_536].map((length) => time(made(unit, length), policies[0], 2))
    if (long > 100 && long > 12 * short) slow.push([unit, 'grows', Math.round(short), Math.round(long)])
  }
  const before = process.memoryUsage.rss()
  for (const a of TOKENS) for (const b of TOKENS) check(a + b, input.pairs, input.most / 8, [policies[0]])
  answer({ slow, megabytes: Math.round((process.memoryUsage.rss() - before) / 1e6) })
`

test('no command ends or stalls the process, whatever it repeats', () => {
  // Builds without optimisation run these, too, on machines that do other work.
  const input = { TOKENS, CONSTRUCTS, most: 2000, pairs: 4096 }
  const { status, signal, stdout, stderr } = endChild(body, { input, timeoutMs: 120_000 })
  expect({ status, signal, stderr }).toEqual({ status: 0, signal: null, stderr: '' })
  expect(JSON.parse(stdout)).toEqual({ slow: [], megabytes: expect.any(Number) })
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
