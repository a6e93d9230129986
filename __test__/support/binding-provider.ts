/** A provider that checks the messages in front of every signed block of reasoning, as current Claude models do. */

import { createHash } from 'node:crypto'

export type Message = Record<string, unknown>
type Part = Record<string, unknown>

export function signatureIn(part: Part): string | undefined {
  const options = part.providerOptions as { anthropic?: { signature?: string } } | undefined
  return (part.signature ?? part.thinkingSignature ?? options?.anthropic?.signature) as string | undefined
}

/** Signs what stands in front, and refuses a block that stands behind anything else. */
export class BindingProvider {
  private readonly made = new Map<string, { prefix: string; signed: string[] }>()

  /** The signature of the block at the start of the next message, or an error as the API words it. */
  answer(messages: readonly Message[], next: Message = {}): string {
    const hash = createHash('sha256')
    const signed: string[] = []
    for (const [at, { content, ...rest }] of messages.entries()) {
      hash.update(JSON.stringify(rest))
      for (const [place, part] of (Array.isArray(content) ? content : [{ text: content }]).entries()) {
        const signature = signatureIn(part)
        if (signature === undefined) hash.update(JSON.stringify(part))
        else {
          this.check(signature, hash.copy().digest('hex'), signed, `messages.${at}.content.${place}`)
          signed.push(signature)
        }
      }
    }
    const signature = `signature-${this.made.size}-${'x'.repeat(40)}`
    const { content: _, ...fields } = next
    this.made.set(signature, { prefix: hash.update(JSON.stringify(fields)).digest('hex'), signed })
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
