/** The defaults of what runs commands. */

import type { ToolTruncationConfig } from '../types'

/** The lines that decide in the output of a command are often not at its end: see the figures in docs/previews.md. */
export const COMMAND_DEFAULTS: ToolTruncationConfig = Object.freeze({ strategy: 'smart' })
