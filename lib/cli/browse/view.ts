/** Defines what `spillway browse` shows at a time. */

export interface View {
  /** Returns the lines of the whole terminal. */
  draw(columns: number, rows: number): Promise<string[]>
  /** Answers a key: with another view, with `back`, or with nothing. */
  press(key: string, rows: number): Promise<View | 'back' | undefined>
}
