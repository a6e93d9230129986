/** A blank image, in place of one where a provider takes no text. */

/** 16 white pixels by 16, as PNG in base64. */
export const BLANK =
  'iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFElEQVR42mP4TyJgGNUwqmH4agAAr639H23ooMoAAAAASUVORK5CYII='

export const BLANK_URL = `data:image/png;base64,${BLANK}`
