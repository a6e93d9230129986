/** Behaviour of the components in Chromium that a picture does not show. */

import { PermissionGate, PermissionPolicy } from 'spillway'
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
       return until(() => text('.row .text').includes('2000'))`,
      { path },
    )
    expect(last).toBe(true)
  })

  test('another output is shown although one is never answered for', async () => {
    const path = await page.save(numbers(20))
    const shown = await page.run(
      `let isHung = true
       const source = { readRange: (path, range) => isHung ? new Promise(() => {}) : outputs.readRange(path, range) }
       const made = show('spillway-output', { source, path: 'hangs' })
       await new Promise((resolve) => setTimeout(resolve, 100))
       isHung = false
       made.path = path
       await until(() => /^20 lines/.test(text('.status')[0]))
       const first = text('.row .text')[0]
       isHung = true
       made.path = 'hangs again'
       await new Promise((resolve) => setTimeout(resolve, 100))
       made.source = outputs
       made.path = path
       await until(() => /^20 lines/.test(text('.status')[0]))
       return [first, text('.row .text')[1]]`,
      { path },
    )
    expect(shown).toEqual(['1', '2'])
  })

  test('a line that is no number, and no source, break nothing', async () => {
    const path = await page.save(numbers(200))
    const shown = await page.run(
      `const made = show('spillway-output', { source: outputs, path })
       await until(() => /^200 lines/.test(text('.status')[0]))
       const seen = []
       for (const line of [Number.NaN, 100.5, -3, Infinity, undefined]) {
         made.goTo(line)
         seen.push(await until(() => all('.marked')[0]?.dataset.line))
       }
       made.source = null
       return seen`,
      { path },
    )
    expect(shown).toEqual(['1', '100', '1', '200', '1'])
  })

  test('before lines are counted, no row represents a line that was not read', async () => {
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

  test.each([
    ['abc\rX', 'Xbc'],
    ['long text\rshort', 'shorttext'],
    ['one\rtwo\r\r', 'two'],
    ['50 %\r\u001b[K100 %', '100 %'],
    ['\u001b[31mred\u001b[0m and\r\u001b[32mok\u001b[0m', 'okd and'],
    ['a\u{e0041}b\u3164c\u034fd', 'aU+E0041bU+3164cU+034Fd'],
    ['r\u200dm 👩\u200d🔧 1\ufe0f\u20e3 ❤\ufe0f x\ufe0fy', 'rU+200Dm 👩\u200d🔧 1\ufe0f\u20e3 ❤\ufe0f xU+FE0Fy'],
    ['\u0000\u0007\u009b\u202e', '^@^GU+009BU+202E'],
    ['\u001b]8;;javascript:alert(1)\u0007link\u001b]8;;\u0007', 'link'],
  ])('the line %j is shown as %j', async (line, shown) => {
    const path = await page.save(`${line}\n`)
    const drawn = await page.run(
      `show('spillway-output', { source: outputs, path })
       await until(() => text('.row .text')[0])
       return text('.row .text')[0]`,
      { path },
    )
    expect(drawn).toBe(shown)
  })

  test('a line that was gone to stays in sight when the box gets lower', async () => {
    const path = await page.save(`${'wide '.repeat(300)}\n`.repeat(60))
    const isSeen = await page.run(
      `const made = show('spillway-output', { source: outputs, path })
       await until(() => /^60 lines/.test(text('.status')[0]))
       made.goTo(60)
       await until(() => all('[data-line="60"] .text span')[0])
       made.style.blockSize = '200px'
       const bottom = () => all('[data-line="60"]')[0]?.getBoundingClientRect().bottom ?? Infinity
       const pane = all('.pane')[0]
       await until(() => pane.clientHeight < 150)
       return until(() => bottom() <= pane.getBoundingClientRect().top + pane.clientHeight)`,
      { path },
    )
    expect(isSeen).toBe(true)
  })

  test('lines that set the same attribute again and again are drawn at once', async () => {
    const path = await page.save(`${'\u001b[1mx'.repeat(800)}\n`.repeat(60))
    const classes = await page.run(
      `const made = show('spillway-output', { source: outputs, path })
       await until(() => text('.row .text')[0])
       made.goTo(60)
       await until(() => all('[data-line="60"] .text span')[0])
       return all('[data-line="60"] .text span').at(-1).className`,
      { path },
    )
    expect(classes).toBe('bold')
  })

  test.each([
    ['no height', '', 300],
    ['a height', 'block-size: 250px', 250],
    ['a smallest height', 'block-size: auto; min-block-size: 500px', 500],
    ['a largest height', 'block-size: auto; max-block-size: 200px', 200],
    [
      'a large smallest and an unused largest height',
      'block-size: auto; min-block-size: 450px; max-block-size: 900px',
      450,
    ],
  ])('lines are visible in a box of %s', async (_, style, height) => {
    const path = await page.save(numbers(200))
    const [box, rows, bottom, low] = await page.run<number[]>(
      `const made = show('spillway-output', { source: outputs, path })
       made.style.cssText = style || 'block-size: auto'
       await until(() => /^200 lines/.test(text('.status')[0]))
       await until(() => text('.row .text')[3] === '4')
       const pane = all('.pane')[0].getBoundingClientRect()
       const content = all('.content')[0].getBoundingClientRect()
       const drawn = all('.row').filter((row) => row.getBoundingClientRect().bottom <= content.bottom)
       return [made.getBoundingClientRect().height, drawn.length, content.bottom, pane.bottom]`,
      { path, style },
    )
    expect(box).toBeGreaterThanOrEqual(height!)
    expect(rows).toBeGreaterThan(4)
    expect(Math.abs(bottom! - low!)).toBeLessThan(20)
  })

  /** Shows a question, and returns what the body of a function says about its card. */
  function ask<Result>(request: object, body: string, args: Record<string, unknown> = {}): Promise<Result> {
    const question = {
      id: '1',
      tool: 'bash',
      toolCallId: '1',
      args: {},
      targets: [],
      reasons: [],
      suggestedRules: [],
      vault: '/home/me/project',
      askedAt: 1,
      ...request,
    }
    return page.run(
      `const source = { pending: () => [question], respond: async () => {} }
       show('spillway-approval', { source })
       await until(() => all('.card').length > 0)
       ${body}`,
      { question, ...args },
    )
  }

  test('shows paths outside of the folder first, and reasons to look twice', async () => {
    const request = {
      targets: ['shell:ls', 'vault:/', 'vault:/a.txt', 'fs:/home/me/.ssh', 'fs:/home/me/project'],
      reasons: ['"shell:*" asks about shell:ls', 'the command cannot be parsed'],
    }
    expect(await ask(request, "return text('li')")).toEqual([
      'the command cannot be parsed',
      'reads or writes ../.ssh, outside the folder',
      'runs ls',
      'reads or writes the folder',
      'reads or writes a.txt, in the folder',
    ])
  })

  test('a card says what a gate knows: what is read and what is written, and that it is outside of the folder', async () => {
    const seen: string[][] = []
    for (const [tool, args, given] of [
      ['bash', { command: 'echo x > ../out.txt' }, {}],
      ['bash', { command: 'cp a ../b' }, { vault: '/home/me/project/deep' }],
      ['edit', { file_path: '/home/me/x.ts', old_string: 'a', new_string: 'b' }, {}],
      ['bash', { command: 'cat ../key.pem' }, { cwd: '/home/me/project' }],
    ] as const) {
      const gate = new PermissionGate(new PermissionPolicy({ vault: '/home/me/project', outsideEdit: 'ask' }))
      void gate.request({ tool, args, toolCallId: '1', ...given })
      const [question] = gate.pending()
      seen.push(
        (await ask<string[]>({ vault: undefined, ...question }, "return text('li')")).filter(
          (line) => !line.includes('asks about'),
        ),
      )
    }
    expect(seen).toEqual([
      ['writes ../out.txt, outside the folder', 'runs echo x'],
      ['writes ../b, outside the folder', 'runs cp a ../b', 'reads a, in the folder'],
      ['changes ../x.ts, outside the folder'],
      ['fs:/home/me/key.pem is a file with secrets', 'reads ../key.pem, outside the folder', 'runs cat ../key.pem'],
    ])
  })

  test('a list of targets that is cut is said to be', async () => {
    const targets = Array.from({ length: 256 }, (_, index) => `shell:echo ${index}`)
    const said = (count: number) => ask<string>({ targets: targets.slice(0, count) }, "return text('li')[0]")
    expect(await said(255)).toBe('runs echo 0')
    expect(await said(256)).toBe('does more than is listed here')
  })

  test('each line of a change is in a row of its own', async () => {
    const args = { file_path: 'a.ts', old_string: 'one\ntwo', new_string: 'one\nthree' }
    const tops = await ask<number[]>(
      { tool: 'edit', args },
      "return all('del, ins').map((line) => line.getBoundingClientRect().top)",
    )
    expect(new Set(tops).size).toBe(4)
  })

  test.each([
    [960, 600],
    [420, 600],
    [480, 300],
  ])('the answers to a long call are visible in a window of %d × %d', async (width, height) => {
    const screen = { width, height, deviceScaleFactor: 1, mobile: false }
    await page.chromium.send('Emulation.setDeviceMetricsOverride', screen)
    const command = Array.from({ length: 300 }, (_, index) => `echo ${index}`).join('\n')
    const rule = { domain: 'bash', pattern: `shell:${'word '.repeat(50)}`, decision: 'allow' }
    const targets = command.split('\n').map((line) => `shell:${line}`)
    const [lines, bottoms, isWide] = await ask<[string, number[], boolean]>(
      { args: { command }, targets, suggestedRules: [rule, rule, rule] },
      `return [text('.lines')[0], all('.primary, .deny, .rules').map((one) => one.getBoundingClientRect().bottom),
         document.documentElement.scrollWidth > innerWidth]`,
    )
    await page.chromium.send('Emulation.clearDeviceMetricsOverride')
    expect(lines).toBe('300 lines')
    expect(bottoms).toHaveLength(3)
    expect(Math.max(...bottoms)).toBeLessThanOrEqual(height)
    expect(isWide).toBe(false)
  })

  test.each(['start', 'end'])(
    'a question stays in sight at the %s of a long page, above what scrolls under it',
    async (at) => {
      const isOnTop = await ask<boolean[]>(
        {},
        `const main = document.querySelector('main')
       const long = document.createElement('div')
       long.style.cssText = 'block-size: 4000px; contain: strict'
       at === 'start' ? main.append(long) : main.prepend(long)
       const isSeen = []
       for (const place of [0, 1500, 9999]) {
         scrollTo(0, place)
         await new Promise(requestAnimationFrame)
         const { left, top, bottom } = main.querySelector('spillway-approval').getBoundingClientRect()
         const found = document.elementFromPoint(left + 20, (top + bottom) / 2)
         isSeen.push(top >= 0 && bottom <= innerHeight && found?.localName === 'spillway-approval')
       }
       scrollTo(0, 0)
       return isSeen`,
        { at },
      )
      expect(isOnTop).toEqual([true, true, true])
    },
  )

  test('messages of a context are listed with their states and any text, the newest 2,000', async () => {
    const message = { role: 'tool', text: '<img src=x onerror=alert(1)>\u202e', tokensBefore: 12_345, tokensAfter: 0 }
    const seen = await page.run<unknown>(
      `const made = show('spillway-context', { messages: [message, { ...message, state: 'kept' }] })
       const rows = () => all('tbody tr').map((row) => [row.className, ...[...row.cells].map((cell) => cell.textContent)])
       const first = rows()
       made.messages = Array.from({ length: 2001 }, (_, at) => ({ ...message, text: String(at) }))
       const region = all('.scroll')[0]
       return [first, all('img').length, text('p'), rows().length, rows()[0].at(-1), region.tabIndex, region.ariaLabel]`,
      { message: { ...message, state: 'compacted' } },
    )
    const words = ['12,345', '0', '<img src=x onerror=alert(1)>U+202E']
    expect(seen).toEqual([
      [
        ['', 'tool', 'compacted', ...words],
        ['quiet', 'tool', 'kept', ...words],
      ],
      ...[0, ['1 earlier message not listed'], 2000, '1', 0, 'Messages'],
    ])
  })

  test('a pressed button, a hit, a marked line and inverse text look different in forced colours', async () => {
    const features = [{ name: 'forced-colors', value: 'active' }]
    await page.chromium.send('Emulation.setEmulatedMedia', { features })
    const path = await page.save('plain\nhit \u001b[7minverse\u001b[0m\n')
    const [plain, ...others] = await page.run<string[]>(
      `const made = show('spillway-output', { source: outputs, path })
       made.setAttribute('wrap', '')
       await until(() => text('.row .text')[1])
       await made.startSearch({ pattern: 'hit', literal: true, ignoreCase: true })
       await until(() => all('mark').length > 0)
       const background = (one) => getComputedStyle(one).backgroundColor
       const marked = getComputedStyle(all('.row.marked')[0]).outlineStyle
       return [all('[aria-label="Match case"]')[0], all('[aria-label="Wrap long lines"]')[0], all('mark')[0], all('.inverse')[0]]
         .map(background).concat(marked)`,
      { path },
    )
    await page.chromium.send('Emulation.setEmulatedMedia', { features: [] })
    for (const other of others.slice(0, 3)) expect(other).not.toBe(plain)
    expect(others[3]).toBe('solid')
  })
})
