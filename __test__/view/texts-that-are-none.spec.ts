/** JSON of another kind in the parameters and bodies of requests: each has an answer, and none removes or allows anything. */

import { TruncationStorage } from 'spillway'
import { FleetApprovals, MemoryCoordination } from 'spillway/remote'
import { createAuditSource, type OutputHandlerOptions } from 'spillway/view'
import { ODD_VALUES, oddJson } from '../support/odd-values'
import { tempDir } from '../support/temp'
import { serve } from './support'

const question = (id: unknown) => ({
  id,
  toolCallId: 'c',
  tool: 'bash',
  targets: [],
  reasons: [],
  askedAt: 1,
  suggestedRules: [{ domain: 'bash', pattern: 'ls', decision: 'allow' }],
})

async function sources() {
  const storage = new TruncationStorage(tempDir())
  const path = await storage.save('text\n', { toolName: 'bash' })
  const coordination = new MemoryCoordination()
  await coordination.put('questions/q', JSON.stringify(question('q')))
  const options = {
    outputs: storage,
    approvals: new FleetApprovals({ coordination }),
    allowRemove: true,
    audit: createAuditSource({ dir: tempDir() }),
  } as OutputHandlerOptions
  return { options, path, coordination }
}

test.each(ODD_VALUES.map(([name]) => name))('%s', async (name) => {
  const value = new Map(ODD_VALUES).get(name)
  const { options, path, coordination } = await sources()
  const { ask } = await serve(options)
  const json = oddJson(value)
  const bodies = [
    json,
    `{"path":${json}}`,
    `{"id":${json},"response":"once"}`,
    `{"id":"q","response":${json}}`,
    `{"id":"q","response":{"reject":${json === '"toString"' || json === '"__proto__"' ? '[]' : json}}}`,
    `{"id":"q","response":"always","rule":${json === 'null' ? '{}' : json}}`,
    `{"id":"q","response":"always","rule":{"domain":${json},"pattern":${json}}}`,
  ]
  for (const name of ['download', 'open', 'remove', 'approvals']) {
    for (const body of bodies) {
      const { status, json: answer } = await ask(`/spillway/${name}`, { method: 'POST', body })
      expect([name, body.slice(0, 99), status]).toEqual([name, body.slice(0, 99), expect.any(Number)])
      expect(status >= 400 && status < 500 && answer.error.code).toMatch(/^[A-Z_]+$/)
    }
  }
  // An address has at most 16 KiB.
  const texts = [json.slice(0, 2000), `${path}\0`]
  const queries = ['range', 'search', 'follow', 'download', 'audit/records'].flatMap((name) =>
    ['path', 'fromLine', 'byteCount', 'maxMatches', 'after', 'ticket', 'file', 'skip', 'pattern', '__proto__'].flatMap(
      (key) =>
        texts.map((text) => `${name}?${new URLSearchParams({ ...(key !== 'path' && { path: 'none' }), [key]: text })}`),
    ),
  )
  const answers = await Promise.all(queries.map((query) => ask(`/spillway/${query}`)))
  for (const [at, { status, json: answer }] of answers.entries()) {
    expect([queries[at], status >= 400 && status < 500]).toEqual([queries[at], true])
    expect(answer.error.code).toMatch(/^[A-Z_]+$/)
  }
  expect(await coordination.list('answers')).toEqual([])
  expect((await ask('/spillway/approvals')).json).toHaveLength(1)
})
