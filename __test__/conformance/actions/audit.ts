import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { AuditEvent, AuditLogOptions, AuditReport } from '../../../lib/audit/audit-log'
import type { Outcome } from '../outcome'

/** The part of a row that this action reads. */
interface Setup {
  audit?: AuditSetup
  options?: Record<string, unknown>
}

/** The record that a row appends, and the session of its log. */
export interface AuditSetup {
  session: string
  events: AuditEvent[]
}

interface Product {
  AuditLog: new (
    options: AuditLogOptions,
  ) => { readonly path: string; append(event: AuditEvent): Promise<unknown>; close(): Promise<void> }
  verifyAudit(file: string): Promise<AuditReport>
}

const { AuditLog, verifyAudit }: Product = require('spillway')

/** Appends the events of a row, verifies the log, and notes its name and records. */
export async function audit(setup: Setup, outcome: Outcome): Promise<void> {
  const { session, events } = setup.audit as AuditSetup
  const log = new AuditLog({ dir: outcome.dir, sessionId: session, ...setup.options })
  for (const event of events) await log.append(event)
  await log.close()
  expect(await verifyAudit(log.path)).toMatchObject({ ok: true, records: events.length })
  const text = readFileSync(log.path, 'utf8')
  const records = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
  Object.assign(outcome.facts, { auditText: text, auditFile: basename(log.path), auditRecords: records })
}
