/** Counts, sizes and costs in words. */

/** `line 3`, or `lines 3-5`. */
export function linesFrom(first: number, last: number): string {
  return first === last ? `line ${first}` : `lines ${first}-${last}`
}

/** `1 line`, or `5000 lines`: for a model, which may repeat the number in a call. */
export function countedLines(count: number): string {
  return `${count} line${count === 1 ? '' : 's'}`
}

/** `5,000`. */
export function numberText(count: number): string {
  return count.toLocaleString('en-US')
}

/** `12k` of 12,345, for tokens. */
export function thousands(count: number): string {
  return `${numberText(Math.round(count / 1000))}k`
}

/** `1 session`, or `5,000 sessions`. */
export function countText(count: number, noun: string): string {
  return `${numberText(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** `512 B`, or `1.5 MiB`. */
export function sizeText(bytes: number): string {
  if (!Number.isFinite(bytes)) return 'no bound'
  if (bytes < 1024) return `${bytes} B`
  const units = ['KiB', 'MiB', 'GiB', 'TiB']
  let [size, unit] = [bytes / 1024, 0]
  // A size that rounds to 1024.0 is 1.0 of the next unit.
  for (; size >= 1023.95 && unit < units.length - 1; unit++) size /= 1024
  return `${size.toFixed(1)} ${units[unit]}`
}

/** `12.5 %` of a share from 0 to 1. */
export function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`
}

/** `$1.50`, or `-$1.50`. */
export function inDollars(dollars: number): string {
  const amount = Math.abs(dollars).toFixed(2)
  return `${dollars < 0 && Number(amount) > 0 ? '-' : ''}$${amount}`
}
