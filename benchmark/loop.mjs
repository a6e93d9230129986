/**
 * The innermost loop. Measurements import this file once per side (`loop.mjs?side=7`): a module that is imported under
 * another address is compiled and optimised on its own, so that neither side runs in a loop shaped by the other.
 */

/** Something has to look at what the calls gave, or the compiler may drop them. */
export let last

export async function loop(call, inputs, count) {
  const mask = inputs.length - 1
  let result
  const start = performance.now()
  for (let i = 0; i < count; i++) result = await call(inputs[i & mask])
  const elapsed = performance.now() - start
  last = result
  return elapsed
}
