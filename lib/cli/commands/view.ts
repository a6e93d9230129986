/** `spillway view`: saved outputs in a browser. */

import { once } from 'node:events'
import { SpillwayError } from 'spillway'
import { type ApprovalSource, createAuditSource, createSharedApprovals, type OutputSource } from 'spillway/view'
import { keyFile, keyFromFile } from '../audit-key'
import { badValue, type Command, type Parsed, UsageError } from '../command'
import { openWithSystem, startDesk } from '../desk-server'
import { isLocal, type OutputStorage, openOutputs, openSharedState } from '../output-storage'
import { approvalsFolder, forgetRemoved, outputPath, recordedOutputs } from '../outputs'
import { text, whole } from '../parse-values'
import { COORDINATION, STORE_OR_BUCKET } from '../store-options'
import { EXIT, note, print, printJson } from '../terminal'

const command: Command = {
  name: 'view',
  summary: 'Shows saved outputs, waiting questions and audit logs in a browser.',
  usage: '[options] [output]',
  about: `An output is a path, or -1 for the newest, -2 for the one before; it is shown first. The page is served on 127.0.0.1
only, until this command ends. Its address has a token that works once: the first browser that opens it may read and
remove the outputs, and answer the questions of sessions that wait (spillway mcp --ask-in-view).`,
  options: {
    print: { type: 'boolean', help: 'Print the address instead of opening a browser.' },
    port: { type: 'string', value: 'N', help: 'The port. Default: any free port.' },
    session: { type: 'string', value: 'ID', help: 'Only outputs of this session.' },
    audit: { type: 'string', value: 'DIR', help: 'Also verify and show the audit logs in this folder.' },
    ...keyFile('With --audit'),
    ...STORE_OR_BUCKET,
    ...COORDINATION,
  },
  positionals: [0, 1],
  takesOutputs: true,
  exits: [
    ['0', 'Ctrl-C ended it'],
    ['2', 'wrong usage'],
    ['3', 'it could not be served'],
  ],
  examples: [
    ['spillway view', 'all outputs, the newest first'],
    ['spillway view --print -2', 'the address of the one before, for another browser of this machine'],
  ],
  run,
}

export default command

async function run({ values, positionals, json }: Parsed): Promise<number> {
  if (values['key-file'] !== undefined && values.audit === undefined)
    throw new UsageError('--key-file: needs --audit, the folder of the logs that it verifies')
  const storage = await openOutputs(values, positionals[0])
  const [given] = positionals
  const [sessionId, dir] = [text(values, 'session'), text(values, 'audit')]
  const path = given === undefined ? undefined : await outputPath(storage, given, sessionId)
  if (path !== undefined) await storage.readRange(path, { fromByte: 0, byteCount: 1 }, { sessionId })
  const { approvals, close } = await approvalsOf(storage, values)
  try {
    const { server, address } = await startDesk({
      outputs: outputsOf(storage, sessionId),
      approvals,
      ...(dir !== undefined && { audit: createAuditSource({ dir, ...keyFromFile(values) }) }),
      ...(sessionId !== undefined && { sessionId }),
      port: portOf(values),
    })
    const ended = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
    const url = address(path)
    if (json) await printJson({ url })
    else if (values.print === true) await print(`${url}\n`)
    else if (await openWithSystem(url))
      note(`spillway: shown in the browser until Ctrl-C; for another browser: spillway view --print`)
    else await print(`${url}\n`)
    await ended
    server.closeAllConnections()
    server.close()
  } finally {
    await close()
  }
  return EXIT.ok
}

/** Questions of the workers that share a server, else those of this machine; and what ends their connections. */
async function approvalsOf(
  storage: OutputStorage,
  values: Parsed['values'],
): Promise<{ approvals: ApprovalSource; close: () => Promise<void> }> {
  const shared = await openSharedState(values)
  if (shared === undefined)
    return { approvals: createSharedApprovals({ dir: approvalsFolder(storage) }), close: async () => {} }
  const { coordination } = shared
  const { FleetApprovals } = await import('spillway/remote')
  const approvals = new FleetApprovals({ coordination })
  // A page without questions would look as if there were none.
  await approvals.pending().catch(async (error) => {
    await coordination.close()
    throw error
  })
  return { approvals, close: () => coordination.close() }
}

async function openFile(path: string): Promise<void> {
  if (await openWithSystem(path)) return
  throw new SpillwayError('COMMAND', 'this system has no program that opens a browser')
}

/** The store, with the commands that made its outputs. */
function outputsOf(storage: OutputStorage, sessionId: string | undefined): OutputSource & Pick<OutputStorage, 'owns'> {
  return {
    readRange: (path, range, access) => storage.readRange(path, range, access),
    search: (path, pattern, options) => storage.search(path, pattern, options),
    list: () => recordedOutputs(storage, sessionId),
    owns: (path) => storage.owns(path),
    usage: () => storage.usage(),
    ...(isLocal(storage) && { open: openFile }),
    async remove(path) {
      const isRemoved = await storage.remove(path)
      await forgetRemoved(storage)
      return isRemoved
    },
    async sweep() {
      const report = await storage.sweep()
      await forgetRemoved(storage)
      return report
    },
  }
}

const LAST_PORT = 65_535

function portOf(values: Parsed['values']): number {
  const port = whole(values, 'port') ?? 0
  if (port > LAST_PORT) throw badValue('port', String(port), `a whole number from 1 to ${LAST_PORT}`)
  return port
}
