// The bridge of the page: Electron's if there is one, else the same over HTTP.

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

export const listen = (listener) => bridge.listen(listener)

/** Calls the host; throws what it answered as an error. */
export async function call(name, args) {
  const { value, error } = await bridge.call(name, args)
  if (error) throw Object.assign(new Error(error.message), { code: error.code })
  return value
}
