'use strict'

/** The specs run against the built package, as users have it. */
module.exports = {
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
