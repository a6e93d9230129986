/** Application of hook answers. Each function returns the changed value, or throws a sentence about an invalid answer. */

import type { CompactionEdit } from '../compaction/hooks'
import { editText, type TextEdit } from '../tools/tool-result'
import { argumentsText, parsedJson } from '../util/json'
import { invalidOption, isRecord, listed, mismatch, unknownName } from '../validation/validate'
import type { PromptEdit, ToolInputEdit } from './types'

const MODES = ['append', 'prepend', 'replace']

/** A prompt with a text added to it, or in its place. */
export function editedPrompt(prompt: string, answer: unknown): string {
  const edit = typeof answer === 'string' ? { text: answer } : answer
  known(edit, ['text', 'mode'], 'a text, or { text, mode }')
  const { text, mode } = edit as unknown as PromptEdit
  if (typeof text !== 'string') throw new TypeError(invalidOption('text', mismatch(text, 'a string')))
  if (mode !== undefined && !MODES.includes(mode))
    throw new TypeError(invalidOption('mode', mismatch(mode, listed(MODES))))
  // The text is sent to a provider, and one lone surrogate makes a request invalid.
  const added = text.trim().toWellFormed()
  if (added === '') return prompt
  if (mode === 'replace' || prompt === '') return added
  return mode === 'prepend' ? `${added}\n\n${prompt}` : `${prompt}\n\n${added}`
}

/** Arguments with what a hook merges in. */
export function editedInput(args: unknown, answer: unknown): unknown {
  known(answer, ['mergeInput', 'overrideInput', 'input'], '{ mergeInput, overrideInput, input }')
  const { mergeInput, overrideInput } = answer as ToolInputEdit
  for (const [key, value] of Object.entries({ mergeInput, overrideInput })) {
    if (value !== undefined && !isRecord(value)) {
      throw new TypeError(invalidOption(key, mismatch(value, 'an object')))
    }
  }
  const base = answer.input === undefined ? args : answer.input
  const merged = mergeInput === undefined ? base : joined(base, (given) => ({ ...mergeInput, ...given }))
  return overrideInput === undefined ? merged : joined(merged, (given) => ({ ...given, ...overrideInput }))
}

/** Arguments that are JSON text stay text; a value that is not an object cannot be merged into, which is reported. */
function joined(args: unknown, join: (given: object) => object): unknown {
  if (args === undefined) return join({})
  const value = typeof args === 'string' ? parsedJson(argumentsText(args)) : args
  if (!isRecord(value))
    throw new TypeError('mergeInput, overrideInput: the arguments are not an object; return { input } instead')
  return typeof args === 'string' ? JSON.stringify(join(value)) : join(value)
}

/** A result with what a hook changes in its text. */
export function editedResult(result: unknown, answer: unknown): unknown {
  known(answer, ['output', 'prepend', 'append'], '{ output, prepend, append }')
  const { prepend, append } = answer
  texts({ prepend, append })
  const edited = editText(result, answer as TextEdit)
  // A tool that answers nothing has nothing to say.
  const isNothing = result === undefined || result === null
  if (edited === result && !isNothing && (prepend || append)) {
    throw new TypeError('prepend, append: the result has no text; return { output } instead')
  }
  return edited
}

/** Returns the summariser's prompt with the changes of all hooks so far. */
export function editedSummary(before: CompactionEdit, instructions: string, answer: unknown): CompactionEdit {
  known(answer, ['instructions', 'context', 'prompt'], '{ instructions, context, prompt }')
  const edit = answer as CompactionEdit
  texts(edit)
  const base = edit.instructions ?? before.instructions ?? instructions
  const whole = edit.context === undefined ? base : editedPrompt(base, edit.context)
  return {
    ...before,
    ...(whole !== instructions && { instructions: whole.toWellFormed() }),
    ...(edit.prompt !== undefined && { prompt: edit.prompt.toWellFormed() }),
  }
}

function texts(fields: object): void {
  for (const [key, value] of Object.entries(fields)) {
    if (value !== undefined && typeof value !== 'string') {
      throw new TypeError(invalidOption(key, mismatch(value, 'a string')))
    }
  }
}

/** A misspelt key would be a change that never happens. */
function known(answer: unknown, keys: readonly string[], allowed: string): asserts answer is Record<string, unknown> {
  if (!isRecord(answer)) throw new TypeError(`invalid answer: ${mismatch(answer, `${allowed} or nothing`)}`)
  const other = Object.keys(answer).find((key) => !keys.includes(key))
  if (other !== undefined) throw new TypeError(unknownName(other, other, keys))
}
