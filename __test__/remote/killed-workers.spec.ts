/** Workers that are killed at any moment: what they said was saved is there, as a whole and once. */

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { RemoteStorage } from 'spillway/remote'
import { startChild } from '../support/child'
import { isLong } from '../support/only'
import { tempDir } from '../support/temp'

const FOLDER_OBJECTS = join(__dirname, 'folder-objects.cjs')
const { FolderObjects } = require(FOLDER_OBJECTS)

/** Saves outputs of every size by one of the ways, and says the path and the hash of each that was saved. */
const WORKER = `
  const { createHash } = require('node:crypto')
  const { FolderObjects } = require(input.module)
  const { RemoteStorage } = subpath('remote')
  const options = { objects: new FolderObjects(input.objects), ...(input.spoolDir && { spoolDir: input.spoolDir, ack: input.ack }) }
  const storage = new RemoteStorage({ ...options, partBytes: 5 * 2 ** 20 })
  const service = new spillway.TruncationService({ storage })
  const context = { toolName: 'bash', sessionId: 's' + (process.pid % 5) }
  for (let round = 0; ; round += 1) {
    const line = process.pid + ' ' + round + ' ' + 'x'.repeat(round % 90) + '\\n'
    const content = Buffer.from(line.repeat(3000 * (round % 7 === 6 ? 100 : 1)))
    const capture = service.capture(context)
    capture.end(content)
    const { outputPath } = await capture.result
    const hash = createHash('sha256').update(content).digest('hex')
    require('node:fs').writeSync(1, outputPath + ' ' + hash + '\\n')
  }`

test.each(['from memory', 'spool', 'remote', 'live'])('%s', async (ack) => {
  const objects = tempDir()
  const spoolDir = ack === 'from memory' ? undefined : tempDir()
  const input = { module: FOLDER_OBJECTS, objects, spoolDir, ack }
  const saved = new Map<string, string>()
  const home = { HOME: tempDir(), XDG_DATA_HOME: tempDir() }
  for (let kill = 0; kill < (isLong ? 200 : 8); kill += 1) {
    const child = startChild(WORKER, { input, env: home })
    const wanted = saved.size + 1 + Math.floor(Math.random() * 12)
    for await (const line of createInterface({ input: child.stdout! })) {
      const [path, hash] = line.split(' ')
      if (hash?.length === 64) saved.set(path!, hash)
      if (saved.size >= wanted) break
    }
    child.kill('SIGKILL')
    await new Promise((resolve) => ((child.exitCode ?? child.signalCode) ? resolve(0) : child.once('exit', resolve)))
  }

  const storage = new RemoteStorage({ objects: new FolderObjects(objects), ...(spoolDir && { spoolDir }) })
  expect(await storage.flush()).toBe(0)
  const elsewhere = new RemoteStorage({ objects: new FolderObjects(objects) })
  const wrong: string[] = []
  for (const [path, hash] of saved) {
    const text = elsewhere.owns(path) ? await elsewhere.read(path) : ''
    if (createHash('sha256').update(text).digest('hex') !== hash) wrong.push(path)
  }
  expect(wrong).toEqual([])
  expect(saved.size).toBeGreaterThan(8)
  // Outputs that were not acknowledged are whole as well, or not there.
  for (const { path } of await elsewhere.list()) {
    const lines = (await elsewhere.read(path)).split('\n')
    expect([path, new Set(lines.slice(0, -1)).size, lines.length % 3000]).toEqual([path, 1, 1])
  }
})
