// Small state in JSON files, each written whole: a process that is killed leaves the earlier one.

const { readFileSync, renameSync, writeFileSync } = require('node:fs')

/** What a file holds; nothing if it is missing or cannot be read. */
function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

function writeJson(file, value) {
  writeFileSync(`${file}.new`, JSON.stringify(value))
  renameSync(`${file}.new`, file)
}

module.exports = { readJson, writeJson }
