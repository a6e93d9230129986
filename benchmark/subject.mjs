/** The package under test. With `self` it is the reference, behind the same interface: every ratio should then be 1. */
import { createRequire } from 'node:module'
import { createReferenceMiddleware } from './reference/middleware.mjs'
import { referenceSimplify } from './reference/outdated.mjs'
import { ReferenceTruncationService } from './reference/service.mjs'

const require = createRequire(import.meta.url)

export function loadSubject({ self }) {
  if (self) return { ...referenceAsSubject, version: 'the reference, measured against itself' }

  const entry = require.resolve('../index.js')
  const { version, bin } = require('../package.json')
  return { ...require(entry), version, entry, command: require.resolve(`../${bin.spillway}`) }
}

/** How someone who has only the reference handles a buffer: decode first. */
class ReferenceForBytes extends ReferenceTruncationService {
  output(content, context) {
    return super.output(typeof content === 'string' ? content : content.toString('utf8'), context)
  }
}

const referenceAsSubject = {
  TruncationService: class extends ReferenceForBytes {
    constructor({ storageDirs, global }) {
      super({ global: { ...global, storageDir: storageDirs[0] } })
    }
  },
  createTruncationMiddleware: createReferenceMiddleware,
  simplifyOutdatedTerminalResults: (messages, { now }) => referenceSimplify(messages, now),
}
