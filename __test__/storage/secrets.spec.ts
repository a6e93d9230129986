import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AuditLog, MemoryStorage, TruncationService, TruncationStorage } from 'spillway'
import { cut } from '../support/outputs'
import { tempDir } from '../support/temp'

/** Texts by what they show. `⟦…⟧` is a secret; a `·` only keeps scanners from taking an example for a secret that was leaked here. */
const table: Record<'secrets' | 'harmless', Record<string, string[]>> = JSON.parse(
  readFileSync(join(__dirname, 'secrets.json'), 'utf8'),
)
const groups = (kind: 'secrets' | 'harmless') => Object.entries(table[kind])

const plain = (row: string) => row.replaceAll(/[⟦⟧·]/g, '')
const expected = (row: string) =>
  row
    .replaceAll('·', '')
    .replaceAll(/⟦([^⟧]*)⟧/g, (_, secret: string) =>
      secret.replaceAll(/[^\r\n]/gu, (letter) => '*'.repeat(Buffer.byteLength(letter))),
    )

describe('secrets of a known shape', () => {
  test.each(groups('secrets'))('are not saved: %s', async (_, rows) => {
    const storage = new MemoryStorage({ redact: { known: true } })
    for (const row of rows)
      expect(await storage.read(await storage.save(plain(row), { toolName: 'x' }))).toBe(expected(row))
  })

  test.each(groups('harmless'))('are not seen in %s', async (_, rows) => {
    const storage = new MemoryStorage({ redact: { known: true } })
    for (const row of rows) expect(await storage.read(await storage.save(row, { toolName: 'x' }))).toBe(row)
  })

  test('are not in an audit log', async () => {
    const rows = groups('secrets').flatMap(([, rows]) => rows)
    const log = new AuditLog({ dir: tempDir(), sessionId: 'session' })
    for (const row of rows) await log.append({ output: plain(row) })
    await log.close()
    const records = readFileSync(log.path, 'utf8').trim().split('\n')
    expect(records.map((line) => JSON.parse(line).output)).toEqual(rows.map(expected))
  })

  test('are found wherever a chunk or a window ends', async () => {
    const rows = groups('secrets').flatMap(([, rows]) => rows)
    const filler = `${'some text without anything in it. '.repeat(40)}\n`
    const text = rows.map((row) => `${row}\n${filler.repeat(1 + (row.length % 5))}`).join('')
    const storage = new TruncationStorage({ storageDirs: [tempDir()] })
    const service = new TruncationService({ storage, redact: { known: true } })
    const whole = cut(await service.output(plain(text), { toolName: 'x' }))
    expect((await storage.read(whole.outputPath)) === expected(text)).toBe(true)
    for (const size of [7, 4711, 65_536]) {
      const capture = service.capture({ toolName: 'x' })
      const bytes = Buffer.from(plain(text))
      for (let at = 0; at < bytes.length; at += size) capture.write(bytes.subarray(at, at + size))
      capture.end()
      const split = cut(await capture.result)
      expect(split.redactions).toBe(whole.redactions)
      expect((await storage.read(split.outputPath)) === expected(text)).toBe(true)
    }
  })
})

describe('secrets in the values of an audit record', () => {
  const stars = (count: number) => '*'.repeat(count)
  test.each<[string, unknown, unknown]>([
    ['an argument of an option', ['mysql', '--password', 'hunter'], ['mysql', '--password', stars(6)]],
    ['an argument of a program', ['mysql', '-uroot', '-phunter'], ['mysql', '-uroot', `-p${stars(6)}`]],
    ['a user and a password', ['curl', '-u', 'me:hunter'], ['curl', '-u', `me:${stars(6)}`]],
    ['a name and a value', { name: 'DB_PASSWORD', value: 'x' }, { name: 'DB_PASSWORD', value: '*' }],
    ['a number', { password: 12345678901 }, { password: stars(11) }],
    ['a big number', { password: 12345678901n }, { password: { $value: stars(12) } }],
    ['a map', new Map([['password', 'x']]), { $map: [['password', '*']] }],
    ['a set', { password: new Set(['x']) }, { password: { $set: ['*'] } }],
    ['headers', { 'x-api-key': 'abc', Authorization: 'abc' }, { 'x-api-key': stars(3), Authorization: stars(3) }],
    ['a list of headers', ['Authorization', 'abc', 'Accept', 'x'], ['Authorization', stars(3), 'Accept', 'x']],
    [
      'an environment',
      { env: { SECRET_KEY_BASE: 'abc', PWD: '/x' } },
      { env: { SECRET_KEY_BASE: stars(3), PWD: '/x' } },
    ],
    ['nothing else', { tokens: 5, key: 'a', name: 'x', value: 'y' }, { tokens: 5, key: 'a', name: 'x', value: 'y' }],
  ])('%s', async (_, args, redacted) => {
    const log = new AuditLog({ dir: tempDir(), sessionId: 'session' })
    await log.append({ args })
    await log.close()
    expect(JSON.parse(readFileSync(log.path, 'utf8')).args).toEqual(redacted)
  })
})
