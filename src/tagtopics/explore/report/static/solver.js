// Kernel ridge regression on all training documents: weights a with (K + ridge I) a = k, by conjugate gradients.
// The kernel exp(b (s - 1)) is almost a straight line in the small similarities s of different documents, so
// K = line[0] + line[1] S with an exact diagonal, and S v takes one pass over the words: each word's part
// 2 x y / (x + y) is, up to 1 %, a sum of two products f(x) f(y).
const LEVELS = 64; // of shares of words, on a logarithmic scale
const PARTS = 2;
const LEADING = 110; // eigenvectors that are solved for directly
const EXPLORED = 200; // directions in which they are looked for
const CONVERGED = 0.01; // largest error of an eigenvector, relative to its eigenvalue
const STEPS = 6; // of conjugate gradients, for what is left

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

  // The leading eigenvectors, once for all texts: what is left of a right side then needs few steps.
  // The page stays usable meanwhile.
  async prepare() {
    const { directions, diagonal, beside } = await this.krylov(Math.min(EXPLORED, this.n));
    const { values, vectors } = tridiagonalEigen(diagonal, beside);
    const m = diagonal.length;
    const rest = beside[m - 1];
    const found = topOf(values, Math.min(LEADING, m)).filter((c) => values[c] > 0 && Math.abs(rest * vectors[(m - 1) * m + c]) < CONVERGED * values[c]);
    this.values = Float64Array.from(found, (c) => values[c]);
    this.space = new Float32Array(this.n * found.length);
    for (let i = 0; i < m; i++) {
      const part = Float32Array.from(found, (c) => vectors[i * m + c]);
      for (let d = 0, at = 0; d < this.n; d++) {
        const x = directions[i][d];
        for (let c = 0; c < part.length; c++, at++) this.space[at] += x * part[c];
      }
      if (i % 8 === 7) await new Promise((done) => setTimeout(done, 0));
    }
    return this;
  }
  // Lanczos' method: orthogonal directions in which the matrix is tridiagonal.
  async krylov(most) {
    const { n } = this;
    const directions = [];
    const [diagonal, beside] = [[], []];
    let next = Float64Array.from({ length: n }, (_, d) => 1 + ((d * 7) % 11) / 40);
    let size = Math.sqrt(inner(next, next));
    for (let i = 0; i < most && size > 1e-6; i++) {
      const own = next.map((x) => x / size);
      directions.push(own);
      next = this.times(own);
      diagonal.push(inner(next, own));
      addTo(next, own, -diagonal[i]);
      if (i) addTo(next, directions[i - 1], -beside[i - 1]);
      for (const one of directions) addTo(next, one, -inner(next, one)); // small by now, so that no digits are lost
      size = Math.sqrt(inner(next, next));
      beside.push(size);
      if (i % 4 === 3) await new Promise((done) => setTimeout(done, 0));
    }
    return { directions, diagonal, beside };
  }

  // The part of the solution in the leading space, and what of the right side is outside of it.
  split(right) {
    const { n, space, values } = this;
    const parts = this.products(space, right);
    const inside = parts.map((part, c) => part / values[c]);
    const m = values.length;
    const [x, rest] = [new Float64Array(n), new Float64Array(n)];
    for (let d = 0, at = 0; d < n; d++) {
      let [sum, own] = [0, 0];
      for (let c = 0; c < m; c++, at++) {
        sum += space[at] * inside[c];
        own += space[at] * parts[c];
      }
      x[d] = sum;
      rest[d] = right[d] - own;
    }
    return { x, rest };
  }
  weights(right) {
    const { x, rest } = this.split(right);
    let direction = rest.slice();
    let size = inner(rest, rest);
    for (let step = 0; step < STEPS && size > 1e-12; step++) {
      const image = this.times(direction);
      const length = size / inner(direction, image);
      addTo(x, direction, length);
      if (step === STEPS - 1) break;
      addTo(rest, image, -length);
      const next = inner(rest, rest);
      const part = next / size;
      for (let d = 0; d < this.n; d++) direction[d] = rest[d] + part * direction[d];
      size = next;
    }
    return x;
  }
}

// Eigenvalues and eigenvectors (columns, row by row) of a symmetric tridiagonal matrix: implicit QL steps.
function tridiagonalEigen(diagonal, beside) {
  const n = diagonal.length;
  const d = Float64Array.from(diagonal);
  const e = Float64Array.from({ length: n }, (_, i) => (i < n - 1 ? beside[i] : 0));
  const z = new Float64Array(n * n);
  for (let i = 0; i < n; i++) z[i * n + i] = 1;
  for (let l = 0; l < n; l++)
    for (let turn = 0; turn < 60; turn++) {
      let m = l;
      while (m < n - 1 && Math.abs(e[m]) > 1e-14 * (Math.abs(d[m]) + Math.abs(d[m + 1]))) m++;
      if (m === l) break;
      const half = (d[l + 1] - d[l]) / (2 * e[l]);
      let g = d[m] - d[l] + e[l] / (half + (half < 0 ? -1 : 1) * Math.hypot(half, 1));
      let [s, c, p] = [1, 1, 0];
      for (let i = m - 1; i >= l; i--) {
        const f = s * e[i];
        const b = c * e[i];
        const r = Math.hypot(f, g);
        e[i + 1] = r;
        if (r === 0) {
          d[i + 1] -= p;
          e[m] = 0;
          break;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        const q = (d[i] - g) * s + 2 * c * b;
        p = s * q;
        d[i + 1] = g + p;
        g = c * q - b;
        for (let k = 0; k < n; k++) {
          const [low, high] = [z[k * n + i], z[k * n + i + 1]];
          z[k * n + i + 1] = s * low + c * high;
          z[k * n + i] = c * low - s * high;
        }
        if (i === l) {
          d[l] -= p;
          e[l] = g;
          e[m] = 0;
        }
      }
    }
  return { values: d, vectors: z };
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
