/** Creates elements without markup, so that tool output only becomes text. */

import css from './style.css'

/** The base of all components. Outside of browsers the module can be loaded, and defines nothing. */
export const Base: typeof HTMLElement = globalThis.HTMLElement ?? (class {} as typeof HTMLElement)

let sheet: CSSStyleSheet | undefined

/** Gives a component its shadow tree and the stylesheet, which no `style-src` of a page has to allow. */
export function shadowOf(host: HTMLElement): ShadowRoot {
  if (sheet === undefined) {
    sheet = new CSSStyleSheet()
    sheet.replaceSync(css)
  }
  const root = host.attachShadow({ mode: 'open', delegatesFocus: true })
  root.adoptedStyleSheets = [sheet]
  return root
}

/** Makes an element with properties, or attributes where a name has a dash, and children. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]> | Record<string, unknown> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(properties)) {
    if (key.includes('-')) element.setAttribute(key, String(value))
    else (element as unknown as Record<string, unknown>)[key] = value
  }
  element.append(...children)
  return element
}

export function button(label: string, onclick: () => void, properties: Record<string, unknown> = {}) {
  return make('button', { type: 'button', textContent: label, onclick, ...properties })
}

/** Sets a property of an element before its class was defined again, so that its setter sees it. */
export function upgrade(element: HTMLElement, ...names: string[]): void {
  const fields = element as unknown as Record<string, unknown>
  for (const name of names) {
    if (!Object.hasOwn(element, name)) continue
    const value = fields[name]
    delete fields[name]
    fields[name] = value
  }
}

export function define(name: string, component: typeof HTMLElement): void {
  if (globalThis.customElements && !customElements.get(name)) customElements.define(name, component)
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Words a size: `1.5 MiB`. */
export function formatSize(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']
  let [value, unit] = [bytes, 0]
  for (; value >= 1023.95 && unit < units.length - 1; unit += 1) value /= 1024
  return `${unit === 0 ? value : value.toFixed(1)} ${unit === 0 && bytes === 1 ? 'byte' : units[unit]}`
}

export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : /(s|ch)$/.test(noun) ? 'es' : 's'}`
}
