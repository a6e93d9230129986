// The package under every test runner that users have, and under TypeScript in every way that it resolves packages.

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from '../../build/run.mjs'
import { require, tool, write } from './install.mjs'

// Jest ---------------------------------------------------------------------------------------------------------------

/** Several projects of one run: everything in the realm of the tests, and timers faked in each way that Jest has. */
function jestProjects(testEnvironment) {
  const common = {
    rootDir: '.',
    testEnvironment,
    transform: { '\\.mjs$': [require.resolve('@swc/jest'), { module: { type: 'commonjs' } }] },
  }
  const timers = (displayName, options) => ({
    ...common,
    displayName,
    testMatch: ['<rootDir>/timers.spec.mjs'],
    setupFilesAfterEnv: ['<rootDir>/setup.jest.cjs'],
    ...options,
  })
  return [
    { ...common, displayName: 'realm', testMatch: ['<rootDir>/realm.spec.mjs', '<rootDir>/modules.spec.cjs'] },
    timers('timers faked in each test', { globals: { fakeTimers: {} } }),
    timers('legacy timers', { globals: { fakeTimers: { legacyFakeTimers: true } } }),
    timers('timers faked everywhere', { fakeTimers: { enableGlobally: true } }),
  ]
}

/** In one process, because Jest would end its workers by force and hide what keeps them alive. */
function jestRun(cwd, name, config, { nodeArgs = [], args = [] } = {}) {
  write(cwd, `${name}.json`, { cacheDirectory: join(cwd, '.jest'), testTimeout: 10_000, ...config })
  const jest = tool('jest', 'bin', 'jest.js')
  return { args: [...nodeArgs, jest, '--rootDir', cwd, '--config', `${name}.json`, '--runInBand', ...args], cwd }
}

function jestRunners(cwd) {
  const node = { projects: jestProjects('node') }
  const esm = { rootDir: '.', transform: {}, testEnvironment: 'node', testMatch: ['<rootDir>/realm.spec.mjs'] }
  return [
    { name: 'jest, node', ...jestRun(cwd, 'jest-node', node) },
    { name: 'jest, open handles', ...jestRun(cwd, 'jest-handles', node, { args: ['--detectOpenHandles'] }) },
    {
      name: 'jest, ES modules',
      ...jestRun(cwd, 'jest-esm', esm, { nodeArgs: ['--experimental-vm-modules', '--no-warnings'] }),
    },
  ]
}

/** With the browser's globals; its environment is a large package that not every clone needs. */
export function jsdomRunner(cwd, environment) {
  return { name: 'jest, jsdom', ...jestRun(cwd, 'jest-jsdom', { projects: jestProjects(environment) }) }
}

// Vitest and Node's own runner ---------------------------------------------------------------------------------------

function vitestRunners(cwd) {
  return ['threads', 'forks', 'vmThreads', 'vmForks'].map((pool) => ({
    name: `vitest, ${pool}`,
    args: [tool('vitest', 'vitest.mjs'), 'run', '--root', '.'],
    cwd,
    env: { POOL: pool },
  }))
}

function nodeRunners(cwd) {
  const run = (name, file, env = {}) => ({
    name,
    args: ['--import', './setup.node.mjs', '--no-warnings', file],
    cwd,
    env,
  })
  return [
    run('node:test', 'realm.spec.mjs'),
    run('node:test, mock.timers', 'timers.spec.mjs', { FAKE_TIMERS: 'node' }),
    run('node:test, mock.timers before the package is loaded', 'timers.spec.mjs', {
      FAKE_TIMERS: 'node',
      FAKE_BEFORE: '1',
    }),
    run('node:test, sinon timers', 'timers.spec.mjs', { FAKE_TIMERS: 'sinon' }),
  ]
}

// TypeScript ---------------------------------------------------------------------------------------------------------

/** The types as the compilers of users see them. The same files are there twice: as CommonJS and as ES modules. */
function typeRunners(root) {
  const lib = ['es2023', 'esnext.disposable']
  const strictest = {
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    noImplicitOverride: true,
    isolatedModules: true,
  }
  const check = (name, types, options) => {
    const compilerOptions = { target: 'es2022', lib, types: ['node'], strict: true, noEmit: true, skipLibCheck: true }
    const file = `types-${name.replaceAll(/\W/g, '-')}.json`
    const include = types.map((type) => `types-${type}/*.ts`)
    write(root, file, { compilerOptions: { ...compilerOptions, ...options }, include })
    return { name: `types, ${name}`, args: [tool('typescript', 'bin', 'tsc'), '--project', file], cwd: root }
  }
  const both = ['commonjs', 'module']
  return [
    // Our own declarations are checked for themselves once, which takes as long as all else.
    check('node16', both, { module: 'node16', skipLibCheck: false }),
    check('nodenext, strictest', both, { module: 'nodenext', ...strictest }),
    check('bundler, DOM', ['module'], {
      module: 'esnext',
      moduleResolution: 'bundler',
      verbatimModuleSyntax: true,
      lib: [...lib, 'dom'],
    }),
    check('node10', ['commonjs'], { module: 'commonjs', moduleResolution: 'node10', ignoreDeprecations: '6.0' }),
  ]
}

export const RUNNERS_ROOT = pathToFileURL(join(ROOT, 'package.json')).href

/** Those that need nothing but what this repository installs. */
export function runners(root) {
  const cwd = join(root, 'runners')
  return [...jestRunners(cwd), ...vitestRunners(cwd), ...nodeRunners(cwd), ...typeRunners(root)]
}
