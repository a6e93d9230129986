/** `spillway usage`: prints the size of the store. */

import { countText, sizeText } from '../../util/format'
import type { Command, Parsed } from '../command'
import { openOutputs } from '../output-storage'
import { STORE_OR_BUCKET } from '../store-options'
import { EXIT, print, printJson } from '../terminal'

const command: Command = {
  name: 'usage',
  summary: 'Prints the size of the store, folder by folder.',
  usage: '[options]',
  options: { ...STORE_OR_BUCKET },
  positionals: [0, 0],
  examples: [
    ['spillway usage', 'for people'],
    ['spillway usage --json | jq .bytes', 'for programs'],
  ],
  run,
}

export default command

async function run({ values, json }: Parsed): Promise<number> {
  const usage = await (await openOutputs(values)).usage()
  if (json) {
    await printJson(usage)
    return EXIT.ok
  }
  const { files, bytes, sessions, dirs } = usage
  await print(`${countText(files, 'output')}, ${sizeText(bytes)}, ${countText(sessions, 'session')}\n`)
  for (const { dir, files: own, bytes: size, freeBytes } of dirs) {
    const free = freeBytes === undefined ? '' : `, ${sizeText(freeBytes)} free`
    await print(`  ${dir}: ${countText(own, 'output')}, ${sizeText(size)}${free}\n`)
  }
  return EXIT.ok
}
