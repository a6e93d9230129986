// For servers Vite leaves packages outside; with `noExternal` they go in, and only the packages with binaries stay out.

export default {
  logLevel: 'warn',
  ssr: { noExternal: true },
  build: {
    ssr: 'main.js',
    outDir: 'out/vite',
    emptyOutDir: true,
    target: 'node20',
    rolldownOptions: { external: [/^spillway-/] },
  },
}
