/** The program of a browser that is installed. */
export const CHROMIUM: string | undefined
