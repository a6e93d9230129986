/** The one table of the limits of requests: dated facts with their sources. Nothing is fetched. */

import type { HistoryFormatName } from '../history/message-view'
import { type Check, string } from '../validation/options'

/** Limits of a request. */
export interface MediaLimits {
  bytes: number
  images: number
}

/** Who a request is sent to, as far as its host knows. */
export interface Recipient {
  /** As its framework names it, such as `anthropic.messages` or `openai`. */
  provider?: string | undefined
  /** Id of the model. */
  model?: string | undefined
}

/** Validation of each field. */
export const RECIPIENT_CHECKS: { readonly [K in keyof Recipient]-?: Check } = {
  provider: string,
  model: string,
}

/** Limits that a provider documents for its requests. */
export interface ProviderLimits {
  provider: string
  limits: Partial<MediaLimits>
  /** Formats that hardly another provider's requests have. */
  formats: readonly HistoryFormatName[]
  /** Its names in the supported frameworks. */
  names: RegExp
  /** Ids of its models, as it writes them. */
  models: RegExp
  /** Where the limits are from. */
  source: string
  /** The day on which the source said so. */
  day: string
}

export const PROVIDER_LIMITS: readonly ProviderLimits[] = [
  {
    provider: 'Anthropic',
    limits: { bytes: 32e6, images: 100 },
    formats: ['anthropic'],
    names: /^anthropic(\.|$)/,
    models: /^claude-/,
    source:
      'platform.claude.com, "Vision", general limits: 32 MB, and 100 images for models with a window of 200,000 tokens, 600 for others; the lower one counts',
    day: '2026-11-26',
  },
  {
    provider: 'OpenAI',
    limits: { bytes: 50e6, images: 500 },
    formats: ['openai-responses', 'openai-agents'],
    names: /^openai(\.|$)/,
    models: /^(ft:)?(gpt-\d|chatgpt-|o\d|computer-use-)/,
    source: 'platform.openai.com, "Images and vision": 50 MB and 500 images',
    day: '2026-11-26',
  },
  {
    provider: 'Gemini',
    limits: { bytes: 20e6 },
    formats: ['gemini'],
    names: /^(google|google\.generative-ai|google-?genai|googlegenerativeai)$/,
    models: /^(models\/)?gemini-/,
    source: 'ai.google.dev, "Image understanding": 20 MB with inline data',
    day: '2026-11-26',
  },
  {
    provider: 'Claude on Amazon Bedrock',
    limits: { bytes: 20e6 },
    formats: [],
    names: /^(amazon-bedrock|aws|(aws_)?bedrock|chat_bedrock_converse|bedrock_converse)$/,
    models: /(^|[./])anthropic\.claude-/,
    source:
      'docs.aws.amazon.com, "Anthropic Claude Messages API", request and response: 20 MB; other models have other limits',
    day: '2026-11-30',
  },
]

/**
 * Returns the limits that are documented for a request: those of its recipient. A gateway or a cloud may have limits of its own for
 * the same models, so the format says something only while no provider is known.
 */
export function documentedLimits(format: HistoryFormatName | undefined, recipient: Recipient): Partial<MediaLimits> {
  const known = PROVIDER_LIMITS.find((one) => receives(one, recipient))
  if (known !== undefined || recipient.provider) return known?.limits ?? {}
  return PROVIDER_LIMITS.find(({ formats }) => formats.some((one) => one === format))?.limits ?? {}
}

/** A provider that is known must be this one, and a model that is known one of its own: other servers answer in its name, too. */
function receives({ names, models }: ProviderLimits, { provider, model }: Recipient): boolean {
  const isOwn = model !== undefined && models.test(model)
  return provider ? names.test(provider) && (model === undefined || isOwn) : isOwn
}
