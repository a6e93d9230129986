/** `<spillway-approval>`: questions that wait for an answer. */

import type { GateResponse, PendingRequest, SuggestedRule } from 'spillway'
import type { ApprovalSource } from 'spillway/view'
import { callElements } from './call'
import { isOutside, touchedBy } from './call-targets'
import { Base, button, counted, errorText, make, shadowOf, upgrade } from './dom'
import { showHidden } from './rendered-line'

/** Milliseconds within which a new card ignores keys: they were meant for what was there before. */
const TOO_SOON_MS = 500

/**
 * Shows the oldest question of its `source` and how many more wait. Y answers "once", A "always" with the first rule, N and Escape deny.
 * It takes the focus unless the user types elsewhere, and gives it back after the last answer.
 */
export class SpillwayApprovalElement extends Base {
  private from: ApprovalSource | undefined
  private stop: (() => void) | undefined
  private current: PendingRequest | undefined
  private shownAt = 0
  private focusedBefore: Element | null = null
  private readonly box = make('div', { className: 'cards' })
  private readonly status = make('div', { className: 'problem', role: 'alert' })

  constructor() {
    super()
    shadowOf(this).append(this.box, this.status)
    this.box.addEventListener('keydown', (event) => this.key(event))
  }

  connectedCallback(): void {
    upgrade(this, 'source')
    this.listen()
  }

  disconnectedCallback(): void {
    this.stop?.()
    this.stop = undefined
  }

  /** Where questions come from. */
  get source(): ApprovalSource | undefined {
    return this.from
  }

  set source(source: ApprovalSource | undefined) {
    this.from = source
    if (this.isConnected) this.listen()
  }

  private listen(): void {
    this.stop?.()
    this.stop = this.from?.listen?.(() => void this.refresh())
    void this.refresh()
  }

  /** Asks the source again; a source without `listen` needs it after every change. */
  async refresh(): Promise<void> {
    try {
      this.show((await this.from?.pending()) ?? [])
    } catch (error) {
      this.status.textContent = errorText(error)
    }
  }

  private show(pending: PendingRequest[]): void {
    const [first, ...others] = pending
    this.hidden = first === undefined
    if (first === undefined) {
      this.box.replaceChildren()
      if (this.current !== undefined) this.giveFocusBack()
    } else if (first.id !== this.current?.id) {
      this.showCard(first)
    }
    this.current = first
    const more = this.box.querySelector('.more')
    if (more) more.textContent = others.length === 0 ? '' : `${counted(others.length, 'more question')} after this one`
  }

  private showCard(request: PendingRequest): void {
    const isFirst = this.current === undefined
    const hadFocus = this.shadowRoot?.activeElement != null
    this.shownAt = performance.now()
    this.status.textContent = ''
    this.box.replaceChildren(this.cardOf(request))
    if (isFirst && !hadFocus) this.focusedBefore = document.activeElement
    if (hadFocus || !isTyping(document.activeElement)) this.box.querySelector<HTMLElement>('.card')?.focus()
    this.scrollIntoView({ block: 'nearest' })
  }

  private giveFocusBack(): void {
    const before = this.focusedBefore
    this.focusedBefore = null
    if (before instanceof HTMLElement && before.isConnected) before.focus()
  }

  private cardOf(request: PendingRequest): HTMLElement {
    const { tool, args, targets, reasons, suggestedRules } = request
    // The rule that asks about a target says no more than the target.
    const warnings = reasons.filter((reason) => !targets.some((target) => reason.endsWith(target)))
    const item = (words: string, className: string) => make('li', { className }, ...showHidden(words))
    const touched = [
      ...warnings.map((reason) => item(reason, 'wrong')),
      ...touchedBy(request).map((words) => item(words, isOutside(words) ? 'wrong' : '')),
    ]
    const reason = make('input', { type: 'text', placeholder: 'Reason, if denied', 'aria-label': 'Reason, if denied' })
    const deny = () => this.answer(request, { reject: reason.value.trim() || true })
    const actions = make(
      'div',
      { className: 'group' },
      button('Once', () => this.answer(request, 'once'), { className: 'primary', 'aria-keyshortcuts': 'Y' }),
      button('Deny', deny, { className: 'deny', 'aria-keyshortcuts': 'N' }),
      reason,
    )
    return make(
      'section',
      { className: 'card', tabIndex: -1, 'aria-labelledby': 'title' },
      make('h2', { id: 'title' }, 'May ', make('code', {}, ...showHidden(tool)), ' do this?'),
      ...callElements(args),
      ...(touched.length === 0 ? [] : [make('ul', { 'aria-label': 'What it does' }, ...touched)]),
      make('div', { className: 'answers' }, actions, this.rulesOf(request, suggestedRules)),
      make('p', { className: 'quiet more' }),
    )
  }

  private rulesOf(request: PendingRequest, rules: readonly SuggestedRule[]): HTMLElement {
    if (rules.length === 0) return make('p', { className: 'quiet', textContent: 'No rule can allow it for good.' })
    const choices = rules.map((rule, index) =>
      make(
        'button',
        {
          type: 'button',
          className: 'always',
          onclick: () => this.answer(request, 'always', rule),
          ...(index === 0 && { 'aria-keyshortcuts': 'A' }),
        },
        'Always: ',
        make('code', {}, ...showHidden(`${rule.domain} ${rule.pattern}`)),
      ),
    )
    return make('div', { className: 'group rules' }, ...choices)
  }

  private async answer(request: PendingRequest, response: GateResponse, rule?: SuggestedRule): Promise<void> {
    try {
      await this.from?.respond(request.id, response, rule)
    } catch (error) {
      this.status.textContent = errorText(error)
    }
    await this.refresh()
  }

  private key(event: KeyboardEvent): void {
    const { current } = this
    const isInField = event.target instanceof HTMLInputElement && event.key !== 'Escape'
    if (current === undefined || isInField || event.ctrlKey || event.metaKey || event.altKey) return
    const [rule] = current.suggestedRules
    const key = event.key.toLowerCase()
    if (!['y', 'n', 'escape', 'a'].includes(key)) return
    event.preventDefault()
    if (event.repeat || performance.now() - this.shownAt < TOO_SOON_MS) return
    if (key === 'y') void this.answer(current, 'once')
    else if (key !== 'a') void this.answer(current, { reject: true })
    else if (rule) void this.answer(current, 'always', rule)
  }
}

/** True for a field that the user may be typing in. */
function isTyping(element: Element | null): boolean {
  const inner = element?.shadowRoot?.activeElement ?? element
  return inner instanceof HTMLElement && (inner.isContentEditable || /^(input|textarea|select)$/i.test(inner.tagName))
}
