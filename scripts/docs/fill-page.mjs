// Puts generated text into a page, between the marks `<!-- NAME -->` and `<!-- end of NAME -->`.

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../build/run.mjs'

/** Replaces the text between the marks. The page is a path from the root of the project. */
export function fillPage(page, name, text) {
  const path = join(ROOT, page)
  const marked = new RegExp(`(<!-- ${name} -->\n).*(<!-- end of ${name} -->)`, 's')
  const before = readFileSync(path, 'utf8')
  if (!marked.test(before)) throw new Error(`${page} has no <!-- ${name} --> … <!-- end of ${name} -->`)
  writeFileSync(
    path,
    before.replace(marked, (_, start, end) => `${start}\n${text.trim()}\n\n${end}`),
  )
  formatFiles(page)
}

/** Formats files and folders, by their paths from the root of the project. */
export function formatFiles(...paths) {
  execFileSync('npx', ['biome', 'format', '--write', ...paths], { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
}
