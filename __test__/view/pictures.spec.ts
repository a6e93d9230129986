/**
 * The components as they look in Chromium, beside the pictures of docs/ui.md. Another version of Chromium or of the fonts smooths edges
 * differently, so more pixels may differ there. `SPILLWAY_PICTURES=write npx jest pictures` draws them again.
 */

import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import pixelmatch from 'pixelmatch'
import { PNG } from 'pngjs'
import { AuditLog, ContextManager, PermissionGate, PermissionPolicy, TruncationStorage } from 'spillway'
import { createAuditSource, createOutputHandler } from 'spillway/view'
import { describeUnless } from '../support/only'
import { tempDir } from '../support/temp'
import { Chromium, chromiumVersion } from './chromium'

const ROOT = join(__dirname, '..', '..')
const PICTURES = join(ROOT, 'docs', 'images', 'ui')
const RECORDED = join(PICTURES, 'drawn-by.json')
const isWriting = process.env.SPILLWAY_PICTURES === 'write'

const FILES: Record<string, [path: string, type: string]> = {
  '/': [join(__dirname, 'pictures', 'page.html'), 'text/html; charset=utf-8'],
  '/page.mjs': [join(__dirname, 'pictures', 'page.mjs'), 'text/javascript'],
  '/page.css': [join(__dirname, 'pictures', 'page.css'), 'text/css'],
  '/ui.js': [join(ROOT, 'dist', 'ui', 'index.mjs'), 'text/javascript'],
}

const ELEMENTS = ['output', 'approval', 'context', 'audit']
const WIDTHS = { narrow: 420, wide: 960 }
const CASES = ELEMENTS.flatMap((element) =>
  ['light', 'dark'].flatMap((scheme) =>
    Object.entries(WIDTHS).map(([size, width]) => ({ element, scheme, size, width })),
  ),
)
/** Share of the pixels that may differ with the browser and fonts that drew the pictures, and with others. */
const [TOLERANCE, TOLERANCE_OF_OTHERS] = [0.001, 0.01]
/** Pictures that are taken until one is as it was. */
const ATTEMPTS = 5
const FONTS = ['DejaVu Sans', 'DejaVu Sans Mono']

interface Drawn {
  chromium: number
  fonts: Record<string, string>
}

/** The browser and the fonts of this machine. */
function drawnBy(): Drawn {
  const fonts = FONTS.map((name) => {
    const { stdout } = spawnSync('fc-match', ['-f', '%{family[0]} %{fontversion}', name], { encoding: 'utf8' })
    return [name, stdout ?? '']
  })
  return { chromium: chromiumVersion() ?? 0, fonts: Object.fromEntries(fonts) }
}

const here = drawnBy()

function missing(): string {
  if (here.chromium === 0) return 'there is no Chromium; CHROMIUM can name one'
  const font = FONTS.find((name) => !here.fonts[name]?.startsWith(`${name} `))
  return font === undefined ? '' : `there is no font ${font}`
}

const [RED, GREEN, DIM, END] = ['\u001b[31m', '\u001b[32m', '\u001b[2m', '\u001b[0m']
const OUTPUT = `${[
  `${GREEN}PASS${END} src/parse.test.ts ${DIM}(1.2 s)${END}`,
  `${RED}FAIL${END} src/print.test.ts`,
  `  ${RED}✕${END} prints a \u001b[38;5;208mline\u001b[0m of \u001b[38;2;120;90;220mmany colours\u001b[0m`,
  `    expected \u001b[42m\u001b[30m 1 ${END}, received \u001b[41m\u001b[97m 2 ${END}`,
  'progress 10%\rprogress 100%',
  'access("admin\u202e\u2066// only\u2069\u2066") \u0007 zero\u200bwidth',
  '<script>alert(1)</script><img src=x onerror="alert(1)">',
  ...Array.from({ length: 400 }, (_, at) => `${DIM}at step ${at + 1}${END} (src/steps.ts:${at + 10}:7)`),
].join('\n')}\n`

/** Serves the page, with an output, a question and an audit log. */
async function serve(): Promise<{ server: Server; url: string }> {
  const dir = tempDir()
  const outputs = new TruncationStorage(join(dir, 'outputs'))
  const path = await outputs.save(OUTPUT, { toolName: 'bash' })
  const vault = join(dir, 'project')
  mkdirSync(vault)
  const gate = new PermissionGate(new PermissionPolicy({ vault, outsideEdit: 'ask' }))
  const command = 'npm test > ../out.txt && git push --force "$REMOTE"'
  void gate.request({ tool: 'bash', args: { command }, toolCallId: 'call-1', cwd: vault, vault })
  void gate.request({ tool: 'bash', args: { command: 'make' }, toolCallId: 'call-2', cwd: vault, vault })
  const log = new AuditLog({ dir: join(dir, 'audit'), sessionId: 'session' })
  for (const [at, [tool, target, decision]] of [
    ['read', 'vault:/src/print.ts', 'allow'],
    ['bash', 'shell:npm test', 'allow'],
    ['bash', 'shell:git push --force', 'deny'],
  ].entries()) {
    const timestamp = Date.UTC(2026, 0, 2, 9, 30, at)
    await log.append({ type: 'decision', timestamp, tool, targets: [target!], decision })
  }
  await log.close()
  const handler = createOutputHandler({
    outputs,
    approvals: gate,
    audit: createAuditSource({ dir: join(dir, 'audit') }),
  })
  const server = createServer((request, response) =>
    handler(request, response, () => {
      const [file, type] = FILES[new URL(request.url!, 'http://localhost').pathname] ?? []
      if (file === undefined) return response.writeHead(404).end()
      return response.writeHead(200, { 'content-type': type }).end(readFileSync(file))
    }),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const page = JSON.stringify({ token: handler.token, path, ...(await context()) })
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/#${encodeURIComponent(page)}` }
}

async function context() {
  const manager = new ContextManager({ contextWindow: 20_000 })
  const results = ['1', '2'].flatMap((id) => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name: 'bash', arguments: '{}' } }],
    },
    {
      role: 'tool',
      tool_call_id: id,
      content: `${id === '1' ? 'make: nothing to be done' : 'src/print.ts: 3 errors'}\n${'word '.repeat(8000)}`,
    },
  ])
  const history = [{ role: 'user', content: 'hello' }, ...results]
  const prepared = await manager.prepare(history)
  return { report: prepared.report, messages: manager.listMessages(prepared) }
}

const written = (picture: PNG) =>
  PNG.sync.write(picture, { colorType: 2, deflateLevel: 9, filterType: 0, deflateStrategy: 0 })

/** Returns what differs from the picture of the page; nothing if they look the same. */
function differenceOf(name: string, now: PNG, isKept: boolean): string {
  const before = PNG.sync.read(readFileSync(join(PICTURES, `${name}.png`)))
  const [{ width, height }, recorded] = [before, JSON.parse(readFileSync(RECORDED, 'utf8')) as Drawn]
  if (now.width !== width || now.height !== height) {
    return `it is ${now.width} × ${now.height} pixels large, and was ${width} × ${height}`
  }
  const seen = new PNG({ width, height })
  const differing = pixelmatch(before.data, now.data, seen.data, width, height)
  const isSame = isDeepStrictEqual(recorded, here)
  const allowed = Math.floor(width * height * (isSame ? TOLERANCE : TOLERANCE_OF_OTHERS))
  if (differing <= allowed) return ''
  const folder = join(ROOT, 'target', 'pictures')
  if (isKept) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `${name}.png`), PNG.sync.write(now))
    writeFileSync(join(folder, `${name}-difference.png`), PNG.sync.write(seen))
  }
  const browsers = isSame ? '' : `, drawn by ${JSON.stringify(recorded)}, here is ${JSON.stringify(here)}`
  return `${differing} pixels differ, ${allowed} may${browsers}; see ${folder}`
}

describeUnless(missing(), 'pictures of the components', () => {
  let chromium: Chromium
  let server: Server

  beforeAll(async () => {
    const served = await serve()
    server = served.server
    chromium = await Chromium.start()
    await chromium.send('Emulation.setFocusEmulationEnabled', { enabled: true })
    await chromium.send('Emulation.setTimezoneOverride', { timezoneId: 'UTC' })
    await chromium.send('Emulation.setLocaleOverride', { locale: 'en-GB' })
    await chromium.send('Page.navigate', { url: served.url })
    await chromium.evaluate(
      `new Promise((resolve) => { const look = () => document.body?.dataset.ready ? resolve() : requestAnimationFrame(look); look() })`,
    )
    if (isWriting) {
      mkdirSync(PICTURES, { recursive: true })
      writeFileSync(RECORDED, `${JSON.stringify(here, null, 2)}\n`)
    }
  })

  afterAll(async () => {
    await chromium?.close()
    server?.closeAllConnections()
    await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)))
  })

  test.each(CASES)('$element, $scheme, $size', async ({ element, scheme, size, width }) => {
    const features = [{ name: 'prefers-color-scheme', value: scheme }]
    await chromium.send('Emulation.setEmulatedMedia', { features })
    const screen = { width, height: 700, deviceScaleFactor: 1, mobile: false }
    await chromium.send('Emulation.setDeviceMetricsOverride', screen)
    const name = `${element}-${scheme}-${size}`
    if (isWriting) writeFileSync(join(PICTURES, `${name}.png`), written(await settled(element, width)))
    // A busy browser may take a picture before all of it is painted.
    for (let attempt = 1; ; attempt += 1) {
      const problem = differenceOf(name, await settled(element, width), attempt === ATTEMPTS)
      if (problem === '') return
      if (attempt === ATTEMPTS) throw new Error(problem)
    }
  })

  /** Takes a picture of an element once it is drawn, and again until two are the same. */
  async function settled(element: string, width: number): Promise<PNG> {
    let before: Buffer | undefined
    for (;;) {
      await chromium.evaluate(`drawn(${width})`)
      const clip = (await chromium.evaluate(
        `(() => { const { x, y, width, height } = document.getElementById('${element}').getBoundingClientRect()
          return { x: x + scrollX, y: y + scrollY, width, height: Math.ceil(height) } })()`,
      )) as Parameters<Chromium['picture']>[0]
      const now = await chromium.picture(clip)
      if (clip.width === width && before?.equals(now)) return PNG.sync.read(now)
      before = now
    }
  }
})
