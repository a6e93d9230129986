// `npm run build`: everything that is built, from a fresh clone on.

import { entries } from './entries.mjs'
import { build, main } from './run.mjs'

await main(async () => {
  await build()
  await entries()
})
