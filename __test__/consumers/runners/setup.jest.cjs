// Which timers a project fakes is in its `globals`; with `enableGlobally` Jest has faked them already.
const options = globalThis.fakeTimers
if (options) {
  globalThis.startFakeTimers = () => jest.useFakeTimers(options)
  globalThis.stopFakeTimers = () => jest.useRealTimers()
}
globalThis.countFakeTimers = () => jest.getTimerCount()
