import { sizeText, thousands } from '../../lib/util/format'

test.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1024, '1.0 KiB'],
  [1536, '1.5 KiB'],
  [2 ** 20 - 1, '1.0 MiB'],
  [2 ** 50, '1024.0 TiB'],
  [Number.POSITIVE_INFINITY, 'no bound'],
])('a size of %d bytes is %s', (bytes, text) => expect(sizeText(bytes)).toBe(text))

test.each([
  [499, '0k'],
  [12_345, '12k'],
  [1_234_567, '1,235k'],
])('%d tokens are %s', (tokens, text) => expect(thousands(tokens)).toBe(text))
