// `npm run bench [-- --quick | --only=name | --rounds=N]`: builds, then measures. It never fails because of a figure.

import { build, main, ROOT, step } from '../build/run.mjs'

await main(async () => {
  await build()
  const options = process.argv.slice(2)
  await step('Measuring', process.execPath, ['--expose-gc', 'benchmark/run.mjs', ...options], { show: true, cwd: ROOT })
})
