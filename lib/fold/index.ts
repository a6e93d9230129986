/** Folds lines that are in the context already. */

export type { ResultFolder } from '../tools/fold-result'
export type { FoldEdit, FoldRecord } from '../types'
export {
  type BegunCall,
  type FoldCall,
  type FoldEvent,
  type FoldedText,
  type FoldLimits,
  type FoldOptions,
  type FoldReport,
  type FoldRestoreOptions,
  FoldSession,
} from './fold-session'
