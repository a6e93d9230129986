import { compactHistory, HistoryPruner } from 'spillway'

const AGAIN = '[Old result left out; call the tool again to see it]'
const GONE = '[Old result left out; its call has already been made]'

const historyOf = (name: string, args: object, content: string) => [
  { role: 'user', content: 'Release it.' },
  { role: 'assistant', content: null, tool_calls: [{ id: 'a', function: { name, arguments: JSON.stringify(args) } }] },
  { role: 'tool', tool_call_id: 'a', content },
  { role: 'assistant', content: 'done' },
  { role: 'user', content: 'go on' },
]

test.each<[placeholder: string, tool: string, args: object]>([
  [AGAIN, 'read', { path: 'a.ts' }],
  [AGAIN, 'mcp__files__read_file', { path: 'a.ts' }],
  [AGAIN, 'grep', { pattern: 'x' }],
  [AGAIN, 'list_dir', { path: '.' }],
  [AGAIN, 'web_fetch', { url: 'https://example.com' }],
  [AGAIN, 'bash', { command: 'git log --oneline | head -5' }],
  [AGAIN, 'bash', { command: 'cat a.ts && ls -l src' }],
  [AGAIN, 'str_replace_editor', { command: 'view', path: 'a.ts' }],
  [GONE, 'str_replace_editor', { command: 'create', path: 'a.ts' }],
  [GONE, 'http_request', { url: 'https://example.com', method: 'POST' }],
  [GONE, 'bash', { command: 'npm publish' }],
  [GONE, 'bash', { command: 'git push origin main' }],
  [GONE, 'bash', { command: 'cat a.ts > b.ts' }],
  [GONE, 'bash', { command: 'git log; make deploy' }],
  [GONE, 'bash', {}],
  [GONE, 'write', { path: 'b.ts', content: 'x' }],
  [GONE, 'task', { prompt: 'look around' }],
  [GONE, 'deploy', {}],
])('only calls that change nothing are to be made again: %s for %s %j', async (placeholder, tool, args) => {
  const history = historyOf(tool, args, 'a line of words\n'.repeat(200))
  for (const language of ['en', 'zh-CN'] as const) {
    const expected =
      language === 'en'
        ? placeholder
        : `[旧的工具结果已略去，${placeholder === AGAIN ? '如需查看请重新调用' : '该调用已经执行过'}]`
    const pruner = new HistoryPruner({ schedule: 'always', keepRecent: 0, keepUsed: 0, language })
    expect(pruner.prune(history).messages[2]).toMatchObject({ content: expected })
    const options = { contextWindow: 600, force: true, recentTurns: 1, protectedTools: [], language }
    const { messages } = await compactHistory(history, options)
    expect(messages[2]).toMatchObject({ content: expected })
  }
})
