/** `output()` with a text over the limits: cut, and the whole of it saved. */
import fs from 'node:fs/promises'
import path from 'node:path'
import { compare, filing } from '../measure.mjs'
import { ReferenceTruncationService } from '../reference/service.mjs'
import { failedRow, makeRow } from '../report.mjs'
import { KB, MB, makeBytes, SCRIPTS } from '../workloads.mjs'

/** The smallest is just over the default limit of 51,200 bytes. */
const SIZES = [
  { label: '50 KB', bytes: 51 * KB },
  { label: '100 KB', bytes: 100 * KB },
  { label: '500 KB', bytes: 500 * KB },
  { label: '1 MB', bytes: MB },
  { label: '10 MB', bytes: 10 * MB },
  { label: '100 MB', bytes: 100 * MB },
]
const FLOOR_FROM = 10 * MB

export const saved = {
  name: 'saved',
  title: '`output()`, truncated and saved',

  async run({ subject, folder, rounds, shortRounds, quick, fileMs }) {
    const ours = new subject.TruncationService({ storageDirs: [folder] })
    const reference = new ReferenceTruncationService({ global: { storageDir: folder } })
    const rows = []
    for (const script of ['ascii', 'cjk']) {
      for (const { label, bytes } of SIZES) {
        if (quick && bytes > 10 * MB) continue
        const work = `saved, ${label} ${SCRIPTS[script]}`
        try {
          const timing =
            bytes > MB ? { rounds, batchMs: fileMs } : { rounds: Math.ceil(shortRounds / 2), batchMs: fileMs / 4 }
          rows.push(...(await measure({ ours, reference, folder, timing, script, work, bytes })))
        } catch (error) {
          rows.push(failedRow(work, error))
        }
      }
    }
    return rows
  },
}

async function measure({ ours, reference, folder, timing, script, work, bytes }) {
  const withFloor = bytes >= FLOOR_FROM
  const buffers = Array.from({ length: bytes > MB ? 1 : 4 }, (_, index) => makeBytes(script, bytes, index + 1))
  const texts = buffers.map((buffer) => buffer.toString('utf8'))
  await check(ours, texts[0], buffers[0])
  await check(reference, texts[0], buffers[0])

  const save = (service) => async (content) => {
    const result = await service.output(content, { toolName: 'fetch_log' })
    return result.outputPath
  }
  let number = 0
  const writeFloor = async (buffer) => {
    const file = path.join(folder, `floor_${number++}.txt`)
    await fs.writeFile(file, buffer)
    return file
  }

  // ext4 looks long for a free inode where files were just deleted, which would be most of the time of a small save: small
  // files stay until the end. From a megabyte on they must go, and hardly feel it: kept, they are so much that the disk writes
  // them meanwhile, and that is what would be measured.
  const keep = bytes < MB
  const sides = [filing('ours', save(ours), texts, { keep }), filing('reference', save(reference), texts, { keep })]
  if (withFloor) {
    await check(ours, buffers[0], buffers[0])
    sides.push(filing('bytes', save(ours), buffers), filing('write floor', writeFloor, buffers))
  }
  const samples = await compare(sides, {
    ...timing,
    // Files are made in system calls and on other threads: what is compiled here matters only while they are small.
    collect: bytes > MB ? 'full' : 'young',
    maxCount: 256,
    sameCount: true,
  })

  const floor = { yardstick: samples['write floor'], yardstickName: 'write floor' }
  const rows = [makeRow({ work, ours: samples.ours, yardstick: samples.reference, target: bytes < MB ? 0.6 : 0.4 })]
  if (withFloor) {
    rows.push(
      makeRow({ work: `${work}, string`, ours: samples.ours, ...floor, target: 2.5 }),
      makeRow({ work: `${work}, \`Uint8Array\``, ours: samples.bytes, ...floor, target: 1.6 }),
    )
  }
  return rows
}

/** A fast answer that is wrong is worth nothing: it is cut, it keeps the limit, and the file is the text. */
async function check(service, content, bytes) {
  const result = await service.output(content, { toolName: 'fetch_log' })
  if (!result.truncated) throw new Error('a long output was not cut')
  if (Buffer.byteLength(result.content) > 51200 + 2048) throw new Error('the preview is over the limit')
  if (!(await fs.readFile(result.outputPath)).equals(bytes)) throw new Error('the saved file is not the text')
  await fs.unlink(result.outputPath)
}
