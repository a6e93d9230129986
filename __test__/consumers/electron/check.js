// The window of examples/electron in a real Chromium, with Node as its host: what a person clicks, and what becomes of it.
//
//     node check.js playwright-core chromium [bytes of the large output] [folder for screenshots]

import assert from 'node:assert'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { serve } from './app/serve.mjs'

const [, , playwright, executablePath, bytes = String(2 ** 30), screenshots] = process.argv
const { chromium } = (await import(pathToFileURL(playwright).href)).default
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']

const dataDir = mkdtempSync(join(tmpdir(), 'spillway-electron-'))
const opened = []
const host = await serve({ dataDir, cwd: dataDir, openPath: (path) => opened.push(path) })
const browser = await chromium.launch({
  executablePath,
  args: [...ARGS, '--disable-component-update', '--disable-sync'],
})
const page = await browser.newPage({ viewport: { width: 960, height: 600 } })
page.setDefaultTimeout(60_000)
const complaints = []
page.on('pageerror', (error) => complaints.push(String(error)))
page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))

const shoot = (name) => screenshots && page.screenshot({ path: join(screenshots, `${name}.png`) })
const message = (index) => page.locator('#messages > li').nth(index)
const shownLines = () => page.locator('#viewer-text .line').evaluateAll((all) => all.map((one) => one.textContent))

async function run(command) {
  await page.fill('#command', command)
  await page.click('#prompt button')
}

async function status(index, expected) {
  await message(index).locator('.status', { hasText: expected }).waitFor()
}

async function check() {
  await page.goto(host.url)
  await page.waitForSelector('body[data-ready]')

  // Once: the card names what it is about, and goes with the answer.
  await run('echo hello > greeting.txt && cat greeting.txt')
  const card = page.locator('.card')
  await card.waitFor()
  assert.match(await card.textContent(), /bash wants to run/)
  assert.match(await card.textContent(), /echo hello > greeting\.txt/)
  await card.getByText('Once', { exact: true }).click()
  await status(0, 'done')
  assert.strictEqual(await message(0).locator('pre').textContent(), 'hello\n')
  assert.strictEqual(await page.locator('.card').count(), 0)
  assert.strictEqual(await message(0).locator('.badge').count(), 0)

  // Deny.
  await run('rm greeting.txt')
  await card.getByText('Deny').click()
  await status(1, 'denied')

  // Always: exactly the rule that is shown, and the next one of its kind is not asked about.
  await run('seq 1 20000')
  const always = card.locator('.always')
  assert.match(await always.textContent(), /^Always: shell:seq 1 20000/)
  await shoot('approval')
  await always.click()
  await status(2, 'done')
  await message(2).locator('.badge', { hasText: 'truncated' }).waitFor()
  await run('seq 1 20000')
  await status(3, 'done')

  // Full access: only after a confirmation.
  await page.click('[data-mode=full_access]')
  await page.locator('#confirm').getByText('Keep asking').click()
  assert.strictEqual(await page.getAttribute('body', 'data-mode'), 'agent')
  await page.click('#mode [data-mode=full_access]')
  await shoot('mode')
  await page.locator('#confirm').getByText('Give full access', { exact: true }).click()
  await page.waitForSelector('body[data-mode=full_access]')

  // A large output: the badge, the system's program, and a viewer that holds only what it shows.
  await run(`seq 1 1000000000 | head -c ${bytes}`)
  await status(4, 'done')
  const large = message(4)
  await large.locator('.badge', { hasText: 'truncated' }).waitFor()
  await shoot('truncated')
  await large.getByText('Open in another program').click()
  await page.waitForFunction(() => true)
  await large.getByText('View full output').click()
  await page.locator('#viewer-text .line').first().waitFor()
  assert.strictEqual((await shownLines())[0], '1')
  const title = await page.textContent('#viewer-title')
  const total = Number(title.match(/: ([\d,]+) lines/)[1].replaceAll(',', ''))
  assert.match(title, new RegExp(`${(Number(bytes) / 2 ** 20).toFixed(1)} MiB`))

  await page.focus('#viewer-lines')
  await page.keyboard.press('PageDown')
  await page.waitForFunction(() => Number(document.querySelector('.line')?.dataset.line) > 10)
  const began = Date.now()
  await page.keyboard.press('End')
  await page.waitForFunction((last) => document.querySelector(`.line[data-line="${last}"]`), total)
  const jump = Date.now() - began
  // The bar, dragged to the middle.
  await page.evaluate(() => {
    const lines = document.getElementById('viewer-lines')
    lines.scrollTop = lines.scrollHeight / 2
  })
  await page.waitForFunction((half) => {
    const line = document.querySelector('.line')
    return Math.abs(Number(line?.dataset.line) - half) < half / 100 && line.textContent === line.dataset.line
  }, total / 2)
  await page.mouse.move(400, 400)
  const before = Number((await shownLines())[0])
  await page.mouse.wheel(0, 54)
  await page.waitForFunction((next) => Number(document.querySelector('.line')?.textContent) === next, before + 3)

  // Search: a match is gone to and marked; there are more than are shown.
  const wanted = total - 12_345
  await page.fill('#viewer-pattern', `^${wanted}$`)
  await page.keyboard.press('Enter')
  await page.waitForSelector(`.line.marked[data-line="${wanted}"]`)
  assert.strictEqual(await page.textContent('.line.marked'), String(wanted))
  await page.fill('#viewer-pattern', '777$')
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => document.getElementById('viewer-count').textContent === '50+ matches')
  await page.locator('#viewer-matches').getByText('More').click()
  await page.waitForFunction(() => document.getElementById('viewer-count').textContent === '100+ matches')
  await shoot('viewer')
  await page.fill('#viewer-pattern', '(')
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => document.getElementById('viewer-count').textContent.startsWith('INVALID_ARGUMENT'))
  const nodes = await page.evaluate(() => document.querySelectorAll('*').length)
  assert.ok(nodes < 1000, `${nodes} elements`)
  await page.click('#viewer-close')

  // A page that was taken over gets no further than the store's own files.
  const { call } = host.agent
  for (const name of ['readOutput', 'openOutput', 'searchOutput']) {
    const { error } = await call(name, { path: '/etc/passwd', fromLine: 1, lineCount: 1, pattern: 'root' })
    assert.strictEqual(error?.code, 'STORAGE_NOT_OWNED', name)
  }
  assert.strictEqual((await call('constructor')).error.code, 'INVALID_ARGUMENT')
  const other = await fetch(new URL('/bridge?word=guessed', host.url), { method: 'POST', body: '{"name":"state"}' })
  assert.strictEqual(other.status, 404)
  assert.strictEqual(opened.length, 1)
  assert.deepStrictEqual(complaints, [])
  console.log(`${total.toLocaleString('en')} lines, to the end in ${jump} ms, ${nodes} elements`)
}

try {
  await check()
} catch (error) {
  await shoot('failed')
  throw error
} finally {
  await browser.close()
  await host.close()
  rmSync(dataDir, { recursive: true, force: true })
}
