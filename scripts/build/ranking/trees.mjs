// Learns gradient-boosted trees from described lines, and writes them as the table that ranking.rs reads.

export const FEATURES = 77
/** Bytes of a described line: its number, its length and its features. */
export const RECORD = 6 + 2 * FEATURES
const TREES = 300
const DEPTH = 4
const RATE = 0.05
const MIN_WEIGHT = 15
const SHRINK = 20
const BINS = 64
/** Share of the lines that are not marked that are learned from. */
const NEGATIVES = 0.12

/** The lines to learn from, as the tool of this number describes them: features by column, labels and weights. */
export function sample(logs, tool) {
  const rows = []
  for (const log of logs) {
    const positive = new Set(log.lines)
    const described = log.described[tool]
    const count = described.length / RECORD
    for (let at = 0; at < count; at += 1) {
      const record = described.subarray(at * RECORD, (at + 1) * RECORD)
      const number = record.readUInt32LE(0)
      const is = positive.has(number)
      if (!is && ((number * 2654435761) >>> 0) / 2 ** 32 > NEGATIVES) continue
      const own = is ? Math.min(log.isCorpus ? 8 : 3, 25 / positive.size) : Math.min(1, 2500 / count) / NEGATIVES
      rows.push({ record, is, weight: own })
    }
  }
  const labels = Uint8Array.from(rows, (row) => Number(row.is))
  const weights = Float64Array.from(rows, (row) => row.weight)
  const columns = Array.from({ length: FEATURES }, (_, feature) =>
    Uint16Array.from(rows, (row) => row.record.readUInt16LE(6 + 2 * feature)),
  )
  return { labels, weights, columns, count: rows.length }
}

/** Borders between bins: a value is in the bin of how many borders it reaches. */
function bordersOf(column) {
  const sorted = column.slice().sort()
  const borders = new Set()
  for (let bin = 1; bin < BINS; bin += 1) borders.add(sorted[Math.floor((bin * sorted.length) / BINS)])
  const distinct = [...new Set(sorted)]
  const all = distinct.length <= BINS ? distinct : [...borders]
  return all.filter((border) => border > sorted[0]).sort((a, b) => a - b)
}

/** Gradient-boosted trees on log loss. The same data give the same trees. */
export function learn({ labels, weights, columns, count }, without) {
  const borders = columns.map(bordersOf)
  const bins = columns.map((column, feature) => {
    const own = borders[feature]
    const lookup = new Uint8Array(65_536)
    for (let value = 0, bin = 0; value < 65_536; value += 1) {
      while (bin < own.length && value >= own[bin]) bin += 1
      lookup[value] = bin
    }
    return Uint8Array.from(column, (value) => lookup[value])
  })
  const usable = columns.map((_, feature) => feature).filter((f) => borders[f].length > 0 && !without.has(f))
  const [total, positive] = labels.reduce(
    ([all, yes], label, at) => [all + weights[at], yes + label * weights[at]],
    [0, 0],
  )
  const base = Math.log(positive / (total - positive))
  const scores = new Float64Array(count).fill(base)
  const trees = []
  let seed = 12345
  const random = () => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
    return seed / 2 ** 32
  }
  const [gradient, hessian] = [new Float64Array(count), new Float64Array(count)]
  for (let round = 0; round < TREES; round += 1) {
    const used = []
    for (let at = 0; at < count; at += 1) {
      const p = 1 / (1 + Math.exp(-scores[at]))
      gradient[at] = weights[at] * (labels[at] - p)
      hessian[at] = weights[at] * p * (1 - p)
      if (random() < 0.6) used.push(at)
    }
    const features = usable.filter(() => random() < 0.25)
    const tree = grow(Uint32Array.from(used), features, { bins, borders, gradient, hessian })
    trees.push(tree)
    for (let at = 0; at < count; at += 1) {
      let node = tree
      while (node.feature !== undefined) node = bins[node.feature][at] <= node.bin ? node.below : node.above
      scores[at] += node.score
    }
  }
  return { base, trees }
}

function grow(rows, features, data, depth = 0) {
  const { bins, borders, gradient, hessian } = data
  let [g, h] = [0, 0]
  for (const row of rows) {
    g += gradient[row]
    h += hessian[row]
  }
  const leaf = { score: (RATE * g) / (h + SHRINK) }
  if (depth === DEPTH || h < 2 * MIN_WEIGHT) return leaf
  let best = { gain: 1 }
  const [sumG, sumH] = [new Float64Array(BINS + 1), new Float64Array(BINS + 1)]
  for (const feature of features) {
    sumG.fill(0)
    sumH.fill(0)
    const own = bins[feature]
    for (const row of rows) {
      sumG[own[row]] += gradient[row]
      sumH[own[row]] += hessian[row]
    }
    let [left, weight] = [0, 0]
    for (let bin = 0; bin < borders[feature].length; bin += 1) {
      left += sumG[bin]
      weight += sumH[bin]
      if (weight < MIN_WEIGHT || h - weight < MIN_WEIGHT) continue
      const gain = left ** 2 / (weight + SHRINK) + (g - left) ** 2 / (h - weight + SHRINK) - g ** 2 / (h + SHRINK)
      if (gain > best.gain) best = { gain, feature, bin }
    }
  }
  if (best.feature === undefined) return leaf
  const own = bins[best.feature]
  const parts = [rows.filter((row) => own[row] <= best.bin), rows.filter((row) => own[row] > best.bin)]
  const [below, above] = parts.map((part) => grow(part, features, data, depth + 1))
  return {
    feature: best.feature,
    bin: best.bin,
    threshold: borders[best.feature][best.bin],
    gain: best.gain,
    below,
    above,
  }
}

/** The table that ranking.rs reads. */
export function tableOf({ base, trees }) {
  const word = (value) => [value & 255, (value >> 8) & 255]
  const bytes = word(Math.round(base * 256))
  for (const tree of trees) {
    const [nodes, leaves] = [[], []]
    const number = (node) => {
      if (node.feature === undefined) return 128 + leaves.push(Math.round(node.score * 256)) - 1
      const own = nodes.push(undefined) - 1
      nodes[own] = [node.feature, ...word(node.threshold), number(node.below), number(node.above)]
      return own
    }
    number(tree)
    bytes.push(nodes.length, ...nodes.flat(), ...leaves.flatMap(word))
  }
  return Buffer.from(bytes)
}
