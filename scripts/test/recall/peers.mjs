// Other packages that shorten the outputs of tools, called the way their hosts do. They are installed when they are asked for,
// at these versions, into a folder of their own; one that is not there, or whose inside has moved, is skipped.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** For each peer, its package and a function that makes a preview of `lines` and `bytes`. Some know characters only. */
export const PEERS = {
  'pi-head': {
    package: '@mariozechner/pi-coding-agent@0.73.1',
    file: 'dist/index.js',
    preview: ({ truncateHead }, text, limits) => truncateHead(text, limits).content,
  },
  'pi-tail': {
    package: '@mariozechner/pi-coding-agent@0.73.1',
    file: 'dist/index.js',
    preview: ({ truncateTail }, text, limits) => truncateTail(text, limits).content,
  },
  gemini: {
    package: '@google/gemini-cli-core@0.61.0',
    file: 'dist/src/utils/fileUtils.js',
    preview: ({ formatTruncatedToolOutput }, text, { maxBytes }) =>
      text.length > maxBytes ? formatTruncatedToolOutput(text, '/tmp/output.txt', maxBytes) : text,
  },
  cline: {
    package: '@cline/core@0.0.86',
    file: undefined,
    preview: ({ truncateCommandOutput }, text, { maxBytes }) => {
      const cut = truncateCommandOutput(text, { maxChars: maxBytes })
      return typeof cut === 'string' ? cut : (cut.text ?? cut.output ?? cut.content)
    },
  },
}

const nameOf = (spec) => spec.slice(0, spec.lastIndexOf('@'))

/** Installs what is missing; answers why not, for each package that could not be. */
export function install(folder) {
  mkdirSync(folder, { recursive: true })
  if (!existsSync(join(folder, 'package.json'))) writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  const missing = new Map()
  for (const spec of new Set(Object.values(PEERS).map((peer) => peer.package))) {
    if (existsSync(join(folder, 'node_modules', nameOf(spec)))) continue
    const args = ['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', folder, spec]
    const kept = Object.values(PEERS)
      .map((peer) => peer.package)
      .filter((each) => existsSync(join(folder, 'node_modules', nameOf(each))))
    const { status, stderr } = spawnSync('npm', [...args, ...new Set(kept)], { encoding: 'utf8', timeout: 300_000 })
    if (status !== 0)
      missing.set(
        spec,
        stderr
          ?.trim()
          .split('\n')
          .findLast((line) => line.includes('npm error')) ?? 'npm could not be run',
      )
  }
  return missing
}

/** A peer as `recall.mjs` calls it; throws if it is not what it was. */
export async function open(name, folder) {
  const peer = PEERS[name]
  const root = join(folder, 'node_modules', nameOf(peer.package))
  let file = peer.file
  if (file === undefined) {
    const { readFileSync } = await import('node:fs')
    const { exports, main, module } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const entry = exports?.['.'] ?? exports
    const of = (value) => (typeof value === 'string' ? value : value && of(value.import ?? value.node ?? value.default))
    file = of(entry) ?? module ?? main
  }
  const loaded = await import(pathToFileURL(join(root, file)).href)
  const call = (text, limits) => peer.preview(loaded, text, limits)
  if (typeof call('one\ntwo', { maxLines: 10, maxBytes: 100 }) !== 'string') throw new Error('it answers no text')
  return async (text, { maxLines, maxBytes }) => String(call(text, { maxLines, maxBytes }))
}
