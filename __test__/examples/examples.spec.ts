import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const examples = join(__dirname, '..', '..', 'examples')

/** Runs an example and gives what it prints. */
function run(file: string, env: NodeJS.ProcessEnv = {}): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(examples, file)], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    timeout: 60_000,
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return stdout
}

describe('hooks', () => {
  test('change the temperature', () => {
    expect(run('hooks/temperature.mjs')).toBe(
      'writer   { temperature: 0.7, maxTokens: 2000 }\nreviewer { temperature: 0.1, maxTokens: 2000 }\n',
    )
  })

  test('append to the system prompt', () => {
    expect(run('hooks/system-prompt.mjs', { TODAY: '2026-01-24' })).toBe(
      'You are a coding agent.\n\nToday is 2026-01-24.\n\nAnswer in the language of the question.\n',
    )
  })

  test('format an output, before it is cut and after', () => {
    const printed = run('hooks/format-output.mjs')
    expect(printed).toMatch(
      /^-- select \* from things\nid\tname\n0\trow 0\n1\trow 1\n2\trow 2\n\n\.\.\.997 lines truncated/,
    )
  })
})

describe('fleet', () => {
  const start = (args: string[], env: NodeJS.ProcessEnv) =>
    spawnSync(process.execPath, [join(examples, 'fleet', 'start.mjs'), ...args], {
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '', ...env },
      timeout: 60_000,
    })

  test('says what to install where a server is missing', () => {
    // Nothing is in that path, and no shell that could look for it.
    const { status, stdout, stderr } = start(['--coordination', 'redis', '--check'], { PATH: examples })
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^There is no .+\. In the folder of Spillway run once: npm run test:remote -- --install\n/)
  })

  test('names the servers that it knows', () => {
    const { status, stderr } = start(['--bucket', 'minio'], {})
    expect([status, stderr]).toEqual([1, '--bucket minio: expected s3s-fs, moto, azurite\n'])
  })
})
