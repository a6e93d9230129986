/** Values that JSON can hold and that are no texts: `String` throws for the first two. */
export const ODD_VALUES: readonly (readonly [name: string, value: unknown])[] = [
  ['an object without a text', { toString: null }],
  ['an array of them', [{ toString: null }]],
  ['null', null],
  ['the name of a method that every object has', 'toString'],
  ['the name of the prototype', '__proto__'],
  ['a member with the name of the prototype', JSON.parse('{"__proto__":{"id":"x","text":"x"}}')],
  ['a number beyond every double', Number.POSITIVE_INFINITY],
  ['a negative number', -1.5],
  ['nested arrays', JSON.parse('['.repeat(3000) + ']'.repeat(3000))],
]

/** The JSON of such a value; a number beyond every double can be written as well. */
export function oddJson(value: unknown): string {
  return value === Number.POSITIVE_INFINITY ? '1e999' : JSON.stringify(value)
}
