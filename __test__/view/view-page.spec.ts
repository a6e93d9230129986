/** The page of `spillway view` in Chromium: what a person does there, by keys. */

import { readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { TruncationStorage } from 'spillway'
import { view } from '../cli/view-page'
import { CHROMIUM } from '../support/chromium-path.cjs'
import { describeUnless } from '../support/only'
import { tempDir } from '../support/temp'
import { Chromium } from './chromium'

const NAMES = ['old', 'older', 'new']

describeUnless(CHROMIUM ? '' : 'there is no Chromium; CHROMIUM can name one', 'the page of spillway view', () => {
  let chromium: Chromium
  let store: string

  beforeEach(async () => {
    store = tempDir()
    const storage = new TruncationStorage(store)
    for (const toolName of NAMES) await storage.save(`${toolName}\n`.repeat(1000), { toolName })
    await storage.close()
    const longAgo = new Date(Date.now() - 365 * 86_400_000)
    for (const name of readdirSync(store).filter((each) => /^old(er)?[-_]/.test(each)))
      utimesSync(join(store, name), longAgo, longAgo)
    const { origin, given } = await view(['--store', store])
    chromium = await Chromium.start()
    // Without it no dialog can be answered.
    await chromium.send('Page.enable')
    await chromium.send('Emulation.setFocusEmulationEnabled', { enabled: true })
    await chromium.send('Page.navigate', { url: `${origin}/#${given}` })
    await shown(3)
  })

  afterEach(() => chromium?.close())

  /** Waits until the page lists `count` outputs and shows one, for ten seconds at most, and returns the texts on it. */
  const shown = (count: number) =>
    chromium.evaluate(
      `(async () => {
        const textOf = (element) => element?.textContent ?? ''
        for (const end = Date.now() + 10_000; ; ) {
          const rows = [...document.querySelectorAll('#list button')]
          const viewer = textOf(document.querySelector('spillway-output')?.shadowRoot?.querySelector('.row .text'))
          const [usage, status] = ['usage', 'status'].map((id) => textOf(document.getElementById(id)))
          if ((rows.length === ${count} && viewer && usage) || Date.now() > end) {
            const names = rows.map((row) => textOf(row.querySelector('code')))
            const current = names[rows.findIndex((row) => row.hasAttribute('aria-current'))]
            return { names, current, viewer, usage, status, focused: document.activeElement.id }
          }
          await new Promise(requestAnimationFrame)
        }
      })()`,
    )

  const choose = (name: string) =>
    chromium.evaluate(
      `[...document.querySelectorAll('#list button')].find((row) => row.querySelector('code').textContent === '${name}').click()`,
    )

  async function press(key: string, code: number): Promise<void> {
    const asked = { key, windowsVirtualKeyCode: code, ...(key === 'Enter' && { text: '\r' }) }
    // A dialog that opens holds the answer back.
    void chromium.send('Input.dispatchKeyEvent', { type: 'keyDown', ...asked }).catch(() => {})
    void chromium.send('Input.dispatchKeyEvent', { type: 'keyUp', ...asked }).catch(() => {})
  }

  /** Presses a button that is reached by the Tab key alone, and answers the question of the page. */
  async function pressButton(id: string, accept: boolean): Promise<void> {
    for (let tabs = 0; (await chromium.evaluate('document.activeElement?.id')) !== id; tabs += 1) {
      expect(tabs).toBeLessThan(30)
      await press('Tab', 9)
    }
    await press('Enter', 13)
    for (const end = Date.now() + 10_000; ; ) {
      try {
        return void (await chromium.send('Page.handleJavaScriptDialog', { accept }))
      } catch (error) {
        // There is no dialog yet.
        if (Date.now() > end) throw error
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
  }

  test('"Clear up" removes what is too old, says how much, and shows an output that is left', async () => {
    await choose('older')
    expect(await shown(3)).toMatchObject({ current: 'older', usage: '3 outputs, 13.7 KiB', status: '' })
    await pressButton('sweep', false)
    expect(await shown(3)).toMatchObject({ current: 'older', status: '' })
    await pressButton('sweep', true)
    expect(await shown(1)).toEqual({
      names: ['new'],
      current: 'new',
      viewer: 'new',
      focused: 'sweep',
      usage: '1 output, 3.9 KiB',
      status: 'Removed 2 outputs, 9.8 KiB',
    })
    expect(readdirSync(store).filter((name) => name.endsWith('.txt'))).toHaveLength(1)
  })

  test('"Remove" removes the output that is shown, and shows another one', async () => {
    await choose('new')
    await pressButton('remove', true)
    const { current, viewer } = (await shown(2)) as Record<string, string>
    expect([['old', 'older'], viewer]).toEqual([expect.arrayContaining([current]), current])
  })
})
