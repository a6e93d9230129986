/** The newest records of audit logs, stored where the writing process cannot remove them. */

import type { AuditReceipt } from '../audit/audit-log'
import { sha256 } from '../util/crypto'
import { type Check, checkOptions } from '../validation/options'
import { isRecord, wrong } from '../validation/validate'
import type { Coordination } from './coordination'
import { checkNeeded, coordination as coordinationCheck, sessionName } from './options'

/** Options of {@link AuditHeads}. */
export interface AuditHeadsOptions {
  /** Where the heads are kept: `redisCoordination(…)`, `postgresCoordination(…)`, or your own. */
  coordination: Coordination
  sessionId: string
}

const CHECKS: Readonly<Record<keyof AuditHeadsOptions, Check>> = {
  coordination: coordinationCheck,
  sessionId: sessionName,
}

/**
 * Stores the newest record of every writer of a session's audit log. With these, `verifyAudit` detects that records were removed
 * from the end.
 *
 * @example
 * const receipt = await log.append({ type: 'call', tool: 'bash' })
 * if (receipt) await heads.keep(receipt)
 * const report = await verifyAudit(log.path, { head: await heads.list() }) // anywhere
 */
export class AuditHeads {
  private readonly coordination: Coordination
  private readonly folder: string
  /** The newest receipt of each writer, and the number of that which is stored. */
  private readonly newest = new Map<string, AuditReceipt>()
  private readonly stored = new Map<string, number>()
  private storing: Promise<void> = Promise.resolve()

  /** @throws SpillwayError `INVALID_ARGUMENT` that names the option */
  constructor(options: AuditHeadsOptions) {
    checkOptions('options', options, CHECKS)
    checkNeeded(options, CHECKS, 'coordination', 'sessionId')
    this.coordination = options.coordination
    this.folder = `heads/${sha256(options.sessionId)}`
  }

  /**
   * Stores the receipt of a record. While one is being stored, only the newest of those that follow is kept.
   * @throws SpillwayError `COORDINATION` if it could not be stored, `INVALID_ARGUMENT`
   */
  keep(receipt: AuditReceipt): Promise<void> {
    const isReceipt = isRecord(receipt) && typeof receipt.hash === 'string' && typeof receipt.writer === 'string'
    if (!isReceipt || !Number.isSafeInteger(receipt.seq)) {
      throw wrong('receipt', receipt, 'what AuditLog.append returned')
    }
    const { writer, seq } = receipt
    const known = this.newest.get(writer)
    if (known === undefined || seq > known.seq) this.newest.set(writer, receipt)
    const storing = this.storing.then(() => this.storeNewest(writer, seq))
    this.storing = storing.catch(() => {})
    return storing
  }

  /** Lists the hash of the newest record of each writer, for `verifyAudit`. */
  async list(): Promise<string[]> {
    const listed = await this.coordination.list(this.folder)
    return listed.map(({ value }) => value)
  }

  private async storeNewest(writer: string, seq: number): Promise<void> {
    if ((this.stored.get(writer) ?? 0) >= seq) return
    const newest = this.newest.get(writer) as AuditReceipt
    await this.coordination.put(`${this.folder}/${writer}`, newest.hash)
    this.stored.set(writer, newest.seq)
  }
}
