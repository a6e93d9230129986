// Node's own runner, with Jest's `expect`, and the two ways in which its users fake timers. Unlike Jest and Vitest, both
// replace the functions of `node:timers` too.

import { createRequire } from 'node:module'
import { after, afterEach, before, beforeEach, describe, mock, test } from 'node:test'
import { format } from 'node:util'

const require = createRequire(process.env.RUNNERS_ROOT)
const { expect } = require('expect')

const timers = {
  node: () => {
    mock.timers.enable()
    return () => mock.timers.reset()
  },
  sinon: () => {
    // As `sinon.useFakeTimers` does; faked ticks would stop the runner itself.
    const clock = require('@sinonjs/fake-timers').install({ toNotFake: ['nextTick', 'queueMicrotask'] })
    return () => clock.uninstall()
  },
}

const fake = timers[process.env.FAKE_TIMERS]
if (process.env.FAKE_BEFORE) {
  fake()
} else {
  let stop
  globalThis.startFakeTimers = () => {
    stop = fake()
  }
  globalThis.stopFakeTimers = () => stop()
}

test.each = (rows) => (title, work) => {
  for (const row of rows) {
    const values = Array.isArray(row) ? row : [row]
    test(format(title, values[0]), () => work(...values))
  }
}
Object.assign(globalThis, { afterAll: after, afterEach, beforeAll: before, beforeEach, describe, expect, test })
