/** `spillway audit verify`: whether a log is as it was written. */

import { readFileSync } from 'node:fs'
import { verifyAudit } from 'spillway'
import { type Command, hint, type Parsed, UsageError } from '../command'
import { badValue, countOf, text, texts } from '../parse-values'
import { EXIT, green, print, printable, printJson, red } from '../terminal'

const command: Command = {
  name: 'audit',
  summary: 'verify <file>: checks that an audit log is as it was written.',
  usage: 'verify [options] <file>',
  about: `Earlier files of the same session are read first. Without a key, only accidents and careless changes show; records
that were cut from the end show only against a kept --head.`,
  options: {
    'key-file': {
      type: 'string',
      value: 'FILE',
      help: 'The key that the log was written with, as it is in this file.',
    },
    head: { type: 'string', multiple: true, value: 'HASH', help: 'A record that must be in the log. Can be repeated.' },
  },
  positionals: [2, 2],
  exits: [
    ['0', 'everything is as it was written'],
    ['1', 'something was changed'],
    ['2', 'wrong usage'],
    ['3', 'it could not be done'],
  ],
  examples: [
    ['spillway audit verify audit/session.jsonl', 'a log'],
    ['spillway audit verify --key-file key --head "$hash" log.jsonl', 'one with a key, to its last record'],
  ],
  run,
}

export default command

async function run({ values, positionals, json }: Parsed): Promise<number> {
  const [action, file = ''] = positionals
  if (action !== 'verify')
    throw new UsageError(`unknown action ${JSON.stringify(action)}; ${hint(action ?? '', ['verify'], 'actions are')}`)
  const keyFile = text(values, 'key-file')
  const heads = texts(values, 'head')?.map((head) => head.toLowerCase())
  const wrong = heads?.find((head) => !/^[0-9a-f]{64}$/.test(head))
  if (wrong !== undefined) throw badValue('head', wrong, 'a hash of 64 hexadecimal digits')
  const report = await verifyAudit(file, {
    ...(keyFile !== undefined && { key: readFileSync(keyFile) }),
    ...(heads !== undefined && { head: heads }),
  })
  const { ok, records, firstBad, torn, head, writers, dropped } = report
  if (json) {
    await printJson(report)
    return ok ? EXIT.ok : EXIT.no
  }
  await print(`${ok ? green('ok') : red('changed')}: ${countOf(records, 'record')}, ${countOf(writers, 'writer')}\n`)
  if (firstBad) {
    await print(`  ${firstBad.file}:${firstBad.line} (byte ${firstBad.offset}): ${printable(firstBad.reason)}\n`)
  }
  if (torn) await print(`  ${torn.file}:${torn.line}: ${torn.bytes} bytes of a record that was not finished\n`)
  if (dropped > 0) await print(`  ${countOf(dropped, 'event')} could not be written, by its own account\n`)
  if (head !== undefined) await print(`  head: ${head}\n`)
  return ok ? EXIT.ok : EXIT.no
}
