/** A folder of modules that import the built package, and what TypeScript says of them in its strictest mode. */

import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import ts from 'typescript'

export const ROOT = join(__dirname, '..', '..')

/** Makes a folder in which `spillway` and the types of Node are installed. */
export function strictProject(name: string): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), `spillway-${name}-`)))
  mkdirSync(join(dir, 'node_modules', '@types'), { recursive: true })
  symlinkSync(ROOT, join(dir, 'node_modules', 'spillway'), 'dir')
  for (const own of ['@types/node', 'undici-types'])
    symlinkSync(join(ROOT, 'node_modules', own), join(dir, 'node_modules', own), 'dir')
  writeFileSync(join(dir, 'package.json'), '{ "type": "module" }')
  return dir
}

/** A place that TypeScript finds fault with. */
export interface Problem {
  /** The name of the file. */
  file: string
  /** From 1. */
  line: number
  code: number
  message: string
  /** The code that it is about. */
  about: string
}

/** Compiles files of a project. */
export function strictProblems(dir: string, files: readonly string[], options: ts.CompilerOptions = {}): Problem[] {
  const program = ts.createProgram(
    files.map((file) => join(dir, file)),
    {
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      skipLibCheck: true,
      target: ts.ScriptTarget.ES2022,
      lib: ['lib.es2024.d.ts', 'lib.esnext.disposable.d.ts', 'lib.dom.d.ts'],
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      types: ['node'],
      typeRoots: [join(dir, 'node_modules', '@types')],
      ...options,
    },
  )
  return ts.getPreEmitDiagnostics(program).map(({ file, start = 0, length = 0, code, messageText }) => ({
    file: basename(file?.fileName ?? ''),
    line: (file?.getLineAndCharacterOfPosition(start).line ?? -1) + 1,
    code,
    message: ts.flattenDiagnosticMessageText(messageText, ' '),
    about: file?.text.slice(start, start + length) ?? '',
  }))
}
