import { spawn, spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import fc from 'fast-check'
import {
  type AuditEvent,
  AuditLog,
  type AuditLogOptions,
  type AuditReceipt,
  type SpillwayError,
  verifyAudit,
} from 'spillway'
import { tempDir } from '../support/temp'

const RUNS = Number(process.env.SPILLWAY_PROPERTY_RUNS ?? 50)
const KILLS = Number(process.env.SPILLWAY_AUDIT_KILLS ?? 12)
const KEY = 'a secret of the host, not the agent'

const event = (i: number): AuditEvent => ({
  type: 'permission',
  tool: 'bash',
  permissionDomain: 'bash',
  targets: [`shell:echo ${i}`],
  decision: 'allow',
  reason: 'rule',
  durationMs: i,
})

async function written(count: number, options: Partial<AuditLogOptions> = {}) {
  const dir = tempDir()
  const log = new AuditLog({ dir, sessionId: 'session', ...options })
  const receipts = (await Promise.all(Array.from({ length: count }, (_, i) => log.append(event(i))))) as AuditReceipt[]
  await log.close()
  return { dir, path: log.path, receipts }
}

const linesOf = (path: string) => readFileSync(path, 'utf8').split('\n').slice(0, -1)
const recordsOf = (path: string) => linesOf(path).map((line) => JSON.parse(line) as Record<string, unknown>)

describe('the log', () => {
  test('is one record a line, in order, each with its place in the chain', async () => {
    const { path, receipts, dir } = await written(3)
    const records = recordsOf(path)
    expect(records.map(({ seq, durationMs }) => [seq, durationMs])).toEqual([
      [1, 0],
      [2, 1],
      [3, 2],
    ])
    expect(records[0]).toEqual({
      ...event(0),
      v: 1,
      sessionId: 'session',
      eventId: receipts[0]!.eventId,
      timestamp: expect.any(Number),
      writer: receipts[0]!.writer,
      seq: 1,
      prev: '0'.repeat(64),
      after: '0'.repeat(64),
      hash: receipts[0]!.hash,
    })
    expect(records[2]).toMatchObject({ prev: receipts[1]!.hash, after: receipts[1]!.hash })
    expect(await verifyAudit(path)).toEqual({
      ok: true,
      records: 3,
      head: receipts[2]!.hash,
      writers: 1,
      dropped: 0,
      files: [path],
    })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(dir).isDirectory()).toBe(true)
  })

  test('can be verified independently: the hash is over the canonical form, with the key if there is one', async () => {
    const { path } = await written(2, { key: KEY })
    for (const line of linesOf(path)) {
      const { hash, ...rest } = JSON.parse(line) as Record<string, unknown>
      const form = JSON.stringify(Object.fromEntries(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1))))
      expect(createHmac('sha256', KEY).update(form).digest('hex')).toBe(hash)
    }
    expect(await verifyAudit(path, { key: KEY })).toMatchObject({ ok: true, records: 2 })
    expect(await verifyAudit(path, { key: `${KEY}!` })).toMatchObject({ ok: false, records: 0, firstBad: { line: 1 } })
    expect(await verifyAudit(path)).toMatchObject({ ok: false, firstBad: { line: 1 } })
  })

  test('continues across logs of the same session', async () => {
    const dir = tempDir()
    for (let run = 0; run < 3; run++) {
      const log = new AuditLog({ dir, sessionId: 'session' })
      await log.append(event(run))
      await log.close()
    }
    const path = new AuditLog({ dir, sessionId: 'session' }).path
    const [first, second] = recordsOf(path)
    expect(second).toMatchObject({ seq: 1, prev: '0'.repeat(64), after: first!.hash })
    expect(await verifyAudit(path)).toMatchObject({ ok: true, records: 3, writers: 3 })
  })

  test('begins another file when one is full, and the chain continues', async () => {
    const { dir, path, receipts } = await written(0)
    const log = new AuditLog({ dir, sessionId: 'session', maxFileBytes: 65536 })
    for (let i = 0; i < 6; i++) receipts.push((await log.append({ ...event(i), note: 'x'.repeat(30_000) }))!)
    const other = new AuditLog({ dir, sessionId: 'session', maxFileBytes: 65536 })
    await other.append({ note: 'y'.repeat(40_000) })
    await log.append(event(7))
    await Promise.all([log.close(), other.close()])
    const files = readdirSync(dir)
      .filter((name) => name.endsWith('.jsonl'))
      .sort()
    expect(files).toHaveLength(3)
    expect(await verifyAudit(path)).toMatchObject({
      ok: true,
      records: 8,
      writers: 2,
      files: expect.arrayContaining([path]),
    })
    unlinkSync(join(dir, files.find((name) => name.includes('.000001.'))!))
    // The remaining records are consistent; the missing ones show against a stored head.
    expect(await verifyAudit(path)).toMatchObject({ ok: true })
    expect(await verifyAudit(path, { head: receipts[0]!.hash })).toMatchObject({ ok: false })
    unlinkSync(join(dir, files.find((name) => name.includes('.000002.'))!))
    expect(await verifyAudit(path)).toMatchObject({ ok: false, records: 0 })
  })

  test('has a safe and distinct name for any name of the session', async () => {
    const dir = tempDir()
    const sessions = [
      '../../etc/passwd',
      'a/b',
      'a_b',
      'ABC',
      'abc',
      'CON',
      'nul',
      '',
      'x'.repeat(10_000),
      '\ud800',
      '\ud801',
      'line\nbreak',
    ]
    const paths = sessions.map((sessionId) => new AuditLog({ dir, sessionId }).path)
    expect(new Set(paths.map((path) => path.toLowerCase())).size).toBe(sessions.length)
    for (const [i, path] of paths.entries()) {
      expect(dirname(path)).toBe(dir)
      expect(basename(path)).toMatch(/^[A-Za-z0-9_-]{1,64}\.jsonl$/)
      const log = new AuditLog({ dir, sessionId: sessions[i]! })
      await log.append(event(i))
      expect(await verifyAudit(path)).toMatchObject({ ok: true, records: 1 })
    }
  })

  test('holds no secrets', async () => {
    const secret = ['sk', '-proj-0123456789abcdefghijABCD'].join('')
    const { dir, path } = await written(0)
    const log = new AuditLog({
      dir,
      sessionId: 'session',
      redact: { values: ['hunter22'], patterns: [/--token=(?<secret>\S+)/] },
    })
    await log.append({
      tool: 'bash',
      targets: [`shell:curl https://demo:swordfish99@example.com --token=abc123 -H "Authorization: Bearer ${secret}"`],
      args: { deep: [{ password: 'hunter22' }], hunter22: true },
    })
    const text = readFileSync(path, 'utf8')
    for (const each of [secret, 'hunter22', 'swordfish99', 'abc123']) expect(text).not.toContain(each)
    expect(text).toContain('Authorization: Bearer ')
    const hidden = new AuditLog({ dir, sessionId: 'hidden' })
    await hidden.append({
      output: `a\\n${secret}\nPASSWORD=hunter2hunter2\n{"api_key":"hunter2hunter2"}`,
      args: { bytes: Buffer.from(secret), more: [new Uint8Array(3)], password: 'short' },
    })
    const [record] = recordsOf(hidden.path)
    expect(record).toMatchObject({
      output: `a\\n${'*'.repeat(secret.length)}\nPASSWORD=${'*'.repeat(14)}\n{"api_key":"${'*'.repeat(14)}"}`,
      args: { bytes: `<${secret.length} bytes>`, more: ['<3 bytes>'], password: '*****' },
    })
    const open = new AuditLog({ dir, sessionId: 'open', redact: { known: false } })
    await open.append({ note: `Bearer ${secret}` })
    expect(readFileSync(open.path, 'utf8')).toContain(secret)
  })

  test('takes events of any kind and size', async () => {
    const { dir, path } = await written(0)
    const log = new AuditLog({ dir, sessionId: 'session' })
    const cyclic: AuditEvent = { tool: 'x' }
    cyclic.self = cyclic
    const events: AuditEvent[] = [
      cyclic,
      { n: 10n, nan: Number.NaN, nothing: undefined, date: new Date(0), f: () => 1 },
      {
        get broken() {
          throw new Error('no')
        },
      },
      { tool: 'write', content: 'é'.repeat(5_000_000) },
      { many: Array.from({ length: 100_000 }, (_, i) => ({ i })) },
      { text: 'line\nbreak\u2028\ud800\0', 'odd key\n': 1 },
      { timestamp: 5, eventId: 'mine', sessionId: 'other' },
    ]
    const receipts = await Promise.all(events.map((each) => log.append(each)))
    expect(receipts[6]).toMatchObject({ eventId: 'mine', seq: 7 })
    expect(linesOf(path).every((line) => Buffer.byteLength(line) <= 65536)).toBe(true)
    const records = recordsOf(path)
    expect(records[1]).toMatchObject({ date: '1970-01-01T00:00:00.000Z' })
    expect(records[3]).toMatchObject({ tool: 'write', cut: expect.any(Number) })
    expect(records[6]).toMatchObject({ timestamp: 5, sessionId: 'session' })
    expect(await verifyAudit(path)).toMatchObject({ ok: true, records: 7 })
  })
})

describe('tampering', () => {
  test('is found and named: a changed, removed, swapped, doubled or inserted record', async () => {
    const { path } = await written(6)
    const lines = linesOf(path)
    const changed: [string, string[], number][] = [
      ['changed', lines.with(2, lines[2]!.replace('echo 2', 'echo 9')), 3],
      ['removed', lines.toSpliced(2, 1), 3],
      ['removed first', lines.slice(1), 1],
      ['swapped', lines.with(1, lines[2]!).with(2, lines[1]!), 2],
      ['doubled', lines.toSpliced(3, 0, lines[2]!), 4],
      ['inserted', lines.toSpliced(3, 0, JSON.stringify({ tool: 'x' })), 4],
      ['spaced', lines.with(4, lines[4]!.replace('"seq":', '"seq": ')), 5],
      ['an empty line', lines.toSpliced(1, 0, ''), 2],
    ]
    for (const [what, now, line] of changed) {
      writeFileSync(path, `${now.join('\n')}\n`)
      expect([what, await verifyAudit(path)]).toEqual([
        what,
        expect.objectContaining({
          ok: false,
          records: line - 1,
          firstBad: expect.objectContaining({ file: path, line }),
        }),
      ])
    }
  })

  test('between the records of two writers is found too', async () => {
    const dir = tempDir()
    const logs = [new AuditLog({ dir, sessionId: 's' }), new AuditLog({ dir, sessionId: 's' })]
    for (let i = 0; i < 6; i++) await logs[i % 2]!.append(event(i))
    const { path } = logs[0]!
    expect(await verifyAudit(path)).toMatchObject({ ok: true, records: 6, writers: 2 })
    const lines = linesOf(path)
    writeFileSync(path, `${lines.with(2, lines[3]!).with(3, lines[2]!).join('\n')}\n`)
    expect(await verifyAudit(path)).toMatchObject({
      ok: false,
      firstBad: { line: 3, writer: recordsOf(path)[2]!.writer },
    })
  })

  test.each([
    ['options.heads', { heads: ['x'] }],
    ['options.head', { head: 5 }],
    ['options.head', { head: 'x' }],
    ['options.head', { head: null }],
    ['options.signal', { signal: {} }],
  ])('a wrong %s is refused, not left unread', async (field, options) => {
    await expect(verifyAudit('session.jsonl', options as never)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      field,
    })
  })

  test('a cut end shows against a kept head only', async () => {
    const { path, receipts } = await written(5)
    const lines = linesOf(path)
    writeFileSync(path, `${lines.slice(0, 3).join('\n')}\n`)
    expect(await verifyAudit(path)).toMatchObject({ ok: true, records: 3 })
    expect(await verifyAudit(path, { head: receipts[2]!.hash })).toMatchObject({ ok: true })
    expect(await verifyAudit(path, { head: receipts[2]!.hash.toUpperCase() })).toMatchObject({ ok: true })
    const report = await verifyAudit(path, { head: receipts.map(({ hash }) => hash) })
    expect(report).toMatchObject({
      ok: false,
      records: 3,
      firstBad: { line: 4, reason: expect.stringContaining('cut off') },
    })
  })

  test('any flipped byte is found, at or before the record that it is in', async () => {
    const { path } = await written(8, { key: KEY })
    const whole = readFileSync(path)
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), async (at, by) => {
        const bytes = Buffer.from(whole)
        bytes[at] = bytes[at]! ^ by
        writeFileSync(path, bytes)
        const report = await verifyAudit(path, { key: KEY })
        const line = whole.subarray(0, at).filter((byte) => byte === 10).length + 1
        expect(report).toMatchObject({ ok: false, firstBad: { line } })
      }),
      { numRuns: RUNS * 4 },
    )
  })

  test('any change of the order of records is found', async () => {
    const { path } = await written(6)
    const lines = linesOf(path)
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray([0, 1, 2, 3, 4, 5], { minLength: 1 }), async (order) => {
        writeFileSync(path, `${order.map((i) => lines[i]).join('\n')}\n`)
        const intact = order.findIndex((i, at) => i !== at)
        const report = await verifyAudit(path)
        expect([report.ok, report.records]).toEqual([intact === -1, intact === -1 ? order.length : intact])
      }),
      { numRuns: RUNS },
    )
  })
})

describe('faults', () => {
  test('a torn end is put aside by the next writer, and nothing else is lost', async () => {
    const { path, dir } = await written(3)
    const last = linesOf(path)[2]!
    for (const torn of ['{', last.slice(0, 40), last.slice(0, -1), '\0'.repeat(100)]) {
      appendFileSync(path, torn)
      const before = await verifyAudit(path)
      if (torn.startsWith('{')) expect(before).toMatchObject({ ok: true, torn: { bytes: torn.length } })
      else expect(before).toMatchObject({ ok: false })
      const log = new AuditLog({ dir, sessionId: 'session' })
      await log.append(event(9))
      await log.close()
      const [repaired, own] = recordsOf(path).slice(-2)
      expect(repaired).toMatchObject({ type: 'audit.repaired', bytes: torn.length, seq: 1 })
      expect(own).toMatchObject({ durationMs: 9, seq: 2 })
      expect(await verifyAudit(path)).toMatchObject({ ok: true })
    }
    expect(readFileSync(path.replace('.jsonl', '.torn'), 'utf8')).toContain(`${last.slice(0, 40)}\n`)
  })

  test('a record that lacks only its line feed stays', async () => {
    const { path, dir } = await written(3)
    truncateSync(path, statSync(path).size - 1)
    expect(await verifyAudit(path)).toMatchObject({ ok: true, records: 3 })
    const log = new AuditLog({ dir, sessionId: 'session' })
    await log.append(event(3))
    expect(await verifyAudit(path)).toMatchObject({ ok: true, records: 4 })
  })

  test('a log that cannot be written warns or blocks, and tells of it later', async () => {
    const dir = join(tempDir(), 'logs')
    writeFileSync(dir, 'in the way')
    const problems: SpillwayError[] = []
    const log = new AuditLog({ dir, sessionId: 'session', onProblem: (error) => problems.push(error) })
    expect(await Promise.all([log.append(event(1)), log.append(event(2))])).toEqual([undefined, undefined])
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatchObject({ code: 'STORAGE_WRITE', message: expect.stringContaining(dir) })
    expect(log.dropped).toBe(2)
    const strict = new AuditLog({ dir, sessionId: 'session', onFailure: 'block', onProblem: () => {} })
    await expect(strict.append(event(3))).rejects.toMatchObject({ name: 'SpillwayError', code: 'STORAGE_WRITE' })
    rmSync(dir)
    await log.append(event(4))
    expect(recordsOf(log.path)).toMatchObject([
      { type: 'audit.dropped', events: 2, seq: 1 },
      { durationMs: 4, seq: 2 },
    ])
    expect(await verifyAudit(log.path)).toMatchObject({ ok: true, records: 2, dropped: 2 })
  })

  test.each(['a link', 'a folder'])('%s in the place of the file is not followed', async (what) => {
    const dir = tempDir()
    const elsewhere = join(tempDir(), 'elsewhere')
    writeFileSync(elsewhere, '')
    const log = new AuditLog({ dir, sessionId: 'session', onFailure: 'block', onProblem: () => {} })
    if (what === 'a link') symlinkSync(elsewhere, log.path)
    else mkdirSync(log.path)
    await expect(log.append(event(1))).rejects.toMatchObject({ code: 'STORAGE_WRITE' })
    expect(readFileSync(elsewhere, 'utf8')).toBe('')
  })

  test('a file that was taken away or replaced while it was written to shows', async () => {
    const dir = tempDir()
    const log = new AuditLog({ dir, sessionId: 'session' })
    await log.append(event(1))
    renameSync(log.path, `${log.path}.gone`)
    await log.append(event(2))
    expect(await verifyAudit(log.path)).toMatchObject({ ok: false, records: 0, firstBad: { line: 1, seq: 2 } })
  })

  test('in a folder named from the working folder is made, and stays there', () => {
    const cwd = tempDir()
    const script = `
      const { AuditLog } = require(${JSON.stringify(join(__dirname, '..', '..'))})
      const log = new AuditLog({ dir: 'logs', sessionId: 's', onFailure: 'block' })
      process.chdir('/')
      log.append({ type: 'note' }).then(() => log.close())`
    const { status, stderr } = spawnSync(process.execPath, ['-e', script], { cwd, encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(readdirSync(join(cwd, 'logs'))).not.toEqual([])
  })

  test('errors name the field', async () => {
    const dir = tempDir()
    const code = (options: object) => {
      try {
        return new AuditLog(options as AuditLogOptions)
      } catch (thrown) {
        return [(thrown as SpillwayError).code, (thrown as SpillwayError).field]
      }
    }
    expect(code({ dir })).toEqual(['INVALID_CONFIG', 'sessionId'])
    expect(code({ sessionId: 's' })).toEqual(['INVALID_CONFIG', 'dir'])
    expect(code({ dir: '', sessionId: 's' })).toEqual(['INVALID_CONFIG', 'dir'])
    expect(code({ dir, sessionId: 's', key: 'short' })).toEqual(['INVALID_CONFIG', 'key'])
    expect(code({ dir, sessionId: 's', key: 5 })).toEqual(['INVALID_CONFIG', 'key'])
    expect(code({ dir, sessionId: 's', maxFileBytes: 10 })).toEqual(['INVALID_CONFIG', 'maxFileBytes'])
    expect(code({ dir, sessionId: 's', onFailure: 'shrug' })).toEqual(['INVALID_CONFIG', 'onFailure'])
    expect(code({ dir, sessionId: 's', maxFileByte: 10 })).toEqual(['INVALID_CONFIG', 'maxFileByte'])
    const log = new AuditLog({ dir, sessionId: 's' })
    await expect(log.append('text' as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field: 'event' })
    await expect(log.append({ hash: 'mine' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field: 'event.hash' })
    await log.close()
    await expect(log.append(event(1))).rejects.toMatchObject({ code: 'CLOSED' })
    await expect(verifyAudit(join(dir, 'none.jsonl'))).rejects.toMatchObject({ code: 'STORAGE_NOT_FOUND' })
    const reason = new Error('enough')
    await expect(verifyAudit(join(dir, 'none.jsonl'), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  })

  test('everything settles under a faked clock', async () => {
    jest.useFakeTimers()
    try {
      const { path } = await written(3)
      expect(await verifyAudit(path)).toMatchObject({ ok: true, records: 3 })
    } finally {
      jest.useRealTimers()
    }
  })
})

describe('several processes', () => {
  const writer = (dir: string, events: number, batch: number) => `
    const { AuditLog } = require(${JSON.stringify(join(__dirname, '..', '..', 'index.js'))})
    const log = new AuditLog({ dir: ${JSON.stringify(dir)}, sessionId: 'shared', maxFileBytes: 1 << 20 })
    const main = async () => {
      for (let i = 0; i < ${events}; i += ${batch}) {
        await Promise.all(Array.from({ length: ${batch} }, (_, k) => log.append({ tool: 'bash', i: i + k, note: 'x'.repeat((i + k) % 300) })))
        process.stdout.write('.')
      }
      await log.close()
    }
    main().catch((error) => { console.error(error); process.exitCode = 1 })`
  const start = (script: string) => spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = (child: ReturnType<typeof start>) => new Promise<number | null>((done) => child.on('close', done))

  test('write whole records into one log, each in its own chain', async () => {
    const dir = tempDir()
    const events = process.env.SPILLWAY_TEST_LONG ? 10_000 : 500
    const children = Array.from({ length: 8 }, () => start(writer(dir, events, 50)))
    for (const child of children) child.stdout.resume()
    expect(await Promise.all(children.map(ended))).toEqual(children.map(() => 0))
    const { path } = new AuditLog({ dir, sessionId: 'shared' })
    expect(await verifyAudit(path)).toMatchObject({ ok: true, records: 8 * events, writers: 8 })
    expect((await verifyAudit(path)).torn).toBeUndefined()
  }, 600_000)

  test('that are killed leave a log that verifies, with everything that was acknowledged', async () => {
    let dir = ''
    let acknowledged = 0
    for (let kill = 0; kill < KILLS; kill++) {
      if (kill % 50 === 0) {
        dir = tempDir()
        acknowledged = 0
      }
      const { path } = new AuditLog({ dir, sessionId: 'shared' })
      const child = start(writer(dir, 1_000_000, 20))
      const enough = 1 + ((kill * 7) % 12)
      await new Promise<void>((done) => {
        let seen = 0
        child.stdout.on('data', (dots: Buffer) => {
          seen += dots.length
          acknowledged += dots.length * 20
          if (seen >= enough) child.kill('SIGKILL')
        })
        child.on('close', () => done())
      })
      const report = await verifyAudit(path)
      expect(report).toMatchObject({ ok: true, writers: (kill % 50) + 1 })
      expect(report.records).toBeGreaterThanOrEqual(acknowledged)
    }
    const log = new AuditLog({ dir, sessionId: 'shared' })
    await log.append({ tool: 'last' })
    const report = await verifyAudit(log.path)
    expect(report).toMatchObject({ ok: true })
    expect(report.torn).toBeUndefined()
  }, 3_600_000)
})
