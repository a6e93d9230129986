/** Every option `storage` takes any storage; one that cannot say what it owns owns what this process saved. */

import {
  ContextManager,
  HistoryPruner,
  type ITruncationStorage,
  PermissionPolicy,
  simplifyOutdatedTerminalResults,
  type TruncationContext,
  TruncationService,
} from 'spillway'
import { projectToolResults, truncateOversizedToolResultsInMessages } from 'spillway/overflow'
import { guardSession, MemorySession } from 'spillway/session'
import { StorageList } from 'spillway/truncation'
import { numbered, thrown } from '../support/outputs'

class Database implements ITruncationStorage {
  readonly rows = new Map<string, string>()
  async save(content: string, { toolName }: TruncationContext): Promise<string> {
    const path = `db://outputs/${toolName}_${this.rows.size}.txt`
    this.rows.set(path, content)
    return path
  }
  async read(path: string): Promise<string> {
    return this.rows.get(path)!
  }
  async cleanup(): Promise<number> {
    return 0
  }
  getStorageDir(): string {
    return 'db://outputs'
  }
}

const history = (paths: string[]) => [
  { role: 'user', content: 'Go on.' },
  ...paths.flatMap((outputPath, at) => [
    { role: 'assistant', content: '', tool_calls: [{ id: `c${at}`, function: { name: 'grep', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: `c${at}`, content: `${at} ${'x'.repeat(9000)}`, outputPath },
  ]),
  { role: 'assistant', content: 'Done.' },
]

test('a storage without `owns` names what this process saved, and nothing else', async () => {
  const service = new TruncationService({ storage: new Database() })
  const result = await service.output(numbered(9000), { toolName: 'grep' })
  const own = result.truncated ? result.outputPath : ''
  const foreign = 'db://outputs/foreign_0.txt'
  const { storage } = service
  const pruner = new HistoryPruner({ storage, keepRecent: 0, schedule: 'always' })
  const texts = pruner
    .prune(history([own, foreign]))
    .messages.map(({ content }) => content)
    .join('\n')
  expect([own, foreign].map((path) => texts.includes(path))).toEqual([true, false])
  const list = new StorageList([storage])
  expect([own, foreign].map((path) => list.owns(path))).toEqual([true, false])
})

test.each<[string, (storage: never) => unknown]>([
  ['ContextManager', (storage) => new ContextManager({ contextWindow: 9000, storage })],
  ['HistoryPruner', (storage) => new HistoryPruner({ storage })],
  ['guardSession', (storage) => guardSession(new MemorySession(), { storage })],
  ['simplifyOutdatedTerminalResults', (storage) => simplifyOutdatedTerminalResults([], { storage })],
  ['projectToolResults', (storage) => projectToolResults([], { contextWindowTokens: 9000, storage })],
  [
    'truncateOversizedToolResultsInMessages',
    (storage) => truncateOversizedToolResultsInMessages([], 9000, { storage } as never),
  ],
])('%s takes a storage, and nothing that cannot be one', (_, use) => {
  use(new Database() as never)
  use({ owns: () => true } as never)
  for (const wrong of [{}, { owns: 1 }, { save: null }, 'text', { owns: 'x', save: () => '' }]) {
    expect(thrown(() => use(wrong as never))).toMatchObject({
      message: expect.stringMatching(/storage".*expected a storage/),
    })
  }
})

test('a policy needs a storage that says what it owns', () => {
  expect(thrown(() => new PermissionPolicy({ storage: new Database() }))).toMatchObject({ field: 'storage' })
})
