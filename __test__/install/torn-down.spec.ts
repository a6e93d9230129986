/** Work that continues when a test of Jest has ended: from then on its `require` refuses, with an error in the output of the run. */

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '../support/temp'

const ROOT = join(__dirname, '..', '..')

const SPEC = `
const { PermissionGate, PermissionPolicy } = require(${JSON.stringify(ROOT)})
const { FleetApprovals, MemoryCoordination } = require(${JSON.stringify(join(ROOT, 'dist', 'entries', 'remote.js'))})

test('a call waits when the test ends', async () => {
  const approvals = new FleetApprovals({ coordination: new MemoryCoordination() })
  const gate = new PermissionGate(new PermissionPolicy(), { ask: approvals.ask })
  const controller = new AbortController()
  globalThis.atTeardown = () => controller.abort()
  void gate.request({ tool: 'bash', args: { command: 'make' }, toolCallId: 'c1', sessionId: 's1', signal: controller.signal })
  while ((await approvals.pending()).length === 0) await new Promise(setImmediate)
})`

const ENVIRONMENT = `
const { TestEnvironment } = require(${JSON.stringify(require.resolve('jest-environment-node'))})
module.exports = class extends TestEnvironment {
  async teardown() {
    const { atTeardown } = this.global
    await super.teardown()
    atTeardown()
  }
}`

test('a call that is taken back after its test loads no module', () => {
  const dir = tempDir()
  writeFileSync(join(dir, 'waiting.spec.js'), SPEC)
  writeFileSync(join(dir, 'environment.js'), ENVIRONMENT)
  writeFileSync(
    join(dir, 'package.json'),
    JSON.stringify({ jest: { testEnvironment: './environment.js', transform: {} } }),
  )
  const jest = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js')
  const { status, stderr } = spawnSync(process.execPath, [jest, '--rootDir', dir, '--runInBand'], {
    cwd: dir,
    encoding: 'utf8',
    timeout: 50_000,
  })
  expect(stderr).toContain('Tests:       1 passed')
  expect(stderr).not.toContain('torn down')
  expect(status).toBe(0)
})
