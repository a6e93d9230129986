import { createRequire } from 'node:module'

/** The SDK's program is a package of its own for each platform. Why there is none, or `false`. */
export function programMissing(): string | false {
  const name = `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}`
  try {
    createRequire(import.meta.url).resolve(`${name}/package.json`)
    return false
  } catch {
    return `the SDK has no program for ${process.platform} ${process.arch} here`
  }
}
