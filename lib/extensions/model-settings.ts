/** System prompt and model parameters of a request. */

import { type ModelParameters, namesOf, PARAMETERS, readParameters, withParameters } from '../hooks/parameters'
import { checkOptions, object, oneOf, string } from '../validation/options'
import { invalidOption, isRecord, mismatch, wrong } from '../validation/validate'

/** The parameters that a user may set. */
export type UserParameter = 'temperature' | 'topP' | 'maxTokens'

/** A parameter in the settings: the value is kept while the parameter is turned off. */
export interface ParameterSetting {
  /** With `default` the model's own default applies, and the value is ignored. @default 'default' */
  mode?: 'default' | 'custom'
  value?: number
}

/** Settings of a user. All values are kept when the mode changes, so switching back loses nothing. */
export interface ModelSettingsInput {
  /**
   * With the mode `default` neither the template nor any of `modelParams` is used. Without this field, the mode of each parameter
   * decides. @default mode 'default'
   */
  systemPrompt?: { mode?: 'default' | 'custom'; template?: string }
  modelParams?: { [K in UserParameter]?: ParameterSetting }
}

/** Options of {@link resolveModelSettings}. */
export interface ResolveModelSettingsOptions extends ModelSettingsInput {
  /** The application's own system prompt. */
  defaultSystemPrompt: string
  /**
   * The agent that asks, such as one of `loadAgents`. Its system prompt and parameters replace the defaults; settings of the user
   * override both.
   */
  agent?: { systemPrompt?: string | undefined; modelSettings?: ModelParameters | undefined } | undefined
}

/** System prompt and model parameters of a request. */
export interface ResolvedModelSettings {
  systemPrompt: string
  /** Only parameters that are turned on. Do not send others. */
  modelSettings: ModelParameters
  /** The source of each value. */
  sources: { systemPrompt: SettingSource } & { [K in keyof ModelParameters]?: SettingSource }
  /** Invalid values that are turned on; they are left out. */
  problems: string[]
}

/** Where a setting came from. */
export type SettingSource = 'default' | 'agent' | 'user'

const USER_PARAMETERS: readonly UserParameter[] = ['temperature', 'topP', 'maxTokens']

/** Fields of an agent that are read; others are ignored. */
const OF_AGENT = { systemPrompt: string, modelSettings: object } as const
const mode = oneOf('default', 'custom')

/**
 * The system prompt and the parameters of a request. A prompt of the user replaces the default and is never combined with it; a
 * blank prompt is ignored. With the mode `default` none of the user's values is used. The result depends only on the options,
 * which are not changed.
 *
 * @example
 * const { systemPrompt, modelSettings } = resolveModelSettings({
 *   defaultSystemPrompt: 'You are a coding agent.',
 *   systemPrompt: { mode: 'custom', template: 'You are terse.' },
 *   modelParams: { temperature: { mode: 'custom', value: 0.2 }, topP: { mode: 'default', value: 0.9 } },
 * })
 * // 'You are terse.', { temperature: 0.2 }
 * @throws SpillwayError `INVALID_ARGUMENT` for an option that is unknown or of a wrong kind
 */
export function resolveModelSettings(options: ResolveModelSettingsOptions): ResolvedModelSettings {
  checkOptions('options', options, {
    defaultSystemPrompt: string,
    systemPrompt: object,
    modelParams: object,
    agent: object,
  })
  const { defaultSystemPrompt, systemPrompt: prompt = {}, modelParams = {}, agent = {} } = options
  if (defaultSystemPrompt === undefined) throw wrong('options.defaultSystemPrompt', undefined, 'a string')
  checkOptions('options.systemPrompt', prompt, { mode, template: string })
  checkOptions('options.modelParams', modelParams, { temperature: object, topP: object, maxTokens: object })
  const problems: string[] = []
  const sources: ResolvedModelSettings['sources'] = { systemPrompt: 'default' }

  let systemPrompt = defaultSystemPrompt
  for (const [key, [allowed, isRight]] of Object.entries(OF_AGENT)) {
    const value = agent[key as keyof typeof OF_AGENT]
    if (value !== undefined && !isRight(value)) problems.push(invalidOption(`agent.${key}`, mismatch(value, allowed)))
  }
  if (!isBlank(agent.systemPrompt)) {
    systemPrompt = agent.systemPrompt
    sources.systemPrompt = 'agent'
  }
  const given = readParameters(isRecord(agent.modelSettings) ? agent.modelSettings : {}, 'agent.modelSettings')
  problems.push(...given.problems)
  let modelSettings: ModelParameters = withParameters({}, given.change)
  for (const key of Object.keys(modelSettings)) sources[key as UserParameter] = 'agent'

  // One switch for all settings of a user; without it, each parameter has its own.
  const isCustom = options.systemPrompt === undefined || prompt.mode === 'custom'
  if (isCustom && !isBlank(prompt.template)) {
    systemPrompt = prompt.template
    sources.systemPrompt = 'user'
  }
  for (const key of USER_PARAMETERS) {
    const setting: ParameterSetting = modelParams[key] ?? {}
    checkOptions(`options.modelParams.${key}`, setting, { mode, value: ['a value', () => true] })
    if (!isCustom || setting.mode !== 'custom') continue
    const [allowed, isRight] = PARAMETERS[key]
    if (isRight(setting.value)) {
      const change = { [key]: setting.value }
      for (const name of namesOf(key, modelSettings, change)) sources[name as UserParameter] = 'user'
      modelSettings = withParameters(modelSettings, change)
    } else {
      problems.push(invalidOption(`modelParams.${key}.value`, mismatch(setting.value, allowed)))
    }
  }
  // The text is sent to a provider, and one lone surrogate makes a request invalid.
  return { systemPrompt: systemPrompt.toWellFormed(), modelSettings, sources, problems }
}

function isBlank(value: unknown): value is undefined {
  return typeof value !== 'string' || value.trim() === ''
}
