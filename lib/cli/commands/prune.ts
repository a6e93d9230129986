/** `spillway prune`: prints a conversation without old results of tools. */

import { readFileSync, writeFileSync } from 'node:fs'
import { HistoryPruner, type HistoryPrunerOptions, type PruneReport, ToolResultLedger } from 'spillway'
import { definedOf } from '../../util/defined'
import { countText } from '../../util/format'
import { LANGUAGES } from '../../util/languages'
import { stringifyLossless } from '../../util/lossless-json'
import { messageOf } from '../../util/message-of'
import type { Command, Parsed } from '../command'
import { readConversation } from '../message-file'
import { openOutputs } from '../output-storage'
import { choice, choices, text, texts, whole } from '../parse-values'
import { STORE_OR_BUCKET } from '../store-options'
import { EXIT, note, print, printable, printJson } from '../terminal'

const POLICIES = ['results', 'outdated', 'superseded', 'budget', 'pressure', 'arguments'] as const

const command: Command = {
  name: 'prune',
  summary: 'Prints a conversation without old tool results.',
  usage: '[options] <conversation>',
  about: `The conversation is a file (or -, standard input) of messages: a JSON array, an object with messages, input or contents,
one message per line, or a session file of JsonlSession. It is printed in the same form; the file is not changed. The changes are reported on standard error.
If results of the conversation were folded, pass the ledger with --ledger: without it, pointers to results that are left out stay.`,
  options: {
    'keep-recent': { type: 'string', value: 'N', help: 'Number of newest results to keep. Default: 5.' },
    policy: {
      type: 'string',
      multiple: true,
      value: 'NAME',
      help: `Results to prune: ${POLICIES.join(', ')}. Default: results. Can be repeated.`,
    },
    schedule: { type: 'string', value: 'WHEN', help: 'always (default), cache, cold.' },
    profile: { type: 'string', value: 'NAME', help: 'Use the settings of a known agent: opencode, openclaw, snow.' },
    'keep-errors': { type: 'boolean', help: 'Keep results of failed calls.' },
    protect: { type: 'string', multiple: true, value: 'TOOL', help: 'Keep results of this tool. Can be repeated.' },
    'context-window': { type: 'string', value: 'N', help: "Tokens of the model's window, for the policy pressure." },
    language: { type: 'string', value: 'LANG', help: 'The language of the placeholders: en, zh-CN.' },
    ledger: {
      type: 'string',
      value: 'FILE',
      help: 'The JSON of the ToolResultLedger of the conversation: folded lines come back if their target is left out.',
    },
    ...STORE_OR_BUCKET,
    output: { type: 'string', short: 'o', value: 'FILE', help: 'Write the conversation to this file.' },
  },
  positionals: [1, 1],
  examples: [
    ['spillway prune session.jsonl > smaller.jsonl', 'everything but the newest five results'],
    [
      'spillway prune --json session.json | jq .report',
      'the results that would be pruned, and the tokens that this would free',
    ],
  ],
  run,
}

export default command

async function run({ values, positionals, json }: Parsed): Promise<number> {
  const [path = ''] = positionals
  const conversation = await readConversation(path)
  // Placeholders name the saved outputs of this store, which an earlier process saved.
  const storage = await openOutputs(values)
  const ledger = ledgerOf(values)
  const { messages, report } = new HistoryPruner({ ...optionsOf(values), storage, ...(ledger && { ledger }) }).prune(
    conversation.messages,
  )
  if (report.reason === 'unreadable') throw new Error(`${path}: the messages are in no known format`)
  const output = text(values, 'output')
  const written = conversation.write(messages)
  if (output !== undefined) writeFileSync(output, written)
  if (json && output === undefined) {
    await print(`${stringifyLossless({ messages: conversation.exactly(messages), report }, 2)}\n`)
  } else if (json) await printJson({ report })
  else {
    if (output === undefined) await print(written)
    note(sentence(report))
  }
  return EXIT.ok
}

function optionsOf(values: Parsed['values']): HistoryPrunerOptions {
  const policies = choices(values, 'policy', POLICIES)
  const protectedTools = texts(values, 'protect')
  const given: HistoryPrunerOptions = {
    // The file is pruned once, so there is no cache to lose.
    schedule: choice(values, 'schedule', ['always', 'cache', 'cold']) ?? 'always',
    keepRecent: whole(values, 'keep-recent', 0),
    policies,
    protectedTools,
    profile: choice(values, 'profile', ['opencode', 'openclaw', 'snow']),
    keepErrors: values['keep-errors'] === true ? true : undefined,
    contextWindow: whole(values, 'context-window'),
    language: choice(values, 'language', LANGUAGES),
    onError: ({ message }) => note(`spillway: ${printable(message)}`),
  }
  return definedOf(given)
}

function ledgerOf(values: Parsed['values']): ToolResultLedger | undefined {
  const path = text(values, 'ledger')
  if (path === undefined) return undefined
  try {
    return ToolResultLedger.fromJSON(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new Error(`--ledger ${path}: ${messageOf(error)}`)
  }
}

function sentence({ reason, pruned, tokensBefore, tokensAfter, format, bound }: PruneReport): string {
  const tokens = `${tokensBefore} -> ${tokensAfter} tokens`
  const why =
    bound === undefined ? reason : `${reason}; signed reasoning binds the first ${countText(bound, 'message')}`
  return `${countText(pruned.length, 'item')} left out, ${tokens} (${format ?? 'unknown format'}; ${why})`
}
