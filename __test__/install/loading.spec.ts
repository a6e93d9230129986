import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BINARY } from '../support/binary'
import { endChild } from '../support/child'
import { onLinux } from '../support/only'
import { tempDir } from '../support/temp'

const ROOT = join(__dirname, '..', '..')
const { version } = require('../../package.json') as { version: string }

/** The platform of the binary that was built here, as packages are named. */
const HERE = BINARY.match(/spillway\.(.*)\.node$/)![1]!
const OTHER = HERE.endsWith('-gnu') ? HERE.replace('-gnu', '-musl') : HERE.replace('-musl', '-gnu')

interface Installed {
  /** Content of each platform's package: a path of a file, or its bytes. */
  packages?: Record<string, string | Buffer>
  /** Value of the environment variable. */
  path?: string
}

/** The package in `node_modules` of an empty project, without the binary that lies beside it here. */
function install({ packages = {} }: Installed): string {
  const dir = tempDir()
  const main = join(dir, 'node_modules', 'spillway')
  mkdirSync(main, { recursive: true })
  for (const file of ['index.js', 'package.json', 'dist']) {
    cpSync(join(ROOT, file), join(main, file), { recursive: true, filter: (path) => !path.endsWith('.d.ts') })
  }
  for (const [platform, binary] of Object.entries(packages)) {
    const folder = join(dir, 'node_modules', `spillway-${platform}`)
    mkdirSync(folder)
    writeFileSync(join(folder, 'package.json'), readFileSync(join(ROOT, 'npm', platform, 'package.json')))
    const file = join(folder, `spillway.${platform}.node`)
    if (typeof binary === 'string') symlinkSync(binary, file)
    else writeFileSync(file, binary)
  }
  return main
}

interface Loaded {
  version?: string
  error?: { name: string; isOurs: boolean; code: string; field?: string; message: string; hasCause: boolean }
}

/**
 * Loads it in a process of its own, which changes as each of these scripts says; answers what became of each. The copy that
 * the process has anyway knows the errors of the other one.
 */
function loadAll(installed: Installed, changes: readonly string[]): Loaded[] {
  const { status, stdout, stderr } = endChild(
    `const load = () => {
       try {
         const { TruncationService } = require(input.main)
         new TruncationService()
         return { version: require(input.main + '/package.json').version }
       } catch (error) {
         const { name, code, field, message, cause } = error
         const isOurs = error instanceof spillway.SpillwayError
         return { error: { name, isOurs, code, field, message, hasCause: cause instanceof Error } }
       }
     }
     process.env.SPILLWAY_NATIVE_PATH = input.path
     answer(input.changes.map((change) => { eval(change); return load() }))`,
    {
      input: { main: install(installed), path: installed.path ?? '', changes },
      env: { SPILLWAY_NATIVE_PATH: '' },
    },
  )
  if (status !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as Loaded[]
}

const load = (installed: Installed): Loaded => loadAll(installed, [''])[0]!

/** A change of what the process says of itself. */
const pretend = (platform: string, arch: string) =>
  `Object.defineProperty(process, 'platform', { value: '${platform}' }); Object.defineProperty(process, 'arch', { value: '${arch}' });`

test('the binary of the platform is found in its package', () => {
  expect(load({ packages: { [HERE]: BINARY } })).toEqual({ version })
})

test('a missing package: which one, why it may be missing, and what to do', () => {
  const { error } = load({})
  expect(error).toMatchObject({ name: 'SpillwayError', isOurs: true, code: 'NATIVE_LOAD' })
  expect(error!.message).toContain(`packages/spillway-${version}.tgz`)
  for (const word of ['npm/cli#4828', '--omit=optional', 'package-lock.json', '--install-links', 'npm run pack'])
    expect(error!.message).toContain(word)
})

onLinux('a package for the other C library is not loaded, and the error says that it is there', () => {
  const { error } = load({ packages: { [OTHER]: BINARY } })
  const ours = HERE.endsWith('-gnu') ? 'glibc' : 'musl'
  expect(error).toMatchObject({ code: 'NATIVE_LOAD', isOurs: true })
  expect(error!.message).toContain(`spillway-${OTHER} is installed, but this Node.js runs on ${ours}`)
  expect(error!.message).toContain(`packages/spillway-${version}.tgz`)
  // Both at once, as some package managers install them, do no harm.
  expect(load({ packages: { [OTHER]: Buffer.from('x'), [HERE]: BINARY } })).toEqual({ version })
})

describe('a binary that is there and does not load says what the system said', () => {
  onLinux('an older glibc', () => {
    const bytes = readFileSync(BINARY)
    // A version of the C library that no system has, of the same length, with the hash of its name.
    const text = bytes.toString('latin1')
    const known = [...text.matchAll(/GLIBC_2\.\d\d\0/g)]
    expect(known.length).toBeGreaterThan(0)
    for (const { index } of known) bytes.write('GLIBC_2.99', index, 'latin1')
    const { error } = load({ packages: { [HERE]: bytes } })
    expect(error).toMatchObject({ code: 'NATIVE_LOAD', isOurs: true, hasCause: true })
    expect(error!.message).toMatch(
      new RegExp(
        `^spillway-${HERE} is installed, but it does not load: .*GLIBC_2\\.99.* needs glibc 2\\.99 or newer, and this system has 2\\.\\d+: `,
      ),
    )
    expect(error!.message).not.toContain('npm/cli')
  })

  const damaged: [string, Buffer, RegExp][] = [
    ['a damaged file', Buffer.from('nothing of the kind'), /The file is damaged, or made for another system/],
    ['a file of another processor', otherProcessor(), /It was made for another processor than this Node.js/],
    ['an empty one', Buffer.alloc(0), /does not load: .*too short|damaged/],
  ]
  for (const [what, bytes, message] of damaged) {
    onLinux(what, () => {
      const { error } = load({ packages: { [HERE]: bytes } })
      expect(error).toMatchObject({ code: 'NATIVE_LOAD', isOurs: true, hasCause: true })
      expect(error!.message).toMatch(message)
      expect(error!.message).toContain(`spillway-${HERE} is installed`)
    })
  }
})

/** The binary with another number of its processor in the header. */
function otherProcessor(): Buffer {
  const bytes = readFileSync(BINARY)
  bytes.writeUInt16LE(bytes.readUInt16LE(18) === 0x3e ? 0xb7 : 0x3e, 18)
  return bytes
}

describe('SPILLWAY_NATIVE_PATH', () => {
  test('names the binary', () => {
    expect(load({ path: BINARY })).toEqual({ version })
  })

  test('wins over the package of the platform', () => {
    const { error } = load({ packages: { [HERE]: BINARY }, path: '/no/such/file.node' })
    expect(error).toMatchObject({ code: 'NATIVE_LOAD', isOurs: true, field: 'SPILLWAY_NATIVE_PATH' })
    expect(error!.message).toContain('/no/such/file.node, and there is no such file')
  })

  test('a file that is no binary', () => {
    const { error } = load({ path: join(ROOT, 'package.json') })
    expect(error).toMatchObject({ code: 'NATIVE_LOAD', isOurs: true })
    expect(error!.message).toContain('is not a binary of spillway')
  })

  test('an empty value is none', () => {
    expect(load({ packages: { [HERE]: BINARY }, path: '' })).toEqual({ version })
  })
})

test('a binary of another version is refused', () => {
  const main = install({ packages: { [HERE]: BINARY } })
  const path = join(main, 'package.json')
  writeFileSync(path, readFileSync(path, 'utf8').replace(`"version": "${version}"`, '"version": "99.1.0"'))
  const { stdout } = endChild(`try { require(input) } catch (error) { answer([error.code, error.message]) }`, {
    input: main,
    env: { SPILLWAY_NATIVE_PATH: '' },
  })
  const [code, message] = JSON.parse(stdout) as [string, string]
  expect(code).toBe('NATIVE_LOAD')
  expect(message).toBe(
    `spillway is of version 99.1.0, but spillway-${HERE} is of version ${version}: install both in the same version`,
  )
})

test('each platform asks for its own package, and one without a binary gets the list of platforms', () => {
  const { napi } = require('../../package.json') as { napi: { targets: string[] } }
  const rows: [string, string, string[]][] = [
    ['linux', 'x64', ['linux-x64-gnu', 'linux-x64-musl']],
    ['linux', 'arm64', ['linux-arm64-gnu', 'linux-arm64-musl']],
    ['darwin', 'x64', ['darwin-x64']],
    ['darwin', 'arm64', ['darwin-arm64']],
    ['win32', 'x64', ['win32-x64-msvc']],
    ['win32', 'arm64', ['win32-arm64-msvc']],
  ]
  const loaded = loadAll({}, [...rows.map(([platform, arch]) => pretend(platform, arch)), pretend('freebsd', 'x64')])
  for (const [index, [, , names]] of rows.entries()) {
    const asked = loaded[index]!.error!.message.match(/^spillway-(\S+) \S+ is not installed/)?.[1]
    expect(names).toContain(asked)
  }
  const { message } = loaded.at(-1)!.error!
  expect(message).toMatch(/^spillway has no binary for freebsd x64, only for linux-x64-gnu, .*win32-arm64-msvc\. /)
  expect(message).toContain('SPILLWAY_NATIVE_PATH')
  expect(message.match(/(linux|darwin|win32)-(x64|arm64)/g)).toHaveLength(napi.targets.length)
})
