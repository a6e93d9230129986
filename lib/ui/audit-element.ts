/** `<spillway-audit>`: audit logs, verified, and their records. */

import type { AuditSource, ListedAuditLog } from 'spillway/view'
import { Base, button, counted, errorText, make, shadowOf, upgrade } from './dom'
import { showHidden } from './rendered-line'
import { rowOf, tableOf } from './table'

const RECORDS = 100
const COLUMNS = ['time', 'type', 'tool', 'targets', 'decision', 'approver', 'outcome'] as const

/** Lists the logs of its `source`; a log that is opened shows its newest records first. */
export class SpillwayAuditElement extends Base {
  private from: AuditSource | undefined
  private readonly box = make('div', { className: 'logs' })
  private readonly status = make('p', { className: 'quiet', role: 'status' })

  constructor() {
    super()
    shadowOf(this).append(this.status, this.box)
  }

  connectedCallback(): void {
    upgrade(this, 'source')
    void this.refresh()
  }

  /** Where logs come from. */
  get source(): AuditSource | undefined {
    return this.from
  }

  set source(source: AuditSource | undefined) {
    this.from = source
    if (this.isConnected) void this.refresh()
  }

  /** Verifies the logs again. */
  async refresh(): Promise<void> {
    const { from } = this
    if (from === undefined) return
    this.status.textContent = 'Verifying …'
    try {
      const logs = await from.list()
      this.status.textContent = logs.length === 0 ? 'There is no audit log yet.' : counted(logs.length, 'log')
      this.box.replaceChildren(...logs.map((log) => this.logOf(from, log)))
    } catch (error) {
      this.status.textContent = errorText(error)
    }
  }

  private logOf(source: AuditSource, { file, report }: ListedAuditLog): HTMLElement {
    const { ok, records, firstBad, dropped } = report
    const name = file.slice(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1)
    const verdict = ok ? 'verified' : `changed at line ${firstBad?.line}: ${firstBad?.reason}`
    const words = [counted(records, 'record'), ...(dropped > 0 ? [`${dropped} could not be written`] : [])].join(', ')
    const details = make(
      'details',
      { className: 'log' },
      make(
        'summary',
        {},
        make('span', { className: ok ? 'right' : 'wrong', textContent: `${ok ? '✓' : '✗'} ${verdict}` }),
        ' ',
        make('code', {}, ...showHidden(name)),
        make('span', { className: 'quiet', textContent: ` ${words}` }),
      ),
    )
    details.addEventListener('toggle', () => {
      if (details.open && details.children.length === 1) void this.open(source, file, details)
    })
    return details
  }

  private async open(source: AuditSource, file: string, into: HTMLElement): Promise<void> {
    const { region, body } = tableOf(file, COLUMNS)
    into.append(region)
    const more = async (skip: number) => {
      try {
        const { records, next } = await source.read(file, { skip, count: RECORDS })
        body.append(...records.map((record) => rowOf(cellsOf(record))))
        if (next === undefined) return
        const earlier = button('Earlier records', () => {
          earlier.remove()
          void more(next)
        })
        into.append(earlier)
      } catch (error) {
        this.status.textContent = errorText(error)
      }
    }
    await more(0)
  }
}

function cellsOf(record: Record<string, unknown>): string[] {
  const time = typeof record.timestamp === 'number' ? new Date(record.timestamp).toLocaleString() : ''
  return COLUMNS.map((name) => (name === 'time' ? time : textOf(record[name])))
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ')
  return value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value)
}
