/** The server of `spillway view`: the page, the components, and the outputs for those who have its token. */

import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type ApprovalSource, type AuditSource, createOutputHandler, type OutputSource } from 'spillway/view'
import { isOwnHost } from '../view/request-checks'
import { CSS, HTML } from './desk-page'

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const inPackage = (name: string) => () => readFile(join(__dirname, '..', 'ui', name))

const FILES: Readonly<Record<string, readonly [type: string, read: () => Promise<string | Uint8Array>]>> = {
  '/': ['text/html; charset=utf-8', async () => HTML],
  '/page.css': ['text/css; charset=utf-8', async () => CSS],
  '/view-page.mjs': ['text/javascript', inPackage('view-page.mjs')],
  '/index.mjs': ['text/javascript', inPackage('index.mjs')],
}

/** Sources of the page. */
export interface Desk {
  outputs: OutputSource
  approvals: ApprovalSource
  audit?: AuditSource
  sessionId?: string
  port: number
}

/** A server that listens on the loopback interface alone. */
export interface StartedDesk {
  server: Server
  /** The address with a one-time token; `path` is the output to show first. */
  address(path?: string): string
}

export async function startDesk({ port, ...sources }: Desk): Promise<StartedDesk> {
  const handler = createOutputHandler({ ...sources, allowRemove: true })
  const server = createServer((request, response) =>
    handler(request, response, async () => {
      const [type, read] = FILES[(request.url ?? '').replace(/\?.*$/, '')] ?? []
      if (!isOwnHost(request, undefined)) return response.writeHead(403).end()
      const isServed = request.method === 'GET' && type !== undefined && read !== undefined
      if (!isServed) return response.writeHead(404).end()
      response.writeHead(200, {
        'content-type': type,
        'content-security-policy': POLICY,
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      })
      response.end(await read())
    }),
  )
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const { port: own } = server.address() as AddressInfo
  const address = (path?: string) => {
    const query = new URLSearchParams({ login: handler.issueLogin(), ...(path !== undefined && { path }) })
    // Behind the #, which browsers send to no server.
    return `http://127.0.0.1:${own}/#${query}`
  }
  return { server, address }
}

/** Opens a file or an address with the system's program for it. Returns false if there is none. */
export function openWithSystem(target: string): Promise<boolean> {
  const [command, args] =
    process.platform === 'darwin'
      ? ['open', [target]]
      : process.platform === 'win32'
        ? ['explorer.exe', [target]]
        : ['xdg-open', [target]]
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'ignore', detached: true })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}
