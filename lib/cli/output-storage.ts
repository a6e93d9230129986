/** The store that outputs are saved in and read from: a folder of this machine, or a bucket. */

import { SpillwayError, TruncationStorage, type UserTruncationConfig } from 'spillway'
import type { FleetConfig } from 'spillway/config'
import type { Coordination, RemoteStorage } from 'spillway/remote'
import { countText } from '../util/format'
import { messageOf } from '../util/message-of'
import { isStoreUrl } from '../util/store-url'
import { type Parsed, UsageError, wrongOption } from './command'
import { text } from './parse-values'
import { configOf, openStorage } from './shared-options'
import { note, printable } from './terminal'

/** A store of either kind. */
export type OutputStorage = TruncationStorage | RemoteStorage

/** Returns whether outputs of a store are files of this machine. */
export function isLocal(storage: OutputStorage): storage is TruncationStorage {
  return !isStoreUrl(storage.getStorageDir())
}

/** The bucket that the options, the environment or the settings name; nothing if they name none. Its code is loaded only then. */
export async function openBucket(values: Parsed['values']): Promise<RemoteStorage | undefined> {
  const named = text(values, 'store')
  const config = fleetOf(values)
  const url = named ?? (process.env.SPILLWAY_STORE || config.store)
  const spoolDir = text(values, 'spool-dir')
  if (url === undefined || (named !== undefined && !isStoreUrl(named))) {
    if (spoolDir === undefined) return undefined
    throw new UsageError(
      '--spool-dir: needs a bucket; name one with --store, $SPILLWAY_STORE, or fleet.store of --config',
    )
  }
  const { openStore } = await import('spillway/remote')
  try {
    return openStore({
      config,
      ...(named !== undefined && { url: named }),
      ...(spoolDir !== undefined && { spoolDir }),
      onError: onceEach((problem) => note(`spillway: not uploaded yet: ${printable(problem)}`)),
    })
  } catch (error) {
    const isTyped = named !== undefined && error instanceof SpillwayError && error.field === 'url'
    throw isTyped ? wrongOption('store', error.message.replace(/^url: /, '')) : error
  }
}

/** The server with shared state that the options, the environment or the settings name; nothing if they name none. */
export async function openSharedState(
  values: Parsed['values'],
): Promise<{ coordination: Coordination; url: string } | undefined> {
  const named = text(values, 'coordination')
  const config = fleetOf(values)
  const url = named ?? (process.env.SPILLWAY_COORDINATION || config.coordination)
  if (url === undefined) return undefined
  const { openCoordination } = await import('spillway/remote')
  return { coordination: openCoordination({ config, ...(named !== undefined && { url: named }) }), url }
}

/** The settings reader is loaded only when needed. */
function fleetOf(values: Parsed['values']): FleetConfig {
  return values.config === undefined ? {} : configOf(values).options.fleet
}

/** Does something with the bucket that the options or the environment name, and closes it however that ends. */
export async function withBucket<T>(
  values: Parsed['values'],
  work: (bucket: RemoteStorage | undefined) => Promise<T>,
): Promise<T> {
  const bucket = await openBucket(values)
  try {
    return await work(bucket)
  } finally {
    const left = (await bucket?.flush()) ?? 0
    if (left > 0) note(`spillway: ${countText(left, 'output')} left in the spool for the next command that saves`)
  }
}

/** The options of a service that saves in a bucket, and outputs that it does not take in the folder of this machine. */
export function savingIn(bucket: RemoteStorage | undefined): Pick<UserTruncationConfig, 'storage' | 'onEvent'> {
  if (bucket === undefined) return {}
  return {
    storage: [bucket, new TruncationStorage()],
    onEvent: ({ type, error }) => {
      if (type === 'error') note(`spillway: not saved in the bucket: ${printable(error ?? '')}`)
    },
  }
}

/** Reports a failure once, however often it is tried again. */
export function onceEach(tell: (problem: string) => void): (error: unknown) => void {
  let last = ''
  return (error) => {
    const problem = messageOf(error)
    if (problem !== last) tell(problem)
    last = problem
  }
}

/** The store that the options, the environment, or else the path of an output name. */
export async function openOutputs(values: Parsed['values'], output = ''): Promise<OutputStorage> {
  const bucket = await openBucket(values)
  if (bucket !== undefined) return bucket
  if (!isStoreUrl(output) || text(values, 'store') !== undefined) return openStorage(values)
  const { openStore, storeOfPath } = await import('spillway/remote')
  const url = storeOfPath(output)
  return url === undefined ? openStorage(values) : openStore({ url })
}
