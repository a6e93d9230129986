/** The languages of notices. */
export const LANGUAGES = ['en', 'zh-CN'] as const
