/** The manual page, generated from the help texts. */

import { type Command, exitsOf, optionsOf } from './command'

/** Returns the page `spillway(1)` in roff. */
export function manPage(commands: readonly Command[], version: string): string {
  const lines = [
    `.TH SPILLWAY 1 "" "spillway ${version}"`,
    '.SH NAME',
    'spillway \\- bounded output of commands and tools, with the whole kept in files',
    '.SH SYNOPSIS',
    '.B spillway',
    '<command> [options]',
    '.SH COMMANDS',
    ...commands.flatMap(sectionOf),
    '.SH ENVIRONMENT',
    '.TP',
    '.B SPILLWAY_STORAGE_DIR',
    'The folder of saved outputs.',
    '.TP',
    '.B SPILLWAY_STORE, SPILLWAY_SPOOL_DIR',
    'A bucket for saved outputs, s3://bucket/prefix or azblob://account/container/prefix, and the folder that keeps them until the bucket has them.',
    '.TP',
    '.B SPILLWAY_COORDINATION',
    'The server where questions wait, which spillway view shows: redis://host or postgres://host/database.',
    '.TP',
    '.B NO_COLOR, TERM',
    'Without colours and progress: NO_COLOR is set, or TERM is dumb.',
  ]
  return `${lines.join('\n')}\n`
}

function sectionOf(command: Command): string[] {
  const { name, usage, summary, about, examples } = command
  return [
    `.SS spillway ${name}`,
    `.B spillway ${name}`,
    roff(usage),
    '.PP',
    roff(summary),
    ...(about === undefined ? [] : ['.PP', roff(about)]),
    ...optionsOf(command).flatMap(([option, { short, value, help }]) => [
      '.TP',
      `.B ${roff(short === undefined ? `--${option}` : `-${short}, --${option}`)}${value === undefined ? '' : ` \\fI${value}\\fR`}`,
      roff(help),
    ]),
    '.PP',
    'Exit codes:',
    ...exitsOf(command).flatMap(([code, meaning]) => ['.TP', `.B ${roff(code)}`, roff(meaning)]),
    '.PP',
    'Examples:',
    ...examples.flatMap(([line, meaning]) => ['.PP', roff(`${meaning}:`), '.RS', '.nf', roff(line), '.fi', '.RE']),
  ]
}

/** Text that roff prints as it is: no escapes, and no line that begins with a control character. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1')
}
