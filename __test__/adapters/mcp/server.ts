/** A server of the SDK, started by the tests. */

import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { makeServer } from './make-server.ts'

await makeServer().connect(new StdioServerTransport())
