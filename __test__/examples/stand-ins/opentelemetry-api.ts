/** Stand-in for `@opentelemetry/api`: the names and types that the pages use. Nothing is recorded. */
const span = { setAttributes: () => {}, setStatus: () => {}, end: () => {} }
const instrument = { add: () => {}, record: () => {} }

export const trace = {
  getTracer: (_name: string) => ({
    startActiveSpan<T>(_span: string, _options: object, run: (started: typeof span) => T): T {
      return run(span)
    },
  }),
  getActiveSpan: () => span,
}

export const metrics = {
  getMeter: (_name: string) => ({
    createCounter: () => instrument,
    createUpDownCounter: () => instrument,
    createHistogram: () => instrument,
  }),
}
