// What a person does with an output besides looking at it: following, copying, saving and touching it.

import assert from 'node:assert'
import { readFile } from 'node:fs/promises'

/** Letters that are wide, joined, or written from the right. */
const SCRIPTS = ['你好，世界 한국어 日本語', '👨‍👩‍👧 ✅ 🇩🇪', 'שלום עולם', 'مرحبا بالعالم'].join('\n')

const pane = (page) => page.locator('spillway-output .pane')
const line = (page, number) => page.locator(`spillway-output .row[data-line="${number}"] .text`)

/** The lines of a command appear while it runs, and its name then leads to the saved output. */
export async function checkTail({ page, host }) {
  const running = await host.start('seq 1 2000; read go; seq 2001 4000')
  await page.evaluate((path) => {
    const element = document.querySelector('spillway-output')
    element.toggleAttribute('tail', true)
    element.path = path
  }, running.path)
  await page.locator('spillway-output .row[data-line="2,000"]').waitFor()
  await running.go()
  await page.locator('spillway-output .row[data-line="4,000"]').waitFor()
  await page.waitForFunction(
    (path) => document.querySelector('spillway-output').path === path,
    (await running.ended).outputPath,
  )
  await page.evaluate(() => document.querySelector('spillway-output').removeAttribute('tail'))
}

/** A short output is copied and saved whole, in every script. */
export async function checkCopies({ page, host, show, context, url }) {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: new URL(url).origin })
  await show(await host.save(SCRIPTS))
  await line(page, 4).waitFor()
  await page.getByRole('button', { name: 'Copy' }).click()
  await page.locator('.status', { hasText: 'Copied the whole output' }).waitFor()
  assert.strictEqual(await page.evaluate(() => navigator.clipboard.readText()), SCRIPTS)
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download' }).click(),
  ])
  assert.strictEqual(await readFile(await saved.path(), 'utf8'), SCRIPTS)
  // Text that is written from the right begins where every line begins.
  const left = (number) => line(page, number).evaluate((element) => element.getBoundingClientRect().left)
  assert.strictEqual(await left(3), await left(1))
}

/** A finger moves over both axes. */
export async function checkTouch({ page, host, show, context }) {
  await show(await host.save(Array.from({ length: 2000 }, (_, at) => `${at + 1} ${'wide '.repeat(100)}`).join('\n')))
  await line(page, 1).waitFor()
  const session = await context.newCDPSession(page)
  const box = await pane(page).boundingBox()
  const touch = (type, touchPoints) => session.send('Input.dispatchTouchEvent', { type, touchPoints })
  const swipe = async (stepX, stepY) => {
    const at = (step) => ({ x: box.x + box.width / 2 + step * stepX, y: box.y + box.height / 2 + step * stepY })
    await touch('touchStart', [at(0)])
    for (let step = 1; step <= 10; step += 1) await touch('touchMove', [at(step)])
    await touch('touchEnd', [])
  }
  const moved = (axis) =>
    page.waitForFunction(
      (axis) => document.querySelector('spillway-output').shadowRoot.querySelector('.pane')[axis] >= 50,
      axis,
    )
  await swipe(0, -20)
  await moved('scrollTop')
  await swipe(-20, 0)
  await moved('scrollLeft')
}
