// Setup files run before the package is loaded, so with `before` it never sees a real timer among the globals.
const { FAKE_TIMERS } = process.env
if (FAKE_TIMERS === 'each') {
  globalThis.startFakeTimers = () => vi.useFakeTimers()
  globalThis.stopFakeTimers = () => vi.useRealTimers()
} else {
  vi.useFakeTimers()
}
// Where ticks are faked too, those of Vitest itself are among them.
if (FAKE_TIMERS !== 'all before') globalThis.countFakeTimers = () => vi.getTimerCount()
