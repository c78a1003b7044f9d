// Kernel ridge regression on all training documents: weights a with (K + ridge I) a = k, by conjugate gradients.
// The kernel exp(b (s - 1)) is almost a straight line in the small similarities s of different documents, so
// K = line[0] + line[1] S with an exact diagonal, and S v takes one pass over the words: each word's part
// 2 x y / (x + y) is, up to 1 %, a sum of two products f(x) f(y).
const LEVELS = 64; // of shares of words, on a logarithmic scale
const PARTS = 2;
const COARSE = 60; // topics that the preconditioner solves for directly
const STEPS = 8;

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

class Solver {
  constructor(model) {
    const { postings, roots, documents, line } = model.tags;
    const { topicWeight, ridge } = model.settings;
    Object.assign(this, { roots, line, n: documents, K: store.K, topicWeight });
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
    const { n, own, line, topicWeight } = this;
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
    const along = this.combined(this.roots, this.products(this.roots, v));
    const [word, topic] = [line[1] * (1 - topicWeight), line[1] * topicWeight];
    for (let d = 0; d < n; d++) out[d] = line[0] * total + word * out[d] + topic * along[d] + own[d] * v[d];
    return out;
  }
  // Of a matrix (n, m), row by row: its columns times v, and the sum of its columns with weights.
  products(matrix, v) {
    const m = matrix.length / this.n;
    const sums = new Float64Array(m);
    for (let d = 0, at = 0; d < this.n; d++) {
      const x = v[d];
      for (let k = 0; k < m; k++, at++) sums[k] += matrix[at] * x;
    }
    return sums;
  }
  combined(matrix, weights) {
    const m = matrix.length / this.n;
    const out = new Float64Array(this.n);
    for (let d = 0, at = 0; d < this.n; d++) {
      let sum = 0;
      for (let k = 0; k < m; k++, at++) sum += matrix[at] * weights[k];
      out[d] = sum;
    }
    return out;
  }

  // The coarse space: the roots of the largest topics. The page stays usable meanwhile.
  async prepare() {
    const { n, K, roots } = this;
    const mass = new Float64Array(K);
    for (let d = 0; d < n; d++) for (let k = 0; k < K; k++) mass[k] += roots[d * K + k] ** 2;
    const topics = topOf(mass, COARSE);
    const m = topics.length;
    this.coarse = new Float32Array(n * m);
    this.image = new Float32Array(n * m);
    for (let c = 0; c < m; c++) {
      const column = Float64Array.from({ length: n }, (_, d) => roots[d * K + topics[c]]);
      const image = this.times(column);
      for (let d = 0; d < n; d++) [this.coarse[d * m + c], this.image[d * m + c]] = [column[d], image[d]];
      if (c % 4 === 3) await new Promise((done) => setTimeout(done, 0));
    }
    const inside = topics.map((k) => this.products(this.image, Float64Array.from({ length: n }, (_, d) => roots[d * K + k])));
    this.inverse = inverseOf(inside.map((row) => [...row]));
    return this;
  }
  solved(matrix, v) {
    const parts = this.products(matrix, v);
    return Float64Array.from(this.inverse, (row) => inner(row, parts));
  }
  // Deflation of the coarse space: large eigenvalues no longer slow the iteration down. What is left of the
  // right side is orthogonal to that space from the start.
  preconditioned(rest) {
    const left = rest.slice();
    addTo(left, this.combined(this.coarse, this.solved(this.image, rest)), -1);
    return left;
  }
  weights(values) {
    const first = this.solved(this.coarse, values);
    const x = this.combined(this.coarse, first);
    const rest = Float64Array.from(values);
    addTo(rest, this.combined(this.image, first), -1);
    let z = this.preconditioned(rest);
    let direction = z;
    let size = inner(rest, z);
    for (let step = 0; step < STEPS && size > 1e-12; step++) {
      const image = this.times(direction);
      const length = size / inner(direction, image);
      addTo(x, direction, length);
      if (step === STEPS - 1) break;
      addTo(rest, image, -length);
      z = this.preconditioned(rest);
      const next = inner(rest, z);
      const along = direction;
      const part = next / size;
      direction = z.map((value, i) => value + part * along[i]);
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
  const numbers = documents < 65536 ? Uint16Array : Uint32Array;
  return {
    starts: Uint32Array.from(kept),
    docs: numbers.from(places, (p) => docs[p]),
    f: Float32Array.from(places, (p) => f[p]),
    g: Float32Array.from(places, (p) => g[p]),
  };
}
function inner(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}
function addTo(to, part, times) {
  for (let i = 0; i < to.length; i++) to[i] += times * part[i];
}
// Gauss and Jordan's elimination, with pivots.
function inverseOf(matrix) {
  const n = matrix.length;
  const rows = matrix.map((row, i) => Float64Array.from([...row, ...row.map((_, j) => (i === j ? 1 : 0))]));
  for (let c = 0; c < n; c++) {
    let best = c;
    for (let r = c + 1; r < n; r++) if (Math.abs(rows[r][c]) > Math.abs(rows[best][c])) best = r;
    [rows[c], rows[best]] = [rows[best], rows[c]];
    const pivot = rows[c][c] || 1e-12;
    for (let j = 0; j < 2 * n; j++) rows[c][j] /= pivot;
    for (let r = 0; r < n; r++) if (r !== c && rows[r][c]) addTo(rows[r], rows[c], -rows[r][c]);
  }
  return rows.map((row) => row.slice(n));
}
