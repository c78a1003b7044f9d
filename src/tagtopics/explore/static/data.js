// The data: decompressed once; bodies of documents on demand.
const settings = JSON.parse(byId("settings").textContent);
const store = {};

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
async function unpacked(base64) {
  const stream = new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}
async function asked(path, body) {
  const options =
    body === undefined
      ? {}
      : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(path, options);
  const value = await answer.json().catch(() => ({}));
  if (!answer.ok)
    throw new Error(
      typeof value.detail === "string" ? value.detail : `The server answered ${answer.status}.`,
    );
  return value;
}

// Square roots of proportions as integers of 8 or 16 bits: proportion = (q / most)^2.
function rootsOf(base64, bits) {
  const bytes = bytesOf(base64);
  const steps = bits === 8 ? bytes : new Uint16Array(bytes.buffer);
  const most = bits === 8 ? 255 : 65535;
  const roots = new Float32Array(steps.length);
  for (let i = 0; i < steps.length; i++) roots[i] = steps[i] / most;
  return roots;
}

async function load() {
  const index = settings.live ? await asked("data/index") : await unpacked(byId("index").textContent);
  Object.assign(store, index);
  const { tags, documents, words, sizes } = index;
  store.K = sizes.topics;
  store.tagRoots = rootsOf(tags.profiles, 16);
  store.docRoots = rootsOf(documents.topics, 8);
  store.wordShares = rootsOf(words.shares, 8);
  store.tokens = words.weight.reduce((sum, n) => sum + n, 0);
  store.docsOfTag = tags.names.map(() => []);
  documents.tags.forEach((row, d) => row.forEach((t) => store.docsOfTag[t].push(d)));
  store.kinds = kindsOf(tags.names);
  store.labels = index.topics.words.map((_, k) =>
    index.pictures
      ? typicalTags(k, 4).map((t) => tags.names[t])
      : relevant(k, 0.6, 4).map(([w]) => words.names[w]),
  );
}

function kindsOf(names) {
  const kinds = new Map();
  names.forEach((name, t) => {
    const at = name.indexOf(":");
    const kind = at > 0 ? name.slice(0, at) : "";
    if (!kinds.has(kind)) kinds.set(kind, []);
    kinds.get(kind).push(t);
  });
  if (kinds.size > 12) return new Map([["", names.map((_, t) => t)]]);
  return kinds;
}

// Tags that are more typical of a topic than of others.
function typicalTags(k, n) {
  const share = Math.max(store.topics.share[k], 1e-9);
  const scores = store.tags.names.map((_, t) => {
    const own = store.tagRoots[t * store.K + k] ** 2;
    return store.tags.documents[t] * own * Math.log(Math.max(own / share, 1e-9));
  });
  return topOf(scores, n).filter((t) => scores[t] > 0);
}

const topicName = (k) => `Topic ${k}`;
const topicLabel = (k, n = 3) => store.labels[k].slice(0, n).join(", ");
const square = (roots, row) =>
  Float64Array.from(roots.subarray(row * store.K, (row + 1) * store.K), (x) => x * x);
const tagProfile = (t) => normal(square(store.tagRoots, t));
const docTopics = (d) => normal(square(store.docRoots, d));

function normal(values) {
  let sum = 0;
  for (const x of values) sum += x;
  return values.map((x) => (sum > 0 ? x / sum : 1 / values.length));
}

// The joint profile of several tags: the normalised product of their profiles.
function together(tags) {
  let joint = new Float64Array(store.K).fill(1);
  for (const t of tags) {
    const one = tagProfile(t);
    joint = normal(joint.map((x, k) => x * one[k]));
  }
  return joint;
}

// Words of a topic by relevance: weight log p(w|k) + (1 - weight) log p(w|k)/p(w). Rows: word, p(w|k), lift.
function relevant(k, weight, n) {
  const { words, phi } = store.topics;
  const rows = words[k].map((w, i) => {
    const lift = phi[k][i] / Math.max(store.words.weight[w] / store.tokens, 1e-12);
    return [
      w,
      phi[k][i],
      lift,
      Math.log(Math.max(phi[k][i], 1e-12)) * weight + (1 - weight) * Math.log(Math.max(lift, 1e-12)),
    ];
  });
  rows.sort((a, b) => b[3] - a[3] || a[0] - b[0]);
  return rows.slice(0, n);
}

// Words of a distribution over topics, by their contribution to the divergence from the collection.
function wordsUnder(profile, n) {
  const sums = new Map();
  profile.forEach((p, k) => {
    if (p < 1e-4) return;
    store.topics.words[k].forEach((w, i) => sums.set(w, (sums.get(w) || 0) + p * store.topics.phi[k][i]));
  });
  const rows = [...sums].map(([w, p]) => [
    w,
    p,
    p * Math.log(p / Math.max(store.words.weight[w] / store.tokens, 1e-12)),
  ]);
  rows.sort((a, b) => b[2] - a[2] || a[0] - b[0]);
  return rows.slice(0, n);
}

// Overlap of two distributions given by their square roots: 1 if equal, 0 if disjoint.
function overlap(roots, a, other, b) {
  let sum = 0;
  for (let k = 0; k < store.K; k++) sum += roots[a * store.K + k] * other[b * store.K + k];
  return Math.min(sum, 1);
}

function relatedDocuments(d, n) {
  const mine = new Set(store.documents.tags[d]);
  const scores = new Float32Array(store.documents.ids.length);
  for (let e = 0; e < scores.length; e++)
    scores[e] = e === d ? -1 : overlap(store.docRoots, d, store.docRoots, e);
  const best = topOf(scores, n).filter((e) => scores[e] > 0);
  return best.map((e) => {
    const parts = Float64Array.from(
      { length: store.K },
      (_, k) => store.docRoots[d * store.K + k] * store.docRoots[e * store.K + k],
    );
    return {
      doc: e,
      score: scores[e],
      topics: topOf(parts, 2).filter((k) => parts[k] > 0.08),
      tags: store.documents.tags[e].filter((t) => mine.has(t)),
    };
  });
}

// Bodies of documents, in packs; the last few packs are cached.
const packs = new Map();
async function body(d) {
  if (d >= settings.bodies) return null;
  const at = Math.floor(d / settings.chunk);
  if (!packs.has(at)) {
    packs.set(at, settings.live ? asked(`data/bodies/${at}`) : unpacked(byId(`bodies-${at}`).textContent));
    if (packs.size > 24) packs.delete(packs.keys().next().value);
  }
  return (await packs.get(at))[d % settings.chunk];
}
