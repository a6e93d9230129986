// What the page shows in the test.

export const COLOURS = `${[
  '\u001b[1m\u001b[32mPASS\u001b[0m src/parse.test.ts \u001b[2m(1.2 s)\u001b[0m',
  '\u001b[31mFAIL\u001b[39m src/print.test.ts',
  '  \u001b[31m✕\u001b[0m prints a \u001b[38;5;208mline\u001b[0m of \u001b[38;2;120;90;220mmany colours\u001b[0m',
  '  expected \u001b[42m\u001b[30m 1 \u001b[0m, received \u001b[41m\u001b[97m 2 \u001b[0m',
  'progress 10%\rprogress 100%',
  '中文 日本語 한국어 emoji 👩‍👩‍👧 שלום مرحبا',
  'access("admin\u202e\u2066// only\u2069\u2066") \u0000 \u0007 zero\u200bwidth',
  '<script>globalThis.taken = 1</script><img src=x onerror="globalThis.taken = 1"><style>* { display: none }</style>',
  '\u001b]8;;javascript:globalThis.taken=1\u0007link\u001b]8;;\u0007',
].join('\n')}\n`

/** Number of lines of `seq` that make so many bytes. */
export function countOfNumbers(bytes) {
  let [digits, first, made] = [1, 1, 0]
  for (; made + 9 * first * (digits + 1) < bytes; digits += 1, first *= 10) made += 9 * first * (digits + 1)
  return first - 1 + Math.ceil((bytes - made) / (digits + 1))
}

/** One line of an object with many members. */
export function* minified(bytes) {
  const members = Array.from({ length: 20_000 }, (_, index) => `"key${index}":${index},`).join('')
  yield '{'
  for (let made = 0; made < bytes; made += members.length) yield members
  yield '"last":"end of the line"}'
}
