import { perform } from './actions'
import { judge } from './expectations'
import { checksOf, loadTable } from './rows'

const tables = [
  'truncation-opencode',
  'bounded-store-opencode',
  'shell-opencode',
  'read-opencode',
  'outdated-snow',
  'reads-snow',
  'pruning-opencode',
  'pruning-openclaw',
  'pairs',
  'plugin-takumi',
  'tool-output-moryflow',
  'truncation-coding-agent',
  'overflow-opencode',
  'overflow-openclaw',
  'overflow-openclaw-2026-02',
  'session-openclaw',
  'recovery-openclaw',
  'compaction-opencode',
  'compaction-takumi',
  'compaction-moryflow',
  'doom-loop-opencode',
  'doom-loop-openclaw',
  'doom-loop-moryflow',
  'audit-moryflow',
  'permission-opencode',
  'permission-moryflow',
  'config-moryflow',
  'permission-coding-agent',
  'hooks-moryflow',
]

for (const name of tables) {
  const table = loadTable(name)
  describe(`${name}: ${table.about}`, () => {
    test('no row of the upstream table is missing', () => {
      const { rows, elsewhere = {}, ids } = table
      expect([...rows.map(({ id }) => id), ...Object.keys(elsewhere)].sort()).toEqual([...ids].sort())
      for (const reason of Object.values(elsewhere)) expect(reason).toMatch(/\w+ \w+/)
    })

    for (const check of checksOf(table)) {
      test(check.title, () => perform(check.setup, (outcome) => judge(outcome, check)))
    }
  })
}
