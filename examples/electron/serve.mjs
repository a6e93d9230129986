// The same page and the same bridge, served by Node on this machine alone: to look at it without Electron, and to test it.
//
//     node serve.mjs [folder for data] [port]

import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const { createAgent } = createRequire(import.meta.url)('./agent.cjs')
const PAGE = join(fileURLToPath(new URL('.', import.meta.url)), 'page')
const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css' }

/** Starts it; answers the address of the page, with the word that its calls must bring. */
export async function serve({ dataDir, cwd = process.cwd(), port = 0, openPath = () => {} }) {
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
    const name = pathname === '/' ? 'index.html' : pathname.slice(1)
    if (!/^[a-z-]+\.(html|js|css)$/.test(name)) return response.writeHead(404).end()
    const content = await readFile(join(PAGE, name)).catch(() => undefined)
    response.writeHead(content ? 200 : 404, { 'content-type': TYPES[extname(name)] })
    response.end(content)
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
  const { url } = await serve({
    dataDir: process.argv[2] ?? join(tmpdir(), 'spillway-example'),
    port: Number(process.argv[3] ?? 0),
    openPath: (path) => console.log(`would open ${path}`),
  })
  console.log(url)
}
