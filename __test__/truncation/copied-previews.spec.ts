import type { TruncationServiceConfig } from 'spillway'
import { containsTruncationMarker } from 'spillway/truncation'
import { cut, makeService, numbered } from '../support/outputs'

const each =
  (lead: string, end = '') =>
  (text: string) =>
    text
      .split('\n')
      .map((line) => `${lead}${line}${end}`)
      .join('\n')

/** Ways in which a model copies what it read into the argument of a tool that writes. */
const COPIES: Record<string, (text: string) => string> = {
  'as it is': (text) => text,
  indented: each('    '),
  'with tabs': each('\t\t'),
  'with CRLF': (text) => text.replaceAll('\n', '\r\n'),
  'behind //': each('// '),
  'behind #': each('# '),
  'behind --': each('-- '),
  'behind ;': each('; '),
  'behind %': each('% '),
  'behind a star': (text) => `/**\n${each(' * ')(text)}\n */`,
  'as a quote': each('> '),
  'as a quote in a quote': each('> > '),
  'as a list': each('- '),
  'as lines of HTML comments': each('<!-- ', ' -->'),
  'in one HTML comment': (text) => `<!-- ${text} -->`,
  'in a fence': (text) => `# Log\n\n\`\`\`text\n${text}\n\`\`\`\n`,
  'in a quoted fence': (text) => each('> ')(`\`\`\`\n${text}\n\`\`\``),
  'in a diff': (text) => `--- a/f\n+++ b/f\n@@ -0,0 +1,9 @@\n${each('+')(text)}`,
  'in an indented diff': each('  + '),
  'as a patch': (text) => `*** Begin Patch\n*** Add File: f\n${each('+')(text)}\n*** End Patch`,
  'with numbers of lines': (text) =>
    text
      .split('\n')
      .map((line, at) => `${String(at + 1).padStart(6)}\t${line}`)
      .join('\n'),
  'on one line': (text) => text.replaceAll('\n', ' '),
  'as JSON': (text) => JSON.stringify({ a: 1, content: text }),
  'as JSON on lines': (text) => JSON.stringify({ lines: text.split('\n') }, null, 2),
  'as JSON in JSON': (text) => JSON.stringify({ arguments: JSON.stringify({ content: text }) }),
  'as ASCII JSON': (text) =>
    JSON.stringify(text).replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  'as a string of a program': (text) => `const log = '${text.replaceAll('\n', "\\n' +\n  '")}'`,
  'in the middle of a file': (text) => `${numbered(400)}\n${text}\n${numbered(400)}`,
}

const PARTS: Record<string, (content: string, hint: string) => string> = {
  'all of it': (content) => content,
  'the notice': (_content, hint) => hint,
  'the last two lines': (_content, hint) => hint.split('\n').slice(-2).join('\n'),
}

const OPTIONS: TruncationServiceConfig[] = [
  {},
  { availableTools: ['grep', 'read', 'task'] },
  { language: 'zh-CN' },
  { language: 'zh-CN', availableTools: ['grep', 'read'] },
  ...(['opencode', 'openclaw', 'openclaw-2026-02', 'snow', 'takumi', 'moryflow'] as const).map((profile) => ({
    profile,
  })),
  { strategy: 'smart' },
  { maxFileBytes: 4096 },
  { formatNotice: ({ removedLines, outputPath }) => `[${removedLines} lines are only in ${outputPath}]` },
]

describe('a preview that was copied is recognised', () => {
  test.each(Object.entries(COPIES))('%s', async (_name, copy) => {
    for (const options of OPTIONS) {
      for (const direction of ['head', 'tail', 'both'] as const) {
        const service = makeService({ ...options, global: { maxLines: 6, direction } })
        const { content, hint } = cut(await service.output(numbered(2000), { toolName: 'bash' }))
        for (const [part, take] of Object.entries(PARTS)) {
          const written = copy(take(content, hint))
          expect([options, direction, part, written, containsTruncationMarker(written)]).toEqual([
            ...[options, direction, part, written],
            true,
          ])
        }
      }
    }
  })

  test('also if it is of JSON, a diff or a table', async () => {
    const texts = {
      json: JSON.stringify(Array.from({ length: 900 }, (_, id) => ({ id }))),
      smart: `diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,900 +1,900 @@\n${each('+')(numbered(900))}\n`,
    }
    for (const language of ['en', 'zh-CN'] as const) {
      for (const [strategy, text] of Object.entries(texts)) {
        const service = makeService({ strategy: strategy as 'json', language, global: { maxBytes: 600 } })
        const { content, hint } = cut(await service.output(text, { toolName: 'x' }))
        for (const copy of Object.values(COPIES)) {
          expect(containsTruncationMarker(copy(content))).toBe(true)
          expect(containsTruncationMarker(copy(hint))).toBe(true)
        }
      }
    }
  })
})

describe('a text that speaks of truncation is none', () => {
  test.each([
    '...5 lines truncated...',
    '// ...5 lines truncated...',
    '- `...12 lines truncated...` stands where lines are missing.',
    'a\n...5 lines truncated...\nb',
    '...已截断 5 行...',
    'see ...5 lines truncated... here',
    '... lines truncated...',
    '...x lines truncated...',
    '12 lines truncated',
    '[truncated]',
    '[output truncated]',
    'output truncated; see the log',
    '<response clipped>',
    'The output was truncated.',
    'The tool call succeeded.',
    'If the tool call succeeded but the output was truncated, read the file.',
    'Prints "The tool call succeeded but the output was truncated." and goes on.',
    'Full output saved to: the log folder',
    'console.log("Full output saved to: " + path)',
    'echo "Full output saved to: $FILE"',
    'Full output saved to: build/log.txt',
    'Use grep to search that file.',
    'Use grep to search that file. Use read on that file from line 5 to read on.',
    'Shown: lines 1-20 of 300.',
    '显示第 1-20 行，共 300 行。',
    '可用 grep 搜索该文件。',
    '工具调用成功。',
    'git log shows 5 lines truncated: see below',
    'const MARKER = /lines truncated/',
    'cat /home/u/.local/share/spillway/tool-output/bash_1795547849441_ls8rwzbczia0e.txt',
    `# Truncation\n\nLong outputs are truncated: the first lines stay, and \`...N lines truncated...\` says how many are missing.\n`,
    '{"truncated": true, "outputPath": "/tmp/x.txt"}',
    'truncate -s 0 file\n...5 more...\n',
  ])('%j', (text) => {
    expect(containsTruncationMarker(text)).toBe(false)
    expect(containsTruncationMarker(JSON.stringify(text))).toBe(false)
  })

  test('a command may name a saved output', async () => {
    const formatNotice = ({ outputPath }: { outputPath: string }) => `more: ${outputPath}`
    const service = makeService({ formatNotice, global: { maxLines: 6 } })
    const { content, outputPath } = cut(await service.output(numbered(99), { toolName: 'bash' }))
    expect(containsTruncationMarker(content)).toBe(true)
    expect(containsTruncationMarker(`tail -n 5 ${outputPath}`)).toBe(false)
  })

  test('time grows with the text', () => {
    const hostile = [
      '.',
      '...5 lines truncated: ',
      'Full output saved to: ',
      '\\u4e00',
      '\\\\',
      'Use ',
      'truncated ',
    ].map((it) => it.repeat(400_000 / it.length))
    const started = performance.now()
    for (const text of hostile) containsTruncationMarker(text)
    expect(performance.now() - started).toBeLessThan(5000)
  })
})
