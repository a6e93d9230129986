/** Reports a measurement: a row that knows its target, a Markdown table, the environment it was made in. */
import { statfsSync } from 'node:fs'
import os from 'node:os'
import { median, quantile } from './measure.mjs'

/**
 * A row that compares two sides. Its target is a ratio, unless `unit` says that the value itself has one.
 *
 * @param {{ work: string, ours: number[], yardstick?: number[], yardstickName?: string, target?: number,
 *   unit?: 'ms' | 'bytes', note?: string, doubtful?: boolean }} measured samples round by round, in milliseconds or
 *   bytes; `doubtful` if a missed target may be the machine's doing
 */
export function makeRow({ work, ours, yardstick, yardstickName = 'reference', target, unit, note, doubtful }) {
  const row = { work, ours: summary(ours), unit: unit ?? 'ms', note }
  if (yardstick) {
    row.yardstick = { name: yardstickName, ...summary(yardstick) }
    // The ratio of each round, not of the medians: a machine that is slow for a while is slow for both sides of a round.
    const pairs = ours.map((value, round) => value / yardstick[round])
    row.ratio = median(pairs)
    row.ratioSpread = [quantile(pairs, 0.25), quantile(pairs, 0.75)]
  }
  if (target !== undefined) {
    row.target = { max: target, of: unit ? 'value' : 'ratio' }
    row.met = (unit ? row.ours.median : row.ratio) <= target
    if (!row.met && doubtful) row.doubtful = true
  }
  return row
}

/** A row that could not be measured: the table says so instead of leaving it out. */
export function failedRow(work, error) {
  return { work, failed: error instanceof Error ? error.message : String(error) }
}

function summary(samples) {
  return { median: median(samples), min: Math.min(...samples), max: Math.max(...samples), samples }
}

export function markdown(rows) {
  const lines = ['| work | ours | yardstick | ratio | target | met? |', '| --- | ---: | ---: | ---: | ---: | :---: |']
  for (const row of rows) lines.push(`| ${row.failed ? failedCells(row) : cells(row)} |`)
  return lines.join('\n')
}

function cells(row) {
  const ours = row.note ? `${amount(row.ours.median, row.unit)} (${row.note})` : amount(row.ours.median, row.unit)
  const yardstick = row.yardstick ? `${amount(row.yardstick.median, row.unit)} ${row.yardstick.name}` : '–'
  const ratio = row.yardstick ? `${ratioText(row.ratio)} (${row.ratioSpread.map(ratioText).join('–')})` : '–'
  return [row.work, ours, yardstick, ratio, targetText(row), verdict(row)].join(' | ')
}

function verdict(row) {
  if (!row.target) return '–'
  if (row.met) return 'yes'
  return row.doubtful ? 'unclear' : '**no**'
}

function failedCells(row) {
  return [row.work, `failed: ${row.failed.replaceAll('|', '\\|').split('\n')[0]}`, '–', '–', '–', '**no**'].join(' | ')
}

export function targetText(row) {
  if (!row.target) return '–'
  return row.target.of === 'ratio'
    ? `≤ ${Number(row.target.max.toFixed(2))} ×`
    : `≤ ${amount(row.target.max, row.unit)}`
}

export function ratioText(ratio) {
  if (ratio >= 10) return ratio.toFixed(0)
  if (ratio >= 0.1) return ratio.toFixed(2)
  return ratio >= 0.01 ? ratio.toFixed(3) : ratio.toPrecision(2)
}

/** Milliseconds or bytes, with the unit that a person would use. */
export function amount(value, unit) {
  if (unit === 'bytes') return `${digits(value / 2 ** 20)} MB`
  if (value < 0.001) return `${digits(value * 1e6)} ns`
  if (value < 1) return `${digits(value * 1e3)} µs`
  return value < 1000 ? `${digits(value)} ms` : `${digits(value / 1000)} s`
}

function digits(value) {
  return String(value >= 100 ? Math.round(value) : Number(value.toPrecision(3)))
}

const FILE_SYSTEMS = {
  61267: 'ext4',
  1481003842: 'xfs',
  2435016766: 'btrfs',
  16914836: 'tmpfs',
  2035054128: 'overlayfs',
  801189825: 'zfs',
}

export function describeEnvironment(folder, version) {
  const cpus = os.cpus()
  const type = statfsSync(folder).type
  return {
    spillway: version,
    node: process.version,
    v8: process.versions.v8,
    uv: process.versions.uv,
    napi: process.versions.napi,
    cpu: cpus[0]?.model.trim() ?? 'unknown',
    cores: cpus.length,
    memoryGiB: Math.round(os.totalmem() / 2 ** 30),
    os: `${os.type()} ${os.release()} ${os.arch()}`,
    fileSystem: FILE_SYSTEMS[type] ?? `0x${type.toString(16)}`,
    loadAverage: Number(os.loadavg()[0].toFixed(2)),
  }
}
