import {
  appendFileSync,
  chmodSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import fc from 'fast-check'
import { SpillwayError } from 'spillway'
import { repairToolPairs } from 'spillway/history'
import {
  entriesOnBranch,
  type GuardedSession,
  guardSession,
  JsonlSession,
  MemorySession,
  type Session,
  truncateOversizedToolResultsInSession,
} from 'spillway/session'
import { pairedFormats, written } from '../history/histories'
import { runChild } from '../support/child'
import { formats, type Message } from '../support/histories'
import { mounted, onUnix, traced } from '../support/only'
import { tempDir } from '../support/temp'

const RUNS = Number(process.env.SPILLWAY_PROPERTY_RUNS ?? 200)

const user = (content: string) => ({ type: 'message', message: { role: 'user', content } })
const contents = (session: Session) =>
  (session.entries() as readonly { message?: unknown }[]).map(
    ({ message }) => (message as Message | undefined)?.content,
  )

/** A file with these lines. */
function fileOf(lines: string[], end = '\n'): string {
  const file = join(tempDir(), 'session.jsonl')
  writeFileSync(file, lines.join('\n') + end)
  return file
}

const line = (id: string, parentId: string | null, content = id) =>
  JSON.stringify({ type: 'message', id, parentId, message: { role: 'user', content } })

it.each(['', 'a\0b', 5, null])('%j is not the file of a session', (file) => {
  expect(() => JsonlSession.open(file as never)).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'file' }),
  )
})

it('rejects an entry that does not serialize to an object, and leaves the file intact', () => {
  const file = join(tempDir(), 'session.jsonl')
  const session = JsonlSession.open(file)
  for (const json of [5, null, { type: 'x' }, { id: 'mine', parentId: null, type: 'x' }]) {
    expect(() => session.append({ type: 'message', toJSON: () => json })).toThrow(SpillwayError)
  }
  const id = session.append(user('a'))
  expect(session.entries()).toMatchObject([{ id, parentId: null }])
  const again = JsonlSession.open(file)
  expect(again.keptOriginal).toBeUndefined()
  expect(again.leaf()).toBe(id)
})

it("a file that others could read is the owner's alone once it is open", () => {
  const file = fileOf([line('a', null)])
  chmodSync(file, 0o644)
  JsonlSession.open(file).close()
  if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600)
})

describe.each([
  ['in memory', () => new MemorySession()],
  ['in a file', () => JsonlSession.open(join(tempDir(), 'session.jsonl'))],
])('a session %s', (_, open) => {
  it('is a tree to which entries are added', () => {
    const session = open()
    expect(session.leaf()).toBeNull()
    const a = session.append(user('a'))
    const b = session.append(user('b'))
    session.branch(a)
    const c = session.append(user('c'))
    session.branch(null)
    const d = session.append({ type: 'label', targetId: b, label: 'here' })
    expect(session.leaf()).toBe(d)
    expect(session.entries().map(({ id, parentId }) => [id, parentId])).toEqual([
      [a, null],
      [b, a],
      [c, a],
      [d, null],
    ])
  })

  it('rejects an invalid entry, and an invalid leaf', () => {
    const session = open()
    for (const work of [
      () => session.append(null as never),
      () => session.append({} as never),
      () => session.branch('x'),
    ]) {
      expect(work).toThrow(SpillwayError)
    }
    expect(session.entries()).toEqual([])
  })
})

describe('the file of a session', () => {
  it('is private, has an entry per line, and can be opened again', () => {
    const file = join(tempDir(), 'session.jsonl')
    const session = JsonlSession.open(file, { sync: true })
    const id = session.append(user('line one\nline two'))
    session.close()
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, 'utf8')).toBe(
      `${JSON.stringify({ ...user('line one\nline two'), id, parentId: null })}\n`,
    )
    const again = JsonlSession.open(file)
    expect(again).toMatchObject({ file, keptOriginal: undefined })
    expect(again.leaf()).toBe(id)
    expect(again.append(user('more'))).not.toBe(id)
    expect([session.isWritable, again.isWritable]).toEqual([false, true])
    expect(() => session.append(user('late'))).toThrow(expect.objectContaining({ code: 'CLOSED' }))
  })

  it('holds what two open sessions add, line by line', () => {
    const file = join(tempDir(), 'session.jsonl')
    const [one, two] = [JsonlSession.open(file), JsonlSession.open(file)]
    for (let n = 0; n < 20; n++) {
      one.append(user(`one ${n} ${'x'.repeat(5000)}`))
      two.append(user(`two ${n}`))
    }
    const again = JsonlSession.open(file)
    expect(again.entries()).toHaveLength(40)
    expect(again.keptOriginal).toBeUndefined()
  })

  it('is resumed with the entries on the way to its leaf', () => {
    const session = JsonlSession.open(join(tempDir(), 'session.jsonl'))
    const [first] = [session.append(user('one')), session.append(user('two'))]
    session.branch(first)
    session.append({ type: 'label', text: 'again' })
    session.append(user('three'))
    const again = JsonlSession.open(session.file)
    expect(entriesOnBranch(again.entries(), again.leaf()).map(({ type, message }) => message ?? type)).toEqual([
      { role: 'user', content: 'one' },
      'label',
      { role: 'user', content: 'three' },
    ])
    expect(entriesOnBranch(again.entries(), null)).toEqual([])
  })

  it.each<[string, unknown, unknown]>([
    ['entries', {}, null],
    ['entries[1]', [{ id: 'a', parentId: null, type: 'x' }, null], 'a'],
    ['entries[0]', [{}], null],
    ['leaf', [], 5],
    ['leaf', [{ id: 'a', parentId: null, type: 'x' }], 'b'],
  ])('has no branch where %s is wrong: %j, %j', (field, entries, leaf) => {
    expect(() => entriesOnBranch(entries as never, leaf as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', field }),
    )
  })

  it("reports the operating system's error", () => {
    expect(() => JsonlSession.open(join(tempDir(), 'missing', 'x'))).toThrow(
      expect.objectContaining({ code: 'STORAGE_WRITE', message: expect.stringContaining('ENOENT') }),
    )
    expect(() => JsonlSession.open(tempDir())).toThrow(expect.objectContaining({ code: 'STORAGE_READ' }))
    expect(() => new (JsonlSession as never as new (a: unknown) => unknown)(1)).toThrow('use JsonlSession.open(file)')
    const session = JsonlSession.open(join(tempDir(), 's'))
    const circle: Message = {}
    circle.self = circle
    expect(() => session.append({ type: 'message', message: circle })).toThrow('an entry that JSON can hold')
    expect(session.leaf()).toBeNull()
  })

  const damaged: [string, string[], string, object, unknown[], (string | null)[]][] = [
    ['a torn last line', [line('a', null), '{"type":"mess'], '', { tornLine: true, unreadable: 1 }, ['a'], [null]],
    [
      'a whole last line without an end',
      [line('a', null), line('b', 'a')],
      '',
      { tornLine: true },
      ['a', 'b'],
      [null, 'a'],
    ],
    [
      'garbage between',
      [line('a', null), '\0\0\0', '[1]', line('b', 'a')],
      '\n',
      { unreadable: 2 },
      ['a', 'b'],
      [null, 'a'],
    ],
    [
      'two entries in one line',
      [`${line('a', null)}${line('b', 'a')}`, line('c', 'b')],
      '\n',
      { unreadable: 1 },
      ['a', 'b', 'c'],
      [null, 'a', 'b'],
    ],
    [
      'the beginning of an entry before whole ones',
      [
        line('a', null),
        `${line('x', 'a').slice(0, -1)}${line('b', 'a')}\0${line('c', 'b').slice(0, -1)}`,
        line('d', 'b'),
      ],
      '\n',
      { unreadable: 1 },
      ['a', 'b', 'd'],
      [null, 'a', 'b'],
    ],
    [
      'a line of what an entry holds',
      [line('a', null), '{"type":"mess","content":[{"type":"tool_use","id":"t"}', line('b', 'a')],
      '\n',
      { unreadable: 1 },
      ['a', 'b'],
      [null, 'a'],
    ],
    [
      'a lost parent',
      [line('a', null), '{{{', line('c', 'b')],
      '\n',
      { lostParents: 1, unreadable: 1 },
      ['a', 'c'],
      [null, 'a'],
    ],
    [
      'a line that came twice',
      [line('a', null), line('a', null), line('b', 'a')],
      '\n',
      { repeated: 1 },
      ['a', 'b'],
      [null, 'a'],
    ],
    [
      'an entry that is its own parent',
      [line('a', null), line('b', 'b')],
      '\n',
      { lostParents: 1 },
      ['a', 'b'],
      [null, 'a'],
    ],
    [
      'two entries in a circle',
      [line('x', null), line('a', 'b'), line('b', 'a')],
      '\n',
      { lostParents: 1 },
      ['x', 'a', 'b'],
      [null, 'x', 'a'],
    ],
  ]
  test.each(damaged)('is repaired: %s', (_, lines, end, damage, texts, parents) => {
    const file = fileOf(lines, end)
    chmodSync(file, 0o644)
    const before = readFileSync(file)
    const session = JsonlSession.open(file)
    expect(session.damage).toMatchObject(damage)
    expect(contents(session)).toEqual(texts)
    expect(session.entries().map(({ parentId }) => parentId)).toEqual(parents)

    // The old file is kept beside it, and the new one is valid.
    expect(readFileSync(session.keptOriginal as string).equals(before)).toBe(true)
    expect(statSync(session.keptOriginal as string).mode & 0o777).toBe(0o600)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(dirname(file)).sort()).toEqual([basename(file), basename(session.keptOriginal as string)].sort())
    session.append(user('more'))
    const again = JsonlSession.open(file)
    expect(again.keptOriginal).toBeUndefined()
    expect(contents(again)).toEqual([...texts, 'more'])
  })

  const foreign: [string, string][] = [
    ['a table of users', 'root:x:0:0:root:/root:/bin/sh\nnobody:x:1:1::/:/bin/false\n'],
    ['a file of JSON', `${JSON.stringify({ name: 'app', type: 'module' }, undefined, 2)}\n`],
    ['one line of text', 'a note'],
    ['an audit log', '{"seq":1,"type":"decision","writer":"w"}\n{"seq":2,"type":"decision","writer":"w"}\n'],
    ['a transcript of another agent', '{"type":"user","message":{"role":"user"},"uuid":"u","parentUuid":null}\n'],
    ['bytes that are no text', '\ufffd\0\u0001\n'],
  ]
  test.each(foreign)('is refused and stays as it is if it is no session: %s', (_, text) => {
    const file = fileOf([text], '')
    chmodSync(file, 0o644)
    expect(() => JsonlSession.open(file)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'file', message: expect.stringContaining(file) }),
    )
    expect(readFileSync(file, 'utf8')).toBe(text)
    expect(statSync(file).mode & 0o777).toBe(0o644)
    expect(readdirSync(dirname(file))).toEqual([basename(file)])
  })

  const lost: [string, string][] = [
    ['the beginning of its first entry', '{"type":"mess'],
    ['zero bytes of a power cut', '\0\0\0\0'],
    ['blank lines', '\n \n'],
  ]
  test.each(lost)('is opened if it has nothing but %s', (_, text) => {
    const session = JsonlSession.open(fileOf([text], ''))
    session.append(user('first'))
    expect(contents(JsonlSession.open(session.file))).toEqual(['first'])
  })

  describe('on a file system that takes nothing', () => {
    /** Opens the session in the folder and says what came of it. */
    const TRY = `
      const { JsonlSession } = subpath('session')
      const fs = require('node:fs')
      const file = input + '/s.jsonl'
      const attempt = (work) => { try { return work() } catch (error) { return error.code + ' ' + /E[A-Z]{4,}/.exec(error.message) } }
      const add = (session, content) => attempt(() => typeof session.append({ type: 'message', message: { role: 'user', content } }))
      const reopened = () => {
        const session = JsonlSession.open(file)
        return { session, contents: session.entries().map(({ message }) => message.content.slice(0, 9)), kept: session.keptOriginal !== undefined }
      }
      const remount = (how) => require('node:child_process').execFileSync('mount', ['-o', 'remount,' + how, input])
    `
    const run = <T>(body: string, size: string) => {
      const dir = tempDir()
      const mount = `mount -t tmpfs -o size=${size} none $0 && exec "$@"`
      return runChild<T>(TRY + body, { input: dir, under: ['unshare', '-m', 'sh', '-c', mount, dir] })
    }

    mounted('a session that is sound, or damaged, can be read where it cannot be written', () => {
      const told = run(
        `const { session } = reopened()
         add(session, 'one')
         session.close()
         remount('ro')
         const sound = reopened()
         const readOnly = [sound.contents, add(sound.session, 'two'), attempt(() => JsonlSession.open(input + '/new.jsonl'))]
         remount('rw')
         fs.appendFileSync(file, '{"type":"mess')
         remount('ro')
         const torn = reopened()
         answer([...readOnly, torn.contents, torn.session.damage.tornLine, torn.kept, add(torn.session, 'two')])`,
        '1m',
      )
      const refused = 'STORAGE_WRITE EROFS'
      expect(told).toEqual([['one'], refused, refused, ['one'], true, false, refused])
    })

    mounted('a session that needs ids of its own is only read, and says so until it is closed', () => {
      const told = run(
        `fs.writeFileSync(file, ${JSON.stringify(`${line('a', null)}\n${line('a', null, 'again')}\n`)})
         remount('ro')
         const { session, contents } = reopened()
         const before = [contents, session.isWritable, add(session, 'more')]
         session.close()
         const after = add(session, 'more')
         remount('rw')
         answer([...before, after, reopened().session.isWritable])`,
        '1m',
      )
      expect(told).toEqual([['a', 'again'], false, 'STORAGE_WRITE EROFS', 'CLOSED null', true])
    })

    mounted('a session whose disk was full can be opened, and goes on where there is room again', () => {
      const told = run(
        `fs.writeFileSync(input + '/ballast', Buffer.alloc(65_536))
         const { session } = reopened()
         const long = 'long '.repeat(1000)
         let failed
         for (let at = 0; at < 1000 && !String(failed).startsWith('STORAGE'); at++) failed = add(session, long)
         const whole = session.entries().length
         const full = reopened()
         const counts = [full.contents.length === whole, full.session.damage.tornLine, full.kept, add(full.session, long)]
         fs.rmSync(input + '/ballast')
         add(session, 'here')
         add(full.session, 'there')
         const again = JsonlSession.open(file)
         answer([failed, ...counts, again.entries().slice(whole).map(({ message }) => message.content), again.damage.tornLine])`,
        '256k',
      )
      const refused = 'STORAGE_WRITE ENOSPC'
      expect(told).toEqual([refused, true, true, false, refused, ['here', 'there'], false])
    })
  })

  it('gives the second of two entries with one id another, and its followers with it', () => {
    const session = JsonlSession.open(
      fileOf([line('a', null), line('b', 'a', 'first'), line('b', 'a', 'second'), line('c', 'b')]),
    )
    const [, first, second, last] = session.entries()
    expect(session.damage.duplicateIds).toBe(1)
    expect([first?.id, second?.parentId]).toEqual(['b', 'a'])
    expect(last?.parentId).toBe(second?.id)
    expect(second?.id).not.toBe('b')
  })

  it('keeps the first line of other agents, and is not damaged by it', () => {
    const header = '{"type":"session","version":3,"id":"s","cwd":"/"}'
    const file = fileOf([header, line('a', null)])
    expect(JsonlSession.open(file).keptOriginal).toBeUndefined()
    appendFileSync(file, 'torn')
    const session = JsonlSession.open(file)
    expect(contents(session)).toEqual(['a'])
    expect(readFileSync(file, 'utf8').split('\n')[0]).toBe(header)
  })

  it.each([
    ['a byte order mark, as editors put one there', ['\ufeff', line('a', null), '\n', line('b', 'a'), '\n']],
    ['zeros, as a power cut leaves them', [line('a', null), '\n', '\0'.repeat(9), line('b', 'a'), '\n']],
  ])('reads the entries after %s', (_, pieces) => {
    const session = JsonlSession.open(fileOf([pieces.join('')], ''))
    expect(contents(session)).toEqual(['a', 'b'])
    expect(session.entries().map(({ parentId }) => parentId)).toEqual([null, 'a'])
  })

  it.each([
    ['toString', { toString: null }],
    ['a list', [{ toString: null }]],
  ])('gives a record a type if that is no text: %s', (_, type) => {
    const record = JSON.stringify({ type, id: 'b', parentId: 'a' })
    const session = JsonlSession.open(fileOf([line('a', null), record, 'torn']))
    expect(session.entries().map(({ type }) => type)).toEqual(['message', 'unknown'])
  })

  onUnix('is repaired where a link leads to', () => {
    const file = fileOf([line('a', null), 'torn'])
    const link = join(tempDir(), 'link.jsonl')
    symlinkSync(file, link)
    const session = JsonlSession.open(link)
    session.append(user('b'))
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    expect(contents(JsonlSession.open(file))).toEqual(['a', 'b'])
    expect(JsonlSession.open(link).keptOriginal).toBeUndefined()
    expect(readFileSync(session.keptOriginal as string, 'utf8')).toMatch(/torn\n$/)
  })

  it('loses no readable entry after any damage', () => {
    const id = fc.constantFrom('a', 'b', 'c', 'd')
    const entry = fc
      .tuple(id, fc.option(id, { nil: null }), fc.nat(1000))
      .map(([id, parent, n]) => line(id, parent, `text ${n}`))
    const piece = fc.oneof(
      { weight: 4, arbitrary: entry },
      // A record without an id of its own gets one, beside entries.
      { weight: 1, arbitrary: fc.constantFrom('', '{', 'null', '"x"', '{"id":5}', '{"id":{"toString":null}}') },
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.boolean(), (lines, torn) => {
        const file = fileOf(lines, torn ? '' : '\n')
        // No entry and no beginning of one: a file of another kind, which stays as it is.
        if (!lines.some((text) => text.includes('text ')) && lines.some((text) => !/^{?$/.test(text))) {
          const before = readFileSync(file, 'utf8')
          expect(() => JsonlSession.open(file)).toThrow(/no line is an entry/)
          expect(readFileSync(file, 'utf8')).toBe(before)
          return
        }
        const session = JsonlSession.open(file)
        const given = new Set(
          lines.filter((text) => text.includes('text ')).map((text) => JSON.parse(text).message.content),
        )
        expect(new Set(contents(session).filter((text) => text !== undefined))).toEqual(given)
        const entries = session.entries()
        const ids = new Set(entries.map(({ id }) => id))
        expect(ids.size).toBe(entries.length)
        for (const entry of entries) {
          let up = entry.parentId
          for (let steps = 0; up !== null; steps++) {
            expect(steps).toBeLessThan(entries.length)
            expect(ids).toContain(up)
            up = entries.find(({ id }) => id === up)?.parentId as string | null
          }
        }
        session.close()
        const again = JsonlSession.open(file)
        expect(again.keptOriginal).toBeUndefined()
        expect(again.entries()).toEqual(entries)
        again.close()
      }),
      { numRuns: RUNS },
    )
  })
})

traced('an entry whose sync failed was added, and the error says so', () => {
  const file = join(tempDir(), 'session.jsonl')
  const found = runChild<string[]>(
    `const session = subpath('session').JsonlSession.open(input, { sync: true })
     const found = []
     for (let n = 0; n < 2; n += 1) {
       try { session.append({ type: 'message', message: n }) } catch (error) { found.push(error.code, error.message) }
     }
     answer([...found, ...session.entries().map(({ message }) => message)])`,
    { input: file, under: ['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'inject=fsync:error=EIO:when=1'] },
  )
  expect(found).toEqual(['STORAGE_WRITE', expect.stringMatching(/ was added, .*EIO/), 0, 1])
  expect(JsonlSession.open(file).entries()).toHaveLength(2)
})

describe('a session that is truncated', () => {
  it('continues from a branch, in a file too, and the old branch stays', async () => {
    const file = join(tempDir(), 'session.jsonl')
    const session = JsonlSession.open(file)
    for (const message of (formats.chat as (typeof formats)[string]).build([
      { user: 'go', results: ['x'.repeat(500_000)], answer: 'done' },
    ])) {
      session.append({ type: 'message', message })
    }
    const before = readFileSync(file, 'utf8')
    const done = await truncateOversizedToolResultsInSession({ session, contextWindowTokens: 128_000 })
    expect(done).toMatchObject({ truncated: true, truncatedCount: 1 })
    expect(Object.keys(done.replayed ?? {})).toHaveLength(2)
    expect(readFileSync(file, 'utf8').startsWith(before)).toBe(true)
    const again = JsonlSession.open(file)
    const [answer, result] = again.entries().toReversed()
    expect(answer?.parentId).toBe(result?.id)
    expect(result?.parentId).toBe(again.entries()[1]?.id)
    expect((result?.message as Message | undefined)?.content).toHaveLength(153_600)
  })

  it('never throws', async () => {
    for (const params of [
      undefined,
      {},
      { session: {}, contextWindowTokens: 5 },
      { session: new MemorySession(), contextWindowTokens: -1 },
    ]) {
      const done = await truncateOversizedToolResultsInSession(params as never)
      expect(done).toMatchObject({ truncated: false, truncatedCount: 0, reason: expect.any(String) })
    }
  })
})

describe('a guarded session', () => {
  const call = (...ids: string[]) => {
    const calls = ids.map((id) => ({ id, function: { name: 'bash', arguments: '{}' } }))
    return { type: 'message', message: { role: 'assistant', content: null, tool_calls: calls } }
  }

  const result = (id: string) => ({ type: 'message', message: { role: 'tool', tool_call_id: id, content: 'fine' } })

  it('makes up results in the format of the calls, and not for answers that were interrupted', async () => {
    const session = new MemorySession()
    const guard = guardSession(session)
    await guard.append(call('a'))
    expect(guard.pending()).toEqual(['a'])
    await guard.append(user('never mind'))
    expect(session.entries().map(({ message }) => message)).toMatchObject([
      {},
      { role: 'tool', tool_call_id: 'a', content: expect.stringContaining('missing tool result') },
      { role: 'user' },
    ])
    const aborted = {
      role: 'assistant',
      stopReason: 'aborted',
      content: [{ type: 'toolCall', id: 'b', name: 'x', arguments: {} }],
    }
    await guard.append({ type: 'message', message: aborted })
    expect(guard.pending()).toEqual([])
  })

  it.each(pairedFormats)('makes them up as %s has them, and not before all calls are there', async (name) => {
    const calls = ['a', 'b'].map((id) => ({ id, name: 'bash' }))
    const results = calls.map((one) => ({ ...one, text: 'fine', isError: false, image: false }))
    for (const [came, missing] of [
      [results, 0],
      [[], 2],
      [results.slice(0, 1), 1],
    ] as const) {
      const conversation = written(name, [
        { kind: 'user', text: 'go' },
        { kind: 'calls', text: '', calls },
        { kind: 'results', results: [...came] },
        { kind: 'user', text: 'never mind' },
      ])
      const session = new MemorySession()
      const guard = guardSession(session)
      for (const message of conversation) await guard.append({ type: 'message', message })
      const messages = session.entries().map(({ message }) => message)
      expect(JSON.stringify(messages).split('missing tool result')).toHaveLength(missing + 1)
      const repaired = repairToolPairs(messages, { format: name })
      expect(JSON.stringify(repaired).split('missing tool result')).toHaveLength(missing + 1)
      if (missing !== 1) expect(repaired).toBe(messages)
    }
  })

  it.each(pairedFormats)('keeps a result that comes too late out of the history of %s', async (name) => {
    const calls = ['a', 'b'].map((id) => ({ id, name: 'bash' }))
    const results = calls.map((one) => ({ ...one, text: `late ${one.id}`, isError: false, image: false }))
    const conversation = written(name, [
      { kind: 'user', text: 'go' },
      { kind: 'calls', text: '', calls },
      { kind: 'user', text: 'never mind' },
      { kind: 'results', results },
      { kind: 'user', text: 'go on' },
    ])
    const session = new MemorySession()
    const guard = guardSession(session)
    for (const message of conversation) await guard.append({ type: 'message', message })
    const of = (type: string) => session.entries().filter((entry) => entry.type === type)
    const messages = of('message').map(({ message }) => message)
    expect(repairToolPairs(messages, { format: name })).toBe(messages)
    expect(JSON.stringify(messages)).not.toContain('late')
    expect(JSON.stringify(of('late_result'))).toMatch(/late a.*late b/)
  })

  it.each<[string, (session: MemorySession, guard: GuardedSession) => Promise<GuardedSession>]>([
    [
      'branching to the same leaf',
      async (session, guard) => {
        await guard.branch(session.leaf())
        return guard
      },
    ],
    ['another guard of the session', async (session) => guardSession(session)],
    [
      'truncating other results on a new branch',
      async (_, guard) => {
        const done = await truncateOversizedToolResultsInSession({ session: guard, contextWindowTokens: 1000 })
        expect(done.truncatedCount).toBe(1)
        return guard
      },
    ],
  ])('recognises a result that comes too late after %s', async (_, after) => {
    const session = new MemorySession()
    const guard = guardSession(session)
    await guard.append(call('long'))
    await guard.append({ type: 'message', message: { ...result('long').message, content: 'x'.repeat(9000) } })
    await guard.append(call('a'))
    await guard.append(user('never mind'))
    const same = await after(session, guard)
    for (const _ of [1, 2]) await same.append(result('a'))
    await same.append(call('b'))
    await same.append(result('b'))
    const branch = entriesOnBranch(session.entries(), session.leaf())
    expect(branch.slice(-4).map(({ type }) => type)).toEqual(['late_result', 'late_result', 'message', 'message'])
    expect(branch.filter(({ synthetic }) => synthetic === true)).toMatchObject([{ message: { tool_call_id: 'a' } }])
  })

  it('recognises by its place one without an id that comes too late', async () => {
    const session = new MemorySession()
    const guard = guardSession(session)
    const add = (role: string, ...parts: object[]) => guard.append({ type: 'message', message: { role, parts } })
    const use = { functionCall: { name: 'bash', args: {} } }
    const answer = (output: string) => ({ functionResponse: { name: 'bash', response: { output } } })
    await add('model', use)
    await add('user', { text: 'never mind' })
    await add('model', use)
    await add('user', answer('of the first'), answer('of the second'))
    expect(session.entries().slice(-2)).toMatchObject([
      { type: 'late_result', message: { parts: [answer('of the first')] } },
      { type: 'message', message: { parts: [answer('of the second')] } },
    ])
    expect(guard.pending()).toEqual([])
  })

  it('takes one without an id for the first call that waits', async () => {
    const guard = guardSession(new MemorySession())
    const add = (role: string, ...parts: object[]) => guard.append({ type: 'message', message: { role, parts } })
    const use = (id: string) => ({ functionCall: { id, name: 'read', args: {} } })
    await add('model', use('a'), use('b'))
    await add('user', { functionResponse: { name: 'read', response: { output: 'x' } } })
    expect(guard.pending()).toEqual(['b'])
  })

  it.each<[string, (session: MemorySession) => Promise<GuardedSession> | GuardedSession]>([
    ['a restart', (session) => guardSession(session)],
    [
      'branching back',
      async (session) => {
        const guard = guardSession(session)
        const called = session.leaf()
        await guard.append(result('a'))
        await guard.append(result('b'))
        await guard.branch(called)
        return guard
      },
    ],
  ])('answers the calls that were open before %s', async (_, reopened) => {
    for (const next of [user('never mind'), result('b')]) {
      const session = new MemorySession()
      session.append(user('go'))
      session.append(call('a', 'b'))
      const guard = await reopened(session)
      await guard.append(next)
      await guard.flush()
      const added = entriesOnBranch(session.entries(), session.leaf()).slice(2)
      const ids = added.map(({ message }) => (message as { tool_call_id?: string }).tool_call_id)
      expect(ids).toEqual(next.message.role === 'user' ? ['a', 'b', undefined] : ['b', 'a'])
      expect(guard.pending()).toEqual([])
    }
  })

  it('counts no result of another call for one without an id', async () => {
    const guard = guardSession(new MemorySession())
    const add = (role: string, ...parts: object[]) => guard.append({ type: 'message', message: { role, parts } })
    const answer = (id?: string) => ({ functionResponse: { id, name: 'read', response: { output: 'x' } } })
    await add('model', { functionCall: { id: 'a', name: 'read', args: {} } })
    await add('user', answer(), answer('of no call'))
    expect(guard.pending()).toEqual([])
  })

  it('takes results of calls that have one out of a message, and of no other branch or call', async () => {
    const session = new MemorySession()
    const guard = guardSession(session)
    const add = (role: string, ...content: object[]) => guard.append({ type: 'message', message: { role, content } })
    const use = (id: string) => ({ type: 'tool_use', id, name: 'bash', input: {} })
    const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: `of ${id}` })
    const called = await add('assistant', use('a'))
    await add('user', { type: 'text', text: 'never mind' })
    await add('assistant', use('b'))
    await add('user', result('a'), result('b'), { type: 'text', text: 'and more' })
    expect(session.entries().slice(-2)).toMatchObject([
      { type: 'late_result', message: { role: 'user', content: [result('a')] } },
      { type: 'message', message: { role: 'user', content: [result('b'), { type: 'text', text: 'and more' }] } },
    ])
    // The same id again is another call, and the first one has no result on a branch that begins at it.
    await add('assistant', use('a'))
    await add('user', result('a'))
    expect(session.entries().at(-1)).toMatchObject({ type: 'message' })
    await guard.branch(called)
    await add('user', result('a'))
    expect(session.entries().at(-1)).toMatchObject({ type: 'message', parentId: called })
  })

  it('writes in the order of the calls, although hooks take their time, and survives a hook that throws', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const session = new MemorySession()
    const guard = guardSession(session, {
      transform: async (message) => {
        const { content } = message as { content: string }
        if (content === 'one') await new Promise((done) => setImmediate(done))
        if (content === 'two') throw new Error('no')
        return message
      },
    })
    await Promise.all(['one', 'two', 'three'].map((text) => guard.append(user(text))))
    expect(contents(session)).toEqual(['one', 'two', 'three'])
    expect(warned).toHaveBeenCalledTimes(1)
    warned.mockRestore()
  })

  const rolesIn = (session: Session) =>
    (session.entries() as readonly { message?: unknown }[]).map(({ message }) => (message as { role: string }).role)

  it('makes up no result of a call that was not written, and one for a call whose result was not', async () => {
    for (const [blocked, roles] of [
      [call('a').message, ['user']],
      [result('a').message, ['assistant', 'tool', 'user']],
    ] as const) {
      const session = new MemorySession()
      const beforeWrite = (message: unknown) => (message === blocked ? { block: true } : undefined)
      const guard = guardSession(session, { beforeWrite })
      await guard.append(blocked.role === 'tool' ? call('a') : { type: 'message', message: blocked })
      if (blocked.role === 'tool') await guard.append({ type: 'message', message: blocked })
      await guard.append(user('go on'))
      expect(rolesIn(session)).toEqual(roles)
    }
  })

  it('waits for what was written, and makes up what could not be written when it can', async () => {
    const session = new MemorySession()
    let full = false
    const append = (entry: Parameters<Session['append']>[0]) => {
      if (full) throw new Error('no space left')
      return session.append(entry)
    }
    const guard = guardSession({
      append,
      entries: () => session.entries(),
      leaf: () => session.leaf(),
      branch: (id) => session.branch(id),
    })
    full = true
    await expect(guard.append(call('never'))).rejects.toThrow('no space left')
    expect(guard.pending()).toEqual([])
    full = false
    await guard.append(call('a'))
    full = true
    await expect(guard.append(result('a'))).rejects.toThrow('no space left')
    await expect(guard.append(user('go on'))).rejects.toThrow('no space left')
    expect(guard.pending()).toEqual(['a'])
    full = false
    await guard.append(user('go on'))
    expect(rolesIn(session)).toEqual(['assistant', 'tool', 'user'])
    expect(guard.pending()).toEqual([])
  })

  it('gives names of tools that a provider takes, and leaves the message of the caller alone', async () => {
    const session = new MemorySession()
    const message = Object.freeze({ role: 'toolResult', toolCallId: 'a', toolName: 'n'.repeat(300), content: [] })
    await guardSession(session).append({ type: 'message', message })
    expect((session.entries()[0]?.message as Message | undefined)?.toolName).toBe('n'.repeat(200))
    expect(() => guardSession(session, { maxToolResultChars: -1 })).toThrow(
      'Invalid option "maxToolResultChars": expected a number of at least 0, received -1',
    )
    expect(() => guardSession({} as never)).toThrow('Invalid option "session": expected a session, received an object')
  })
})
