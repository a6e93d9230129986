/** The line at the end of an output whose process was killed. */
export const SALVAGED_LINE =
  '\n[Spillway: the output ends here. The process that saved it ended before the rest was saved.]\n'
