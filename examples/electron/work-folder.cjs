// Which folders the agent may work in: files in one may be read and written without asking.

const { realpathSync, statSync } = require('node:fs')
const { homedir } = require('node:os')
const { isAbsolute, parse, relative, resolve } = require('node:path')

/** Why a folder is none to work in; nothing if it is one. */
function folderProblem(folder) {
  // A link is what it leads to.
  const [path, home] = [folder, homedir()].map(realOf)
  if (path === parse(path).root) return 'It is the root of a drive.'
  if (path === home) return 'It is your home folder.'
  if (isIn(path, home)) return 'Your home folder is in it.'
  if (isIn(home, path) && relative(home, path).startsWith('.')) return 'It holds settings or keys of programs.'
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return 'It is not a folder.'
}

function realOf(folder) {
  try {
    return realpathSync(folder)
  } catch {
    return resolve(folder)
  }
}

function isIn(folder, path) {
  const way = relative(folder, path)
  return !way.startsWith('..') && !isAbsolute(way)
}

module.exports = { folderProblem }
