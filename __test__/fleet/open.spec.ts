/** Stores and shared state that are opened by URL: what is refused, and by which name. No server is needed for that. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SpillwayError } from 'spillway'
import { openCoordination, openStore, storeOfPath } from 'spillway/remote'
import { cli } from '../cli/support'
import { thrown } from '../support/outputs'
import { tempDir } from '../support/temp'

const STORES: [name: string, url: string, problem: RegExp][] = [
  ['another protocol', 'https://host/bucket', /expected s3:\/\/bucket\/prefix/],
  ['no bucket', 's3://', /expected s3:\/\/bucket/],
  ['a port', 's3://bucket:80/x', /expected s3:\/\/bucket/],
  [
    'a parameter that is unknown',
    's3://bucket/x?regoin=eu',
    /unknown parameter "regoin"; known are endpoint and region/,
  ],
  ['credentials', 's3://key:secret@bucket/x', /credentials do not belong in it/],
  ['a percent sign that encodes nothing', 's3://bucket/a%zz', /has a % that encodes nothing/],
  ['a prefix that leaves the bucket', 's3://bucket/a/%2e%2e%2fb', /"prefix": expected/],
  ['an account without a container', 'azblob://account', /or azblob:\/\/account\/container\/prefix/],
  ['a parameter that Azure does not have', 'azblob://account/outputs?region=eu', /"region"; azblob:\/\/ has none/],
  ['credentials of Azure', 'azblob://key:secret@account/outputs', /credentials do not belong in it/],
  ['an endpoint that is no URL', 's3://bucket/x?endpoint=host', /"endpoint": expected a URL/],
]

test.each(STORES)('a store with %s is refused', (_name, url, problem) => {
  expect(thrown(() => openStore({ url }))).toMatchObject({
    code: 'INVALID_CONFIG',
    field: 'url',
    message: expect.stringMatching(problem),
  })
  expect(String(thrown(() => openStore({ url })))).not.toContain('secret')
})

test('names an invalid option before a missing setting', () => {
  expect(thrown(() => openStore({ store: 's3://bucket' } as never))).toMatchObject({
    code: 'INVALID_CONFIG',
    field: 'store',
    message:
      'Unknown option "store": expected one of url, spoolDir, config, partBytes, windowBytes, ack, snapshotMs, ackTimeoutMs, closeTimeoutMs, onError, retentionDays, maxStoreBytes, maxStoreFiles',
  })
  expect(thrown(() => openStore({ spooldir: '/x' } as never))).toMatchObject({ field: 'spooldir' })
})

test('a container without the connection string of its account names the variable', () => {
  const error = thrown(() => openStore({ url: 'azblob://account/outputs' }))
  const field = 'AZURE_STORAGE_CONNECTION_STRING'
  expect(error).toMatchObject({ code: 'INVALID_CONFIG', field, message: expect.stringContaining('account account') })
})

test.each([
  ['s3://bucket/prod/o/s1-0/bash_1_0.txt', 's3://bucket/prod'],
  ['azblob://account/outputs/prod/o/bash_1_0.txt', 'azblob://account/outputs/prod'],
  ['gs://bucket/prod/o/bash_1_0.txt', undefined],
  ['/home/u/o/bash_1_0.txt', undefined],
])('the store of %s is %s', (path, store) => {
  expect(storeOfPath(path)).toBe(store)
})

test.each(['mysql://host/db', 'redis:/host', 'redis://host?prefix=a/b', 'postgres://host/db?schema=A'])(
  'shared state at %s is refused',
  (url) => {
    expect(thrown(() => openCoordination({ url }))).toMatchObject({ code: 'INVALID_CONFIG', field: 'url' })
  },
)

test('without a URL and a variable, the variable is named', () => {
  expect(thrown(() => openStore())).toMatchObject({ code: 'INVALID_CONFIG', field: 'SPILLWAY_STORE' })
  expect(thrown(() => openCoordination())).toMatchObject({ code: 'INVALID_CONFIG', field: 'SPILLWAY_COORDINATION' })
})

describe('the first value among options, environment and settings counts', () => {
  const variables = { SPILLWAY_STORE: 'ftp://variable', SPILLWAY_COORDINATION: 'ftp://variable' }
  afterEach(() => {
    for (const name of Object.keys(variables)) delete process.env[name]
  })
  const config = { store: 'ftp://file', coordination: 'ftp://file' }

  test.each([
    ['the option', { url: 'ftp://option', config }, variables, ['url', 'url']],
    ['the variable', { config }, variables, ['SPILLWAY_STORE', 'SPILLWAY_COORDINATION']],
    ['the settings', { config }, {}, ['agents.runtime.fleet.store', 'agents.runtime.fleet.coordination']],
    [
      'the settings',
      { config },
      { SPILLWAY_STORE: '', SPILLWAY_COORDINATION: '' },
      ['agents.runtime.fleet.store', 'agents.runtime.fleet.coordination'],
    ],
    ['nothing', { config: {} }, {}, ['SPILLWAY_STORE', 'SPILLWAY_COORDINATION']],
    ['no settings', { config: 3 as never }, {}, ['config', 'options.config']],
  ])('%s', (_name, options, env, fields) => {
    Object.assign(process.env, env)
    const errors = [thrown(() => openStore(options)), thrown(() => openCoordination(options))]
    expect(errors.map((error) => (error as SpillwayError).field)).toEqual(fields)
  })
})

test.each([
  ['ls', { SPILLWAY_STORE: 's3://bucket/x' }, 'not installed beside Spillway: npm install @aws-sdk/client-s3'],
  ['view', { SPILLWAY_COORDINATION: 'redis://127.0.0.1:1' }, 'npm install redis'],
  ['view', { SPILLWAY_COORDINATION: 'postgres://127.0.0.1:1/x' }, 'npm install pg'],
  ['ls', { SPILLWAY_STORE: 'ftp://bucket' }, 'SPILLWAY_STORE: expected s3://'],
  ['ls', { SPILLWAY_STORE: 's33://bucket' }, "received s33://…; did you mean 's3://'?"],
])('spillway %s with %j says what is missing', async (command, env, named) => {
  const { code, stderr } = await cli([command], { env: { ...env, NODE_PATH: '' } })
  expect([code, stderr]).toEqual([3, expect.stringContaining(named)])
})

test.each([
  ['view', ['--coordination', 'mysql://host'], 3, 'url: expected redis://host'],
  ['view', ['--coordination', 'rdis://:p@host'], 3, "received rdis://…; did you mean 'redis://'?"],
  ['run', ['--spool-dir', '/spool', '--', 'true'], 2, '--spool-dir: needs a bucket'],
  ['run', ['--store', 'azblob://account/outputs', '--', 'true'], 3, 'AZURE_STORAGE_CONNECTION_STRING'],
])('spillway %s %j is refused', async (command, args, expected, named) => {
  const { code, stderr } = await cli([command, ...args])
  expect([code, stderr]).toEqual([expected, expect.stringContaining(named)])
})

test('a command that needs a folder refuses a bucket', async () => {
  const { code, stderr } = await cli(['doctor', '--store', 's3://bucket/x'])
  expect([code, stderr]).toEqual([2, expect.stringContaining('expected a folder')])
})

/** A file of settings for workers on several machines. */
function settings(fleet: object): string {
  const file = join(tempDir(), 'agent.jsonc')
  writeFileSync(file, JSON.stringify({ agents: { runtime: { fleet } } }))
  return file
}

test.each([
  ['ls', { store: 's3://bucket/x?regoin=eu' }, {}, 'agents.runtime.fleet.store: unknown parameter "regoin"'],
  ['sweep', { store: 's3://key:secret@bucket/x' }, {}, 'agents.runtime.fleet.store: credentials do not belong in it'],
  ['view', { coordination: 'redis://host?prefix=a/b' }, {}, 'agents.runtime.fleet.coordination: '],
  ['ls', { store: 's3://bucket/x' }, { SPILLWAY_STORE: 's3://bucket/x?a=b' }, 'SPILLWAY_STORE: unknown parameter "a"'],
])('spillway %s with the settings %j and %j says which setting is wrong', async (command, fleet, env, named) => {
  const { code, stderr } = await cli([command, '--config', settings(fleet)], { env })
  expect([code, stderr]).toEqual([3, expect.stringContaining(named)])
  expect(stderr).not.toContain('secret')
})

test('a setting that cannot be read is reported once and left out', async () => {
  const home = tempDir()
  const args = [
    '--config',
    settings({ store: 'outputs' }),
    '--',
    process.execPath,
    '-e',
    'console.log("line\\n".repeat(9000))',
  ]
  const { code, stderr } = await cli(['run', '--json', ...args], { env: { SPILLWAY_STORAGE_DIR: home } })
  expect(code).toBe(0)
  const refused =
    /fleet\.store": expected a URL that begins with s3:\/\/ or azblob:\/\/, received a text without a scheme/g
  expect(stderr.match(refused)).toHaveLength(1)
})

test('a folder of --store is taken before a bucket of the settings', async () => {
  const { code, stdout } = await cli([
    'ls',
    '--json',
    '--store',
    tempDir(),
    '--config',
    settings({ store: 's3://bucket/x' }),
  ])
  expect([code, stdout]).toEqual([0, '[]\n'])
})
