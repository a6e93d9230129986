/** `spillway classify`: whether an error means that the request was too long. */

import { classifyOverflow, type OverflowClass } from 'spillway'
import { jsonOrSame } from '../../util/json'
import type { Command, Parsed } from '../command'
import { inputOf } from '../input'
import { whole } from '../parse-values'
import { EXIT, green, print, printJson, red, yellow } from '../terminal'

const command: Command = {
  name: 'classify',
  summary: "Tells whether a provider's error means that the request was too long.",
  usage: '[options] [error]',
  about: `The error is a message, or JSON: the body of a response, an event of a stream, or a complete response. Without an
argument, it is read from standard input.`,
  options: {
    'estimated-tokens': { type: 'string', value: 'N', help: 'Your own estimate of the request.' },
    'context-window': { type: 'string', value: 'N', help: "Tokens of the model's window." },
  },
  positionals: [0, 1],
  takesText: true,
  exits: [
    ['0', 'the request was too long'],
    ['1', 'it is something else'],
    ['2', 'wrong usage'],
    ['3', 'the operation failed'],
  ],
  examples: [
    ['spillway classify "prompt is too long: 213462 tokens > 200000 maximum"', 'a message'],
    ['curl -s "$url" -d @request.json | spillway classify --json', 'a response'],
  ],
  run,
}

export default command

async function run({ values, positionals, json }: Parsed): Promise<number> {
  const given = positionals[0] ?? (await inputOf('-', 'an error'))
  const answer = classifyOverflow(jsonOrSame(given), {
    estimatedTokens: whole(values, 'estimated-tokens', 0),
    contextWindow: whole(values, 'context-window'),
  })
  if (json) await printJson(answer)
  else await print(`${sentence(answer)}\n`)
  return answer.overflow ? EXIT.ok : EXIT.no
}

function sentence({ kind, confidence, actualTokens, limitTokens, actualLength, limitLength, provider }: OverflowClass) {
  const color = kind === 'overflow' ? red : kind === 'other' ? green : yellow
  const unit = actualTokens !== undefined || limitTokens !== undefined ? ' tokens' : ''
  const [actual, limit] = [actualTokens ?? actualLength, limitTokens ?? limitLength]
  const numbers = [actual === undefined ? [] : `${actual}${unit}`, limit === undefined ? [] : `limit ${limit}${unit}`]
  return [color(kind), `confidence ${confidence}`, ...numbers.flat(), ...(provider ? [provider] : [])].join(', ')
}
