// ES modules: named imports, the default one, all of it, and the same classes as in CommonJS.

import assert from 'node:assert'
import { createRequire } from 'node:module'
import everything, * as names from 'spillway'
import { SpillwayError, TruncationService } from 'spillway'
import * as permission from 'spillway/permission'
import use from '../use.cjs'

const required = createRequire(import.meta.url)('spillway')
assert.strictEqual(TruncationService, required.TruncationService)
assert.strictEqual(SpillwayError, everything.SpillwayError)
assert.strictEqual(permission.PermissionPolicy, everything.PermissionPolicy)
assert.deepStrictEqual(
  Object.keys(names)
    .filter((name) => name !== 'default')
    .sort(),
  Object.keys(required).sort(),
)
await use(names)
await use((await import('spillway')).default)
