'use strict'

const usual = require('./jest.config.js')

/** `npm run test:remote`: tests with real servers, whose clients are installed in `target/remote`. */
module.exports = {
  ...usual,
  testMatch: ['<rootDir>/__test__/remote/servers/*.test.ts'],
  modulePaths: ['<rootDir>/target/remote/node_modules'],
  maxWorkers: 1,
}
