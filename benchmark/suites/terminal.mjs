/** `output()` with `terminal`: the text that a terminal would show, resolved while the output arrives. */
import { stripVTControlCharacters } from 'node:util'
import { compare, median } from '../measure.mjs'
import { failedRow, makeRow } from '../report.mjs'
import { MB } from '../workloads.mjs'

const BYTES = 32 * MB

const clock = (line) => `2026-01-31T10:${String(line % 60).padStart(2, '0')}:00`
const module = (line) => `src/module_${(line * 7919) % 1000003}.ts`

/** How a line, or a frame, of each kind is made; the marks in them stand for an escape. */
const WORKS = [
  { label: 'a plain log', target: 0.7, make: (line) => `${clock(line)} INFO compiling ${module(line)}\n` },
  {
    label: 'a coloured log',
    target: 0.2,
    make: (line) =>
      `^[2m${clock(line)}^[0m ^[32mINFO^[0m compiling ^[36m${module(line)}^[0m: done in ${line % 97} ms\r\n`,
  },
  {
    label: 'a progress bar',
    target: 1,
    make: (line) => `\r[${'#'.repeat(line % 40).padEnd(40, '.')}] ${line % 100}%^[K${line % 100 === 99 ? '\n' : ''}`,
  },
  { label: 'bars one below the other', target: 1, make: (line) => `^[3A^[2Ka ${line}\n^[2Kb ${line}\n^[2Kc ${line}\n` },
]

export const terminal = {
  name: 'terminal',
  title: '`output()` with `terminal`',

  async run({ subject, rounds }) {
    // Saving costs nothing here: it is not measured.
    const storage = {
      save: nowhere,
      saveBytes: nowhere,
      read: nowhere,
      cleanup: async () => 0,
      getStorageDir: () => '',
    }
    const service = new subject.TruncationService({ storage, global: { terminal: true } })
    const rows = []
    for (const { label, target, make } of WORKS) {
      const work = `terminal, 32 MB of ${label}`
      try {
        const bytes = repeated(make)
        await check(service, bytes)
        const sides = [
          side('ours', () => service.output(bytes, { toolName: 'bash' })),
          side('strip', async () => stripVTControlCharacters(bytes.toString('utf8'))),
        ]
        const samples = await compare(sides, { rounds, batchMs: 200, collect: 'full' })
        const speed = `${Math.round(BYTES / 1e3 / median(samples.ours))} MB/s`
        const yardstick = { yardstick: samples.strip, yardstickName: '`stripVTControlCharacters`' }
        rows.push(makeRow({ work, ours: samples.ours, ...yardstick, target, note: speed }))
      } catch (error) {
        rows.push(failedRow(work, error))
      }
    }
    return rows
  },
}

async function nowhere() {
  return 'nowhere'
}

function side(name, call) {
  return {
    name,
    async batch(count) {
      const start = performance.now()
      for (let i = 0; i < count; i++) await call()
      return performance.now() - start
    },
  }
}

/** A megabyte of it, repeated. */
function repeated(make) {
  let block = ''
  for (let line = 0; block.length < MB; line++) block += make(line).replaceAll('^', '\x1b')
  return Buffer.alloc(BYTES, block)
}

async function check(service, bytes) {
  const { content } = await service.output(bytes, { toolName: 'bash' })
  if (content.includes('\x1b') || content.includes('\r')) throw new Error('a control is left')
}
