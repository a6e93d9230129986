// The same page and the same bridge, served by Node on this machine alone: to look at it without Electron, and to test it.
//
//     node serve.mjs FOLDER [folder for data] [port]

import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const require = createRequire(import.meta.url)
const { createAgent } = require('./agent.cjs')
const { pageFile } = require('./page-files.cjs')

/** Starts it; answers the address of the page, with the word that its calls must bring. */
export async function serve({ dataDir, cwd, port = 0, openPath = () => {} }) {
  const agent = createAgent({ dataDir, cwd, openPath })
  // Other pages of the same browser can send requests here too; they do not know the word.
  const word = randomBytes(16).toString('hex')
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://localhost')
    const isOurs = searchParams.get('word') === word
    if (pathname === '/bridge' && request.method === 'POST' && isOurs) {
      const { name, args } = JSON.parse(Buffer.concat(await request.toArray()).toString())
      response.setHeader('content-type', 'application/json')
      return response.end(JSON.stringify(await agent.call(name, args)))
    }
    if (pathname === '/events' && isOurs) {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(':\n\n')
      const stop = agent.listen((event) => response.write(`data: ${JSON.stringify(event)}\n\n`))
      return request.on('close', stop)
    }
    const file = await pageFile(pathname)
    response.writeHead(file ? 200 : 404, file?.headers).end(file?.content)
  })
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}/?word=${word}`,
    agent,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await agent.close()
    },
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , cwd = process.cwd(), dataDir = join(tmpdir(), 'spillway-example'), port = 0] = process.argv
  const { url } = await serve({
    dataDir,
    cwd,
    port: Number(port),
    openPath: (path) => console.log(`would open ${path}`),
  })
  console.log(url)
}
