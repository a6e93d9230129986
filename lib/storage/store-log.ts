/** A log beside the outputs of a store: one line of JSON for an output, by its path. */

import { existsSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { appendJsonLine, readJsonLines } from '../util/json-lines'
import { makeFolder } from '../util/make-folder'
import { warn } from '../util/warn'

/** Above this size, lines of removed outputs are dropped. */
const MAX_BYTES = 4 * 2 ** 20

/** Reads and writes the lines. A log that cannot be written loses no output: it is only reported. */
export class StoreLog<T extends { path: string }> {
  /** The lines of each log so far: it only grows, or is another file. */
  private readonly known = new Map<string, { file: string; bytes: number; lines: T[] }>()

  /**
   * @param isWhole whether a line that names a path has everything else
   * @param report is called for a log that cannot be written
   */
  constructor(
    private readonly name: string,
    private readonly isWhole: (read: Partial<T>) => boolean,
    private readonly report: (file: string, error: unknown) => void = warn,
  ) {}

  add(dir: string, line: T): void {
    const file = join(dir, this.name)
    this.attempt(file, () => {
      // Outputs in a bucket may be the first that this machine keeps a log of.
      makeFolder(dir)
      if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > MAX_BYTES) this.removeOld(file)
      appendJsonLine(file, line)
    })
  }

  /** True if a directory has the log. */
  isIn(dir: string): boolean {
    return dir !== '' && existsSync(join(dir, this.name))
  }

  /** Drops the lines of removed outputs, from each directory of a store. */
  forgetRemoved(dirs: readonly string[]): void {
    for (const dir of dirs) {
      const file = join(dir, this.name)
      this.attempt(file, () => {
        if (statSync(file, { throwIfNoEntry: false }) !== undefined) this.removeOld(file)
      })
    }
  }

  /** Returns the lines by the path of their output; a line that cannot be read is left out. */
  read(dirs: readonly string[]): Map<string, T> {
    return new Map(this.lines(dirs).map((line) => [line.path, line]))
  }

  /** Returns the lines in their order; of an output there may be several. */
  lines(dirs: readonly string[]): readonly T[] {
    const [only, ...others] = dirs
    const first = only === undefined ? [] : this.readLines(join(only, this.name))
    return others.length === 0 ? first : [...first, ...others.flatMap((dir) => this.readLines(join(dir, this.name)))]
  }

  private attempt(file: string, work: () => void): void {
    try {
      work()
    } catch (error) {
      this.report(file, error)
    }
  }

  private removeOld(file: string): void {
    const kept = this.readLines(file).filter(({ path }) => statSync(path, { throwIfNoEntry: false }) !== undefined)
    const lines = kept.map((each) => `${JSON.stringify(each)}\n`)
    // The oldest go even if their outputs are there: a log that is full must not be written again for each line.
    let bytes = Buffer.byteLength(lines.join(''))
    while (bytes > MAX_BYTES / 2) bytes -= Buffer.byteLength(lines.shift() ?? '')
    const temporary = `${file}.${process.pid}`
    writeFileSync(temporary, lines.join(''), { mode: 0o600 })
    renameSync(temporary, file)
  }

  private readLines(file: string): T[] {
    const stats = statSync(file, { throwIfNoEntry: false })
    if (stats === undefined) return []
    const id = `${stats.dev} ${stats.ino} ${stats.birthtimeMs}`
    const before = this.known.get(file)
    const from = before?.file === id && before.bytes <= stats.size ? before : { bytes: 0, lines: [] as T[] }
    const { bytes, records } = readJsonLines<T>(
      file,
      (read) => typeof read.path === 'string' && this.isWhole(read),
      from.bytes,
    )
    const lines = from.lines.concat(records)
    this.known.set(file, { file: id, bytes, lines })
    return lines
  }
}
