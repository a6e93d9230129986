// What a package manager installed: the package works, and of the binaries only this platform's is there.

const assert = require('node:assert')
const { createRequire } = require('node:module')
const spillway = require('spillway')
const use = require('./use.cjs')

const others = ['linux-x64-gnu', 'linux-x64-musl', 'linux-arm64-gnu', 'darwin-arm64', 'win32-x64-msvc']
const fromPackage = createRequire(require.resolve('spillway'))
const installed = others.filter((name) => {
  try {
    return fromPackage.resolve(`spillway-${name}`)
  } catch {
    return false
  }
})

// Deno, and Bun before 1.4, install for every C library that a system may have; the package must choose then.
const choosesNone = process.versions.deno || /^1\.[0-3]\./.test(process.versions.bun ?? '')
const alsoThere = choosesNone ? ['spillway-linux-x64-musl'] : []

use(spillway).then((names) => {
  assert.deepStrictEqual(
    installed.map((name) => `spillway-${name}`).filter((name) => !alsoThere.includes(name)),
    [process.env.PLATFORM_PACKAGE],
  )
  console.log(`${names} names`)
})
