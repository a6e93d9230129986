/** The language of a conversation. */

import { call, native } from '../native/native'
import type { NoticeLanguage } from '../types'
import { joinedText } from './message-cache'
import type { MessageView } from './message-view'

/** Units of the user's text by which the language is detected. */
const TELLING_UNITS = 4000

/** True if what is added to a conversation is Chinese: by its option, or else by the words of the conversation. */
export function addsChinese(language: NoticeLanguage | undefined, views: readonly MessageView[]): boolean {
  return language === undefined ? isChinese(views) : language === 'zh-CN'
}

/** True if the words of a conversation are Chinese: those of the user, or, if there are none, all of them. */
function isChinese(views: readonly MessageView[]): boolean {
  for (const asks of [(view: MessageView) => view.role === 'user', () => true]) {
    let text = ''
    for (let at = views.length - 1; at >= 0 && text.length < TELLING_UNITS; at--) {
      const view = views[at] as MessageView
      if (asks(view)) text += `${joinedText(view.text).slice(0, TELLING_UNITS)}\n`
    }
    if (text.trim() !== '') return call(() => native.isChineseText(text.toWellFormed()))
  }
  return false
}
