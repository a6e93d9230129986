/** A page with the components in Chromium, on a server with outputs, as a user's application would have it. */

import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { TruncationStorage } from 'spillway'
import { createOutputHandler } from 'spillway/view'
import { tempDir } from '../support/temp'
import { Chromium } from './chromium'

const UI = join(__dirname, '..', '..', 'dist', 'ui', 'index.mjs')
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'"
const HTML = `<!doctype html><html lang="en"><title>Components</title><meta name="viewport" content="width=device-width">
<link rel="stylesheet" href="page.css"><main></main><script type="module" src="page.mjs"></script></html>`
const CSS = 'spillway-output { block-size: 300px }'
/** Functions that the tests call in the page. */
const SCRIPT = `import { connect } from './ui.mjs'
const { outputs } = await connect({ token: location.hash.slice(1) })
Object.assign(globalThis, {
  outputs,
  show(name, properties, width = 'auto') {
    const made = document.createElement(name)
    made.style.inlineSize = width
    document.querySelector('main').replaceChildren(made)
    Object.assign(made, properties)
    return made
  },
  async until(find) {
    for (const end = performance.now() + 10_000; performance.now() < end; ) {
      const found = find()
      if (found) return found
      await new Promise(requestAnimationFrame)
    }
    throw new Error(find + ' never; there is: ' + all(':host > *').map((part) => part.textContent))
  },
  all: (selector) => [...document.querySelector('main').firstChild.shadowRoot.querySelectorAll(selector)],
  text: (selector) => all(selector).map((element) => element.textContent),
})
document.body.dataset.ready = 'yes'
`

export class ComponentPage {
  private constructor(
    readonly chromium: Chromium,
    private readonly server: Server,
    private readonly storage: TruncationStorage,
  ) {}

  static async start(): Promise<ComponentPage> {
    const storage = new TruncationStorage(tempDir())
    const handler = createOutputHandler({ outputs: storage })
    const files: Record<string, [type: string, content: string]> = {
      '/': ['text/html; charset=utf-8', HTML],
      '/page.css': ['text/css', CSS],
      '/page.mjs': ['text/javascript', SCRIPT],
      '/ui.mjs': ['text/javascript', readFileSync(UI, 'utf8')],
    }
    const server = createServer((request, response) =>
      handler(request, response, () => {
        const [type, content] = files[request.url!] ?? ['text/plain', '']
        response.writeHead(200, { 'content-type': type, 'content-security-policy': POLICY }).end(content)
      }),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const chromium = await Chromium.start()
    await chromium.send('Emulation.setFocusEmulationEnabled', { enabled: true })
    await chromium.send('Page.navigate', {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/#${handler.token}`,
    })
    await chromium.evaluate(
      `new Promise((resolve) => { const look = () => document.body?.dataset.ready ? resolve() : requestAnimationFrame(look); look() })`,
    )
    return new ComponentPage(chromium, server, storage)
  }

  save(text: string): Promise<string> {
    return this.storage.save(text, { toolName: 'bash' })
  }

  /** Runs the body of a function in the page, with the arguments under their names. */
  run<Result>(body: string, args: Record<string, unknown> = {}): Promise<Result> {
    const given = Object.entries(args).map(([name, value]) => `const ${name} = ${JSON.stringify(value)}\n`)
    return this.chromium.evaluate(`(async () => { ${given.join('')}${body} })()`) as Promise<Result>
  }

  /** Presses a key, which types a character if it is one. */
  async press(key: string, modifiers: { ctrl?: boolean; shift?: boolean } = {}): Promise<void> {
    const bits = (modifiers.ctrl ? 2 : 0) + (modifiers.shift ? 8 : 0)
    const text = key.length === 1 && !modifiers.ctrl ? { text: key } : key === 'Enter' ? { text: '\r' } : {}
    const codes: Record<string, number> = { Enter: 13, Tab: 9, Escape: 27, End: 35, Home: 36, ArrowDown: 40 }
    const asked = { key, modifiers: bits, windowsVirtualKeyCode: codes[key] ?? key.toUpperCase().charCodeAt(0) }
    await this.chromium.send('Input.dispatchKeyEvent', { type: 'keyDown', ...asked, ...text })
    await this.chromium.send('Input.dispatchKeyEvent', { type: 'keyUp', ...asked })
  }

  async close(): Promise<void> {
    await this.chromium.close()
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
    await this.storage.close()
  }
}
