// A registry on this machine that has this package as if it were published; for everything else it sends package managers
// to the registry that npm is set up with. Tarballs carry what os, cpu and libc they are for, so that each package manager
// shows what it installs of the optional dependencies.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { basename } from 'node:path'

/** A registry's answer about one package with one version. */
function documentOf({ manifest, file, bytes }, origin) {
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
  const shasum = createHash('sha1').update(bytes).digest('hex')
  const dist = { tarball: `${origin}/-/${basename(file)}`, integrity, shasum }
  const { name, version } = manifest
  return {
    name,
    'dist-tags': { latest: version },
    versions: { [version]: { ...manifest, dist } },
    // Some package managers wait until a version is some days old.
    time: { created: '2020-01-01T00:00:00.000Z', [version]: '2020-01-01T00:00:00.000Z' },
  }
}

/** Starts it; `packages` are `{ manifest, file }`. Answers its address and how to stop it. */
export async function startRegistry(packages, upstream) {
  const known = new Map(packages.map((one) => [one.manifest.name, { ...one, bytes: readFileSync(one.file) }]))
  const server = createServer(({ url }, response) => {
    const path = decodeURIComponent(new URL(url, 'http://localhost').pathname).slice(1)
    const found = known.get(path)
    if (found) {
      response.setHeader('content-type', 'application/json')
      return response.end(JSON.stringify(documentOf(found, origin)))
    }
    const tarball = [...known.values()].find(({ file }) => path === `-/${basename(file)}`)
    if (tarball) return response.end(tarball.bytes)
    response.statusCode = upstream ? 307 : 404
    if (upstream) response.setHeader('location', new URL(url.slice(1), upstream).href)
    response.end()
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${server.address().port}`
  return {
    origin,
    stop() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}
