/** `spillway completion`: prints the completion script for a shell. */

import { shellQuote } from '../../util/shell-quote'
import { type Command, optionsOf, type Parsed, wrongArgument } from '../command'
import { EXIT, print, printJson } from '../terminal'

const SHELLS = ['bash', 'zsh', 'fish'] as const

const command: Command = {
  name: 'completion',
  summary: 'Prints the completion script for a shell.',
  usage: '<bash|zsh|fish>',
  options: {},
  names: SHELLS,
  positionals: [1, 1],
  examples: [
    ['eval "$(spillway completion bash)"', 'in ~/.bashrc'],
    ['spillway completion zsh > ~/.zsh/completions/_spillway', 'for zsh, once: a folder in $fpath'],
    ['spillway completion fish > ~/.config/fish/completions/spillway.fish', 'for fish, once'],
  ],
  run,
}

export default command

async function run({ positionals, json }: Parsed, all: () => Promise<readonly Command[]>): Promise<number> {
  const shell = SHELLS.find((name) => name === positionals[0])
  if (shell === undefined) throw wrongArgument('shell', positionals[0] ?? '', SHELLS)
  const script = SCRIPTS[shell](await all())
  if (json) await printJson({ shell, script })
  else await print(script)
  return EXIT.ok
}

/** The values that an option allows, where its help lists them: `head, tail, both`. */
function valuesOf({ value, help }: { value?: string; help: string }): string[] {
  const [, list] = /: ((?:[\w-]+, )+[\w-]+)\.$/.exec(help) ?? []
  return value === undefined ? [] : (list?.split(', ') ?? [])
}

function flagsOf(command: Command): string[] {
  return optionsOf(command).flatMap(([name, { short }]) =>
    short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`],
  )
}

const SCRIPTS: Readonly<Record<(typeof SHELLS)[number], (commands: readonly Command[]) => string>> = {
  bash: (commands) => `# spillway completion bash
_spillway() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" words='' names='' values='' each
  # Words after -- belong to another program.
  for each in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do [ "$each" = -- ] && { COMPREPLY=($(compgen -c -f -- "$word")); return; }; done
  if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W '${commands.map(({ name }) => name).join(' ')} help' -- "$word")); return; fi
  case "\${COMP_WORDS[1]}" in
${commands.map((command) => `    ${command.name}) words='${flagsOf(command).join(' ')}'; names='${command.names?.join(' ') ?? ''}'; case "$before" in ${bashValues(command)} esac ;;`).join('\n')}
    help) names='${commands.map(({ name }) => name).join(' ')}' ;;
  esac
  if [ -n "$values" ]; then COMPREPLY=($(compgen -W "$values" -- "$word"))
  elif [[ "$word" == -* ]]; then COMPREPLY=($(compgen -W "$words" -- "$word"))
  elif [ -n "$names" ]; then COMPREPLY=($(compgen -W "$names" -- "$word"))
  else COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -o filenames -F _spillway spillway
`,
  zsh: (commands) => `#compdef spillway
_spillway() {
  local -a commands
  commands=(
${commands.map(({ name, summary }) => `    ${shellQuote(`${name}:${summary}`)}`).join('\n')}
  )
  if (( CURRENT == 2 )); then _describe command commands; return; fi
  case "$words[2]" in
${commands.map((command) => `    ${command.name}) _arguments ${zshOptions(command)} ${zshNames(command)} ;;`).join('\n')}
  esac
}
if [ "$funcstack[1]" = _spillway ]; then _spillway "$@"; else compdef _spillway spillway; fi
`,
  fish: (commands) => `# spillway completion fish
complete -c spillway -n __fish_use_subcommand -f
${commands.map(({ name, summary }) => `complete -c spillway -n __fish_use_subcommand -f -a ${name} -d ${shellQuote(summary)}`).join('\n')}
${commands.flatMap(fishOptions).join('\n')}
`,
}

function bashValues(command: Command): string {
  const rows = optionsOf(command).flatMap(([name, option]) => {
    const values = valuesOf(option)
    if (values.length > 0) return [`--${name}) values='${values.join(' ')}' ;;`]
    // The value of an option is a file, and no name.
    return option.value !== undefined && command.names !== undefined ? [`--${name}) names='' ;;`] : []
  })
  return rows.join(' ')
}

function zshNames({ names }: Command): string {
  return names === undefined ? "'*:file:_files'" : shellQuote(`*:name:(${names.join(' ')})`)
}

function zshOptions(command: Command): string {
  const rows = optionsOf(command).map(([name, option]) => {
    const { short, value, help } = option
    const values = valuesOf(option)
    const action = value === undefined ? '' : `:${value}:${values.length > 0 ? `(${values.join(' ')})` : '_files'}`
    const about = `[${help.replace(/[[\]:]/g, ' ')}]${action}`
    return short === undefined ? shellQuote(`--${name}${about}`) : `{-${short},--${name}}${shellQuote(about)}`
  })
  return rows.join(' ')
}

function fishOptions(command: Command): string[] {
  const seen = `complete -c spillway -n '__fish_seen_subcommand_from ${command.name}'`
  const { names } = command
  const words = names === undefined ? [] : [`${seen} -f -a ${shellQuote(names.join(' '))}`]
  const options = optionsOf(command).map(([name, option]) => {
    const { short, value, help } = option
    const values = valuesOf(option)
    const parts = [`${seen} -l ${name}`]
    if (short !== undefined) parts.push(`-s ${short}`)
    if (value !== undefined) parts.push(values.length > 0 ? `-x -a '${values.join(' ')}'` : '-r')
    return [...parts, `-d ${shellQuote(help)}`].join(' ')
  })
  return [...words, ...options]
}
