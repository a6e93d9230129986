/** Everything about the configuration file. */

export {
  type ConfigChange,
  type ConfigFinding,
  type ConfigOptions,
  type ConfigProblem,
  type FleetConfig,
  type LoadConfigOptions,
  type LoadedConfig,
  lintConfig,
  loadConfig,
  type SpillwayConfig,
  updateConfig,
} from './config-file'
export { parseSize } from './parse-size'
