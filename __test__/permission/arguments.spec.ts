import { PermissionPolicy } from 'spillway'
import data from './arguments.json'

const policy = new PermissionPolicy({ vault: '/home/u/project', rules: data.rules as never })

/** The calls that are decided so, with the reasons. */
const decided = (calls: unknown[], expected: RegExp) =>
  (calls as [string, object][])
    .map(([tool, args]) => ({ tool, args, ...policy.evaluate({ tool, args } as never) }))
    .filter(({ decision }) => expected.test(decision))
    .map(({ tool, args, reasons }) => [tool, JSON.stringify(args), ...reasons])

test.each(Object.entries(data['leads elsewhere']))('a call is not allowed that has %s', (_, calls) =>
  expect(decided(calls, /allow/)).toEqual([]),
)

test('usual calls are not asked about', () => expect(decided(data.usual, /ask|deny/)).toEqual([]))
