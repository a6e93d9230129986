// Programs that need nothing but Node, and the bundlers that this repository has.

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { require, tool } from './install.mjs'

/** A command line that runs some scripts one after another, until one fails. */
const inTurn = (...commands) => [
  '-e',
  `const { spawnSync } = require('node:child_process')
   for (const args of ${JSON.stringify(commands)}) {
     const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
     if (status !== 0) process.exit(status ?? 1)
   }`,
]

/** Bundles with a script that is handed over, and runs what comes out. */
export function bundled(name, cwd, script, out) {
  return { name: `bundle, ${name}`, args: inTurn(['--input-type=module', '-e', script], [out]), cwd }
}

export function programs(root, { quick }) {
  const at = (folder) => ({ args: ['main.js'], cwd: join(root, folder) })
  const threads = quick ? 12 : 200
  const bundle = join(root, 'bundle')
  const rolldown = pathToFileURL(require.resolve('rolldown')).href
  return [
    { name: 'CommonJS', ...at('commonjs') },
    { name: 'ES modules', ...at('esm') },
    {
      name: `worker_threads, ${threads}`,
      ...at('worker-threads'),
      env: { COUNT: String(threads) },
      timeLimitMs: 300_000,
    },
    { name: 'child_process and cluster', ...at('processes') },
    {
      name: 'bundle, Vite',
      args: inTurn([tool('vite', 'bin', 'vite.js'), 'build', '--ssr', 'main.js'], ['out/vite/main.js']),
      cwd: bundle,
    },
    bundled(
      'Rolldown',
      bundle,
      `import { build } from ${JSON.stringify(rolldown)}
       await build({ input: 'main.js', platform: 'node', external: [/^spillway-/], logLevel: 'warn',
         output: { file: 'out/rolldown.mjs', format: 'esm' } })`,
      'out/rolldown.mjs',
    ),
  ]
}
