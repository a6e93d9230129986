// CommonJS: one instance, whichever way it is loaded, and nothing that keeps the process alive.

const assert = require('node:assert')
const spillway = require('spillway')
const use = require('../use.cjs')

async function main() {
  const names = await use(spillway)
  const modules = await import('spillway')
  assert.strictEqual(modules.SpillwayError, spillway.SpillwayError)
  assert.strictEqual(modules.default, spillway)
  assert.ok(names >= 20)
  const permission = require('spillway/permission')
  assert.strictEqual(permission.PermissionPolicy, spillway.PermissionPolicy)
  assert.strictEqual((await import('spillway/permission')).ModeController, permission.ModeController)
  assert.strictEqual(require('spillway/package.json').version, '0.1.0')
  assert.throws(() => require('spillway/dist/index.js'), { code: 'ERR_PACKAGE_PATH_NOT_EXPORTED' })
  process.once('exit', (code) => console.log(`ended with ${code}`))
}

main()
