/** An object store in a folder, for tests with several processes: what it has, it has after they were killed. */

const { promises } = require('node:fs')
const { join } = require('node:path')

const encode = (key) => encodeURIComponent(key)
const orNothing = (error) => {
  if (error.code !== 'ENOENT') throw error
}

class FolderObjects {
  constructor(dir) {
    this.dir = dir
    this.url = 'folder://objects'
  }

  async write(folder, name, bytes) {
    await promises.mkdir(join(this.dir, folder), { recursive: true })
    const draft = join(this.dir, `${process.pid}-${Math.random()}`)
    await promises.writeFile(draft, bytes)
    await promises.rename(draft, join(this.dir, folder, name))
  }

  put(key, body) {
    return this.write('objects', encode(key), body)
  }

  async begin(key) {
    const upload = `${Math.random()}`.slice(2)
    await this.write(`uploads/${upload}`, 'key', key)
    return upload
  }

  async part(_key, upload, number, body) {
    await this.write(`uploads/${upload}`, `${number}`, body)
    return `${number}`
  }

  async complete(key, upload, parts) {
    const bytes = parts.map(({ number }) => promises.readFile(join(this.dir, 'uploads', upload, `${number}`)))
    await this.put(key, Buffer.concat(await Promise.all(bytes)))
    await this.abort(key, upload)
  }

  async abort(_key, upload) {
    await promises.rm(join(this.dir, 'uploads', upload), { recursive: true, force: true })
  }

  async get(key, from, to) {
    const whole = await promises.readFile(join(this.dir, 'objects', encode(key))).catch(orNothing)
    return whole && { bytes: whole.subarray(from, to), total: whole.length }
  }

  async *list(prefix) {
    for (const name of (await this.names('objects')).sort()) {
      const key = decodeURIComponent(name)
      if (!key.startsWith(prefix)) continue
      const { size, mtimeMs } = await promises.stat(join(this.dir, 'objects', name))
      yield { key, bytes: size, modified: mtimeMs }
    }
  }

  async remove(keys) {
    for (const key of keys) await promises.rm(join(this.dir, 'objects', encode(key)), { force: true })
  }

  async *uploads(prefix) {
    for (const upload of await this.names('uploads')) {
      const file = join(this.dir, 'uploads', upload, 'key')
      const key = await promises.readFile(file, 'utf8').catch(orNothing)
      if (key?.startsWith(prefix)) yield { key, upload, started: (await promises.stat(file)).mtimeMs }
    }
  }

  async parts(_key, upload) {
    const numbers = (await this.names(`uploads/${upload}`)).map(Number).filter(Number.isInteger)
    return numbers.map((number) => ({ number, tag: `${number}`, bytes: 0 }))
  }

  async names(folder) {
    return (await promises.readdir(join(this.dir, folder)).catch(orNothing)) ?? []
  }
}

module.exports = { FolderObjects }
