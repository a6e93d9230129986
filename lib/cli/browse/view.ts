/** Defines what `spillway browse` shows at a time. */

export interface View {
  /** Names what is on the screen, where a key that was typed for something else must not answer it. */
  readonly subject?: string | undefined
  /** Returns the lines of the whole terminal. */
  draw(columns: number, rows: number): Promise<string[]>
  /**
   * Answers a key: with another view, with `back`, or with nothing.
   * @param seen the {@link subject} that was on the screen when the key was typed
   */
  press(key: string, rows: number, seen: string | undefined): Promise<View | 'back' | undefined>
}
