/** Tokens of images and PDFs: the formulas of providers, as dated facts. Nothing is fetched. */

import { signatureOf } from '../util/file-signatures'
import type { ImageSize } from './image-size'
import { mediumOf, pagesOf, pixelsOf } from './media'
import type { HistoryFormatName, Medium } from './message-view'

/** Tokens of a medium whose size is not known: one megapixel at the rate of the large providers. */
export const PER_MEDIA = 1_500

/** How a provider counts an image. */
interface ImageRule {
  tokens(size: ImageSize): number
  /** Tokens of an image with the detail `low`, where the provider has that. */
  low?: number
  /** Where the rule is from. */
  source: string
  /** The day on which the source said so. */
  day: string
}

/** Models differ within a provider, and a history does not name its model: the most expensive one counts, so that what fits really fits. */
const ANTHROPIC: ImageRule = {
  tokens: (size) => Math.min(4784, Math.ceil(area(within(size, 2576)) / 750)),
  source:
    'platform.claude.com, "Vision": width × height / 750, of at most 2,576 pixels on the long edge and 4,784 tokens',
  day: '2026-11-26',
}

const OPENAI: ImageRule = {
  tokens: (size) => Math.max(openaiTiles(size), openaiPatches(size)),
  low: 85,
  source:
    'platform.openai.com, "Images and vision": 85 and 170 for each tile of 512 pixels, or at most 1,536 patches of 32; the dearer of both',
  day: '2026-11-26',
}

const GEMINI: ImageRule = {
  tokens: ({ width, height }) => {
    const isSmall = width <= 384 && height <= 384
    return 258 * (isSmall ? 1 : Math.ceil(width / 768) * Math.ceil(height / 768))
  },
  source: 'ai.google.dev, "Understand and count tokens": 258 up to 384 pixels, else 258 for each tile of 768',
  day: '2026-11-26',
}

/** Formats that are not here are sent to many providers, and count as Anthropic's, which is the most expensive at most sizes. */
export const IMAGE_RULES: { readonly [F in HistoryFormatName]?: ImageRule } = {
  anthropic: ANTHROPIC,
  'openai-chat': OPENAI,
  'openai-responses': OPENAI,
  'openai-agents': OPENAI,
  gemini: GEMINI,
}

/** How a provider counts a PDF. */
interface PageRule {
  /** Tokens of a page. */
  page: number
  /** Where the rule is from. */
  source: string
  /** The day on which the source said so. */
  day: string
}

const ANTHROPIC_PAGES: PageRule = {
  page: 3000,
  source: 'platform.claude.com, "PDF support": 1,500 to 3,000 for the text of a page, and its image, without a number',
  day: '2026-04-26',
}

/**
 * Formats that are not here count as Anthropic's. OpenAI names no number for a page, and sends the text and an image of each page as
 * well.
 */
export const PAGE_RULES: { readonly [F in HistoryFormatName]?: PageRule } = {
  anthropic: ANTHROPIC_PAGES,
  gemini: {
    page: 258,
    source: 'ai.google.dev, "Document understanding", a copy without a date: 258 a page',
    day: '2026-11-26',
  },
}

/**
 * Returns the tokens of an image or a file in a message of a format. An image without data, or of another kind, counts as a megapixel;
 * so does a PDF whose pages cannot be counted.
 */
export function tokensOfMedium(part: unknown, format: HistoryFormatName): number {
  const rule = IMAGE_RULES[format] ?? ANTHROPIC
  if (rule.low !== undefined && detailOf(part) === 'low') return rule.low
  const medium = mediumOf(part)
  const head = medium.head(SIGNATURE)
  if (head !== undefined && signatureOf(head)?.type === PDF) return tokensOfPdf(medium, format)
  const size = pixelsOf(medium)
  return size === undefined ? PER_MEDIA : rule.tokens(size)
}

/** The detail that was asked for. */
function detailOf(part: unknown): unknown {
  const { image_url: image, detail } = Object(part) as { image_url?: { detail?: unknown }; detail?: unknown }
  return Object(image).detail ?? detail
}

const PDF = 'application/pdf'
/** Bytes that tell a PDF from other files. */
const SIGNATURE = 16

function tokensOfPdf(pdf: Medium, format: HistoryFormatName): number {
  const pages = pagesOf(pdf)
  const { page } = PAGE_RULES[format] ?? ANTHROPIC_PAGES
  return pages === 0 ? PER_MEDIA : pages * page
}

function area({ width, height }: ImageSize): number {
  return width * height
}

/** The size scaled down to at most `longest` pixels on the longer side. */
function within({ width, height }: ImageSize, longest: number): ImageSize {
  const scale = Math.min(1, longest / Math.max(width, height))
  return { width: width * scale, height: height * scale }
}

function openaiTiles(size: ImageSize): number {
  const { width, height } = within(size, 2048)
  const scale = Math.min(1, 768 / Math.min(width, height))
  return 85 + 170 * Math.ceil((width * scale) / 512) * Math.ceil((height * scale) / 512)
}

function openaiPatches({ width, height }: ImageSize): number {
  return Math.min(1536, Math.ceil(width / 32) * Math.ceil(height / 32))
}
