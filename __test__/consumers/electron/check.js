// The window of examples/electron in a real Chromium, with Node as its host: what a person clicks, and what becomes of it.
//
//     node check.js playwright-core chromium [bytes of the large output] [folder for screenshots]

import assert from 'node:assert'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { serve } from './app/serve.mjs'

const [, , playwright, executablePath, bytes = String(2 ** 30), screenshots] = process.argv
const { chromium } = (await import(pathToFileURL(playwright).href)).default
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']

const dataDir = mkdtempSync(join(tmpdir(), 'spillway-electron-'))
const cwd = join(dataDir, 'project')
mkdirSync(cwd)
const opened = []
let host = await serve({ dataDir, cwd, openPath: (path) => opened.push(path) })
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
const viewer = page.locator('#viewer spillway-output')
const line = (number) => viewer.locator(`.row[data-line="${number.toLocaleString('en')}"]`)

async function run(command) {
  await page.fill('#command', command)
  await page.click('#prompt button')
}

async function status(index, expected) {
  await message(index).locator('.status', { hasText: expected }).waitFor()
}

async function load() {
  await page.goto(host.url)
  await page.waitForSelector('body[data-ready]')
}

const card = page.locator('spillway-approval .card')
const answer = (name) => card.getByRole('button', { name, exact: true }).click()

async function checkQuestions() {
  // Once: the card names what it is about, and goes with the answer.
  await run('echo hello > greeting.txt && cat greeting.txt')
  await card.waitFor()
  assert.match(await card.textContent(), /May bash do this\?/)
  assert.match(await card.textContent(), /echo hello > greeting\.txt/)
  await answer('Once')
  await status(0, 'done')
  assert.strictEqual(await message(0).locator('pre').textContent(), 'hello\n')
  assert.strictEqual(await card.count(), 0)
  assert.strictEqual(await message(0).locator('.badge').count(), 0)

  await run('rm greeting.txt')
  await answer('Deny')
  await status(1, 'denied')
  assert.strictEqual(await message(1).locator('pre').textContent(), 'You denied it.')

  // Always: exactly the rule that is shown, and the next one of its kind is not asked about.
  await run('seq 1 20000')
  const always = card.locator('.always').first()
  assert.match(await always.textContent(), /^Always: bash shell:seq 1 20000/)
  await shoot('approval')
  await always.click()
  await status(2, 'done')
  await message(2).locator('.badge', { hasText: 'truncated' }).waitFor()
  await run('seq 1 20000')
  await status(3, 'done')
}

/** A question waits for a reload and for a restart; so does the conversation. */
async function checkRestart() {
  await run('echo again')
  await card.waitFor()
  await load()
  await card.waitFor()
  assert.strictEqual(await page.locator('#messages > li').count(), 5)
  await page.goto('about:blank')
  await host.close()
  host = await serve({ dataDir, cwd, openPath: (path) => opened.push(path) })
  await load()
  await answer('Once')
  await status(4, 'done')
  assert.strictEqual(await message(4).locator('pre').textContent(), 'again\n')
}

async function checkMode() {
  // Full access: only after a confirmation.
  await page.click('[data-mode=full_access]')
  await page.locator('#confirm').getByText('Keep asking').click()
  assert.strictEqual(await page.getAttribute('body', 'data-mode'), 'agent')
  await page.click('#mode [data-mode=full_access]')
  await shoot('mode')
  await page.locator('#confirm').getByText('Give full access', { exact: true }).click()
  await page.waitForSelector('body[data-mode=full_access]')
}

/** What a command prints is seen while it runs, and the command can be stopped. */
async function checkLive() {
  await run('echo begun; sleep 600; echo never')
  await status(5, 'running')
  await message(5).locator('spillway-output .row', { hasText: 'begun' }).waitFor()
  await shoot('running')
  await message(5).getByText('Stop').click()
  await status(5, 'stopped')
  assert.match(await message(5).locator('pre').textContent(), /^begun\n/)
}

/** A large output: the badge, the system's program, and the viewer. */
async function checkLarge() {
  await run(`seq 1 1000000000 | head -c ${bytes}`)
  await status(6, 'done')
  const large = message(6)
  await large.locator('.badge', { hasText: 'truncated' }).waitFor()
  await shoot('truncated')
  await large.getByText('Open in another program').click()
  await large.getByText('View full output').click()
  await line(1).waitFor()
  const words = await large.locator('.actions .quiet').textContent()
  const total = Number(words.match(/^([\d,]+) lines/)[1].replaceAll(',', ''))
  await viewer.locator('.pane').focus()
  const began = Date.now()
  await page.keyboard.press('End')
  await line(total).waitFor()
  const jump = Date.now() - began
  await page.keyboard.press('Control+f')
  await page.keyboard.type(`${total - 12_345}`)
  await line(total - 12_345)
    .locator('mark')
    .waitFor()
  await shoot('viewer')
  await page.click('#viewer .close')
  return { total, jump }
}

async function checkAudit() {
  await page.click('#show-audit')
  const log = page.locator('spillway-audit')
  await log.locator('.right').first().waitFor()
  await log.locator('summary').first().click()
  await log.locator('td', { hasText: 'outcome' }).first().waitFor()
  await shoot('audit')
  await page.click('#audit .close')
}

/** A page that was taken over gets no further than the store's own files. */
async function checkBridge() {
  const { call } = host.agent
  const hostile = { path: '/etc/passwd', range: { fromLine: 1, lineCount: 1 }, pattern: 'root' }
  for (const name of ['readRange', 'open', 'search']) {
    const { error } = await call(name, hostile)
    assert.strictEqual(error?.code, 'STORAGE_NOT_OWNED', name)
  }
  assert.strictEqual((await call('constructor')).error.code, 'INVALID_ARGUMENT')
  const other = await fetch(new URL('/bridge?word=guessed', host.url), { method: 'POST', body: '{"name":"state"}' })
  assert.strictEqual(other.status, 404)
}

async function check() {
  await load()
  await checkQuestions()
  await checkRestart()
  await checkMode()
  await checkLive()
  const { total, jump } = await checkLarge()
  await checkAudit()
  await checkBridge()
  assert.strictEqual(opened.length, 1)
  assert.deepStrictEqual(complaints, [])
  console.log(`${total.toLocaleString('en')} lines, to the end in ${jump} ms`)
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
