/** The truncation middleware of the design document, in plain JavaScript. */
export function createReferenceMiddleware(config) {
  const { service, skipTools = [], shouldTruncate } = config

  return async (toolName, result, context) => {
    if (!result.output) return result
    if (result.metadata && 'truncated' in result.metadata && result.metadata.truncated !== undefined) return result
    if (skipTools.includes(toolName)) return result

    let effective = context
    if (shouldTruncate) {
      const decision = shouldTruncate(toolName, result)
      if (decision === false) return result
      if (typeof decision === 'object') effective = { ...context, options: decision }
    }

    const truncated = await service.output(result.output, effective)
    return {
      ...result,
      output: truncated.content,
      metadata: {
        ...result.metadata,
        truncated: truncated.truncated,
        ...(truncated.truncated && {
          truncationPath: truncated.outputPath,
          truncationRemovedLines: truncated.removedLines,
          truncationRemovedBytes: truncated.removedBytes,
        }),
      },
    }
  }
}
