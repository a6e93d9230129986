import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { PermissionPolicy } from 'spillway'
import { describeUnless, isLong } from '../support/only'
import bypass from './bypass.json'

// A real bash says what a command runs. Every program is a stub, so nothing happens; still, this is for when it is asked for.
const missing = !isLong ? 'takes minutes: SPILLWAY_TEST_LONG=1' : existsSync('/bin/bash') ? '' : 'needs /bin/bash'

/** Not even a stub is given these: they write outside of the folder by the shell's own hand, or wait for a network. */
const UNSAFE = /\/(etc|dev|proc|sys)\b|~|\bkill\b/

describeUnless(missing, 'what a real bash runs', () => {
  let root: string
  let vault: string
  let log: string
  let policy: PermissionPolicy

  beforeAll(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'spillway-oracle-')))
    vault = join(root, 'a/b/c/vault')
    log = join(root, 'log')
    mkdirSync(vault, { recursive: true })
    mkdirSync(join(root, 'bin'))
    for (const name of ['git', 'npm', 'ls', 'cat', 'evil']) {
      const stub = join(root, 'bin', name)
      writeFileSync(stub, `#!/bin/bash\necho ${name} >> ${log}\n`)
      chmodSync(stub, 0o755)
    }
    symlinkSync('/bin/bash', join(root, 'bin', 'bash'))
    policy = new PermissionPolicy({
      vault,
      rules: [...bypass.rules, { domain: 'edit', pattern: '*', decision: 'ask' }] as never,
    })
  })
  afterAll(() => rmSync(root, { recursive: true }))

  /** Programs that ran, and files that were made. */
  function run(command: string): string[] {
    rmSync(log, { force: true })
    spawnSync('/bin/bash', ['-c', command], {
      cwd: vault,
      env: {
        PATH: join(root, 'bin'),
        HOME: vault,
        'BASH_FUNC_command_not_found_handle%%': `() { echo "$1" >> ${log}; }`,
      },
      stdio: 'ignore',
      timeout: 3000,
    })
    const ran = existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : []
    const made = readdirSync(vault)
    for (const name of made) rmSync(join(vault, name), { recursive: true })
    return [...ran, ...made.map((name) => `made ${name}`)]
  }

  // `\time` is the program and not the keyword; it runs what it is given.
  const others = (ran: string[]) => ran.filter((name) => !['git', 'npm', 'ls', 'time'].includes(name))
  const decide = (command: string) => policy.evaluate({ tool: 'bash', args: { command } }).decision

  test('commands that get around the rules truly run, and are asked about', () => {
    const safe = bypass.commands.filter(
      ({ command }) => !UNSAFE.test(command) && command.length < 100_000 && !command.includes('\0'),
    )
    const real = safe.filter(({ command }) => others(run(command)).length > 0)
    expect(real.filter(({ command }) => decide(command) === 'allow')).toEqual([])
    expect(real.length).toBeGreaterThan(250)
  }, 300_000)

  test('allowed commands run only programs that the rules allow', () => {
    const words =
      'git|ls|npm test|evil| | |\n|;|&&|&|$(|)|(|{|}|`|\'|"|\\|\t|<<E\n|\nE\n|<<<|$|${|x|=|#|!|*|[[|]]|if | then | fi|$((|))'
    const more = "$'|\\\n|-c|é|<(|2>&1|-- |time |case x in x) | esac|for i in | do | done|bash -c "
    const pieces = [...`${words}|${more}`.split('|'), '|', '||']
    const runs = Number(process.env.SPILLWAY_PROPERTY_RUNS ?? 20_000)
    let allowed = 0
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 14 }), (parts) => {
        const command = parts.join('')
        if (decide(command) !== 'allow') return
        allowed++
        expect([command, others(run(command))]).toEqual([command, []])
      }),
      { numRuns: runs },
    )
    expect(allowed).toBeGreaterThan(runs / 1000)
  }, 300_000)

  test('a document that is only printed runs no command, at any end', () => {
    const telling = new PermissionPolicy({
      vault,
      rules: [...bypass.rules, { domain: 'bash', pattern: 'cat', decision: 'allow' }] as never,
    })
    const starts = ['"$(cat <<E\n', "\"$(cat <<'E'\n", '"$(cat <<-"E"\n', '- <<E\n', "- <<'E'\n"]
    const pieces = [
      'evil',
      '\n',
      '\nE\n',
      'E',
      ')',
      '(',
      '"',
      "'",
      '`',
      '\\',
      '\\\n',
      ';',
      '|',
      '$(',
      '$',
      '<<E\n',
      ' ',
      '\t',
      '#',
    ]
    const ends = ['\nE\n)"', '\nE', 'E)"', ')"']
    const runs = Number(process.env.SPILLWAY_PROPERTY_RUNS ?? 20_000)
    let allowed = 0
    fc.assert(
      fc.property(
        fc.constantFrom(...starts),
        fc.array(fc.constantFrom(...pieces), { maxLength: 8 }),
        fc.constantFrom(...ends),
        (start, body, end) => {
          const command = `git commit ${start.startsWith('-') ? '-F' : '-m'} ${start}${body.join('')}${end}`
          if (telling.evaluate({ tool: 'bash', args: { command } }).decision !== 'allow') return
          allowed++
          expect([command, others(run(command)).filter((name) => name !== 'cat')]).toEqual([command, []])
        },
      ),
      { numRuns: runs },
    )
    expect(allowed).toBeGreaterThan(runs / 1000)
  }, 300_000)
})
