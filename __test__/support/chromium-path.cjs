'use strict'

const { existsSync } = require('node:fs')

/** A browser that is installed; none is fetched. */
const CHROMIUM = [
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => path && existsSync(path))

module.exports = { CHROMIUM }
