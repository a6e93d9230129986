import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { TruncationStorage } from 'spillway'
import { runChild, startChild } from '../support/child'
import { asRoot, isLong, isRoot, NOBODY, onUnix, SOMEBODY } from '../support/only'
import { rejection } from '../support/outputs'
import { tempDir } from '../support/temp'

const tool = { toolName: 'x' }
const mode = (path: string) => (statSync(path).mode & 0o7777).toString(8)

/** Everything below a folder, and the folder itself, with its mode. */
function modesBelow(dir: string): [kind: 'folder' | 'file', mode: string][] {
  const entries = readdirSync(dir, { recursive: true, withFileTypes: true })
  const paths = entries.map((entry) => join(entry.parentPath, entry.name))
  return [dir, ...paths].map((path) => [statSync(path).isDirectory() ? 'folder' : 'file', mode(path)])
}

describe('B18 rights', () => {
  for (const umask of ['0', '022', '077', '777']) {
    onUnix(`under a umask of ${umask} every folder is 0700 and every file 0600`, () => {
      const dir = join(tempDir(), 'deep', 'er')
      const paths = runChild<string[]>(
        `process.umask(parseInt(input.umask, 8))
         const storage = new spillway.TruncationStorage({ storageDirs: [input.dir], durability: 'full' })
         const service = new spillway.TruncationService({ storage, global: { maxLines: 1 } })
         const capture = service.capture({ toolName: 'x', sessionId: 'c' })
         capture.end('a\\nb\\n')
         const saved = [
           await storage.save('secret', { toolName: 'x', sessionId: 's' }),
           await storage.saveBytes(Buffer.from('secret'), { toolName: 'x' }),
           (await service.output('a\\nb', { toolName: 'x' })).outputPath,
           (await capture.result).outputPath,
         ]
         await storage.sweep()
         for (const path of saved) await storage.read(path)
         // A second process under the same umask must be able to go on.
         await new spillway.TruncationStorage(input.dir).save('more', { toolName: 'x', sessionId: 's' })
         answer(saved)`,
        { input: { dir, umask } },
      )
      expect(readFileSync(paths[0]!, 'utf8')).toBe('secret')
      const modes = modesBelow(dirname(dir))
      expect(modes.length).toBeGreaterThan(10)
      expect(modes.filter(([kind, bits]) => bits !== (kind === 'folder' ? '700' : '600'))).toEqual([])
    })
  }

  for (const bits of [0o777, 0o707, 0o702]) {
    onUnix(`a folder with the mode ${bits.toString(8)} is not used, and stays as it is`, async () => {
      const [open, good] = [tempDir(), tempDir()]
      chmodSync(open, bits)
      const path = await new TruncationStorage({ storageDirs: [open, good] }).save('secret', tool)
      expect([dirname(path), readdirSync(open), mode(open)]).toEqual([good, [], bits.toString(8)])
    })
  }

  for (const bits of [0o770, 0o775, 0o2775]) {
    onUnix(`a folder with the mode ${bits.toString(8)} is no longer the group's to write to`, async () => {
      const dir = tempDir()
      chmodSync(dir, bits)
      const path = await new TruncationStorage(dir).save('secret', tool)
      expect([dirname(path), mode(dir)]).toEqual([dir, (bits & ~0o020).toString(8)])
    })
  }

  onUnix('a session’s folder that everybody may write to is not used either', async () => {
    const [dir, good] = [tempDir(), tempDir()]
    const session = dirname(await new TruncationStorage(dir).save('x', { ...tool, sessionId: 's' }))
    chmodSync(session, 0o777)
    const path = await new TruncationStorage({ storageDirs: [dir, good] }).save('x', { ...tool, sessionId: 's' })
    expect(dirname(dirname(path))).toBe(good)
  })

  asRoot('a folder of another user is not used, by root', async () => {
    const theirs = tempDir()
    chownSync(theirs, NOBODY, NOBODY)
    const error = await rejection(new TruncationStorage(theirs).save('secret', tool))
    expect(error).toMatchObject({ code: 'STORAGE_WRITE', message: expect.stringContaining('another user') })
    expect(readdirSync(theirs)).toEqual([])
  })

  asRoot('a folder of another user is not used, by a user who could write to it', () => {
    const root = tempDir()
    chmodSync(root, 0o755)
    const theirs = join(root, 'theirs')
    mkdirSync(theirs)
    chownSync(theirs, SOMEBODY, NOBODY)
    chmodSync(theirs, 0o770)
    const message = runChild<string>(
      `answer(await new spillway.TruncationStorage(input).save('x', { toolName: 'x' }).catch((error) => error.message))`,
      { input: theirs, uid: NOBODY, cwd: '/' },
    )
    expect([message, readdirSync(theirs)]).toEqual([expect.stringContaining('another user'), []])
  })
})

describe('B19 nothing outside the folder is made, read or removed', () => {
  const SWAPS = isLong ? 100_000 : 10_000
  const OWN = 'x_1700000000000_aaaaaaaaaaaaa.txt'

  /**
   * Swaps folders and files for links that lead outside, as often as it can, until it has done so often enough and the file is
   * there that says that something was saved meanwhile. The outside looks like a store: code that follows a link there finds files
   * that look like its own.
   */
  const SWAPPER = `
    const fs = require('node:fs')
    const quietly = (work) => { try { work() } catch {} }
    process.stdout.write('started')
    for (let round = 0; round < input.rounds || !fs.existsSync(input.saved); round += 1) {
      for (const [path, to] of input.swaps) {
        quietly(() => fs.renameSync(path, path + '.aside'))
        quietly(() => fs.symlinkSync(to, path))
        if (round % 64 === 0) await new Promise(setImmediate)
        quietly(() => fs.unlinkSync(path))
        quietly(() => fs.renameSync(path + '.aside', path))
      }
    }
    process.exit(0)`

  /** Saves, reads, searches and cleans up until the file is there that ends it, and answers what it read. */
  const VICTIM = `
    const fs = require('node:fs')
    const storage = new spillway.TruncationStorage({ storageDirs: input.dirs, maxStoreFiles: 20 })
    const read = []
    let saved = 0
    if (input.isOpen) {
      await storage.save('ours', { toolName: 'x' })
      process.stdout.write('open')
    }
    for (let round = 0; !fs.existsSync(input.end); round += 1) {
      await storage.save('ours', { toolName: 'x', sessionId: 's' }).then(() => {
        if (saved === 0) process.stdout.write('saved')
        saved += 1
      }, () => {})
      await storage.save('ours', { toolName: 'x' }).catch(() => {})
      for (const path of input.paths) {
        await storage.read(path).then((text) => read.push(text), () => {})
        await storage.readRange(path, { fromByte: 0 }).then(({ text }) => read.push(text), () => {})
      }
      if (round % 8 === 0) await storage.sweep({ now: Date.now() + 2 * 3_600_000 }).catch(() => {})
      if (round % 8 === 4) await storage.cleanup(1).catch(() => {})
      if (round % 32 === 0) await storage.deleteSession('s').catch(() => {})
    }
    answer({ saved, read: [...new Set(read)] })`

  interface Scene {
    /** The place that is attacked, and those of its parts that are swapped for links, each with where it leads. */
    dir: string
    swaps: [string, string][]
    paths: string[]
    outside: string
  }

  function scene(owner: number, attacker: number): Scene {
    const root = tempDir()
    chmodSync(root, 0o755)
    const make = (uid: number, ...parts: string[]) => {
      const path = join(root, ...parts)
      mkdirSync(path)
      chmodSync(path, 0o700)
      if (isRoot) chownSync(path, uid, uid)
      return path
    }
    const file = (path: string, text: string) => {
      writeFileSync(path, text, { mode: 0o600 })
      if (isRoot) chownSync(path, owner, owner)
      utimesSync(path, 1, 1)
      return path
    }
    const above = make(attacker, 'above')
    chmodSync(above, 0o755)
    const dir = make(owner, 'above', 'store')
    const outside = make(owner, 'outside')
    const session = runChild<string>(
      `const storage = new spillway.TruncationStorage(input)
       const path = await storage.save('x', { toolName: 'x', sessionId: 's' })
       await storage.deleteSession('s')
       answer(require('node:path').basename(require('node:path').dirname(path)))`,
      { input: dir, uid: isRoot ? owner : undefined, cwd: '/' },
    )
    const below = make(owner, 'outside', session)
    const precious = file(join(outside, OWN), 'precious')
    file(join(below, OWN), 'precious')
    return {
      dir,
      outside,
      swaps: [
        [join(dir, session), below],
        [join(dir, OWN), precious],
      ],
      paths: [join(dir, OWN), join(dir, session, OWN)],
    }
  }

  /** `isOpen`: the store was used before the attack begins. */
  async function attack(
    { dir, swaps, paths, outside }: Scene,
    owner: number,
    attacker: number,
    isOpen = false,
  ): Promise<void> {
    const told = tempDir()
    chmodSync(told, 0o755)
    const [end, saved] = [join(told, 'end'), join(told, 'saved')]
    const before = readdirSync(outside, { recursive: true }).sort()
    const as = (uid: number) => ({ uid: isRoot ? uid : undefined, cwd: '/' })
    const startSwapper = async () => {
      const swapper = startChild(SWAPPER, { input: { swaps, saved, rounds: SWAPS / swaps.length }, ...as(attacker) })
      swapper.once('exit', () => writeFileSync(end, ''))
      await new Promise((resolve) => swapper.stdout!.once('data', resolve))
      swapper.stdout!.resume()
    }
    if (!isOpen) await startSwapper()
    const victim = startChild(VICTIM, { input: { dirs: [dir], paths, end, isOpen }, ...as(owner) })
    let said = ''
    const spoke = new Promise((resolve) => victim.stdout!.once('data', resolve))
    victim.stdout!.on('data', (data) => {
      said += data
      if (said.includes('saved')) writeFileSync(saved, '')
    })
    const closed = new Promise((resolve) => victim.once('close', resolve))
    if (isOpen) {
      await spoke
      await startSwapper()
    }
    await closed
    const answer = JSON.parse(said.slice(said.indexOf('{'))) as { saved: number; read: string[] }
    expect(answer.saved).toBeGreaterThan(0)
    expect(answer.read.filter((text) => text !== 'ours')).toEqual([])
    expect(readdirSync(outside, { recursive: true }).sort()).toEqual(before)
  }

  const me = process.getuid?.() ?? 0

  onUnix('when sessions and files are swapped for links by a process of the same user', async () => {
    await attack(scene(me, me), me, me)
  })

  asRoot('the same, as nobody', async () => {
    await attack(scene(NOBODY, NOBODY), NOBODY, NOBODY)
  })

  onUnix('when a process of the same user swaps the folder itself, which is in use by then', async () => {
    const stage = scene(me, me)
    await attack({ ...stage, swaps: [[stage.dir, stage.outside]] }, me, me, true)
  })

  asRoot('when another user, who owns the folder above, swaps the folder of root', async () => {
    const stage = scene(0, NOBODY)
    await attack({ ...stage, swaps: [[stage.dir, stage.outside]] }, 0, NOBODY)
  })

  asRoot('when another user, who owns the folder above, swaps the folder of nobody', async () => {
    const stage = scene(NOBODY, SOMEBODY)
    await attack({ ...stage, swaps: [[stage.dir, stage.outside]] }, NOBODY, SOMEBODY)
  })

  asRoot('the swaps are seen by whoever follows links: a folder that root reads by its path alone', () => {
    // The tests above rely on this: the outside is reached through a link that was swapped in.
    const stage = scene(0, NOBODY)
    rmSync(stage.dir, { recursive: true })
    symlinkSync(stage.outside, stage.dir)
    expect(readFileSync(join(stage.dir, OWN), 'utf8')).toBe('precious')
  })
})
