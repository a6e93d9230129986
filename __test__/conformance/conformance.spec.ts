import { perform } from './actions'
import { judge } from './expectations'
import { checksOf, loadTable } from './rows'

const tables = [
  'truncation-opencode',
  'bounded-store-opencode',
  'shell-opencode',
  'read-opencode',
  'outdated-snow',
  'plugin-takumi',
  'tool-output-moryflow',
  'truncation-coding-agent',
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
