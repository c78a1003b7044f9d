// Kernel ridge regression on all training documents: weights a with (K + ridge I) a = k, by conjugate gradients.
import { store } from "./data.js";

// The kernel exp(b (s - 1)) is almost a straight line in the small similarities s of different documents, so
// K = line[0] + line[1] S with an exact diagonal, and S v takes one pass over the words: each word's part
// 2 x y / (x + y) is, up to 1 %, a sum of two products f(x) f(y).
const LEVELS = 64; // of shares of words, on a logarithmic scale
const PARTS = 2;
const STEPS = 20; // of conjugate gradients

// The leading eigenvectors of a symmetric matrix, each times the root of its eigenvalue, by power iteration.
function leading(matrix, n) {
  const size = matrix.length;
  const found = [];
  for (let q = 0; q < n; q++) {
    let v = Float64Array.from({ length: size }, (_, i) => 1 + ((i * 7 + q) % 5));
    let value = 0;
    for (let step = 0; step < 300; step++) {
      const next = matrix.map((row) => row.reduce((sum, x, j) => sum + x * v[j], 0));
      for (const one of found) {
        const part = one.reduce((sum, x, i) => sum + x * v[i], 0);
        for (let i = 0; i < size; i++) next[i] -= one[i] * part;
      }
      value = Math.hypot(...next);
      v = Float64Array.from(next, (x) => x / value);
    }
    found.push(v.map((x) => x * Math.sqrt(value)));
  }
  return found;
}

// f of every word of every document, so that 2 x y / (x + y) is about the sum of f(x) f(y).
function featuresOf(shares) {
  let [low, high] = [Infinity, 0];
  for (const x of shares) [low, high] = [Math.min(low, x), Math.max(high, x)];
  const width = Math.max(Math.log(high / low), 1e-9);
  const level = (x) => Math.round((Math.log(x / low) / width) * (LEVELS - 1));
  const grid = Array.from({ length: LEVELS }, (_, i) => low * Math.exp((width * i) / (LEVELS - 1)));
  const weight = new Float64Array(LEVELS).fill(1);
  for (const x of shares) weight[level(x)]++;
  const root = weight.map(Math.sqrt);
  const matrix = grid.map((x, i) => grid.map((y, j) => (root[i] * root[j] * 2 * x * y) / (x + y)));
  const tables = leading(matrix, PARTS).map((part) => part.map((x, i) => x / root[i]));
  return tables.map((table) => Float32Array.from(shares, (x) => table[level(x)]));
}

export class Solver {
  constructor(model) {
    const { postings, roots, documents, line } = model.tags;
    const { topicWeight, ridge } = model.settings;
    this.roots = roots;
    this.line = line;
    this.n = documents;
    this.K = store.K;
    this.topicWeight = topicWeight;
    this.shared = sharedWords(postings, documents);
    const { docs, f, g } = this.shared;
    this.own = new Float64Array(documents);
    for (let p = 0; p < docs.length; p++) this.own[docs[p]] += f[p] * f[p] + g[p] * g[p];
    for (let d = 0; d < documents; d++) {
      let topics = 0;
      for (let k = 0; k < store.K; k++) topics += roots[d * store.K + k] ** 2;
      this.own[d] = 1 + ridge - line[0] - line[1] * ((1 - topicWeight) * this.own[d] + topicWeight * topics);
    }
  }

  // (K + ridge I) v. Word by word: the documents of a word are read twice, the second time from the cache.
  times(v) {
    const { n, K, own, line, roots, topicWeight } = this;
    const { starts, docs, f, g } = this.shared;
    const out = new Float64Array(n);
    for (let w = 0; w + 1 < starts.length; w++) {
      const from = starts[w];
      const to = starts[w + 1];
      let a = 0;
      let b = 0;
      for (let p = from; p < to; p++) {
        const x = v[docs[p]];
        a += f[p] * x;
        b += g[p] * x;
      }
      for (let p = from; p < to; p++) out[docs[p]] += f[p] * a + g[p] * b;
    }
    let total = 0;
    for (let d = 0; d < n; d++) total += v[d];
    const sums = new Float64Array(K);
    for (let d = 0; d < n; d++) for (let k = 0; k < K; k++) sums[k] += roots[d * K + k] * v[d];
    const [word, topic] = [line[1] * (1 - topicWeight), line[1] * topicWeight];
    for (let d = 0; d < n; d++) {
      let along = 0;
      for (let k = 0; k < K; k++) along += roots[d * K + k] * sums[k];
      out[d] = line[0] * total + word * out[d] + topic * along + own[d] * v[d];
    }
    return out;
  }

  weights(right) {
    const x = new Float64Array(this.n);
    const rest = Float64Array.from(right);
    const direction = rest.slice();
    let size = inner(rest, rest);
    for (let step = 0; step < STEPS && size > 1e-12; step++) {
      const image = this.times(direction);
      const length = size / inner(direction, image);
      addTo(x, direction, length);
      addTo(rest, image, -length);
      const next = inner(rest, rest);
      for (let d = 0; d < this.n; d++) direction[d] = rest[d] + (next / size) * direction[d];
      size = next;
    }
    return x;
  }
}

// The words of more than one document, with f and g of each: other words say nothing about pairs of documents.
function sharedWords({ starts, docs, shares }, documents) {
  const [f, g] = featuresOf(shares);
  const kept = [0];
  const places = [];
  for (let w = 0; w + 1 < starts.length; w++) {
    if (starts[w + 1] - starts[w] < 2) continue;
    for (let p = starts[w]; p < starts[w + 1]; p++) places.push(p);
    kept.push(places.length);
  }
  /** @type {any} */
  const numbers = documents < 65536 ? Uint16Array : Uint32Array;
  return { starts: Uint32Array.from(kept), docs: numbers.from(places, (p) => docs[p]), f: Float32Array.from(places, (p) => f[p]), g: Float32Array.from(places, (p) => g[p]) };
}
function inner(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}
function addTo(to, part, times) {
  for (let i = 0; i < to.length; i++) to[i] += times * part[i];
}
