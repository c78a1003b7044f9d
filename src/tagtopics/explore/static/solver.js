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
    const { words, shares, roots, documents, line } = model.tags;
    const { topicWeight, ridge } = model.settings;
    Object.assign(this, { words, roots, line, n: documents, K: store.K, topicWeight });
    this.features = featuresOf(shares);
    this.sums = new Float64Array(PARTS * store.words.names.length);
    this.own = new Float64Array(documents).fill(1 + ridge);
    const [f, g] = this.features;
    for (let d = 0; d < documents; d++) {
      let alike = 0;
      for (let i = words.starts[d]; i < words.starts[d + 1]; i++) alike += f[i] * f[i] + g[i] * g[i];
      let topics = 0;
      for (let k = 0; k < store.K; k++) topics += roots[d * store.K + k] ** 2;
      this.own[d] -= line[0] + line[1] * ((1 - topicWeight) * alike + topicWeight * topics);
    }
  }

  // (K + ridge I) v.
  times(v) {
    const { words, roots, n, K, sums, own, line, topicWeight } = this;
    const [f, g] = this.features;
    const { starts, values } = words;
    sums.fill(0);
    const topics = new Float64Array(K);
    let total = 0;
    for (let d = 0; d < n; d++) {
      const x = v[d];
      total += x;
      for (let i = starts[d]; i < starts[d + 1]; i++) {
        const w = 2 * values[i];
        sums[w] += f[i] * x;
        sums[w + 1] += g[i] * x;
      }
      for (let k = 0, at = d * K; k < K; k++, at++) topics[k] += roots[at] * x;
    }
    const out = new Float64Array(n);
    for (let d = 0; d < n; d++) {
      let alike = 0;
      for (let i = starts[d]; i < starts[d + 1]; i++) {
        const w = 2 * values[i];
        alike += f[i] * sums[w] + g[i] * sums[w + 1];
      }
      let shared = 0;
      for (let k = 0, at = d * K; k < K; k++, at++) shared += roots[at] * topics[k];
      out[d] = line[0] * total + line[1] * ((1 - topicWeight) * alike + topicWeight * shared) + own[d] * v[d];
    }
    return out;
  }

  // The coarse space: the roots of the largest topics. The page stays usable meanwhile.
  async prepare() {
    const { n, K, roots } = this;
    const mass = new Float64Array(K);
    for (let d = 0; d < n; d++) for (let k = 0; k < K; k++) mass[k] += roots[d * K + k] ** 2;
    this.coarse = topOf(mass, COARSE).map((k) => Float64Array.from({ length: n }, (_, d) => roots[d * K + k]));
    this.image = [];
    for (const one of this.coarse) {
      this.image.push(this.times(one));
      if (this.image.length % 4 === 0) await new Promise((done) => setTimeout(done, 0));
    }
    this.inverse = inverseOf(this.coarse.map((a) => this.image.map((b) => inner(a, b))));
    return this;
  }
  solved(v) {
    const parts = this.coarse.map((one) => inner(one, v));
    return this.inverse.map((row) => inner(row, parts));
  }
  // Deflation of the coarse space: large eigenvalues no longer slow the iteration down.
  preconditioned(rest) {
    const { coarse, image } = this;
    const first = this.solved(rest);
    const left = rest.slice();
    image.forEach((one, c) => addTo(left, one, -first[c]));
    const parts = image.map((one) => inner(one, left));
    const second = this.inverse.map((row) => inner(row, parts));
    coarse.forEach((one, c) => addTo(left, one, first[c] - second[c]));
    return left;
  }
  weights(values) {
    const first = this.solved(values);
    const x = new Float64Array(this.n);
    this.coarse.forEach((one, c) => addTo(x, one, first[c]));
    const rest = Float64Array.from(values);
    this.image.forEach((one, c) => addTo(rest, one, -first[c]));
    let z = this.preconditioned(rest);
    let direction = z;
    let size = inner(rest, z);
    for (let step = 0; step < STEPS && size > 1e-12; step++) {
      const image = this.times(direction);
      const length = size / inner(direction, image);
      addTo(x, direction, length);
      addTo(rest, image, -length);
      z = this.preconditioned(rest);
      const next = inner(rest, z);
      const along = direction;
      direction = z.map((value, i) => value + (next / size) * along[i]);
      size = next;
    }
    return x;
  }
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
