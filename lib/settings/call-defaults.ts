/** The strategies of calls where no setting says otherwise. */

import type { ToolTruncationConfig } from '../types'

/** Commands and failed calls: the lines that decide are often not at the end. See the figures in docs/previews.md. */
export const COMMAND_DEFAULTS: ToolTruncationConfig = Object.freeze({ strategy: 'smart' })

/** Other calls, which answer with a text, or with JSON on one line. */
export const ANSWER_DEFAULTS: ToolTruncationConfig = Object.freeze({ strategy: 'auto' })
