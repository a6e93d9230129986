/** One direction of scrolling, over more pixels than a browser lays out. */

/** No browser lays out more than some tens of millions of pixels: beyond that, the bar stands for positions in proportion. */
const MAX_PIXELS = 8_000_000

/** Meaning of a move of the bar: a step of some pixels, or a jump to a place. */
export type Moved = { by: number } | { to: number }

export class Axis {
  /** Pixels of the content. */
  length = 0
  /** Pixels that are visible. */
  view = 0
  private bar = 0

  /** Pixels to lay out. */
  get laidOut(): number {
    return Math.min(this.length, MAX_PIXELS)
  }

  /** The last position. */
  get last(): number {
    return Math.max(0, this.length - this.view)
  }

  /**
   * Takes the bar's position after a scroll event. A short way is a wheel, a finger or a key, which move the content as far; a long one
   * is the bar itself, unless every pixel of the content is laid out.
   */
  scrolled(bar: number, isEstimate = false): Moved {
    const by = bar - this.bar
    this.bar = bar
    const isJump = Math.abs(by) > 2 * this.view && (isEstimate || this.laidOut < this.length)
    return isJump ? { to: (bar / Math.max(1, this.laidOut - this.view)) * this.last } : { by }
  }

  /** True if the bar is at an end, and the content is not. */
  isStuck(at: number): boolean {
    const end = this.laidOut - this.view - 1
    return (this.bar <= 0 && at > 0) || (this.bar >= end && at < this.last - 1)
  }

  /** The place of the bar at a position. */
  barAt(at: number): number {
    return this.last === 0 ? 0 : (at / this.last) * Math.max(0, this.laidOut - this.view)
  }

  /** Remembers where the bar was put, so that the event of it moves nothing. */
  placed(bar: number): void {
    this.bar = bar
  }
}
