// `npm start [-- command]`: installs, builds, and shows the main job on a real command.

import { build, main, ROOT, step } from './build/run.mjs'

await main(async () => {
  await build()
  process.stderr.write('\n')
  await step('The demonstration', process.execPath, ['examples/demo.mjs', ...process.argv.slice(2)], {
    show: true,
    cwd: ROOT,
  })
})
