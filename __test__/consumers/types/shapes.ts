// The public types are those of the design document: every documented field has exactly its documented type, and every
// further one is optional, so that code written against the document compiles. The exceptions are `direction`, which
// also takes `'both'`, and the ids of a context, which may be `undefined` under `exactOptionalPropertyTypes`, too.

import type * as Spillway from 'spillway'
import type * as Truncation from 'spillway/truncation'
import type * as Documented from './documented.js'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
/** Intersections and `Pick` written out, so that types compare by their fields. */
type Flat<T> = { [K in keyof T]: T[K] }
type Grows<Ours, Document, Except extends PropertyKey = never> =
  Equal<Flat<Pick<Ours, Exclude<keyof Document, Except> & keyof Ours>>, Flat<Omit<Document, Except>>> extends true
    ? Exclude<keyof Document, keyof Ours> extends never
      ? Record<never, never> extends Omit<Ours, keyof Document>
        ? true
        : 'a further field is not optional'
      : 'a documented field is missing'
    : 'a documented field has another type'
type Assignable<From, To> = From extends To ? true : false

/** Compiles only if the type is `true`. */
const holds = <_T extends true>(): void => {}

type Untouched = Extract<Spillway.TruncationResult, { truncated: false }>
type Truncated = Extract<Spillway.TruncationResult, { truncated: true }>
type DocumentedUntouched = Extract<Documented.TruncationResult, { truncated: false }>
type DocumentedTruncated = Extract<Documented.TruncationResult, { truncated: true }>

holds<Grows<Untouched, DocumentedUntouched>>()
holds<Grows<Truncated, DocumentedTruncated>>()
holds<Equal<Spillway.TruncationResult, Untouched | Truncated>>()
holds<Equal<Spillway.TruncationResult['truncated'], boolean>>()
holds<Equal<Truncated['outputPath'], string>>()
holds<Equal<Extract<keyof Untouched, 'outputPath'>, never>>()

holds<Equal<Spillway.TruncationDirection, Documented.TruncationDirection | 'both'>>()
holds<Grows<Spillway.TruncationConfig, Documented.TruncationConfig, 'direction'>>()
holds<Equal<Spillway.TruncationConfig['direction'], Spillway.TruncationDirection>>()
holds<Grows<Spillway.TruncationOptions, Documented.TruncationOptions, 'direction'>>()
holds<Equal<Spillway.TruncationOptions['direction'], Spillway.TruncationDirection | undefined>>()
holds<Grows<Spillway.TruncationContext, Documented.TruncationContext, 'sessionId' | 'messageId' | 'options'>>()
holds<Equal<Spillway.TruncationContext['sessionId' | 'messageId'], string | undefined>>()
holds<Equal<Spillway.TruncationContext['options'], Spillway.TruncationOptions | undefined>>()

holds<Equal<Truncation.TruncationEventType, Documented.TruncationEventType>>()
holds<Grows<Spillway.TruncationEvent, Documented.TruncationEvent>>()
holds<Equal<Truncation.TruncationEventCallback, (event: Spillway.TruncationEvent) => void>>()

holds<Equal<keyof Spillway.TruncationStrategy, keyof Documented.TruncationStrategy>>()
holds<Equal<ReturnType<Spillway.TruncationStrategy['needsTruncation']>, boolean>>()
holds<
  Equal<
    Flat<ReturnType<Spillway.TruncationStrategy['truncate']>>,
    Flat<ReturnType<Documented.TruncationStrategy['truncate']>>
  >
>()
holds<
  Equal<
    keyof Omit<Spillway.ITruncationStorage, 'owns' | 'saveBytes' | 'saveStream' | 'saveLive' | 'liveAfterMs'>,
    keyof Documented.ITruncationStorage
  >
>()
holds<
  Equal<Spillway.ITruncationStorage['save'], (content: string, context: Spillway.TruncationContext) => Promise<string>>
>()
holds<Equal<Spillway.ITruncationStorage['read'], Documented.ITruncationStorage['read']>>()
holds<Equal<Spillway.ITruncationStorage['cleanup'], Documented.ITruncationStorage['cleanup']>>()
holds<Equal<Spillway.ITruncationStorage['getStorageDir'], Documented.ITruncationStorage['getStorageDir']>>()

// Arguments may have the types of the document, and results are assignable to them.
holds<Assignable<Documented.TruncationConfig, Spillway.TruncationConfig>>()
holds<Assignable<Documented.TruncationOptions, Spillway.TruncationOptions>>()
holds<Assignable<Documented.TruncationContext, Spillway.TruncationContext>>()
holds<Assignable<Documented.TruncationServiceConfig, Spillway.TruncationServiceConfig>>()
holds<Assignable<Documented.ITruncationStorage, Spillway.ITruncationStorage>>()
holds<Assignable<Documented.TruncationStrategy, Spillway.TruncationStrategy>>()
holds<Assignable<Documented.TruncationEventCallback, Truncation.TruncationEventCallback>>()
holds<Assignable<Spillway.TruncationResult, Documented.TruncationResult>>()
holds<Assignable<Spillway.TruncationEvent, Documented.TruncationEvent>>()
holds<Assignable<Spillway.TruncationStorage, Documented.ITruncationStorage>>()
holds<Assignable<Truncation.DefaultTruncationStrategy, Documented.TruncationStrategy>>()

// The content that comes back: text for text and bytes, the host's own parts for parts.
type Part = { type: 'text'; text: string } | { type: 'image'; data: string }
holds<Equal<Spillway.ContentOf<string>, string>>()
holds<Equal<Spillway.ContentOf<Uint8Array>, string>>()
holds<Equal<Spillway.ContentOf<Part[]>, Part[]>>()
holds<Equal<Spillway.ContentOf<readonly Part[]>, Part[]>>()

holds<Equal<Spillway.SpillwayError['name'], 'SpillwayError'>>()
holds<Equal<Spillway.SpillwayError['code'], Spillway.SpillwayErrorCode>>()
holds<Equal<Spillway.SpillwayError['field'], string | undefined>>()
holds<Assignable<Spillway.SpillwayError, Error>>()
