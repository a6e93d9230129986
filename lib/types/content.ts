/** The content of a tool result: text, bytes, or the parts of a message. */

/** A part of a tool result that holds text. */
export interface TextContentPart {
  type: 'text'
  text: string
}

/** A part of a tool result that is kept in its place and never truncated: images, files, resources. */
export interface OtherContentPart {
  type: string
  [key: string]: unknown
}

export type ContentPart = TextContentPart | OtherContentPart

/** Content that `TruncationService.output` accepts. */
export type TruncationContent = string | Uint8Array | readonly ContentPart[]

/** The type of the content that comes back: text for text and bytes, parts for parts. */
export type ContentOf<C> = C extends readonly ContentPart[] ? C[number][] : string
