/** The page of `spillway view`: the list of saved outputs, the selected output, and audit logs. */

import type { ListedOutput } from 'spillway/view'
import { connect, type ViewConnection } from './connect'
import { button, counted, errorText, formatSize, make } from './dom'
import { showHidden } from './rendered-line'

const TOKEN = 'spillway-token'
const byId = <Kind extends HTMLElement>(id: string) => document.getElementById(id) as Kind
const list = byId('list')
const viewer = document.querySelector('spillway-output')!
const audit = document.querySelector('spillway-audit')!
const status = byId('status')

function say(text: string, className = ''): void {
  Object.assign(status, { textContent: text, className })
}

/** Exchanges the one-time token of the address; after a reload, the token of the tab is there. */
async function open(): Promise<{ connection: ViewConnection; path: string | null }> {
  const given = new URLSearchParams(location.hash.slice(1))
  const login = given.get('login') ?? undefined
  history.replaceState(null, '', location.pathname)
  const token = login === undefined ? (sessionStorage.getItem(TOKEN) ?? undefined) : undefined
  const connection = await connect({ token, login })
  sessionStorage.setItem(TOKEN, connection.token)
  return { connection, path: given.get('path') }
}

function ageOf(milliseconds: number): string {
  const steps: [number, string][] = [
    [86_400_000, 'day'],
    [3_600_000, 'hour'],
    [60_000, 'minute'],
  ]
  const [length, noun] = steps.find(([step]) => milliseconds >= step) ?? [1000, 'second']
  return `${counted(Math.max(0, Math.floor(milliseconds / length)), noun)} ago`
}

function rowOf(output: ListedOutput, choose: (path: string) => void): HTMLElement {
  const { path, command, toolName, exitCode, bytes, savedAt, isRunning } = output
  const code = isRunning ? 'running' : exitCode === undefined ? '' : exitCode === 0 ? '✓ 0' : `✗ ${exitCode}`
  const facts = [code, formatSize(bytes), ageOf(Date.now() - savedAt)].filter((fact) => fact !== '').join(' · ')
  const row = button('', () => choose(path), { className: exitCode ? 'failed' : '', 'data-path': path })
  row.append(make('code', {}, ...showHidden(command ?? toolName)), make('span', { textContent: facts }))
  return make('li', {}, row)
}

function choose(path: string): void {
  viewer.path = path
  for (const row of list.querySelectorAll('button')) row.toggleAttribute('aria-current', row.dataset.path === path)
}

async function refresh({ outputs }: ViewConnection): Promise<void> {
  const [listed, usage] = await Promise.all([outputs.list?.() ?? [], outputs.usage?.()])
  const isListed = (paths: (string | undefined)[]) => paths.includes(viewer.path)
  const wasListed = isListed([...list.querySelectorAll('button')].map(({ dataset }) => dataset.path))
  // It was removed; one that was opened by its path stays.
  if (wasListed && !isListed(listed.map((output) => output.path))) viewer.path = ''
  list.replaceChildren(...listed.map((output) => rowOf(output, choose)))
  byId('empty').hidden = listed.length > 0
  viewer.hidden = listed.length === 0 && viewer.path === ''
  byId('usage').textContent = usage ? `${counted(usage.files, 'output')}, ${formatSize(usage.bytes)}` : ''
  if (viewer.path === '' && listed[0]) choose(listed[0].path)
  else choose(viewer.path)
}

async function start(): Promise<void> {
  const { connection, path } = await open()
  const { outputs, approvals, audit: logs } = connection
  document.querySelector('spillway-approval')!.source = approvals
  viewer.source = outputs
  if (path !== null) viewer.path = path
  audit.source = logs
  byId('audit').hidden = logs === undefined
  /** Runs what a button does, and says what came of it. */
  const act = (work: () => Promise<unknown>) => async () => {
    try {
      const done = await work()
      await refresh(connection)
      say(typeof done === 'string' ? done : '')
    } catch (error) {
      say(errorText(error), 'problem')
    }
  }
  byId('refresh').onclick = act(async () => logs && audit.refresh())
  byId('sweep').onclick = act(async () => {
    if (!confirm('Remove the outputs that are too old or too many?') || outputs.sweep === undefined) return
    const { removedFiles, removedBytes, failedFiles } = await outputs.sweep()
    const problem = failedFiles > 0 ? `; ${failedFiles} could not be removed` : ''
    return `Removed ${counted(removedFiles, 'output')}, ${formatSize(removedBytes)}${problem}`
  })
  byId('remove').onclick = act(async () => {
    if (!confirm('Remove the output that is shown?')) return
    await outputs.remove?.(viewer.path)
    viewer.path = ''
  })
  await refresh(connection)
}

start().catch((error) => {
  say(`${errorText(error)} Run spillway view again for a new address.`, 'problem')
})
