// Processes that share one store: forked ones, which talk by messages, and the workers of a cluster.

const assert = require('node:assert')
const { fork } = require('node:child_process')
const cluster = require('node:cluster')
const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { SpillwayError, TruncationService, TruncationStorage } = require('spillway')

const EACH = 10
const contentOf = (who, number) => `${who} ${number}\n`.repeat(5000)

/** Saves some outputs and answers where they are, and what a mistake gives. */
async function save(who, storageDir) {
  const service = new TruncationService({ global: { storageDir } })
  const results = await Promise.all(
    Array.from({ length: EACH }, (_, number) => service.output(contentOf(who, number), { toolName: who })),
  )
  const mistake = await service.output(5, { toolName: who }).catch((error) => error)
  await service.close()
  return {
    who,
    paths: results.map(({ outputPath }) => outputPath),
    code: mistake instanceof SpillwayError && mistake.code,
  }
}

const [, , role, dir] = process.argv
if (cluster.isWorker || role === 'forked') {
  save(cluster.isWorker ? `cluster${cluster.worker.id}` : 'forked', dir).then((answer) => {
    process.send(answer, () => process.disconnect())
  })
} else {
  main()
}

async function answerOf(child) {
  const answer = new Promise((resolve) => child.once('message', resolve))
  const [code] = await new Promise((resolve) => child.once('exit', (...how) => resolve(how)))
  assert.strictEqual(code, 0)
  return answer
}

async function main() {
  const storageDir = mkdtempSync(join(tmpdir(), 'spillway-processes-'))
  try {
    cluster.setupPrimary({ args: ['cluster', storageDir] })
    const children = [
      fork(__filename, ['forked', storageDir]),
      fork(__filename, ['forked', storageDir], { serialization: 'advanced' }),
      cluster.fork().process,
      cluster.fork().process,
    ]
    const answers = await Promise.all([...children.map(answerOf), save('main', storageDir)])
    const storage = new TruncationStorage(storageDir)
    for (const { who, paths, code } of answers) {
      assert.strictEqual(code, 'INVALID_ARGUMENT')
      for (const [number, path] of paths.entries()) assert.strictEqual(await storage.read(path), contentOf(who, number))
    }
    assert.strictEqual(new Set(answers.flatMap(({ paths }) => paths)).size, answers.length * EACH)
    await storage.close()
  } finally {
    rmSync(storageDir, { recursive: true, force: true })
  }
}
