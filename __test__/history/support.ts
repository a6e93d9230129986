import type { HistoryFormatName, MessageView, ViewFormat } from '../../lib/history/message-view'

/** The rooms behind the public functions: every rule about histories reads them, so they are tested by themselves. */
export const formats: typeof import('../../lib/history/formats') = require('../../dist/history/formats')

export const names: HistoryFormatName[] = formats.FORMATS.map(({ name }) => name)

export type Fields = Record<string, unknown>

export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const key of Reflect.ownKeys(value)) deepFreeze((value as Record<PropertyKey, unknown>)[key])
  }
  return value
}

/** A view as plain data, without what is usual: no text, no calls, no media, nothing known, all replaceable. */
export function plain(view: MessageView): Fields {
  return usual({
    ...view,
    calls: view.calls.map((call) =>
      defined({
        id: call.id,
        name: call.name,
        argsText: call.argsText,
        args: call.args(),
        replaceable: call.replaceable ? undefined : false,
      }),
    ),
    results: view.results.map((result) => usual({ ...result })),
  })
}

/** The same for a view as a table writes it. */
export function usual(view: object): Fields {
  const {
    media,
    mediaTokens: _,
    text,
    calls,
    results,
    replaceable,
    ...more
  } = view as {
    [key: string]: unknown
    calls?: []
    results?: []
  }
  return defined({
    ...more,
    text: Array.isArray(text) && text.length === 0 ? '' : (text ?? ''),
    media: media === 0 ? undefined : media,
    replaceable: replaceable === true ? undefined : replaceable,
    calls: calls?.length ? calls : undefined,
    results: results?.length ? results : undefined,
  })
}

function defined(value: object): Fields {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined))
}

export function formatNamed(name: HistoryFormatName): ViewFormat {
  return formats.formatNamed(name)
}

/** Objects of a class, as LangChain's messages are: what they say besides is on the prototype. */
export class Instance {
  constructor(fields: object) {
    Object.defineProperties(this, Object.getOwnPropertyDescriptors(fields))
  }

  get text(): unknown {
    return (this as Fields).content
  }

  set content(_value: unknown) {
    throw new Error('not to be assigned to')
  }
}
