// Writes THIRD_PARTY_LICENSES: the crates that are linked into the binary and the npm packages that `dist/` contains, each with
// the text of its licence. The file is committed and part of every package. Run this after a change of the dependencies:
// `node scripts/release/third-party.mjs`. It needs the sources of the crates in cargo's registry, and no network.

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { main, ROOT } from '../build/run.mjs'
import { TAKEN_IN } from '../build/taken-in.mjs'
import { PLATFORMS } from './platforms.mjs'

const LICENCE = /^(licen[cs]e|copying|unlicense|notice)/i
/** Where a package can be used under one of several licences, the MIT one is enough. */
const OTHER_CHOICE = /apache|zlib|bsd|boost|unlicense|copying/i

const mit = (holders) => `Copyright (c) ${holders}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software
is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES
OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE
LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR
IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`

/** The texts of the licence files in a package's folder; of several that are a choice, the one under MIT. */
function textsIn(folder, license) {
  const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile())
  const found = entries.map(({ name }) => name).filter((name) => LICENCE.test(name))
  const isChoice = !/\bAND\b/.test(license) && found.some((name) => /mit/i.test(name))
  const files = isChoice ? found.filter((name) => !OTHER_CHOICE.test(name)) : found
  return files.sort().map((name) => readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n').trim())
}

/** The crates that are linked into the add-on on any platform: not those that only build it or expand macros. */
function crates() {
  const platforms = PLATFORMS.flatMap(({ target }) => ['--filter-platform', target])
  const args = ['metadata', '--offline', '--locked', '--format-version', '1', ...platforms]
  const options = { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 28 }
  const { packages, resolve } = JSON.parse(execFileSync('cargo', args, options))
  const byId = new Map(packages.map((one) => [one.id, one]))
  const nodes = new Map(resolve.nodes.map((node) => [node.id, node]))
  const linked = new Set()
  const add = (id) => {
    if (linked.has(id) || byId.get(id).targets.some(({ kind }) => kind.includes('proc-macro'))) return
    linked.add(id)
    for (const { pkg, dep_kinds } of nodes.get(id).deps) if (dep_kinds.some(({ kind }) => kind === null)) add(pkg)
  }
  add(packages.find(({ name }) => name === 'spillway-node').id)
  const others = [...linked].map((id) => byId.get(id)).filter(({ source }) => source !== null)
  return others.map(({ name, version, license, authors, manifest_path }) => {
    const texts = textsIn(dirname(manifest_path), license)
    if (texts.length === 0 && !/\bMIT\b/.test(license)) throw new Error(`${name} has no licence text`)
    const holders = authors.map((author) => author.replace(/ <.*/, '')).join(', ')
    return { name, version, license, texts: texts.length > 0 ? texts : [mit(holders || `the authors of ${name}`)] }
  })
}

/** The packages that the bundler takes into `dist/`. */
function bundled() {
  return TAKEN_IN.map((name) => {
    const folder = join(ROOT, 'node_modules', name)
    const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    return { name, version, license, texts: textsIn(folder, license) }
  })
}

/** Packages with the same text share it. */
function chapters(packages) {
  const byText = new Map()
  for (const { name, version, license, texts } of packages) {
    const text = texts.join('\n\n')
    byText.set(text, [...(byText.get(text) ?? []), [name, version, `(${license})`].join(' ')])
  }
  return [...byText].map(([text, names]) => `${'-'.repeat(80)}\n${names.join('\n')}\n\n${text}\n`)
}

/** The whole file. */
export function thirdParty() {
  const names = (a, b) => a.name.localeCompare(b.name, 'en') || a.version.localeCompare(b.version, 'en')
  return [
    'Spillway contains the software below. Each text applies to the packages named before it.\n',
    'Rust crates in the binary; their sources are on crates.io under these names and versions:\n',
    ...chapters(crates().sort(names)),
    `${'='.repeat(80)}\nThe standard library of Rust (MIT OR Apache-2.0):\n\n${mit('The Rust Project Contributors')}\n`,
    `${'='.repeat(80)}\nnpm packages in dist/:\n`,
    ...chapters(bundled()),
  ]
    .join('\n')
    .replaceAll(/[ \t]+$/gm, '')
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await main(async () => writeFileSync(join(ROOT, 'THIRD_PARTY_LICENSES'), thirdParty()))
