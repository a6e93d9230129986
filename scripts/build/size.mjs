// `node scripts/build/size.mjs [--crates FILE]`: how large the built binary is, section by section, and whether it keeps its bound.
// With `--crates` and a binary that was built with symbols (`CARGO_PROFILE_RELEASE_STRIP=none cargo build --release`), which
// crates the code is of: a function of the standard library counts for the crate that it was made for, where its name says so.

import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { builtBinary, main } from './run.mjs'

/** Maximum bytes of a stripped release build: a little above the last one, so that growth is noticed and decided. */
export const MAX = 6_645_000

const run = (command, ...args) => execFileSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 28 })
const number = (value) => value.toLocaleString('en')

/** The size of the binary in bytes, and a sentence where it is over the bound. */
export function binarySize(file = builtBinary()) {
  const bytes = statSync(file).size
  return {
    bytes,
    problem: bytes > MAX ? `the binary has ${number(bytes)} bytes, and ${number(MAX)} are allowed` : undefined,
  }
}

function sections(file) {
  const rows = run('size', '-A', file).matchAll(/^(\.\S+)\s+(\d+)/gm)
  return [...rows].map(([, name, size]) => [name, Number(size)]).sort((a, b) => b[1] - a[1])
}

/** A path begins with its crate; that of a generic function of the standard library says more further on. */
function crateOf(symbol) {
  const crates = symbol.match(/\b[a-z_][a-z0-9_]*(?=::|\[)/g) ?? []
  const own = crates.find((name) => !['core', 'alloc', 'std', 'fmt', 'slice', 'ops', 'function'].includes(name))
  return ['core', 'alloc', 'std'].includes(crates[0]) && own && symbol.startsWith('<') ? own : (crates[0] ?? 'other')
}

function crates(file) {
  const sums = new Map()
  for (const [, size, symbol] of run('nm', '--print-size', '--radix=d', '-C', file).matchAll(
    /^\d+ (\d+) [tTrRdD] (.*)$/gm,
  )) {
    sums.set(crateOf(symbol), (sums.get(crateOf(symbol)) ?? 0) + Number(size))
  }
  return [...sums].sort((a, b) => b[1] - a[1])
}

const table = (rows) => rows.map(([name, size]) => `  ${number(size).padStart(10)}  ${name}\n`).join('')

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    const { values } = parseArgs({ options: { crates: { type: 'string' } } })
    const { bytes, problem } = binarySize()
    process.stdout.write(`${number(bytes)} bytes of ${number(MAX)}\n`)
    if (process.platform === 'linux') process.stdout.write(table(sections(builtBinary()).slice(0, 10)))
    if (values.crates) process.stdout.write(`\nBy crate:\n${table(crates(values.crates).slice(0, 25))}`)
    if (problem) throw new Error(problem)
  })
}
