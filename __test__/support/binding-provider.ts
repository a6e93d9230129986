/** A provider that checks the messages in front of every signed block of reasoning, as current Claude models do. */

import { createHash } from 'node:crypto'

export type Message = Record<string, unknown>

const SIGNATURE = /^signature-/

/** A part of a message without what is signed in it; `undefined` if nothing is left. Signatures are added to `signed`. */
export function bare(value: unknown, signed: string[] = []): unknown {
  if (typeof value !== 'object' || value === null) return value
  const before = signed.length
  const own = Object.values(value).find((inner) => typeof inner === 'string' && SIGNATURE.test(inner))
  if (own !== undefined) {
    signed.push(own)
    return undefined
  }
  if (Array.isArray(value)) {
    const rest = value.map((inner) => bare(inner, signed)).filter((inner) => inner !== undefined)
    return rest.length === 0 && value.length > 0 ? undefined : rest
  }
  const entries = Object.entries(value).map(([key, inner]) => [key, bare(inner, signed)] as const)
  const rest = entries.filter(([, inner]) => inner !== undefined)
  const isReasoning = 'type' in value && /^(reasoning|non_standard)/.test(String(value.type))
  return signed.length > before && (isReasoning || rest.length === 0) ? undefined : Object.fromEntries(rest)
}

/** Signs what stands in front, and refuses a block that stands behind anything else. */
export class BindingProvider {
  private readonly made = new Map<string, { prefix: string; signed: string[] }>()

  /** The signature of the block at the start of the next message, or an error as the API words it. */
  answer(messages: readonly Message[]): string {
    const hash = createHash('sha256')
    const signed: string[] = []
    const check = (found: readonly string[], where: string) => {
      for (const signature of found) {
        // OpenRouter repeats the reasoning of a message.
        if (signed.includes(signature)) continue
        this.check(signature, hash.copy().digest('hex'), signed, where)
        signed.push(signature)
      }
    }
    const read = (value: unknown, where: string, isChecked = false) => {
      const found: string[] = []
      const rest = bare(value, found)
      if (!isChecked) check(found, where)
      if (rest !== undefined) hash.update(JSON.stringify(rest))
    }
    for (const [at, message] of messages.entries()) {
      const where = `messages.${at}`
      const { content, ...fields } = message
      // An item of reasoning is a block itself.
      if (message.type === 'reasoning') read(message, where)
      else {
        const beside: string[] = []
        bare(fields, beside)
        check(beside, where)
        for (const [place, part] of (Array.isArray(content) ? content : [{ text: content }]).entries())
          read(part, `${where}.content.${place}`)
        read(fields, where, true)
      }
    }
    const signature = `signature-${this.made.size}-${'x'.repeat(40)}`
    this.made.set(signature, { prefix: hash.digest('hex'), signed })
    return signature
  }

  private check(signature: string, prefix: string, signed: string[], where: string): void {
    const made = this.made.get(signature)
    // Reasoning may be left out from the start on, and nowhere else.
    const isSuffix = made !== undefined && signed.every((one, at) => one === made.signed.at(at - signed.length))
    if (made?.prefix === prefix && isSuffix) return
    const words = 'Invalid `signature` in `thinking` block. The block is bound to a different conversation.'
    throw Object.assign(new Error(`400 ${where}: ${words}`), { status: 400 })
  }
}
