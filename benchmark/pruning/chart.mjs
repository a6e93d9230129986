// Cost against lost names as a picture.

import { picture, round, text } from '../svg.mjs'

const WIDTH = 860
const HEIGHT = 460
const LEFT = 64
const RIGHT = 24
const TOP = 56
const BOTTOM = 52

const STYLE = `
  .grid { stroke: #d0d7de }
  .ours { fill: #1a7f5a; stroke: #1a7f5a }
  .other { fill: #c4541a }
  .line { fill: none; stroke: #1a7f5a; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    .grid { stroke: #3d444d }
    .ours { fill: #3fb68b; stroke: #3fb68b }
    .other { fill: #e8834a }
    .line { stroke: #3fb68b }
  }
`

/** @param points `{ name, cost, losses, ours }`, both as shares */
export function frontierChart(title, points) {
  const costs = points.map(({ cost }) => cost)
  const left = Math.floor(10 * Math.min(...costs)) / 10
  const right = Math.ceil(10 * Math.max(...costs)) / 10
  const top = Math.ceil(50 * Math.max(...points.map(({ losses }) => losses))) / 50
  const x = (cost) => LEFT + ((cost - left) / (right - left)) * (WIDTH - LEFT - RIGHT)
  const y = (losses) => HEIGHT - BOTTOM - (losses / top) * (HEIGHT - TOP - BOTTOM)
  const percent = (share) => `${Math.round(100 * share)} %`
  const steps = (from, to, step) =>
    Array.from({ length: Math.round((to - from) / step) + 1 }, (_, at) => from + at * step)
  const ours = points.filter((point) => point.ours).sort((a, b) => a.cost - b.cost)
  const elements = [
    text(16, 28, title, 'title'),
    ...steps(left, right, 0.1).map((at) => text(x(at), HEIGHT - BOTTOM + 18, percent(at), 'quiet', 'middle')),
    ...steps(0, top, 0.02).flatMap((at) => [
      `<path class="grid" d="M${LEFT} ${round(y(at))}H${WIDTH - RIGHT}"/>`,
      text(LEFT - 8, y(at) + 4, percent(at), 'quiet', 'end'),
    ]),
    text((LEFT + WIDTH) / 2, HEIGHT - 12, 'cost, compared with sending everything', 'quiet', 'middle'),
    text(16, 46, 'requests whose answer refers to a missing name', 'quiet'),
    `<path class="line" d="M${ours.map(({ cost, losses }) => `${round(x(cost))} ${round(y(losses))}`).join('L')}"/>`,
    ...points.flatMap(({ name, cost, losses, ours: own }) => [
      `<circle class="${own ? 'ours' : 'other'}" cx="${round(x(cost))}" cy="${round(y(losses))}" r="4"/>`,
      label(name, x(cost), y(losses)),
    ]),
  ]
  return picture({ width: WIDTH, height: HEIGHT, label: title, style: STYLE, elements })
}

/** A name beside its point, on the side where there is room. */
function label(name, x, y) {
  return x > WIDTH / 2 ? text(x - 8, y - 6, name, '', 'end') : text(x + 8, y - 6, name, '')
}
