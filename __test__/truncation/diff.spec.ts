import fc from 'fast-check'
import type { TruncationConfig } from 'spillway'
import { BaseTruncationStrategy, containsTruncationMarker, DiffStrategy } from 'spillway/truncation'
import { cut, makeService } from '../support/outputs'

interface File {
  name: string
  hunks: number
  lines: number
}

/** Output of `git diff` for files with added lines, and half as many removed. */
function diffOf(files: readonly File[]): string {
  return files
    .map(({ name, hunks, lines }) => {
      const head = `diff --git a/${name} b/${name}\nindex 1111111..2222222 100644\n--- a/${name}\n+++ b/${name}\n`
      const half = Math.floor(lines / 2)
      const bodies = Array.from({ length: hunks }, (_, hunk) => {
        const removed = Array.from({ length: half }, (_, line) => `--- old ${line}\n`).join('')
        const added = Array.from({ length: lines }, (_, line) => `+++ new ${line}\n`).join('')
        return `@@ -${hunk * 50 + 1},${half + 2} +${hunk * 50 + 1},${lines + 2} @@ f${hunk}()\n a\n${removed}${added} b\n`
      })
      return head + bodies.join('')
    })
    .join('')
}

const FILES = Array.from({ length: 40 }, (_, n) => ({ name: `src/f${n}.ts`, hunks: 3, lines: 20 }))

/** Where counting on from a gap leads, for every line of a preview; and the sums of what is shown and of what gaps count. */
function follow(preview: string, text: string): { added: number; removed: number } {
  const lines = text.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  const sums = { added: 0, removed: 0 }
  let next = 0
  for (const line of preview.split('\n')) {
    const gap = /^\.\.\.(\d+) lines truncated: (\d+)-(\d+)(?:, \+(\d+) -(\d+)(?:, \d+ files not shown)?)?\.\.\.$/.exec(
      line,
    )
    if (gap) {
      const [count, from, to, added = 0, removed = 0] = gap.slice(1).map((number) => Number(number ?? 0))
      expect([from, count]).toEqual([next + 1, to! - from! + 1])
      expect(containsTruncationMarker(line)).toBe(true)
      sums.added += added
      sums.removed += removed
      next = to!
      continue
    }
    expect(line.endsWith('…') ? lines[next]!.startsWith(line.slice(0, -1)) : lines[next] === line).toBe(true)
    if (line.startsWith('+++ new')) sums.added += 1
    if (line.startsWith('--- old')) sums.removed += 1
    next += 1
  }
  expect(next).toBe(lines.length)
  return sums
}

describe('diff', () => {
  it('names every file and the heads of hunks before it shows hunks, and counts what is missing', async () => {
    const text = diffOf(FILES)
    const service = makeService({ strategy: 'diff', global: { maxBytes: 9000 } })
    const result = cut(await service.output(text, { toolName: 'bash' }))
    for (const { name } of FILES) expect(result.preview).toContain(`diff --git a/${name} b/${name}`)
    expect(result.preview).toContain('@@ f0()')
    expect(Buffer.byteLength(result.preview)).toBeLessThanOrEqual(9000)
    expect(Buffer.byteLength(result.preview)).toBeGreaterThan(8000)
    expect(follow(result.preview, text)).toEqual({ added: 2400, removed: 1200 })
    expect(result.hint).toMatch(/Shown: 40 of 40 files and \d+ of 120 hunks of a diff of \+2400 -1200 lines\./)
    for (const { fromLine, toLine, fromByte, toByte } of result.ranges) {
      expect(text.slice(fromByte, toByte)).toBe(
        text
          .split('\n')
          .slice(fromLine - 1, toLine)
          .join('\n'),
      )
    }
  })

  it('is the same for an output that is still coming, and with the notice inside keeps the limits as a whole', async () => {
    const text = diffOf(FILES).replaceAll('\n', '\r\n')
    const service = makeService({ tools: { bash: { strategy: 'diff' } }, noticeInside: true, global: { maxLines: 60 } })
    const whole = cut(await service.output(text, { toolName: 'bash' }))
    expect(whole.content.split('\n').length).toBeLessThanOrEqual(60)
    follow(whole.preview, text)
    const capture = service.capture({ toolName: 'bash' })
    for (let at = 0; at < text.length; at += 4567) capture.write(Buffer.from(text.slice(at, at + 4567)))
    capture.end()
    const captured = cut(await capture.result)
    expect(captured.preview).toBe(whole.preview)
    expect(service.effectiveConfig({ toolName: 'bash' }).config.strategy).toBe('diff')
  })

  const [first] = [diffOf(FILES.slice(0, 3))]
  it.each([
    ['git show', `commit ${'a'.repeat(40)}\nAuthor: A <a@b>\nDate:   now\n\n    Do it\n\n${first}`, '    Do it'],
    ['a plain diff', first.replace(/^(diff|index).*\n/gm, ''), '+++ b/src/f2.ts'],
    [
      'diff -ru',
      first.replace(/^index.*\n/gm, '').replaceAll('diff --git', 'diff -ru'),
      'diff -ru a/src/f2.ts b/src/f2.ts',
    ],
    ['colors', first.replace(/^(.*)$/gm, '\u001b[1m$1\u001b[m'), 'diff --git a/src/f2.ts b/src/f2.ts'],
    [
      'a new file',
      `${first}diff --git a/n b/n\nnew file mode 100644\nBinary files /dev/null and b/n differ\n`,
      'new file mode',
    ],
  ])('reads %s', (_, text, line) => {
    const { content } = new DiffStrategy().truncate(text, { maxLines: 30, maxBytes: 9000 } as TruncationConfig)
    expect(content).toContain(line)
    expect(content).toMatch(/lines truncated: \d+-\d+, \+\d+ -\d+/)
  })

  it('shows a text that is no diff as smart does', async () => {
    const text = `${'[12:00:00] building\n'.repeat(5000)}error: it broke\n${first}`
    const service = makeService()
    const [diff, smart] = await Promise.all(
      (['diff', 'smart'] as const).map(async (strategy) =>
        cut(await service.output(text, { toolName: 'bash', options: { strategy, maxLines: 40 } })),
      ),
    )
    expect(diff!.preview).toBe(smart!.preview)
    expect(diff!.preview).toContain('error: it broke')
  })

  it('keeps its limits and shows true lines for any diff', () => {
    const strategy = new DiffStrategy()
    const file = fc.record({ name: fc.constantFrom('a', 'b/c.ts', '你好'), hunks: fc.nat(4), lines: fc.nat(30) })
    fc.assert(
      fc.property(
        fc.array(file, { minLength: 1 }),
        fc.integer({ min: 3, max: 80 }),
        fc.integer({ min: 300, max: 4000 }),
        (files, maxLines, maxBytes) => {
          const text = diffOf(files)
          const { content } = strategy.truncate(text, { maxLines, maxBytes } as TruncationConfig)
          expect(Buffer.byteLength(content)).toBeLessThanOrEqual(
            Math.max(maxBytes, content === text ? text.length * 3 : 0),
          )
          if (content !== text && content.includes(' lines truncated: ')) follow(content, text)
        },
      ),
      { numRuns: 150 },
    )
  })

  it('is a strategy like the others', () => {
    const strategy = new DiffStrategy()
    expect(strategy).toBeInstanceOf(BaseTruncationStrategy)
    expect(strategy.name).toBe('diff')
    expect(strategy.needsTruncation('x', { maxLines: 1, maxBytes: 10 } as TruncationConfig)).toBe(false)
  })
})
