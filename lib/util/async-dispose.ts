/** Node 20 has the symbol in its main realm only; compilers of `await using` then look for the registered one. */
export const asyncDispose: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')
