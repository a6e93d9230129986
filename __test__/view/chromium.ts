/** A Chromium without a window, driven by its DevTools protocol over two pipes: no driver has to be installed. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { CHROMIUM } from '../support/chromium-path.cjs'

const ARGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--remote-debugging-pipe',
]
/** Pictures look the same whatever the machine prefers. */
const LOOKS = ['--hide-scrollbars', '--force-color-profile=srgb', '--font-render-hinting=none', '--disable-lcd-text']

/** The first number of the version that is installed; `undefined` without a Chromium. */
export function chromiumVersion(): number | undefined {
  if (CHROMIUM === undefined) return undefined
  const { stdout } = spawnSync(CHROMIUM, ['--version'], { encoding: 'utf8' })
  const [, major] = /(\d+)\.\d+\.\d+/.exec(stdout ?? '') ?? []
  return major === undefined ? undefined : Number(major)
}

type Answer = Record<string, unknown>

export class Chromium {
  /** It lives as long as the browser, which writes into it to its end: longer than one test. */
  private readonly profile = mkdtempSync(join(tmpdir(), 'spillway-chromium-'))
  private readonly child: ChildProcess
  private readonly waiting = new Map<number, (answer: { result?: Answer; error?: { message: string } }) => void>()
  private ended: string | undefined
  private last = 0
  private sessionId: string | undefined

  private constructor() {
    this.child = spawn(CHROMIUM!, [...ARGS, ...LOOKS, `--user-data-dir=${this.profile}`, 'about:blank'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    })
    this.child.once('exit', (code, signal) => {
      this.ended = `the browser ended with ${code ?? signal}`
      for (const id of [...this.waiting.keys()]) this.take({ id, error: { message: this.ended } })
    })
    // The end of the browser says more than that of its pipes.
    for (const pipe of this.child.stdio.slice(3)) pipe?.on('error', () => {})
    let rest = ''
    const said = this.child.stdio[4] as Readable
    said.setEncoding('utf8').on('data', (piece: string) => {
      const messages = `${rest}${piece}`.split('\0')
      rest = messages.pop()!
      for (const message of messages) this.take(JSON.parse(message))
    })
  }

  /** Starts one with an empty page. A browser that ends while it starts, as some do on a busy machine, is started again. */
  static start(): Promise<Chromium> {
    return Chromium.opened().catch(() => Chromium.opened())
  }

  private static async opened(): Promise<Chromium> {
    const chromium = new Chromium()
    const { targetId } = await chromium.send('Target.createTarget', { url: 'about:blank' })
    const { sessionId } = await chromium.send('Target.attachToTarget', { targetId, flatten: true })
    chromium.sessionId = sessionId as string
    return chromium
  }

  private take({ id, ...answer }: { id?: number; error?: { message: string } }): void {
    if (id === undefined) return
    this.waiting.get(id)?.(answer)
    this.waiting.delete(id)
  }

  async send(method: string, params: object = {}): Promise<Answer> {
    if (this.ended !== undefined) throw new Error(`${method}: ${this.ended}`)
    this.last += 1
    const id = this.last
    const answered = new Promise<{ result?: Answer; error?: { message: string } }>((resolve) => {
      this.waiting.set(id, resolve)
    })
    const { sessionId } = this
    const message = JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) })
    ;(this.child.stdio[3] as Writable).write(`${message}\0`)
    const { result, error } = await answered
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result!
  }

  /** Evaluates an expression in the page, and waits where it is a promise. */
  async evaluate(expression: string): Promise<unknown> {
    const asked = { expression, awaitPromise: true, returnByValue: true }
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', asked)
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails))
    return (result as { value: unknown }).value
  }

  /** Returns a picture of a part of the page, as PNG. */
  async picture(clip: { x: number; y: number; width: number; height: number }): Promise<Buffer> {
    const asked = { format: 'png', clip: { ...clip, scale: 1 }, captureBeyondViewport: true }
    const { data } = await this.send('Page.captureScreenshot', asked)
    return Buffer.from(data as string, 'base64')
  }

  async close(): Promise<void> {
    const ended = this.ended ?? new Promise((resolve) => this.child.once('exit', resolve))
    this.sessionId = undefined
    await this.send('Browser.close').catch(() => {})
    await ended
    // Processes of the browser that outlive it for a moment may still write.
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
}
