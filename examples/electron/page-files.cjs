// The files that the page may load, for both hosts: its own, and the components of the package.

const { readFile } = require('node:fs/promises')
const { dirname, join } = require('node:path')

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'"

const FILES = {
  '/': ['text/html; charset=utf-8', () => join(__dirname, 'page', 'index.html')],
  '/page.js': ['text/javascript', () => join(__dirname, 'page', 'page.js')],
  '/messages.js': ['text/javascript', () => join(__dirname, 'page', 'messages.js')],
  '/bridge.js': ['text/javascript', () => join(__dirname, 'page', 'bridge.js')],
  '/page.css': ['text/css', () => join(__dirname, 'page', 'page.css')],
  // `require` finds the build in CommonJS; the module for pages is beside it.
  '/ui.mjs': ['text/javascript', () => join(dirname(require.resolve('spillway/ui')), 'index.mjs')],
}

/** The content of a file of the page with its headers; nothing for any other path. */
async function pageFile(pathname) {
  if (!Object.hasOwn(FILES, pathname)) return undefined
  const [type, pathOf] = FILES[pathname]
  return { content: await readFile(pathOf()), headers: { 'content-type': type, 'content-security-policy': POLICY } }
}

module.exports = { pageFile }
