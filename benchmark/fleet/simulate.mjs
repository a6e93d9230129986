// A discrete simulation of a fleet: outputs of agents as they come, and the requests that each makes of a bucket and of a
// server of shared state.

/** Random numbers that are the same in every run: xorshift, 32 bits. */
function randomOf(seed) {
  let state = seed || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

/** Returns the size at a share of a distribution. */
export function sizeAt(sizes, share) {
  const at = sizes.findIndex(([upTo]) => share < upTo)
  const [[low, small], [high, large]] = [sizes[at - 1], sizes[at]]
  return Math.round(small * (large / small) ** ((share - low) / (high - low)))
}

/** Requests of a save. */
export function savingRequests(bytes, partBytes) {
  return bytes <= partBytes ? 1 : Math.ceil(bytes / partBytes) + 3
}

/** Chooses the tenant of each agent: the n-th has agents in proportion to 1/n. */
function tenantsOf(agents, tenants, random) {
  const weights = Array.from({ length: tenants }, (_, at) => 1 / (at + 1))
  const sum = weights.reduce((a, b) => a + b, 0)
  return Array.from({ length: agents }, () => {
    const chosen = random() * sum
    let tenant = 0
    for (let below = weights[0]; below < chosen && tenant < tenants - 1; below += weights[tenant]) tenant += 1
    return tenant
  })
}

/** Events of each second, and the most of one. */
class Rate {
  constructor(seconds) {
    this.perSecond = new Float64Array(seconds)
    this.sum = 0
  }

  add(second, count) {
    this.perSecond[second] += count
    this.sum += count
  }

  get peak() {
    return this.perSecond.reduce((most, count) => Math.max(most, count), 0)
  }
}

/** Simulates a fleet whose outputs above a size are saved. */
export function simulate({ fleet, sizes, bucket, coordination, savedAbove }) {
  const random = randomOf(fleet.seed)
  const seconds = fleet.hours * 3600
  const [puts, gets, calls] = [new Rate(seconds), new Rate(seconds), new Rate(seconds)]
  const tenantOf = tenantsOf(fleet.agents, fleet.tenants, random)
  const counters = Array.from({ length: fleet.tenants }, () => new Rate(seconds))
  const totals = { outputs: 0, saved: 0, savedBytes: 0, entries: 0 }
  for (let agent = 0; agent < fleet.agents; agent += 1) {
    // Times between outputs of one agent are exponential.
    const next = () => (-Math.log(1 - random()) * 3600) / fleet.outputsPerHour
    for (let at = next(); at < seconds; at += next()) {
      const second = Math.floor(at)
      const bytes = sizeAt(sizes, random())
      totals.outputs += 1
      totals.entries += coordination.entriesPerOutput
      const asked = random() < coordination.questionShare ? 3 : 0
      calls.add(second, coordination.entriesPerOutput + coordination.quotaTakes + asked)
      counters[tenantOf[agent]].add(second, coordination.quotaTakes)
      if (bytes <= savedAbove) continue
      totals.saved += 1
      totals.savedBytes += bytes
      puts.add(second, savingRequests(bytes, bucket.partBytes))
      if (random() < bucket.readShare) gets.add(second, 2)
    }
    const renewals = 1000 / coordination.renewMs
    for (let second = 0; second < seconds; second += 1) calls.add(second, renewals)
  }
  return { ...totals, puts, gets, calls, hottest: Math.max(...counters.map((counter) => counter.peak)) }
}

/** Returns the dollars of a month, and how much is kept at any time. */
export function dollarsOf({ puts, gets, savedBytes }, fleet, bucket) {
  const hoursOfMonth = 730 / fleet.hours
  const keptGib = (savedBytes * 24 * bucket.keptDays) / fleet.hours / 2 ** 30
  return {
    requests: ((puts.sum * bucket.putDollarsPer1000 + gets.sum * bucket.getDollarsPer1000) / 1000) * hoursOfMonth,
    storage: keptGib * bucket.gibMonthDollars,
    keptGib,
  }
}

/** Bytes that the server of shared state holds after the simulated time, with the entries of sessions and without. */
export function memoryOf({ outputs, entries }, fleet, coordination) {
  const { ledgerBytes, stateBytes, subscriberBytes, entryBytes } = coordination
  const without = outputs * ledgerBytes + fleet.agents * (stateBytes + subscriberBytes)
  return { without, withEntries: without + entries * entryBytes }
}
