/**
 * The public types that several rooms share. Types only: nothing here runs. A type that one room makes is in the `types.ts` of
 * that room.
 *
 * Units, everywhere: bytes are UTF-8 bytes; a line ends with `\n` (`\r\n` is one break), and a
 * final newline ends the last line without starting another; times are milliseconds.
 */

export type * from './types/config'
export type * from './types/content'
export type * from './types/middleware'
export type * from './types/records'
export type * from './types/result'
export type * from './types/service'
export type * from './types/storage'
export type * from './types/strategy'
export type * from './types/test-run'
