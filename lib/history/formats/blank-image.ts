/** A blank image, in place of one where a provider takes no text. */

import { get } from './safe-read'

/** 16 white pixels by 16, as PNG in base64. */
export const BLANK =
  'iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFElEQVR42mP4TyJgGNUwqmH4agAAr639H23ooMoAAAAASUVORK5CYII='

export const BLANK_URL = `data:image/png;base64,${BLANK}`

/** True if this is a blank image, in one of the forms that formats give it. */
export function isBlankImage(value: unknown): boolean {
  const image = get(value, 'image_url')
  return value === BLANK || [get(value, 'url'), get(value, 'data'), image, get(image, 'url')].includes(BLANK_URL)
}
