// The process of the page: reads outputs in the bucket and answers questions on the server. It has no part in any session.

import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { FleetApprovals, openCoordination, openStore } from 'spillway/remote'
import { createOutputHandler } from 'spillway/view'

const coordination = openCoordination()
const handler = createOutputHandler({ outputs: openStore(), approvals: new FleetApprovals({ coordination }) })

const own = (name) => fileURLToPath(new URL(`page/${name}`, import.meta.url))
const FILES = {
  '/': ['text/html; charset=utf-8', own('index.html')],
  '/page.mjs': ['text/javascript', own('page.mjs')],
  '/page.css': ['text/css', own('page.css')],
  '/ui.mjs': ['text/javascript', fileURLToPath(import.meta.resolve('spillway/ui'))],
}
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'"

/** Sends the newest status of each session, to pages that have the token of the outputs. */
async function sessions(request, response) {
  if (request.headers.authorization !== `Bearer ${handler.token}`) return response.writeHead(401).end()
  const listed = await coordination.list('status')
  response.setHeader('content-type', 'application/json')
  response.end(`[${listed.map(({ value }) => value).join()}]`)
}

const server = createServer((request, response) =>
  handler(request, response, async () => {
    const { pathname } = new URL(request.url, 'http://localhost')
    if (pathname === '/sessions') return sessions(request, response).catch(() => response.writeHead(503).end())
    const [type, path] = Object.hasOwn(FILES, pathname) ? FILES[pathname] : []
    if (path === undefined) return response.writeHead(404).end()
    response.writeHead(200, { 'content-type': type, 'content-security-policy': POLICY }).end(await readFile(path))
  }),
)
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}/`, token: handler.token }))
})
process.once('SIGTERM', async () => {
  server.closeAllConnections()
  server.close()
  await coordination.close()
})
