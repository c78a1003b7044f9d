// The data: decompressed once; bodies of documents on demand.
import { bdi, byId, h, kept, settings, slotHue, topOf, whole } from "./dom.js";

/** @type {any} */
export const store = {};

export function bytesOf(base64) {
  const bytesClass = /** @type {any} */ (Uint8Array);
  if (bytesClass.fromBase64) return bytesClass.fromBase64(base64); // newer browsers
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
async function unpacked(base64) {
  const stream = new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}
// A block of the file. Those behind the script may not have been read yet: it is complete if something follows it.
export async function block(id) {
  if (!byId(id)?.nextElementSibling && document.readyState === "loading") await new Promise((done) => document.addEventListener("DOMContentLoaded", done));
  return unpacked(byId(id).textContent);
}
export async function asked(path, body) {
  const options =
    body === undefined
      ? {}
      : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(path, options);
  const value = await answer.json().catch(() => ({}));
  if (!answer.ok)
    throw new Error(typeof value.detail === "string" ? value.detail : `The server answered ${answer.status}.`);
  return value;
}

// Numbers of two digits each, as letters: first the high digits of all numbers, then the low ones.
const FIRST_LETTER = 35;
function digitsOf(text, base, numbers) {
  const n = text.length / 2;
  for (let i = 0; i < n; i++)
    numbers[i] = base * (text.charCodeAt(i) - FIRST_LETTER) + text.charCodeAt(n + i) - FIRST_LETTER;
  return numbers;
}
const numeralsOf = (text) => digitsOf(text, 128, new Array(text.length / 2));

// Rows of numbers.
function rowsOf({ sizes, values }, read = (number) => number) {
  const numbers = numeralsOf(values);
  let end = 0;
  return numeralsOf(sizes).map((n) => numbers.slice(end, (end += n)).map(read));
}

// A number of three digits: 0, or 1 + 900 (exponent + 9) + digits - 100.
const POWERS = Array.from({ length: 23 }, (_, i) => Number(`1e${i}`));
function shortFloat(code) {
  const exponent = Math.floor((code - 1) / 900) - 11;
  const digits = 100 + ((code - 1) % 900);
  if (code === 0) return 0;
  return exponent < 0 ? digits / POWERS[-exponent] : digits * POWERS[exponent];
}

// Square roots of proportions in 16 bits, all high bytes before all low bytes: proportion = (q / 65535)^2.
const rootsOf = (text) => digitsOf(text, 256, new Float32Array(text.length / 2)).map((step) => step / 65535);

// Parts of the store that the first view does not need are made when a page asks for them.
function whenNeeded(name, make, owner = store) {
  Object.defineProperty(owner, name, {
    configurable: true,
    get: () => {
      const value = make();
      Object.defineProperty(owner, name, { value });
      return value;
    },
  });
}

export async function load() {
  const index = settings.live ? await asked("data/index") : await block("index");
  Object.assign(store, index);
  const { topics, tags, documents, words, sizes } = index;
  store.K = sizes.topics;
  store.tokens = words.total;
  const rows = { words: tags.words, credits: tags.credits, tags: documents.tags, documents: index.posted };
  whenNeeded("words", () => rowsOf(rows.words), tags);
  whenNeeded("credits", () => rowsOf({ sizes: rows.words.sizes, values: rows.credits }, shortFloat), tags);
  whenNeeded("tags", () => rowsOf(rows.tags), documents);
  whenNeeded("documents", () => rowsOf(rows.documents), words);
  whenNeeded("counted", () => rowsOf(index.counted));
  whenNeeded("tagTokens", () => numeralsOf(tags.tokens).map(shortFloat));
  whenNeeded("tagRoots", () => rootsOf(tags.profiles));
  whenNeeded("docRoots", () => rootsOf(documents.topics));
  whenNeeded("wordShares", () => rootsOf(words.shares));
  whenNeeded("docsOfTag", () => {
    const docs = tags.names.map(() => []);
    documents.tags.forEach((row, d) => row.forEach((t) => docs[t].push(d)));
    return docs;
  });
  store.kindOf = numeralsOf(tags.kinds.of);
  store.kinds = new Map(tags.kinds.names.map((kind) => [kind, []]));
  const members = [...store.kinds.values()];
  store.kindOf.forEach((kind, t) => members[kind].push(t));
  store.homonyms = new Set(tags.kinds.homonyms);
  readNames();
  whenNeeded("labels", () => topics.tags.map((typical, k) => (index.pictures ? typical.slice(0, 4).map(tagFull) : wordsOf(k, 4).map(([w]) => words.names[w]))));
}

// How many documents have all of these tags; documents that are not listed count, too.
export function countWith(tags) {
  const has = (row) => tags.every((t) => row.includes(t));
  return store.docsOfTag[tags[0]].filter((d) => has(store.documents.tags[d])).length + store.counted.filter(has).length;
}
// Tags of rows of tags, with the number of rows, most frequent first.
export function tagCounts(rows) {
  const counts = new Map();
  for (const row of rows) for (const t of row) counts.set(t, (counts.get(t) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
}
// The tags of the documents that have a tag.
export const tagsWith = (t) =>
  tagCounts([...store.docsOfTag[t].map((d) => store.documents.tags[d]), ...store.counted.filter((row) => row.includes(t))]).filter(([u]) => u !== t);
// Said where a count covers only a part of the collection.
export const ofListed = () =>
  store.sizes.counted < store.sizes.documents ? ` among the ${whole(store.sizes.counted)} documents in this file` : "";

// The name of a topic; with more than three words, those instead.
export const topicName = (k) => ownNames.get(k) ?? store.topics.names[k];
export const topicLabel = (k, n = 3) => (n > 3 ? store.labels[k].slice(0, n).join(", ") : topicName(k));
export const isBackground = (k) => store.topics.background[k];
// Topics in their order, background topics at the end.
export const telling = (topics) => [false, true].flatMap((grey) => topics.filter((k) => isBackground(k) === grey));
// The largest topics of a profile that characterise it: without those of the whole collection.
export const tellingTopics = (profile, n) => topOf(profile, n + store.K).filter((k) => !isBackground(k)).slice(0, n);
export const titleOf = (d) => (store.documents.titles && store.documents.titles[d]) || store.documents.ids[d];
export const mainTopic = (d) => store.map.region[d]; // the one that distinguishes it most
export const dateOf = (d) => (store.documents.dates && store.documents.dates[d]) || "";
// The address of a document elsewhere; anything but http and https is left out.
export function sourceOf(d) {
  try {
    const url = new URL((store.documents.urls && store.documents.urls[d]) || "");
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : null;
  } catch {
    return null;
  }
}
// A tag as people read it: its name in the thesaurus, if it is an identifier that has one.
export const tagInThesaurus = (t) => (store.tags.labels && store.tags.labels[t]) || "";
export const tagFull = (t) => tagInThesaurus(t) || store.tags.names[t];
export const tagsAsRead = () => (store.tagsAsRead ||= store.tags.names.map((_, t) => tagFull(t)));
export const tagsToFind = () => (store.tagsToFind ||= store.tags.names.map((name, t) => (tagFull(t) === name ? name : `${tagFull(t)} ${name}`)));
export const tagKind = (t) => (tagInThesaurus(t) ? "" : store.tags.kinds.names[store.kindOf[t]]);
// Without its kind; where this is not shown beside it, homonyms keep it: package:numpy, subpackage:numpy.
export const tagBare = (t) => (tagKind(t) ? store.tags.names[t].slice(tagKind(t).length).replace(/^:+/, "") : tagFull(t));
export const tagShort = (t) => (store.homonyms.has(t) ? tagFull(t) : tagBare(t));
export const tagLabel = (t) => [tagKind(t) ? h("span", { class: "kind" }, tagKind(t)) : null, bdi(tagBare(t))];
const square = (roots, row) => Float64Array.from(roots.subarray(row * store.K, (row + 1) * store.K), (x) => x * x);
export const tagProfile = (t) => square(store.tagRoots, t);
export const docTopics = (d) => square(store.docRoots, d);

export function normal(values) {
  let sum = 0;
  for (const x of values) sum += x;
  return values.map((x) => (sum > 0 ? x / sum : 1 / values.length));
}

// The topics of all words of some documents.
export function sharesOf(docs) {
  const shares = new Float64Array(store.K);
  for (const d of docs)
    for (let k = 0; k < store.K; k++) shares[k] += (store.documents.tokens[d] || 1) * store.docRoots[d * store.K + k] ** 2;
  return normal(shares);
}

// The joint profile of several tags: the normalised product of their profiles.
export function together(tags) {
  let joint = new Float64Array(store.K).fill(1);
  for (const t of tags) {
    const one = tagProfile(t);
    joint = normal(joint.map((x, k) => x * one[k]));
  }
  return joint;
}

// The first words of a topic. Rows: word, p(w|k), lift.
export function wordsOf(k, n) {
  const { words, phi } = store.topics;
  const lift = (w, p) => p / Math.max(store.words.weight[w] / store.tokens, 1e-12);
  return words[k].slice(0, n).map((w, i) => [w, phi[k][i], lift(w, phi[k][i])]);
}

// Words of a distribution over topics, by their contribution to the divergence from the collection; words that it has hardly more of
// than the collection are left out.
const LEAST_LIFT = 1.5;
export function wordsUnder(profile, n) {
  const sums = new Map();
  profile.forEach((p, k) => {
    if (p < 1e-4) return;
    store.topics.words[k].forEach((w, i) => sums.set(w, (sums.get(w) || 0) + p * store.topics.phi[k][i]));
  });
  const rows = [...sums].map(([w, p]) => ({ w, p, lift: p / Math.max(store.words.weight[w] / store.tokens, 1e-12) }));
  const telling = rows.filter(({ lift }) => lift >= LEAST_LIFT);
  return (telling.length < n ? rows : telling).sort((a, b) => b.p * Math.log(b.lift) - a.p * Math.log(a.lift) || a.w - b.w).slice(0, n);
}

// Overlap of two distributions given by their square roots: 1 if equal, 0 if disjoint.
export function overlap(roots, a, other, b) {
  let sum = 0;
  for (let k = 0; k < store.K; k++) sum += roots[a * store.K + k] * other[b * store.K + k];
  return Math.min(sum, 1);
}

export function relatedDocuments(d, n) {
  const mine = new Set(store.documents.tags[d]);
  const scores = new Float32Array(store.documents.ids.length);
  for (let e = 0; e < scores.length; e++) scores[e] = e === d ? -1 : overlap(store.docRoots, d, store.docRoots, e);
  const best = topOf(scores, n).filter((e) => scores[e] > 0);
  return best.map((e) => {
    const parts = Float64Array.from({ length: store.K }, (_, k) => store.docRoots[d * store.K + k] * store.docRoots[e * store.K + k]);
    return { doc: e, score: scores[e], topics: tellingTopics(parts, 2).filter((k) => parts[k] > 0.08), tags: store.documents.tags[e].filter((t) => mine.has(t)) };
  });
}

// Bodies of documents, in packs; the last few packs are cached.
const packs = new Map();
export async function body(d) {
  const packed = await packedBody(d);
  return packed && wholeBody(packed);
}
export async function packedBody(d) {
  if (d >= settings.bodies) return null;
  const at = Math.floor(d / settings.chunk);
  if (!packs.has(at)) {
    packs.set(at, settings.live ? asked(`data/bodies/${at}`) : block(`bodies-${at}`));
    if (packs.size > 24) packs.delete(packs.keys().next().value);
  }
  return (await packs.get(at))[d % settings.chunk];
}

// A body as the pages use it. Words that stand in the text as they are in the index are found here.
const PLAIN_WORD = /[0-9A-Za-z_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]+/g;
const numbersOf = (letters) => Array.from(letters, (letter) => letter.codePointAt(0) - FIRST_LETTER);
function wholeBody(packed) {
  const found = { ...packed, k: numbersOf(packed.k) };
  if (packed.w === undefined && packed.t !== undefined) Object.assign(found, wordsIn(packed.t));
  if (packed.f && packed.f.length)
    found.c = packed.c ? numbersOf(packed.c).map((p) => p * 2.55) : found.w.map(() => 255);
  return found;
}
function wordsIn(text) {
  const hits = [];
  const counts = new Map();
  for (const match of text.matchAll(PLAIN_WORD)) {
    const word = placeOf("word", store.words.names).get(match[0].toLowerCase());
    if (word === undefined) continue;
    hits.push([match.index, match[0].length, word]);
    counts.set(word, (counts.get(word) || 0) + 1);
  }
  const w = [...counts.keys()].sort((a, b) => a - b);
  const place = new Map(w.map((word, i) => [word, i]));
  let at = 0;
  const s = hits.flatMap(([start, length, word]) => {
    const gap = start - at;
    at = start + length;
    return [gap, length, place.get(word)];
  });
  return { w, n: w.map((word) => counts.get(word)), s };
}

const named = {};

export function placeOf(kind, names) {
  if (!named[kind]) {
    named[kind] = new Map();
    names.forEach((name, i) => {
      if (!named[kind].has(name)) named[kind].set(name, i);
    });
  }
  return named[kind];
}

export const isNumber = (text) => /^\d{1,9}$/.test(text);

export const topicHue = (k) => regionHue(k) ?? (215 + k * 137.508) % 360;

// Inside a document, topics take the same hues as tags, the largest topic first: on the map, two of them may have one hue.
export function huesIn(topics) {
  const order = topOf(topics, store.K);
  return (k) => slotHue(order.indexOf(k));
}

export const badge = (k, hue = topicHue(k)) =>
  h("span", { class: isBackground(k) ? "badge plain" : "badge", vars: { "--hue": hue }, "aria-hidden": "true" }, String(k));

const SHORTS = (base64) => new Uint16Array(bytesOf(base64).buffer);

export async function loadMap() {
  const found = settings.live ? await asked("data/map") : await block("map-data");
  const [x, y] = [SHORTS(found.x), SHORTS(found.y)].map((part) => Float32Array.from(part, (v) => v / 65535));
  store.map = { ...found, x, y, region: SHORTS(found.region) };
}

// The hue of a topic on the map; before it is loaded, hues are spread evenly.
const regionHue = (k) => (store.map ? store.map.colours[k][0] : null);

export const ownNames = new Map();

export const namesKey = () => `tagtopics-names ${store.title} ${store.K} ${store.topics.names.join("|").length}`;

function readNames() {
  for (const [k, name] of Object.entries(kept(namesKey())))
    if (isNumber(k) && Number(k) < store.K && typeof name === "string" && name) ownNames.set(Number(k), name.slice(0, 80));
}

export const numbersOfTags = (names) => names.map((name) => store.tags.names.indexOf(name));
