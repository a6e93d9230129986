import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ConfigChange, LoadConfigOptions, LoadedConfig } from '../../../lib/config/config-file'
import type { Outcome } from '../outcome'

/** The part of a row that this action reads. */
interface Setup {
  config?: ConfigSetup
}

/** A configuration: the text of the file, what is inline, and changes that are made to the file side by side. */
export interface ConfigSetup {
  file?: string
  inline?: LoadConfigOptions['inline']
  changes?: ConfigChange[]
  /** Rules that are added to those of the file. */
  addRules?: unknown[]
}

interface Product {
  loadConfig(options: LoadConfigOptions): LoadedConfig
  updateConfig(file: string, change: unknown): Promise<LoadedConfig>
}

const { loadConfig, updateConfig }: Product = require('spillway/config')

/** Loads a configuration, after the changes of the row. */
export async function config(setup: Setup, outcome: Outcome): Promise<void> {
  const { file = '', inline, changes = [], addRules = [] } = setup.config as ConfigSetup
  const userFile = join(outcome.dir, 'config.jsonc')
  writeFileSync(userFile, file)
  loadConfig({ userFile })
  const added = addRules.map((rule) => ({ agents }: LoadedConfig['config']) => ({
    agents: { runtime: { permission: { rules: [...(agents?.runtime?.permission?.rules ?? []), rule] } } },
  }))
  await Promise.all([...changes, ...added].map((change) => updateConfig(userFile, change)))
  const { config: found, problems, options } = loadConfig({ userFile, inline })
  Object.assign(outcome.facts, { config: found, configProblems: problems, configMode: options.mode })
}
