'use strict'

const { exports: entries } = require('./package.json')

/** The specs run against the built package, as users have it. */
module.exports = {
  // Examples have package.json files of their own, and are tested without an installation.
  moduleNameMapper: Object.fromEntries(
    Object.entries(entries).flatMap(([name, { require }]) =>
      require ? [[`^spillway${name.slice(1)}$`, `<rootDir>/${require.default.slice(2)}`]] : [],
    ),
  ),
  testMatch: ['<rootDir>/__test__/**/*.spec.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'commonjs' } },
    ],
  },
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/target/'],
  cacheDirectory: '<rootDir>/.jest-cache',
  maxWorkers: 2,
  testTimeout: 60_000,
}
