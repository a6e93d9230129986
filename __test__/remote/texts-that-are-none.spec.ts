/** JSON of another kind in what a bucket says, and in the line index beside an output: every writer to it may have put it there. */

import { MemoryObjects, RemoteStorage } from 'spillway/remote'
import { ODD_VALUES, oddJson } from '../support/odd-values'
import { numbered } from '../support/outputs'

const TEXT = numbered(400_000)
const INDEX = { version: 1, size: TEXT.length, lineFeeds: 399_999, isOpen: true, counts: '' }

let saved: { objects: MemoryObjects; storage: RemoteStorage; path: string; key: string }
beforeAll(async () => {
  const objects = new MemoryObjects()
  const storage = new RemoteStorage({ objects })
  const path = await storage.save(TEXT, { toolName: 'bash' })
  saved = { objects, storage, path, key: path.slice(objects.url.length + 1) }
})

test.each(ODD_VALUES.map(([name]) => name))('%s in the index of an output: its lines are found', async (name) => {
  const json = oddJson(new Map(ODD_VALUES).get(name))
  const { objects, path, key } = saved
  const places = Object.keys(INDEX).map((field) =>
    JSON.stringify({ ...INDEX, [field]: 'HERE' }).replace('"HERE"', () => json),
  )
  for (const text of [json, ...places]) {
    await objects.put(`${key}.idx`, Buffer.from(text))
    const storage = new RemoteStorage({ objects })
    const { text: line } = await storage.readRange(path, { fromLine: 300_000, lineCount: 1 })
    expect([text.slice(0, 99), line]).toEqual([text.slice(0, 99), 'line 300000\n'])
  }
})

test.each(ODD_VALUES.map(([name]) => name))('%s in what a bucket lists is left out', async (name) => {
  const value = new Map(ODD_VALUES).get(name)
  const { objects, path, key } = saved
  const right = { key, bytes: 5, modified: 5 }
  const listed = [
    value,
    ...Object.keys(right).map((field) => ({ ...right, key: key.replace('bash', 'other'), [field]: value })),
    right,
  ]
  const list = async function* () {
    yield* listed as never[]
  }
  const bucket = Object.assign(Object.create(objects) as MemoryObjects, { list })
  const storage = new RemoteStorage({ objects: bucket })
  const found = (await storage.list()).map((output) => output.path)
  expect(found.filter((one) => one === path)).toHaveLength(1)
  expect(found.length).toBeLessThanOrEqual(2)
  expect(await storage.usage()).toMatchObject({ files: found.length })
  expect((await storage.sweep({ dryRun: true })).kept.files).toBeLessThanOrEqual(2)
})
