/** `spillway config lint`: reports errors in a configuration, and settings that are probably mistakes. */

import { accessSync, constants, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { lintConfig, loadConfig, type SpillwayConfig } from 'spillway/config'
import { readConfig } from '../../config/config-file'
import { SpillwayError } from '../../errors'
import { type Command, type Parsed, wrongArgument } from '../command'
import { EXIT, green, print, printable, printJson, red, yellow } from '../terminal'

const command: Command = {
  name: 'config',
  summary: 'lint <file>: checks a configuration and its permission rules.',
  usage: 'lint [options] <file>',
  about:
    'Reports invalid and unknown fields, with line and column, rules that never apply, and rules whose examples fail.',
  options: {},
  positionals: [2, 2],
  exits: [
    ['0', 'nothing was found'],
    ['1', 'something was found'],
    ['2', 'wrong usage'],
    ['3', 'the operation failed'],
  ],
  examples: [['spillway config lint ~/.my-agent/config.jsonc', 'a file, with comments or without']],
  run,
}

export default command

interface Finding {
  kind: string
  path: string
  message: string
  line?: number
  column?: number
}

/** The content of a file as it is written, so that rules have the numbers that they have there; `parsed` if it cannot be parsed. */
async function contentOf(file: string, parsed: SpillwayConfig): Promise<SpillwayConfig> {
  try {
    return (await readConfig(resolve(file))).content
  } catch (error) {
    // Loading has said where it cannot be parsed.
    if (error instanceof SpillwayError && error.code === 'INVALID_CONFIG') return parsed
    throw error
  }
}

async function run({ positionals, json }: Parsed): Promise<number> {
  const [action, file = ''] = positionals
  if (action !== 'lint') throw wrongArgument('action', action ?? '', ['lint'])
  const facts = statSync(file, { throwIfNoEntry: false })
  if (facts === undefined) throw new Error(`${file}: does not exist`)
  if (!facts.isFile()) throw new Error(`${file}: is not a file`)
  accessSync(file, constants.R_OK)
  const { config, problems } = loadConfig({ userFile: file })
  // Loading reports what it left out, with its place.
  const told = new Set(problems.map(({ path }) => path))
  const found: Finding[] = [
    ...problems.map(({ severity, path, message, line, column }) => ({ kind: severity, path, message, line, column })),
    ...lintConfig(await contentOf(file, config)).filter(({ path }) => !told.has(path)),
  ]
  if (json) {
    await printJson(found)
  } else {
    for (const { kind, message, path } of found) {
      const color = kind === 'warning' || kind === 'shadowed' || kind === 'unknown' ? yellow : red
      const where = message.includes(path) ? '' : `${printable(path)}: `
      await print(`${color(kind)}: ${where}${printable(message)}\n`)
    }
    if (found.length === 0) await print(`${green('ok')}\n`)
  }
  return found.length > 0 ? EXIT.no : EXIT.ok
}
