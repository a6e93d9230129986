// The numbers that the simulation of a fleet stands on, each with where it comes from. They are printed with every result.

const KIB = 1024
const MIB = 1024 * KIB

export const FLEET = {
  agents: [10_000, 'given'],
  outputsPerHour: [100, 'given, for each agent'],
  hours: [1, 'simulated'],
  tenants: [200, 'assumed; the agents of the n-th are in proportion to 1/n'],
  seed: [1, 'of the random numbers'],
}

/**
 * Shares of outputs up to a size. Between two of them the logarithm of the size is even. Seen in 24,137 outputs of recorded
 * sessions: half have up to 396 bytes, 3.4 % more than 10 KiB, 0.07 % more than 50 KiB. The ends are assumed.
 */
export const SIZES = [
  [0, 1],
  [0.5, 396],
  [0.966, 10 * KIB],
  [0.9993, 50 * KIB],
  [1, 50 * MIB],
]

/** Which outputs are saved. */
export const SAVED_ABOVE = { 'over 50 KiB (the default)': 50 * KIB, 'over 10 KiB': 10 * KIB, every: 0 }

export const BUCKET = {
  partBytes: [8 * MIB, 'default of RemoteStorage; requests as docs/fleets.md counts them'],
  readShare: [0.2, 'assumed: outputs that are read again, in two requests'],
  keptDays: [7, 'default of retentionDays'],
  putDollarsPer1000: [
    0.005,
    'S3 Standard, us-east-1, quoted by third parties, seen 2026-11-26; look at aws.amazon.com/s3/pricing',
  ],
  getDollarsPer1000: [0.0004, 'the same'],
  gibMonthDollars: [0.023, 'the same'],
  putsPerSecond: [3500, 'least for each partitioned prefix: AWS, optimizing-performance.html, seen 2026-11-26'],
}

export const COORDINATION = {
  renewMs: [10_000, 'a third of leaseMs, the default of FleetSession'],
  questionShare: [0.01, 'assumed: calls about which a person is asked; 2 writes and 1 read each'],
  entriesPerOutput: [2, 'a call and its result in the session'],
  quotaTakes: [1, 'for each output, on one counter of the tenant'],
  entryBytes: [3132, 'measured in Valkey for an entry of 3,000 bytes'],
  ledgerBytes: [303, 'measured in Valkey for a record of the ledger'],
  stateBytes: [40_069, 'measured in Valkey for a state of 40,000 bytes, one for each agent'],
  subscriberBytes: [16_700, 'measured in Redis 7 for each process that listens; one agent is one process'],
  callsPerSecond: [100_000, 'assumed: scripts that one Redis runs'],
}

/** The values without where they come from. */
export function valuesOf(assumptions) {
  return Object.fromEntries(Object.entries(assumptions).map(([name, [value]]) => [name, value]))
}
