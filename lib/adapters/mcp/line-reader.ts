/** Reads the values of a message, in memory or in the file that holds a large one. */

import type { Reader } from './answers'
import { IN_MEMORY, isBase64 } from './items'
import type { Line } from './json-rpc-stream'
import { lookAt, piecesOf } from './large-result'

/** How the values of a message are read. */
export function readerOf(line: Line): Reader {
  if (line.spool === undefined) {
    const isStandIn = () => false
    return { ...IN_MEMORY, isBase64, headOf: (value) => value, lengthOf: ({ length }) => length, isStandIn }
  }
  const { skim } = line
  return {
    ...lookAt(line),
    isStandIn: (value) => skim.rangeOf(value) !== undefined,
    lengthOf: (value) => {
      const range = skim.rangeOf(value)
      return range ? range.to - range.from : value.length
    },
    headOf: (value, characters) => {
      if (skim.rangeOf(value)?.kind === 'value') return ''
      let head = ''
      for (const piece of piecesOf(value, line)) {
        head += piece.toString()
        if (head.length >= characters) break
      }
      return head.slice(0, characters).toWellFormed()
    },
  }
}

export function lengthOf({ bytes, spool }: Line): number {
  return bytes?.length ?? spool!.length
}
