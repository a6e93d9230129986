// One pool per run; the projects differ in when and what they fake.

const { POOL: pool } = process.env
const all = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'clearImmediate', 'Date']
const micro = ['performance', 'queueMicrotask']
// Vitest refuses to fake `nextTick` in child processes.
const toFake = [...all, ...micro, ...(pool.toLowerCase().endsWith('forks') ? [] : ['nextTick', 'hrtime'])]

const project = (name, options) => ({ test: { name, pool, globals: true, testTimeout: 10_000, ...options } })
const timers = (name, when, options) =>
  project(name, {
    include: ['timers.spec.mjs'],
    setupFiles: ['./setup.vitest.mjs'],
    env: { FAKE_TIMERS: when },
    ...options,
  })

export default {
  cacheDir: './.vite',
  test: {
    projects: [
      project('realm', { include: ['realm.spec.mjs'] }),
      timers('timers faked in each test', 'each'),
      timers('timers faked before the package is loaded', 'before'),
      timers('every timer faked before the package is loaded', 'all before', { fakeTimers: { toFake } }),
    ],
  },
}
