/** The package as a link (`npm link`, `npm install /path/to/the/clone`), which lies outside the application that uses it. */

import { spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { tempDir } from '../support/temp'

const ROOT = join(__dirname, '..', '..')

/** An application with the package as a link and these modules. */
function applicationOf(modules: Readonly<Record<string, string>>, script: string): string {
  const folder = tempDir()
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(ROOT, join(folder, 'node_modules', 'spillway'), 'junction')
  for (const [name, text] of Object.entries(modules)) write(join('node_modules', `${name}.js`), text)
  write('app.js', script)
  return join(folder, 'app.js')
}

const run = (program: string, cwd: string) => spawnSync(process.execPath, [program], { encoding: 'utf8', cwd })

const CASES: [name: string, module: string, text: string, script: string][] = [
  [
    'hostTools of LangChain',
    '@langchain/core/tools',
    'exports.tool = (run, { name }) => ({ name })',
    `const { tools } = require('spillway/langchain').withSpillway({ model: 'x' })
     console.log(tools.map(({ name }) => name).join())`,
  ],
  [
    's3Objects',
    '@aws-sdk/client-s3',
    'exports.S3 = class { constructor() { console.log("the application\'s own") } }',
    `require('spillway/s3').s3Objects({ bucket: 'bucket' })`,
  ],
]

test.each(CASES)('%s finds its package in the application', (_name, module, text, script) => {
  const program = applicationOf({ [module]: text }, script)
  for (const cwd of [dirname(program), tempDir()]) {
    const { stdout, stderr } = run(program, cwd)
    expect([stderr, stdout]).toEqual([
      '',
      expect.stringMatching(/^(read_output,search_output|the application's own)\n/),
    ])
  }
})

test('a package that is nowhere is named with the command that installs it', () => {
  const { stderr } = run(applicationOf({}, `require('spillway/langchain').withSpillway({ model: 'x' })`), tempDir())
  expect(stderr).toContain(
    'hostTools of spillway/langchain needs the package @langchain/core: it is not installed beside Spillway: npm install @langchain/core',
  )
})
