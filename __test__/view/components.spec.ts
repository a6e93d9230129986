/** Behaviour of the components in Chromium that a picture does not show. */

import { CHROMIUM } from '../support/chromium-path.cjs'
import { describeUnless } from '../support/only'
import { ComponentPage } from './component-page'

describeUnless(CHROMIUM ? '' : 'there is no Chromium; CHROMIUM can name one', 'the components', () => {
  let page: ComponentPage

  beforeAll(async () => {
    page = await ComponentPage.start()
  })

  afterAll(() => page?.close())

  const numbers = (count: number) => Array.from({ length: count }, (_, index) => `${index + 1}\n`).join('')

  test('lines are counted again if the output grew while they were counted', async () => {
    const path = await page.save(numbers(2000))
    const seen = await page.run(
      `let counts = 0
       const source = { ...outputs, async readRange(path, range) {
         const read = await outputs.readRange(path, range)
         if (range.fromLine !== Number.MAX_SAFE_INTEGER) return read
         counts += 1
         return counts === 1 ? { ...read, totalBytes: 100, totalLines: 36 } : read
       } }
       show('spillway-output', { source, path })
       await until(() => /^2,000 lines/.test(text('.status')[0]))
       return text('.status')[0]`,
      { path },
    )
    expect(seen).toBe('2,000 lines, 8.7 KiB')
  })

  test('the end is followed although more lines are counted than were estimated', async () => {
    const path = await page.save(numbers(2000))
    const last = await page.run(
      `let isFirst = true
       const source = { ...outputs, async readRange(path, range) {
         const read = await outputs.readRange(path, range)
         const early = isFirst
         isFirst = false
         return early ? { ...read, totalBytes: read.byteCount } : read
       } }
       show('spillway-output', { source, path }).toggleAttribute('tail', true)
       await until(() => /^2,000 lines/.test(text('.status')[0]))
       await until(() => text('.row .text').at(-1) !== '')
       return text('.row .text').at(-1)`,
      { path },
    )
    expect(last).toBe('2000')
  })

  test('before lines are counted, no row stands for a line that was not read', async () => {
    const path = await page.save('one\ntwo\nthree\n')
    const lines = await page.run(
      `const source = { ...outputs, readRange: (path, range) =>
         range.fromLine === Number.MAX_SAFE_INTEGER ? new Promise(() => {}) : outputs.readRange(path, range) }
       show('spillway-output', { source, path })
       await until(() => text('.row .text')[2] === 'three')
       return all('.row').map((row) => row.dataset.line)`,
      { path },
    )
    expect(lines).toEqual(['1', '2', '3'])
  })

  test('the beginning of a long line is drawn with the lines around it', async () => {
    const path = await page.save(`before\n${'word '.repeat(100_000)}\nafter\n`)
    const drawn = await page.run(
      `const source = { ...outputs, readRange: (path, range) =>
         range.fromByte === undefined ? outputs.readRange(path, range) : new Promise(() => {}) }
       show('spillway-output', { source, path })
       await until(() => text('.row .text')[2] === 'after')
       return text('.row .text')[1].slice(0, 20)`,
      { path },
    )
    expect(drawn).toBe('word word word word ')
  })
})
