// The components in a real Chromium: what a person sees and does, how soon, and what a hostile output cannot do.
//
//     node check.js playwright-core axe-core chromium [bytes of the large output] [folder for screenshots]

import assert from 'node:assert'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { startHost } from './host.js'
import { COLOURS, countOfNumbers, minified } from './outputs.js'
import { checkCopies, checkTail, checkTouch } from './parts.js'

const [, , playwright, axe, executablePath, bytes = String(2 ** 30), screenshots] = process.argv
const { chromium } = (await import(pathToFileURL(playwright).href)).default
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']
// Other processes may have the processor meanwhile: what takes too long is measured again, and must be slow each time.
const ATTEMPTS = 5
const PAINT_MS = 300
const PAGE_MS = 100
const SEARCH_MS = 1500
const MEMORY = 150 * 2 ** 20
const MODULE = 40 * 1024

const host = await startHost()
const browser = await chromium.launch({ executablePath, args: [...ARGS, '--disable-component-update'] })
const context = await browser.newContext({ viewport: { width: 960, height: 600 }, hasTouch: true })
const page = await context.newPage()
page.setDefaultTimeout(60_000)
const complaints = []
page.on('pageerror', (error) => complaints.push(String(error)))
page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))

const shoot = (name, on = page) => screenshots && on.screenshot({ path: join(screenshots, `ui-${name}.png`) })
const row = (line) => page.locator(`.row[data-line="${line.toLocaleString('en')}"] .text`)
const status = page.locator('.status')
const count = page.locator('.found')
const visible = () => page.locator('.row .text').allTextContents()

/** Shows an output, and returns the milliseconds until a line of it is drawn. */
const show = (path) =>
  page.evaluate(async (path) => {
    const element = document.querySelector('spillway-output')
    const began = performance.now()
    element.path = path
    await drawn(() => element.shadowRoot.querySelector('.row .text')?.textContent)
    return performance.now() - began
  }, path)

/** Waits until nothing scrolls any more: browsers move over many frames. */
const settled = () =>
  page.evaluate(async () => {
    const top = () => document.querySelector('spillway-output').shadowRoot.querySelector('.row')?.dataset.line
    let [line, frames] = [top(), 0]
    await drawn(() => {
      frames = top() === line ? frames + 1 : 0
      line = top()
      return frames > 20
    })
  })

/** Measures again as long as it takes longer than the limit, and returns the shortest time. */
async function shortest(limit, measure) {
  let least = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < ATTEMPTS && least > limit; attempt += 1) least = Math.min(least, await measure())
  return least
}

/** Shows an output that was not shown before, and returns the milliseconds until a line of it is drawn. */
const paint = async (path, other) =>
  shortest(PAINT_MS, async () => {
    await show(other)
    return show(path)
  })

/** Goes to lines, and returns the milliseconds that each took. */
const goTo = (lines) =>
  page.evaluate(async (lines) => {
    const element = document.querySelector('spillway-output')
    const times = []
    for (const line of lines) {
      const began = performance.now()
      element.goTo(line)
      const name = `.row[data-line="${line.toLocaleString('en')}"] .text`
      await drawn(() => element.shadowRoot.querySelector(name)?.textContent === String(line))
      times.push(performance.now() - began)
    }
    return times
  }, lines)

async function checkLarge() {
  const total = countOfNumbers(Number(bytes))
  const path = await host.saveNumbers(total)
  const painted = await paint(path, await host.save('another output\n'))
  await status.filter({ hasText: `${total.toLocaleString('en')} lines` }).waitFor()
  const places = Array.from({ length: 20 }, (_, index) => Math.floor(((index * 7919) % 20) * (total / 20)) + 1)
  const times = await goTo(places)
  for (const [index, place] of places.entries()) {
    // Lines that were read before may be drawn at once.
    let shift = 0
    const again = async () => (await goTo([Math.max(1, place - 5000 * ++shift)]))[0]
    if (times[index] > PAGE_MS) times[index] = await shortest(PAGE_MS, again)
  }
  const pane = page.locator('.pane')
  await pane.focus()
  await page.keyboard.press('End')
  await row(total).waitFor()
  await page.keyboard.press('Home')
  await row(1).waitFor()
  await page.keyboard.press('PageDown')
  await page.waitForFunction(
    () => !document.querySelector('spillway-output').shadowRoot.querySelector('[data-line="1"]'),
  )

  await settled()

  // The bar, dragged to the middle; then the wheel moves by lines.
  await pane.evaluate((element) => {
    element.scrollTop = element.scrollHeight / 2
  })
  await page.waitForFunction((half) => {
    const first = document.querySelector('spillway-output').shadowRoot.querySelector('.row')
    return Math.abs(Number(first?.dataset.line.replaceAll(',', '')) - half) < half / 100
  }, total / 2)
  await settled()
  const before = Number(
    await page
      .locator('.row')
      .first()
      .getAttribute('data-line')
      .then((text) => text.replaceAll(',', '')),
  )
  await page.mouse.move(400, 400)
  await page.mouse.wheel(0, 390)
  await row(before + 20).waitFor()
  let at = total - 12_345
  const search = await shortest(SEARCH_MS, async () => {
    at += 1
    await page.keyboard.press('Control+f')
    const began = Date.now()
    await page.keyboard.type(`${at}`)
    await row(at).locator('mark').waitFor()
    return Date.now() - began
  })
  // On a machine that is slower or busy, the page adds little to the search itself.
  const bare = await host.searchTime(path, `${at}`)
  await page.fill('[aria-label="Search"]', '7777')
  await count.filter({ hasText: '1 of 200+' }).waitFor()
  await page.keyboard.press('Enter')
  await count.filter({ hasText: '2 of 200+' }).waitFor()
  await page.keyboard.press('Shift+F3')
  await count.filter({ hasText: '1 of 200+' }).waitFor()
  await shoot('large')
  const { metrics } = await cdpMetrics()
  const heap = metrics.find(({ name }) => name === 'JSHeapTotalSize').value
  return { total, painted, page: Math.max(...times), search, bare, heap, memory: await privateMemory() }
}

/** Bytes of the page's process that no other process shares. */
async function privateMemory() {
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  const sizes = processInfo
    .filter(({ type }) => type === 'renderer')
    .map(({ id }) => [...readFileSync(`/proc/${id}/smaps_rollup`, 'utf8').matchAll(/^Private_\w+:\s+(\d+) kB/gm)])
  return Math.max(...sizes.map((found) => found.reduce((sum, [, kib]) => sum + 1024 * Number(kib), 0)))
}

async function cdpMetrics() {
  const session = await context.newCDPSession(page)
  await session.send('Performance.enable')
  return session.send('Performance.getMetrics')
}

async function checkColours() {
  await show(await host.save(COLOURS))
  await row(9).waitFor()
  assert.deepStrictEqual((await visible()).slice(0, 2), ['PASS src/parse.test.ts (1.2 s)', 'FAIL src/print.test.ts'])
  assert.strictEqual(await row(5).textContent(), 'progress 100%')
  assert.match(await row(7).textContent(), /adminU\+202EU\+2066\/\/ only.*\^@ \^G zeroU\+200Bwidth/)
  assert.match(await row(8).textContent(), /^<script>/)
  assert.strictEqual(await page.evaluate(() => globalThis.taken), undefined)
  assert.strictEqual(await page.locator('spillway-output script, spillway-output img').count(), 0)
  const colour = (text) =>
    page
      .locator('.row span', { hasText: text })
      .last()
      .evaluate((span) => getComputedStyle(span).color)
  assert.notStrictEqual(await colour('PASS'), await colour('src/parse'))
  // A colour that a program chose for a dark background is made readable on a light one.
  assert.match(await colour('many colours'), /^oklch\(0\.5 /)
  await shoot('colours')
}

async function checkLongLine() {
  const path = await host.save('before\n', [...minified(100_000_000), '\nafter\n'])
  const painted = await paint(path, await host.save('another output\n'))
  await row(3).filter({ hasText: 'after' }).waitFor()
  assert.match(await row(2).textContent(), /^\{"key0":0,"key1":1,/)
  await page.locator('.pane').evaluate((element) => {
    element.scrollLeft = element.scrollWidth
  })
  await row(2).filter({ hasText: '"last":"end of the line"}' }).waitFor()
  await page.fill('[aria-label="Search"]', 'end of the line')
  await row(2).locator('mark', { hasText: 'end of the line' }).waitFor()
  await shoot('long-line')
  await page.fill('[aria-label="Search"]', '')
  await page.getByRole('button', { name: 'Wrap long lines' }).click()
  await row(2)
    .filter({ hasText: /MiB more; turn off Wrap/ })
    .waitFor()
  await page.getByRole('button', { name: 'Wrap long lines' }).click()
  return painted
}

/** The report of a request, as the host made it, in words and as bars. */
async function checkContext() {
  const context = page.locator('spillway-context')
  await context.evaluate(
    (element, shown) => {
      Object.assign(element, shown)
    },
    await host.context(),
  )
  assert.match(
    await context.locator('p').first().textContent(),
    /^History: [\d,]+ tokens stored, [\d,]+ sent, 0 tokens beside it; [\d,]+ fit$/,
  )
  assert.strictEqual(await context.locator('meter').count(), 2)
  assert.ok((await context.locator('li').count()) >= 2)
  assert.match((await context.locator('tbody tr').allTextContents()).at(0), /^userkept/)
  await checkAxe('context')
  await context.evaluate((element) => {
    Object.assign(element, { report: undefined, messages: [] })
  })
}

/** Logs with their verdicts, the records of one, page by page and by keys, and a source that fails. */
async function checkAudit() {
  const audit = page.locator('spillway-audit')
  const status = audit.getByRole('status')
  await audit.evaluate((element) => element.toggleAttribute('hidden', false))
  await status.filter({ hasText: 'There is no audit log yet.' }).waitFor()
  await checkAxe('audit-empty')
  await host.writeLogs()
  await audit.evaluate((element) => element.refresh())
  const verdicts = await audit.locator('.right, .wrong').allTextContents()
  assert.deepStrictEqual(
    verdicts.map((verdict) => verdict.split(':')[0]),
    ['✗ changed at line 7', '✓ verified'],
  )
  await checkAxe('audit-closed')
  for (const summary of await audit.locator('summary').all()) {
    await summary.focus()
    await page.keyboard.press('Enter')
  }
  const whole = audit.locator('details').last()
  await whole.locator('td', { hasText: 'tool-150' }).waitFor()
  await checkAxe('audit')
  await whole.getByRole('button', { name: 'Earlier records' }).focus()
  await page.keyboard.press('Enter')
  await whole.locator('td', { hasText: /^tool-1$/ }).waitFor()
  await checkAxe('audit-earlier')
  await audit.evaluate((element) => {
    element.source = { list: () => Promise.reject(new Error('The server is away.')) }
  })
  await status.filter({ hasText: 'The server is away.' }).waitFor()
  await checkAxe('audit-failed')
  await audit.evaluate((element) => element.toggleAttribute('hidden', true))
}

/** The page of `spillway view` as a user opens it; "Clear up" is reached by keys, asks, and says the result. */
async function checkDesk() {
  const desk = await host.startDesk()
  try {
    const shown = await context.newPage()
    shown.on('dialog', (dialog) => dialog.accept())
    await shown.goto(desk.url)
    await shown.locator('#list button').first().waitFor()
    const log = shown.locator('spillway-audit details').first()
    await log.locator('summary').click()
    await log.locator('td', { hasText: 'tool-150' }).waitFor()
    await checkAxe('view', shown)
    await shown.locator('#sweep').focus()
    await shown.keyboard.press('Enter')
    await shown.getByRole('alert').filter({ hasText: 'Removed 0 outputs, 0 bytes' }).first().waitFor()
    await checkAxe('view-cleared', shown)
    await shown.close()
  } finally {
    desk.stop()
  }
}

/** axe finds nothing on the page in either scheme. */
async function checkAxe(name, on = page) {
  await on.evaluate(readFileSync(axe, 'utf8'))
  for (const colorScheme of ['dark', 'light']) {
    await on.emulateMedia({ colorScheme })
    const { violations } = await on.evaluate(() => axe.run())
    const found = violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html, any }) => `${html} ${any[0]?.message ?? ''}`)}`,
    )
    assert.deepStrictEqual(found, [], `${name}, ${colorScheme}`)
    await shoot(`${name}-${colorScheme}`, on)
  }
}

/** An output can be used by all, and nothing is cut off on a narrow screen. */
async function checkAccess() {
  await show(await host.save(COLOURS))
  await row(9).waitFor()
  await checkAxe('output')
  await page.setViewportSize({ width: 420, height: 700 })
  const width = await page.evaluate(() => document.documentElement.scrollWidth)
  assert.ok(width <= 420, `the page is ${width} pixels wide`)
  await shoot('narrow')
  await page.setViewportSize({ width: 960, height: 600 })
}

/** What is asked is said in words, answers are by key and by button, and "always" stores the very rule that is shown. */
async function checkApprovals() {
  const card = page.locator('.card')
  // A key that was meant for what was there before answers nothing.
  const early = page.evaluate(async () => {
    const { shadowRoot } = document.querySelector('spillway-approval')
    await drawn(() => shadowRoot.querySelector('.card'))
    shadowRoot.querySelector('.card').dispatchEvent(new KeyboardEvent('keydown', { key: 'y', bubbles: true }))
  })
  const command = host.ask('bash', { command: 'npm test > ../out.txt && git push --force "$REMOTE"' })
  await early
  await card.filter({ hasText: 'May bash do this?' }).waitFor()
  assert.deepStrictEqual(await card.locator('li').allTextContents(), [
    '"$REMOTE" is not known beforehand',
    'writes ../out.txt, outside the folder',
    'runs npm test',
    // The name of a remote can be a program.
    'runs "$REMOTE"',
    'runs git push --force "$REMOTE"',
  ])
  assert.ok(await card.evaluate((element) => element.getRootNode().activeElement === element))
  await checkAxe('approval')
  const later = [
    host.ask('edit', { file_path: '/etc/hosts', old_string: 'a\nb', new_string: 'a\nc' }),
    host.ask('bash', { command: 'ls' }),
  ]
  await card.locator('.more', { hasText: '2 more questions' }).waitFor()
  await page.evaluate(() =>
    drawn(
      (
        (began) => () =>
          performance.now() - began > 600
      )(performance.now()),
    ),
  )
  await page.keyboard.press('y')
  assert.strictEqual((await command).by, 'once')

  await card.filter({ hasText: 'changes /etc/hosts, outside the folder' }).waitFor()
  assert.strictEqual(await card.locator('ins').first().textContent(), '+ a')
  await page.getByRole('button', { name: 'Always: edit fs:/etc/hosts' }).click()
  const always = await later[0]
  assert.strictEqual(always.by, 'always')
  assert.deepStrictEqual(host.approved(), [{ domain: 'edit', pattern: 'fs:/etc/hosts', decision: 'allow' }])

  await card.filter({ hasText: 'runs ls' }).waitFor()
  await page.fill('[aria-label="Reason, if denied"]', 'not now')
  await page.getByRole('button', { name: 'Deny' }).click()
  assert.strictEqual((await later[1]).message, 'not now')
  await page.locator('spillway-approval').waitFor({ state: 'hidden' })
}

async function check() {
  await page.addInitScript(() => {
    globalThis.drawn = async (is) => {
      while (!is()) await new Promise(requestAnimationFrame)
    }
  })
  await page.goto(host.url)
  await page.waitForSelector('body[data-ready]')
  await checkColours()
  await checkApprovals()
  await checkContext()
  const longLine = await checkLongLine()
  await checkAccess()
  const tools = { page, host, show, context, url: host.url }
  await checkTail(tools)
  await checkCopies(tools)
  await checkTouch(tools)
  const large = await checkLarge()
  // Memory was measured: axe leaves its own.
  await checkAudit()
  await checkDesk()
  assert.deepStrictEqual(complaints, [])
  const module = statSync(fileURLToPath(import.meta.resolve('spillway/ui'))).size
  const ms = (value) => `${value.toFixed(0)} ms`
  const mib = (value) => `${(value / 2 ** 20).toFixed(1)} MiB`
  console.log(
    `${large.total.toLocaleString('en')} lines: first paint ${ms(large.painted)}, a page ${ms(large.page)},` +
      ` a match ${ms(large.search)} (${ms(large.bare)} without a page), heap ${mib(large.heap)},` +
      ` process ${mib(large.memory)}; a line of 100 MB: first paint ${ms(longLine)}`,
  )
  for (const [name, value, most] of [
    ['first paint', large.painted, PAINT_MS],
    ['first paint of a long line', longLine, PAINT_MS],
    ['a page', large.page, PAGE_MS],
    ['a match', large.search, Math.max(SEARCH_MS, 2 * large.bare + PAINT_MS)],
    ['heap', large.heap, MEMORY],
    ['memory of the process', large.memory, MEMORY],
    ['bytes of the module', module, MODULE],
  ]) {
    assert.ok(value <= most, `${name}: ${value} is more than ${most}`)
  }
}

try {
  await check()
} catch (error) {
  await shoot('failed')
  throw error
} finally {
  await browser.close()
  await host.close()
}
