// The bridge of the page: Electron's if there is one, else the same over HTTP; and on it the sources of the components.

const word = new URLSearchParams(location.search).get('word')

const overHttp = {
  async call(name, args) {
    const response = await fetch(`bridge?word=${word}`, { method: 'POST', body: JSON.stringify({ name, args }) })
    return response.json()
  },
  listen(listener) {
    const events = new EventSource(`events?word=${word}`)
    events.addEventListener('message', ({ data }) => listener(JSON.parse(data)))
    return new Promise((resolve) => events.addEventListener('open', resolve, { once: true }))
  },
}

const bridge = window.bridge ?? overHttp

const listeners = new Set()
await bridge.listen((event) => {
  for (const listener of listeners) listener(event)
})

/** Calls the listener with the host's events of a type, until the returned function is called. */
export function listen(type, listener) {
  const heard = (event) => event.type === type && listener(event)
  listeners.add(heard)
  return () => listeners.delete(heard)
}

/** Calls the host; throws what it answered as an error. */
export async function call(name, args) {
  const { value, error } = await bridge.call(name, args)
  if (error) throw Object.assign(new Error(error.message), { code: error.code })
  return value
}

export const outputs = {
  readRange: (path, { signal: _, ...range }) => call('readRange', { path, range }),
  search: (path, pattern, { signal: _, ...options } = {}) => call('search', { path, pattern, options }),
  open: (path) => call('open', { path }),
  follow(path, listener) {
    const stop = listen('progress', (event) => event.path === path && listener(event.progress))
    call('follow', { path })
    return stop
  },
}

export const approvals = {
  pending: () => call('pending'),
  respond: (id, response, rule) => call('respond', { id, response, rule }),
  listen: (listener) => listen('questions', listener),
}

export const audit = {
  list: () => call('auditList'),
  read: (file, range) => call('auditRead', { file, range }),
}
