import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BINARY } from '../support/binary'
import { endChild } from '../support/child'
import { tempDir } from '../support/temp'

const ROOT = join(__dirname, '..', '..')
const NODE = join(ROOT, 'src', 'node')

/** Returns the unguarded parts of a binding's file: an export that lets a panic out, or work that is not a `Job`. */
function unguarded(source: string): string[] {
  const found: string[] = []
  for (const [, attribute = '', item = ''] of source.matchAll(
    /#\[napi(\([^\]]*\))?\]\s*((?:#\[[^\]]*\]\s*)*(?:pub(?:\([a-z]+\))?\s+)?(?:async\s+)?(?:fn|struct|impl|enum)\s*\w*)/g,
  )) {
    if (/\b(struct|enum)\b/.test(item)) continue
    if (!/\bcatch_unwind\b/.test(attribute) || /\b(impl|async)\b/.test(item)) found.push(item.trim())
  }
  for (const [task] of source.matchAll(/AsyncTask<(?!Job<)[^>]*>/g)) found.push(task)
  for (const [other] of source.matchAll(/ThreadsafeFunction|thread::spawn|spawn_blocking|tokio/g)) found.push(other)
  return found
}

const files = readdirSync(NODE).filter((name) => name.endsWith('.rs'))

describe('B30 every entry of the binary is guarded', () => {
  test.each(files)('%s', (name) => {
    expect(unguarded(readFileSync(join(NODE, name), 'utf8'))).toEqual([])
  })

  test('there is one kind of background work, and it catches panics', () => {
    const tasks = files.filter((name) => /\bTask\s+for\b/.test(readFileSync(join(NODE, name), 'utf8')))
    expect(tasks).toEqual(['task.rs'])
    expect(readFileSync(join(NODE, 'task.rs'), 'utf8')).toMatch(/fn compute[\s\S]*catch_panic\(work\)/)
    expect(readFileSync(join(ROOT, 'src/error.rs'), 'utf8')).toMatch(/fn catch_panic[\s\S]*catch_unwind\(/)
    expect(readFileSync(join(ROOT, 'Cargo.toml'), 'utf8')).not.toMatch(/panic\s*=\s*"abort"/)
  })

  const planted: [string, string][] = [
    ['an export without a guard', '#[napi]\npub fn f() {}'],
    ['one with other options', '#[napi(ts_return_type = "x")]\npub fn f() {}'],
    ['an asynchronous one', '#[napi(catch_unwind)]\npub async fn f() {}'],
    ['a class', '#[napi]\nimpl Store {}'],
    ['work that is not a job', 'fn f() -> AsyncTask<Other> {}'],
    ['a thread', 'fn f() { std::thread::spawn(g); }'],
  ]
  test.each(planted)('the look finds %s', (_what, source) => {
    expect(unguarded(source)).toHaveLength(1)
  })

  // Electron forbids memory of a binary's own behind a JavaScript buffer, and then each would be copied once more. Numbers are
  // copied into an array that the engine made.
  const COPIED = ['pairsExtend', 'textsTokens']
  test('no export gives back a buffer or a typed array of its own memory', () => {
    const answers = readFileSync(join(ROOT, 'binding.d.ts'), 'utf8').matchAll(
      /^export declare function (\w+)\(.*\): (.*)$/gm,
    )
    const memory = /\b(Buffer|ArrayBuffer|SharedArrayBuffer|DataView|(?:Big)?(?:Int|Uint|Float)\d+(?:Clamped)?Array)\b/
    const found = [...answers].map(([, name, type = '']) => ({ name, type }))
    expect(found.length).toBeGreaterThan(20)
    expect(found.filter(({ name, type }) => memory.test(type) && !COPIED.includes(name ?? ''))).toEqual([])
    for (const name of files) {
      const source = readFileSync(join(NODE, name), 'utf8')
      const returned = source.match(/->[^{;]*\b(\w*ArraySlice|BufferSlice|Buffer|\w+Array)\b[^{;]*[{;]/g) ?? []
      expect(returned).toHaveLength(source.match(/\bUint32ArraySlice::copy_from\(/g)?.length ?? 0)
      expect(source).not.toMatch(/(Slice|Array|Buffer)::(from_data|from_external|new|empty)\(/)
      expect(source).not.toMatch(/napi_create_(external_)?(array)?buffer|create_buffer|create_external/)
    }
  })

  test('all exports are looked at', () => {
    const exported = (readFileSync(join(ROOT, 'binding.d.ts'), 'utf8').match(/^export declare function/gm) ?? []).length
    const guarded = files.map(
      (name) => readFileSync(join(NODE, name), 'utf8').match(/#\[napi\(catch_unwind/g)?.length ?? 0,
    )
    expect(exported).toBeGreaterThan(20)
    expect(guarded.reduce((sum, count) => sum + count, 0)).toBe(exported)
  })
})

test('B29 an entry of the binary answers or throws for any arguments, and the process continues', () => {
  const { status, signal, stdout, stderr } = endChild(
    `const binding = require(input.binding)
     const handles = () => {
       const settings = binding.settingsOpen(JSON.stringify({ storageDirs: [input.dir] }))
       const store = binding.storeOpen(settings)
       const limits = { maxLines: 1, maxBytes: 1, direction: 'head', lineRule: 'terminated' }
       return [settings, store, binding.intakeOpen(settings, JSON.stringify({ limits }))]
     }
     const odd = [undefined, null, true, 0, -1, NaN, Infinity, 2 ** 53, 1n, '', '{}', '[]', '{"limits":{}}', '\\0', '\\ud800',
       'x'.repeat(1e5), [], ['x'], [null], {}, Object.create(null), () => {}, Symbol('x'), new Uint8Array(0), new Uint8Array(9),
       new Uint16Array(3), new Date(NaN), Promise.resolve(), new Proxy({}, {}), Buffer.alloc(10)]
     let seed = 7
     const next = (most) => (seed = (seed * 48271) % 2147483647) % most
     let [answered, threw, views] = [0, 0, []]
     for (const [name, entry] of Object.entries(binding)) {
       // Its purpose is to end the process.
       if (typeof entry !== 'function' || name === 'deadlineStart') continue
       for (let round = 0; round < 60; round += 1) {
         const values = [...odd, ...handles()]
         const args = Array.from({ length: next(6) }, () => values[next(values.length)])
         try {
           const answer = entry(...args)
           answered += 1
           if (ArrayBuffer.isView(answer) || answer instanceof ArrayBuffer) views.push(name)
           await Promise.race([Promise.resolve(answer).catch(() => {}), new Promise(setImmediate)])
         } catch (error) {
           threw += 1
         }
       }
     }
     const path = await new spillway.TruncationStorage(input.dir).save('still here', { toolName: 'x' })
     answer([answered > 100, threw > 100, views, await new spillway.TruncationStorage(input.dir).read(path)])
     process.exit(0)`,
    // Some of the odd values are taken for the name of a file.
    { input: { binding: BINARY, dir: tempDir() }, cwd: tempDir() },
  )
  expect({ status, signal, stdout, stderr }).toMatchObject({ status: 0, stdout: '[true,true,[],"still here"]' })
})
