import { perform } from './actions'
import { judge } from './expectations'
import { checksOf, loadTable } from './rows'

const tables = [
  'truncation-opencode',
  'bounded-store-opencode',
  'shell-opencode',
  'outdated-snow',
  'plugin-takumi',
  'tool-output-moryflow',
  'truncation-coding-agent',
]

for (const name of tables) {
  const table = loadTable(name)
  describe(`${name}: ${table.about}`, () => {
    test('no row of the upstream table is missing', () => {
      expect(table.rows.map(({ id }) => id)).toEqual(table.ids)
    })

    for (const check of checksOf(table)) {
      test(check.title, () => perform(check.setup, (outcome) => judge(outcome, check)))
    }
  })
}
