/** Stand-in for `esbuild`: the call that the pages use. */
export async function build(options: {
  entryPoints?: string[]
  bundle?: boolean
  platform?: 'node' | 'browser'
  external?: string[]
}): Promise<{ errors: string[] }> {
  return { errors: options.bundle === true ? [] : ['not bundled'] }
}
