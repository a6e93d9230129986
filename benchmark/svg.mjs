/** The parts that the charts share: plain SVG without scripts, readable on light and on dark pages. */

/** The page and its texts. */
const STYLE = `
  .page { fill: #ffffff; stroke: #d0d7de }
  text { font: 12px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: #1f2328 }
  .title { font-size: 15px; font-weight: 600 }
  .quiet { fill: #59636e }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; stroke: #3d444d }
    text { fill: #f0f6fc }
    .quiet { fill: #9198a1 }
  }
`

/** Returns a picture of elements on a page. `style` is added to the shared rules. */
export function picture({ width, height, label, style, elements }) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(label)}">
<style>${STYLE}${style}</style>
<rect class="page" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${elements.join('\n')}
</svg>
`
}

/** Returns a text element; `name` is its class. */
export function text(x, y, content, name = '', anchor = 'start') {
  const classes = name ? ` class="${name}"` : ''
  return `<text x="${round(x)}" y="${round(y)}"${classes} text-anchor="${anchor}">${escaped(content)}</text>`
}

/** Rounds a coordinate to a tenth of a pixel. */
export function round(number) {
  return Math.round(number * 10) / 10
}

function escaped(content) {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
