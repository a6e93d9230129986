/**
 * Finds the binary of this platform, or reports why there is none. It replaces the loader that napi generates, which
 * says the same of every failure.
 */

import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import type * as Binding from '../../binding'
import { SpillwayError } from '../errors'
import { messageOf } from '../util/message-of'

/** The version that the binary must have. */
const VERSION: string = require('../../package.json').version

/** Where a binary of the user's own lies: it is loaded instead of that of the platform's package. */
const PATH_VARIABLE = 'SPILLWAY_NATIVE_PATH'

type Libc = 'gnu' | 'musl'

/** The packages that hold a binary. Names are written out, so that bundlers, file tracers and Plug'n'Play see them. */
const PACKAGES: Record<string, () => unknown> = {
  'linux-x64-gnu': () => require('spillway-linux-x64-gnu'),
  'linux-x64-musl': () => require('spillway-linux-x64-musl'),
  'linux-arm64-gnu': () => require('spillway-linux-arm64-gnu'),
  'linux-arm64-musl': () => require('spillway-linux-arm64-musl'),
  'darwin-x64': () => require('spillway-darwin-x64'),
  'darwin-arm64': () => require('spillway-darwin-arm64'),
  'win32-x64-msvc': () => require('spillway-win32-x64-msvc'),
  'win32-arm64-msvc': () => require('spillway-win32-arm64-msvc'),
}

/** Loads the binary: the one that the environment names, one that was built here, or that of the platform's package. */
export function loadBinary(): typeof Binding {
  const named = process.env[PATH_VARIABLE]
  if (named) return checked(loadNamed(named), `the file that ${PATH_VARIABLE} names, ${named}`)
  const libc = process.platform === 'linux' ? libcOfProcess() : undefined
  const names = namesFor(libc)
  for (const name of names) {
    const built = besideUs(name)
    if (built) return checked(loadFile(built), built)
  }
  for (const name of names) {
    const found = loadPackage(name)
    if (found !== undefined) return checked(found, `spillway-${name}`)
  }
  throw new SpillwayError('NATIVE_LOAD', names.length === 0 ? noBinaryFor() : notInstalled(names[0]!, libc))
}

/** The packages that may fit, best first. Both of Linux only where nothing says which C library this process has. */
function namesFor(libc: Libc | undefined): string[] {
  const { platform, arch } = process
  const flavours = platform === 'linux' ? (libc ? [libc] : ['gnu', 'musl']) : platform === 'win32' ? ['msvc'] : []
  const names =
    flavours.length === 0 ? [`${platform}-${arch}`] : flavours.map((flavour) => `${platform}-${arch}-${flavour}`)
  return names.filter((name) => Object.hasOwn(PACKAGES, name))
}

/**
 * The C library that this process runs on: its program names the loader in its first bytes. A system can have both, so
 * what is installed says nothing.
 */
function libcOfProcess(): Libc | undefined {
  try {
    const program = openSync('/proc/self/exe', 'r')
    try {
      const start = Buffer.alloc(4096)
      const text = start.toString('latin1', 0, readSync(program, start, 0, start.length, 0))
      if (text.includes('/ld-musl-')) return 'musl'
      if (text.includes('/ld-linux')) return 'gnu'
    } finally {
      closeSync(program)
    }
  } catch {
    // Without /proc, or without the right to read it.
  }
  const version = glibcVersion()
  return version === undefined ? undefined : version ? 'gnu' : 'musl'
}

/** The version of glibc that this process runs on; '' for another C library, nothing if the runtime cannot say. */
function glibcVersion(): string | undefined {
  try {
    // Without it, making the report may look up the names of hosts.
    const report = process.report as NodeJS.ProcessReport & { excludeNetwork?: boolean }
    const before = report.excludeNetwork
    report.excludeNetwork = true
    const { header } = report.getReport() as unknown as { header?: { glibcVersionRuntime?: string } }
    report.excludeNetwork = before ?? false
    return header && (header.glibcVersionRuntime ?? '')
  } catch {
    return undefined
  }
}

const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined

/** A binary that was built here, or put into the package's own folder. */
function besideUs(name: string): string | undefined {
  // A bundle of ES modules has no folder.
  if (typeof __dirname !== 'string') return undefined
  // `dist/` itself when bundled, a folder of it otherwise.
  const dist = basename(__dirname) === 'dist' ? __dirname : dirname(__dirname)
  const path = join(dist, '..', `spillway.${name}.node`)
  return isThere(path) ? path : undefined
}

// A `require` that bundlers do not look into: the path is known when it runs.
const open = (path: string): unknown => createRequire(path)(path)

function loadNamed(named: string): unknown {
  const path = resolve(named)
  const options = { field: PATH_VARIABLE }
  if (!isThere(path)) {
    throw new SpillwayError('NATIVE_LOAD', `${PATH_VARIABLE} names ${path}, and there is no such file`, options)
  }
  try {
    return open(path)
  } catch (cause) {
    throw new SpillwayError('NATIVE_LOAD', `${PATH_VARIABLE} names ${path}, ${whyNot(cause)}`, { ...options, cause })
  }
}

function loadFile(path: string): unknown {
  try {
    return open(path)
  } catch (cause) {
    throw new SpillwayError('NATIVE_LOAD', `spillway's binary ${path} is there, ${whyNot(cause)}`, { cause })
  }
}

/** Returns the content of a platform's package; nothing if it is not installed. */
function loadPackage(name: string): unknown {
  try {
    return PACKAGES[name]!()
  } catch (cause) {
    if (isMissing(cause, `spillway-${name}`)) return undefined
    throw new SpillwayError('NATIVE_LOAD', `spillway-${name} is installed, ${whyNot(cause)}`, { cause })
  }
}

/** True if it is the package itself that was not found, in the words of Node, of Plug'n'Play, Jest, Deno or Bun. */
function isMissing(thrown: unknown, name: string): boolean {
  const code = String((thrown as { code?: unknown } | null)?.code ?? '')
  const isNotFound = /MODULE_NOT_FOUND|UNDECLARED_DEPENDENCY|MISSING_DEPENDENCY/.test(code)
  return (isNotFound || /cannot find (module|package)/i.test(messageOf(thrown))) && messageOf(thrown).includes(name)
}

/** Returns the system's message, with an explanation where there is one. */
function whyNot(thrown: unknown): string {
  const said = messageOf(thrown).trim().split('\n')[0]!
  return `but it does not load: ${said}${meaningOf(messageOf(thrown))}`
}

const ANOTHER_PROCESSOR = `. It was made for another processor than this Node.js (${process.platform} ${process.arch}): run npm install with the Node.js that runs the program`

function meaningOf(said: string): string {
  const { platform, arch } = process
  const needed = said.match(/GLIBC_(2\.\d+)[^\n]*not found/)?.[1] ?? said.match(/version `?GLIBC_([\d.]+)/)?.[1]
  if (needed) {
    const version = glibcVersion()
    return `. It needs glibc ${needed} or newer${version ? `, and this system has ${version}` : ''}: use a newer system, or build spillway on this one and name the file in ${PATH_VARIABLE}`
  }
  if (/ld-musl|libc\.musl|libc\.so: (cannot|invalid)/.test(said)) {
    return `. It was made for musl (Alpine), and this Node.js runs on glibc: run npm install where the program runs, instead of copying node_modules there`
  }
  if (/ld-linux|libc\.so\.6|__\w+_chk: symbol not found/.test(said)) {
    return `. It was made for glibc, and this Node.js runs on musl (Alpine): run npm install where the program runs, instead of copying node_modules there`
  }
  if (
    /incompatible architecture|wrong architecture|wrong ELF class|not a valid Win32|ELF file's (machine|data)/i.test(
      said,
    )
  ) {
    return ANOTHER_PROCESSOR
  }
  const missing = said.match(/(\S+): cannot open shared object file/)?.[1]
  // A file of another processor is passed over, and then it was not found.
  if (missing?.endsWith('.node') && isThere(missing)) return ANOTHER_PROCESSOR
  if (missing) return `. A library that it needs is missing on this system: ${missing}`
  if (/invalid ELF header|file too short|slice is not valid mach-o|truncated|not a mach-o/i.test(said)) {
    return `. The file is damaged, or made for another system than ${platform} ${arch}: install it again`
  }
  if (/noexec|failed to map segment|operation not permitted/i.test(said)) {
    return '. The file system that it is on may not run programs (mounted `noexec`)'
  }
  if (/code signature|library validation/i.test(said)) {
    return '. macOS refused its signature: sign it with the application, or install it again'
  }
  return ''
}

function noBinaryFor(): string {
  const known = Object.keys(PACKAGES).join(', ')
  return `spillway has no binary for ${process.platform} ${process.arch}, only for ${known}. Build one from the sources and name the file in ${PATH_VARIABLE}`
}

function notInstalled(name: string, libc: Libc | undefined): string {
  const other = name.endsWith('-gnu') ? name.replace(/gnu$/, 'musl') : name.replace(/musl$/, 'gnu')
  const hasOther = libc !== undefined && other !== name && isInstalled(other)
  const wrong = hasOther
    ? ` spillway-${other} is installed, but this Node.js runs on ${libc === 'gnu' ? 'glibc' : 'musl'}: node_modules was made on another system.`
    : ''
  return (
    `spillway-${name} ${VERSION} is not installed; it holds the binary for this platform.${wrong} ` +
    'Package managers leave it out when optional dependencies are off (--omit=optional, --no-optional), when node_modules was ' +
    'copied from another platform, and npm also when package-lock.json was made on one (npm/cli#4828). ' +
    'Remove node_modules and package-lock.json and install again with optional dependencies. From a clone: npm run build in it, ' +
    'then install it as a link (a copy, as --install-links makes one, has no binary), or npm run pack in it and install ' +
    `packages/spillway-${VERSION}.tgz, which has the binary`
  )
}

function isInstalled(name: string): boolean {
  try {
    return PACKAGES[name]!() !== undefined
  } catch (thrown) {
    return !isMissing(thrown, `spillway-${name}`)
  }
}

/** Refuses what is not our binary, or is that of another version. */
function checked(loaded: unknown, from: string): typeof Binding {
  const { nativeVersion } = (loaded ?? {}) as Partial<typeof Binding>
  if (typeof nativeVersion !== 'function') {
    throw new SpillwayError('NATIVE_LOAD', `${from} is not a binary of spillway`)
  }
  const found = nativeVersion()
  if (found !== VERSION) {
    throw new SpillwayError(
      'NATIVE_LOAD',
      `spillway is of version ${VERSION}, but ${from} is of version ${found}: install both in the same version`,
    )
  }
  return loaded as typeof Binding
}
