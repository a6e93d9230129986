import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runAgent } from '../../examples/agent/agent'
import { chart } from '../../examples/agent/chart'
import { costRows } from '../../examples/agent/cost'
import { changesOf, foldsOf, page } from '../../examples/agent/report'
import {
  answerOf,
  CONTEXT_WINDOW,
  makeWorkspace,
  PROMPTS,
  scriptedModel,
  scriptedSummary,
} from '../../examples/agent/task'
import type { AgentRun } from '../../examples/agent/types'
import { onUnix } from '../support/only'
import { tempDir } from '../support/temp'

/** Opening and closing tags match, as far as a regular expression can tell. */
function expectWellFormed(markup: string): void {
  const open: string[] = []
  for (const [, close, name = '', rest = ''] of markup.matchAll(/<(\/?)([a-z][\w-]*)((?:[^<>"]|"[^"]*")*)>/gi)) {
    if (close) expect(open.pop()).toBe(name)
    else if (!rest.endsWith('/') && name !== 'meta') open.push(name)
  }
  expect(open).toEqual([])
}

onUnix('the agent of the example works through sixty requests, twice over its window', async () => {
  const [workspace, dataDir] = [tempDir(), tempDir()]
  makeWorkspace(workspace, dataDir)
  const seen: { system: string; temperature?: number }[] = []
  const model = scriptedModel(CONTEXT_WINDOW)
  const run: AgentRun = await runAgent({
    contextWindow: CONTEXT_WINDOW,
    workspace,
    dataDir,
    prompts: PROMPTS,
    askUser: answerOf,
    model: (request) => {
      seen.push({ system: request.system, temperature: request.settings.temperature })
      return model(request)
    },
    summarize: scriptedSummary,
  })

  // It ended, and the work is done.
  expect(run.requests).toHaveLength(60)
  expect(run.messages.at(-1)).toEqual({ role: 'assistant', content: [{ type: 'text', text: 'All checks pass.' }] })
  expect(execFileSync(process.execPath, ['test.js'], { cwd: workspace, encoding: 'utf8' })).toMatch(
    /all checks passed\n$/,
  )

  // Everything together would not have fitted, and each request did.
  expect(run.requests.at(-1)?.unmanaged).toBeGreaterThan(2 * CONTEXT_WINDOW)
  for (const { tokens } of run.requests) expect(tokens).toBeLessThanOrEqual(CONTEXT_WINDOW)
  // How often depends a little on how long the names of the folders are.
  expect(run.compactions).toBeGreaterThanOrEqual(2)
  const did = run.requests.flatMap(({ did }) => did)
  expect(did.filter((what) => what === 'summary')).toHaveLength(run.compactions)
  expect(did).toContain('outputs')
  // The provider counts more than the estimate: with some folder names it refuses a request or two, and the rest fits.
  expect(did.filter((what) => what === 'overflow').length).toBeLessThanOrEqual(2)
  expect(run.left).toContainEqual({
    request: expect.any(Number),
    how: 'summary',
    tool: 'read',
    outputs: expect.any(Number),
  })

  // Results that repeat lines have pointers, and the page says so.
  const folds = run.folded.filter(({ savedBytes }) => savedBytes > 0)
  expect(folds.length).toBeGreaterThan(10)
  expect(JSON.stringify(run.messages)).toContain('same as lines ')
  expect(foldsOf(run)).toHaveLength(run.folded.length)

  // The numbers of the example's page; they depend a little on the length of the folder names.
  const said = readFileSync(join(__dirname, '../../examples/agent/README.md'), 'utf8')
  const [sent, instead] = [...said.matchAll(/([\d,]+) tokens/g)].map(([, tokens = '']) =>
    Number(tokens.replaceAll(',', '')),
  )
  for (const [key, tokens] of [
    ['tokens', sent],
    ['unmanaged', instead],
  ] as const) {
    const sum = run.requests.reduce((total, request) => total + request[key], 0)
    expect(Math.abs(sum - (tokens ?? 0))).toBeLessThan(0.05 * sum)
  }

  // Who was asked, and what did not run.
  expect(run.asked).toEqual([
    { about: 'permission', tool: 'bash', why: 'shell:node --version', answer: 'always' },
    { about: 'permission', tool: 'read', why: 'vault:/.env', answer: 'no' },
    { about: 'loop', tool: 'bash', why: 'same_tool', answer: 'once' },
  ])
  expect(run.refused.map(({ tool, kind }) => [tool, kind])).toEqual([
    ['read', 'permission_denied'],
    ['edit', 'permission_denied'],
    ['bash', 'permission_denied'],
  ])
  // "Always" is in the user's file, beside what they wrote themselves.
  const config = readFileSync(join(dataDir, 'config.jsonc'), 'utf8')
  expect(config).toContain('// Commands that this user allows without a question.')
  expect(config).toContain('node --version')

  // The agent's prompt, the hook's, and the agent's parameters reached the model.
  expect(seen.every(({ temperature }) => temperature === 0.2)).toBe(true)
  expect(seen[0]?.system).toBe(
    `You mend what is broken, and change nothing else.\n\nThe folder is ${workspace}. Do not leave it.`,
  )

  // Outputs are kept whole, and the log is unbroken.
  expect(run.saved.length).toBeGreaterThanOrEqual(12)
  expect(readFileSync(run.saved[0]!.path, 'utf8').split('\n')).toHaveLength(722)
  expect(run.audit).toMatchObject({ ok: true, records: 113 })

  const svg = chart(run, CONTEXT_WINDOW)
  expect(svg.match(/<rect x/g)).toHaveLength(60)
  expectWellFormed(svg)
  const html = page(run, CONTEXT_WINDOW)
  expect(html).toContain('vault:/.env')
  expectWellFormed(html.replace('<!doctype html>', ''))
  expect(html.match(/<a href="file:/g)).toHaveLength(run.saved.length)
  // A sentence for each time, not a row for each result.
  const times = new Set(run.left.map(({ request, how }) => `${request} ${how}`))
  expect(html.match(/<li>Before request/g)).toHaveLength(times.size)
  // The histories of two requests begin alike, and what is sent never has more in common than it has tokens.
  for (const { tokens, cached } of run.requests) expect(cached).toBeLessThanOrEqual(tokens)
  expect(run.requests[1]?.cachedUnmanaged).toBe(run.requests[0]?.unmanaged)
})

test('the report of the example prices what is sent, and what a cache holds', () => {
  const requests = [
    { tokens: 1e6, cached: 0, unmanaged: 1e6, cachedUnmanaged: 0, did: [] },
    { tokens: 1e6, cached: 5e5, unmanaged: 2e6, cachedUnmanaged: 1e6, did: ['pruned'] },
  ]
  expect(costRows(requests)).toEqual([
    ['$1.00; no cache', '$2.00', '$3.00', '33 %'],
    ['$2.50; read $0.25, written $2.50', '$3.88', '$5.25', '26 %'],
    ['$3.00; read $0.30, written $3.75', '$5.78', '$7.80', '26 %'],
  ])
})

test('the report of the example says in a sentence what left the history', () => {
  const left = [
    { request: 3, how: 'summary' as const, tool: 'read', outputs: 2 },
    { request: 3, how: 'summary' as const, tool: 'bash', outputs: 1 },
    { request: 4, how: 'pruned' as const, tool: 'read', outputs: 1 },
    { request: 4, how: 'pruned' as const, tool: 'read', outputs: 1 },
  ]
  expect(changesOf({ left })).toEqual([
    'Before request 3, results went into a summary: 2 of read, 1 of bash.',
    'Before request 4, results were left out: 2 of read.',
  ])
})
