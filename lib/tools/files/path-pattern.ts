/** Patterns of paths, as ripgrep's `--glob` reads them: `*`, `?`, `**`, `[a-z]` and `{a,b}`. */

/** Longer patterns are refused. */
export const MAX_PATTERN = 200

const LITERAL = /[.+^$()|\\\]}]/

/**
 * Returns a function that says if a path, relative to the searched folder and with `/`, matches. A pattern without a slash is about
 * the name of the file alone.
 */
export function pathMatcher(pattern: string): (path: string) => boolean {
  const isName = !pattern.includes('/')
  const expression = new RegExp(`^${sourceOf(pattern.replace(/^\//, ''))}$`, 'u')
  return (path) => expression.test(isName ? path.slice(path.lastIndexOf('/') + 1) : path)
}

function sourceOf(pattern: string): string {
  let source = ''
  let open = 0
  for (let at = 0; at < pattern.length; at += 1) {
    const rest = pattern.slice(at)
    const [set] = /^\[!?[^\]/]+\]/.exec(rest) ?? []
    if (rest.startsWith('**/')) {
      source += '(?:[^/]*/)*'
      at += 2
    } else if (rest.startsWith('**')) {
      source += '.*'
      at += 1
    } else if (set !== undefined) {
      source += set.replace('[!', '[^').replaceAll('\\', '\\\\')
      at += set.length - 1
    } else if (rest[0] === '{' && rest.includes('}')) {
      source += '(?:'
      open += 1
    } else if (open > 0 && rest[0] === '}') {
      source += ')'
      open -= 1
    } else if (open > 0 && rest[0] === ',') source += '|'
    else source += characterOf(rest[0]!)
  }
  return source + ')'.repeat(open)
}

function characterOf(character: string): string {
  if (character === '*') return '[^/]*'
  if (character === '?') return '[^/]'
  return LITERAL.test(character) || character === '[' || character === '{' ? `\\${character}` : character
}
