/** The words of each result that its placeholder keeps, so that the model can name them when the result is left out. */

import { joinedText } from '../history/message-cache'
import type { MessageView } from '../history/message-view'
import { call, native } from '../native/native'
import { batchesOf } from '../native/text-batches'

const { TEXT_BEGINS, TEXT_JSON, TEXT_MODEL, TEXT_RESULT } = native

/** Indexes of the results of one history. */
export class ResultIndexes {
  private readonly handle: object

  /** `prunesArguments`: words of arguments do not stay. */
  constructor(
    isLong: boolean,
    private readonly prunesArguments: boolean,
  ) {
    this.handle = call(() => native.wordIndexOpen(isLong))
  }

  /**
   * Reads the messages of a history from `shared` on. Returns the words of each of their results, in order, and the
   * uses of results.
   */
  read(views: readonly MessageView[], shared: number): { words: readonly string[]; uses: readonly number[] } {
    const texts: string[] = []
    const flags: number[] = []
    const add = (text: string, flag: number) => {
      texts.push(text)
      flags.push(flag)
    }
    for (const { role, text, calls, results } of views) {
      add(joinedText(text), role === 'assistant' ? TEXT_BEGINS | TEXT_MODEL : TEXT_BEGINS)
      if (!this.prunesArguments) for (const { argsText } of calls) add(argsText, TEXT_JSON | TEXT_MODEL)
      for (const { text: output } of results) add(joinedText(output), TEXT_RESULT)
    }
    call(() => native.keepWords(this.handle, shared))
    const words: string[] = []
    const uses: number[] = []
    for (const { joined, lengths, from, latin1 } of batchesOf(texts)) {
      const some = Uint8Array.from(flags.slice(from, from + lengths.length))
      const found = call(() => native.indexWords(this.handle, joined, lengths, latin1, some))
      for (const word of found.words) words.push(word)
      for (const use of found.uses) uses.push(use)
    }
    return { words, uses }
  }
}
