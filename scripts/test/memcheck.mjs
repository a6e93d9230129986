// `npm run memcheck`: the add-on under Valgrind, which sees what reads or writes where it must not, uses what was never
// written, or is lost. Node itself is not judged, nor what Node allocates for us: only where the binary is at fault. A binary
// that was built with symbols and is named by SPILLWAY_NATIVE_PATH shows names.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { builtBinary, main, ROOT, step } from '../build/run.mjs'

const BINARY = realpathSync(process.env.SPILLWAY_NATIVE_PATH || builtBinary())
const WORKLOAD = join(ROOT, 'scripts', 'memcheck', 'workload.cjs')

const hasValgrind = () => {
  try {
    execFileSync('valgrind', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const frames = (error) =>
  [...error.matchAll(/<frame>([\s\S]*?)<\/frame>/g)].map(([, frame]) => ({
    object: frame.match(/<obj>(.*?)<\/obj>/)?.[1] ?? '',
    name: frame.match(/<fn>(.*?)<\/fn>/)?.[1] ?? '?',
  }))

/** Returns true if the binary is the first frame that is not Valgrind's own or the C library's. */
function isOurs(error) {
  const first = frames(error).find(({ object }) => !/valgrind|\/libc\.|\/libc-|libstdc\+\+|ld-linux/.test(object))
  return first?.object === BINARY
}

await main(async () => {
  if (process.platform !== 'linux' || !hasValgrind()) {
    console.log('- memcheck: skipped (valgrind is not installed)\nmemcheck: 0 passed, 0 failed, 1 skipped')
    return
  }
  const folder = mkdtempSync(join(tmpdir(), 'spillway-valgrind-'))
  const report = join(folder, 'report.xml')
  try {
    const options = ['--smc-check=all-non-file', '--num-callers=40', '--leak-check=full', '--show-leak-kinds=definite']
    const xml = ['--xml=yes', `--xml-file=${report}`]
    const program = [process.execPath, WORKLOAD, BINARY]
    await step('Running under Valgrind', 'valgrind', [...options, ...xml, ...program], {
      env: { SPILLWAY_STORAGE_DIR: '' },
    })
    const errors = readFileSync(report, 'utf8').match(/<error>[\s\S]*?<\/error>/g) ?? []
    const ours = errors.filter(isOurs)
    for (const error of ours) {
      console.log(`✗ ${error.match(/<kind>(.*?)<\/kind>/)?.[1]}: ${error.match(/<(?:what|text)>(.*?)</)?.[1]}`)
      for (const { name } of frames(error).slice(0, 12)) console.log(`    ${name}`)
    }
    console.log(`${errors.length} reports, ${ours.length} of the binary`)
    console.log(`memcheck: ${ours.length === 0 ? 1 : 0} passed, ${ours.length} failed`)
    if (ours.length > 0) process.exitCode = 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
