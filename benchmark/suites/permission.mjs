/** `PermissionPolicy.evaluate` on commands, beside Gemini CLI's engine; a call through the loop detector; a line of the audit log. */
import { mkdtempSync } from 'node:fs'
import path from 'node:path'
import { compare } from '../measure.mjs'
import { makeRow } from '../report.mjs'
import { KB } from '../workloads.mjs'

const GEMINI = new URL('../node_modules/@google/gemini-cli-core/dist/src/', import.meta.url)
/** 50 bytes: four programs, all of them known. */
const COMPOUND = 'cd src && git status --short | head -5 && npm test'
/** As long, with what needs a grammar. */
const QUOTED = "cd src && git log --grep='a b' 2>&1 | head -5"
const STEP = 'git status && '
const RULES = ['git *', 'npm test', 'ls *', 'cd *', 'head *']
const MANY = 10_000

export const permission = {
  name: 'permission',
  title: 'Permissions, loops and the audit log, per call',

  async run({ subject, folder, shortRounds: rounds, log }) {
    const policy = new subject.PermissionPolicy({ rules: RULES.map(allowed) })
    const many = new subject.PermissionPolicy({
      rules: [...Array.from({ length: MANY - RULES.length }, (_, at) => `program${at} *`), ...RULES].map(allowed),
    })
    for (const one of [policy, many]) check(one.evaluate(bash(COMPOUND)).decision === 'allow')
    const time = (sides) => compare(sides, { rounds, batchMs: 20, warmUpMs: 200 })
    const evaluate = (name, own, command) => side(name, () => own.evaluate(bash(command)))

    const each = (name, own, command) => {
      const next = newCommands(command)
      return side(name, () => own.evaluate(bash(next())))
    }
    check(policy.evaluate(bash(QUOTED)).decision === 'allow')
    const short = await time([
      evaluate('again', policy, COMPOUND),
      each('first', policy, COMPOUND),
      each('quoted', policy, QUOTED),
    ])
    const rows = [
      makeRow({ work: 'a compound command of 50 bytes, again', ours: short.again, target: 0.02, unit: 'ms' }),
      makeRow({ work: 'the same, another one each time', ours: short.first, target: 0.02, unit: 'ms' }),
      makeRow({ work: 'one with quotes and a redirection, likewise', ours: short.quoted, target: 0.02, unit: 'ms' }),
    ]
    for (const size of [7 * KB, 70 * KB]) {
      const command = STEP.repeat(Math.ceil(size / STEP.length)).concat('ls -la')
      const { ours } = await time([evaluate('ours', policy, command)])
      const perByte = ours.map((milliseconds) => milliseconds / command.length)
      rows.push(
        makeRow({ work: `per byte of a command of ${size / KB} KB`, ours: perByte, target: 0.0003, unit: 'ms' }),
      )
    }
    // Another one each time: the answer to one that was seen before is known, however many rules there are.
    const rules = await time([each('many', many, COMPOUND), each('few', policy, COMPOUND)])
    rows.push(
      makeRow({
        work: `the compound command, ${MANY.toLocaleString('en')} rules`,
        ours: rules.many,
        yardstick: rules.few,
        yardstickName: `${RULES.length} rules`,
        target: 1.5,
      }),
    )
    rows.push(...(await besideGemini(policy, time, log)))
    rows.push(...(await guarded(subject, folder, time)), await loop(subject, time), await audit(subject, folder, time))
    return rows
  },
}

async function besideGemini(policy, time, log) {
  let engine
  try {
    // It says every step of a decision on the console otherwise.
    const { debugLogger } = await import(new URL('utils/debugLogger.js', GEMINI))
    for (const level of ['log', 'debug', 'warn', 'error']) debugLogger[level] = () => {}
    const { PolicyEngine } = await import(new URL('policy/policy-engine.js', GEMINI))
    const rule = (pattern) => ({
      toolName: 'run_shell_command',
      argsPattern: new RegExp(`"command":"${pattern.replace(/ \*$/, '(?:\\s|"|\\\\")')}`),
      decision: 'allow',
      priority: 100,
    })
    engine = new PolicyEngine({ rules: RULES.map(rule), defaultDecision: 'ask_user' })
  } catch (error) {
    log(`@google/gemini-cli-core is skipped: ${error.message}`)
    return []
  }
  const call = { name: 'run_shell_command', args: { command: COMPOUND } }
  check((await engine.check(call, undefined)).decision === 'allow')
  const next = newCommands(COMPOUND)
  const { again, first, theirs } = await time([
    side('again', () => policy.evaluate(bash(COMPOUND))),
    side('first', () => policy.evaluate(bash(next()))),
    side('theirs', () => engine.check(call, undefined)),
  ])
  const beside = { yardstick: theirs, yardstickName: 'Gemini PolicyEngine', target: 0.05 }
  return [
    makeRow({ work: 'a compound command of 50 bytes, again', ours: again, ...beside }),
    makeRow({ work: 'the same, another one each time', ours: first, ...beside }),
  ]
}

/** Commands like the compound one, of which none comes twice. */
function newCommands(command) {
  let at = 0
  return () => command.replace('head -5', `head -${at++}`)
}

/** A tool that gives a kilobyte at once: what its guard costs is what is measured. */
async function guarded(
  { DoomLoopDetector, PermissionPolicy, ToolResultLedger, TruncationService, guardTool },
  folder,
  time,
) {
  const output = 'word '.repeat(KB / 5)
  const tool = { name: 'read', execute: async () => ({ success: true, output }) }
  const doomLoop = new DoomLoopDetector({ maxToolCalls: Number.POSITIVE_INFINITY })
  const truncation = new TruncationService({ storageDirs: [folder] })
  const permission = new PermissionPolicy({
    rules: [{ domain: 'read', pattern: 'vault:/**', decision: 'allow' }],
    vault: folder,
  })
  let at = 0
  const through = (guard) => async () => {
    if (at % 500 === 0) doomLoop.startRun()
    const result = await guard.execute({ path: `notes/${at++}.md` }, { toolCallId: `call_${at}` })
    if (result.output !== output) throw new Error('the result is not what the tool gave')
  }
  const ledger = new ToolResultLedger()
  const { cut, all } = await time([
    side('cut', through(guardTool(tool, { truncation }))),
    side('all', through(guardTool(tool, { permission, doomLoop, truncation, ledger }))),
  ])
  return [
    makeRow({ work: '`guardTool` with truncation, a result of 1 KB', ours: cut, target: 0.02, unit: 'ms' }),
    makeRow({ work: 'with permission, loops and the ledger, too', ours: all, target: 0.02, unit: 'ms' }),
  ]
}

async function loop({ DoomLoopDetector }, time) {
  const detector = new DoomLoopDetector({ maxToolCalls: Number.POSITIVE_INFINITY })
  let at = 0
  const call = () => {
    // A detector is for a run, and a run has an end.
    if (at % 500 === 0) detector.startRun()
    const toolCallId = `call_${at++}`
    detector.check({ toolCallId, tool: 'bash', args: { command: `ls ${at}` } })
    detector.record({ toolCallId, result: `what number ${at} printed` })
  }
  const { ours } = await time([side('ours', call)])
  return makeRow({ work: '`DoomLoopDetector` `check` and `record`', ours })
}

async function audit({ AuditLog }, folder, time) {
  const dir = mkdtempSync(path.join(folder, 'audit-'))
  const log = new AuditLog({ dir, sessionId: 'benchmark' })
  let at = 0
  const append = () => log.append({ type: 'tool_call', tool: 'bash', command: `ls ${at++}`, decision: 'allow' })
  check((await append()) !== undefined)
  const { ours } = await time([side('ours', append)])
  await log.close()
  return makeRow({ work: '`await AuditLog.append`, one event at a time', ours })
}

/** Many calls under one clock. */
function side(name, call) {
  return {
    name,
    async batch(count) {
      const start = performance.now()
      for (let i = 0; i < count; i++) {
        const result = call()
        if (typeof result?.then === 'function') await result
      }
      return performance.now() - start
    },
  }
}

const allowed = (pattern) => ({ domain: 'bash', pattern, decision: 'allow' })
const bash = (command) => ({ tool: 'bash', args: { command } })

function check(holds) {
  if (!holds) throw new Error('the command is not decided as it should be')
}
