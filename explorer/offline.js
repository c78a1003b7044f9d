// Analysis of new texts inside the file: words, topics by fold-in, tags by kernel ridge regression.
import { plural, settings, topOf, whole } from "./dom.js";
import { asked, block, bytesOf, normal, overlap, placeOf, store } from "./data.js";
import { Solver } from "./solver.js";

let offlineBench = null;
export function loadBench() {
  offlineBench ||= block("bench").then(async (found) => {
    const model = decodedBench(found);
    if (model.tags) await inferTopics(model);
    if (model.tags && model.tags.line) model.tags.solver = new Solver(model);
    return model;
  });
  return offlineBench;
}

// The topics of the training documents: those of the list, where the regression is on all of them, or by
// fold-in as for new texts. The page stays usable meanwhile.
async function inferTopics(model) {
  const { words, shares, tokens, documents, rows, line } = model.tags;
  const roots = new Float32Array(documents * store.K);
  const listed = line ? placeOf("row", store.documents.rows) : new Map();
  for (let d = 0; d < documents; d++) {
    const place = line ? listed.get(rows[d]) : undefined;
    if (place !== undefined) {
      roots.set(store.docRoots.subarray(place * store.K, (place + 1) * store.K), d * store.K);
      continue;
    }
    const counts = new Map();
    for (let i = words.starts[d]; i < words.starts[d + 1]; i++) counts.set(words.values[i], Math.round(shares[i] * tokens[d]));
    foldIn(model, counts).forEach((p, k) => (roots[d * store.K + k] = Math.sqrt(p)));
    if (d % 100 === 99) await new Promise((done) => setTimeout(done, 0));
  }
  model.tags.roots = roots;
}

// Whole numbers from two planes of bytes, the low ones first.
function planesOf(base64) {
  const bytes = bytesOf(base64);
  const n = bytes.length / 2;
  const values = new Uint16Array(n);
  for (let i = 0; i < n; i++) values[i] = bytes[i] | (bytes[n + i] << 8);
  return values;
}
// Ascending numbers by row, from their differences.
function raggedOf({ sizes, gaps }) {
  const values = Uint32Array.from(planesOf(gaps));
  const starts = new Uint32Array(sizes.length + 1);
  for (let r = 0; r < sizes.length; r++) {
    starts[r + 1] = starts[r] + sizes[r];
    for (let i = starts[r] + 1; i < starts[r + 1]; i++) values[i] += values[i - 1];
  }
  return { starts, values };
}

function decodedBench(found) {
  const phi = Float32Array.from(bytesOf(found.phi), (root) => (root / 255) ** 2);
  const column = new Map(store.words.names.map((name, w) => [name, w]));
  return { ...found, phi, column, stop: new Set(found.settings.stop), tags: found.tags && decodedTags(found.tags) };
}

function decodedTags(tags) {
  const words = raggedOf(tags.words);
  const counts = planesOf(tags.counts);
  const shares = new Float32Array(counts.length);
  const W = store.words.names.length;
  const starts = new Uint32Array(W + 1);
  for (const w of words.values) starts[w + 1]++;
  for (let w = 0; w < W; w++) starts[w + 1] += starts[w];
  const at = starts.slice();
  const docs = new Uint32Array(counts.length);
  const byWord = new Float32Array(counts.length);
  for (let d = 0; d < tags.documents; d++)
    for (let i = words.starts[d]; i < words.starts[d + 1]; i++) {
      shares[i] = counts[i] / tags.tokens[d];
      const place = at[words.values[i]]++;
      [docs[place], byWord[place]] = [d, shares[i]];
    }
  return {
    ...tags, words, shares, postings: { starts, docs, shares: byWord }, tags: raggedOf(tags.tags),
    steps: tags.coefficients ? Int16Array.from(planesOf(tags.coefficients), (v) => (v & 1 ? -(v + 1) / 2 : v / 2)) : null,
  };
}

const WORD = /[\p{L}\p{N}_][\p{L}\p{N}_\p{M}]*(?:[\u200c\u200d]+[\p{L}\p{N}_][\p{L}\p{N}_\p{M}]*)*/gu;

// Where the tokens of a text are, by the pattern of the recipe (`record/workbench.py`), or the default one.
function tokensOf(model, text) {
  const own = model.settings.pattern;
  if (!own) return [...text.matchAll(WORD)].map((match) => [match.index, match.index + match[0].length]);
  return [...text.matchAll(new RegExp(own, "dgu"))].map((match) => match.indices.at(-1)).filter(Boolean);
}

// The words of a text that the model knows, with counts; where they are; how many it does not know.
export function wordsOfText(model, original) {
  const { lowercase, shortest, ngrams, pattern } = model.settings;
  const normal = original.normalize("NFC");
  const folded = lowercase ? normal.replace(/\u0130/g, "i").toLowerCase().normalize("NFC") : normal;
  const text = folded.length === normal.length ? normal : folded;
  const kept = (word) => [...word].length >= shortest && !model.stop.has(word) && (pattern || /\p{L}/u.test(word));
  const tokens = tokensOf(model, folded).map(([start, stop]) => [start, stop, folded.slice(start, stop)]).filter(([, , word]) => kept(word));
  const counts = new Map();
  const spans = [];
  let unknown = 0;
  for (let n = ngrams[0]; n <= ngrams[1]; n++)
    for (let i = 0; i + n <= tokens.length; i++) {
      const w = model.column.get(tokens.slice(i, i + n).map((token) => token[2]).join(" "));
      if (w === undefined) {
        unknown++;
        continue;
      }
      counts.set(w, (counts.get(w) || 0) + 1);
      spans.push([tokens[i][0], tokens[i + n - 1][1], w]);
    }
  spans.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  const known = [...counts.values()].reduce((sum, x) => sum + x, 0);
  return { text, counts: new Map([...counts].sort((a, b) => a[0] - b[0])), spans, known, unknown };
}

// The same steps as `kernels/fold.py`: all words at once, until the topics of the document settle.
function foldIn(model, counts) {
  const K = store.K;
  const { relaxation, iterations, tolerance } = model.settings;
  const { phi, prior } = model;
  const theta = Float64Array.from(prior);
  const floor = new Float64Array(K).fill(1);
  const sums = new Float64Array(K);
  const part = new Float64Array(K);
  const known = { words: Uint32Array.from(counts.keys()), counts: Float64Array.from(counts.values()) };
  let tokens = 0;
  for (const n of known.counts) tokens += n;
  gains(phi, known, theta, floor, sums, part);
  for (let k = 0; k < K; k++) theta[k] = sums[k] + prior[k];
  for (let i = 0; i < iterations; i++) {
    for (let k = 0; k < K; k++) floor[k] = prior[k] / theta[k];
    gains(phi, known, theta, floor, sums, part);
    let moved = 0;
    for (let k = 0; k < K; k++) moved += Math.abs(sums[k] + prior[k] - theta[k]);
    if (moved < tolerance * tokens) break;
    for (let k = 0; k < K; k++) {
      const fresh = sums[k] + prior[k];
      theta[k] = Math.max(fresh + relaxation * (fresh - theta[k]), prior[k]);
    }
  }
  return normal(sums.map((x, k) => x + prior[k]));
}

// Tokens by topic: into `sums`, with `part` for the words' parts.
function gains(phi, { words, counts }, theta, floor, sums, part) {
  const K = theta.length;
  sums.fill(0);
  for (let i = 0; i < words.length; i++) {
    const row = words[i] * K;
    let own = 0;
    for (let k = 0; k < K; k++) own += theta[k] * phi[row + k];
    let total = 0;
    for (let k = 0; k < K; k++) {
      const p = phi[row + k];
      const kept = 1 - p / own;
      part[k] = p * (kept > floor[k] ? kept : floor[k]);
      total += theta[k] * part[k];
    }
    const scale = counts[i] / total;
    for (let k = 0; k < K; k++) sums[k] += scale * part[k];
  }
  for (let k = 0; k < K; k++) sums[k] *= theta[k];
}

// Similarities of a text with the training documents, as in `recommend/loops.py`.
function similarities(model, counts, topics) {
  const { postings, roots, documents } = model.tags;
  const { topicWeight } = model.settings;
  const alike = new Float64Array(documents);
  let tokens = 0;
  for (const n of counts.values()) tokens += n;
  for (const [w, n] of counts) {
    const x = n / tokens;
    for (let p = postings.starts[w]; p < postings.starts[w + 1]; p++) {
      const y = postings.shares[p];
      alike[postings.docs[p]] += (2 * x * y) / (x + y);
    }
  }
  const own = topics.map(Math.sqrt);
  for (let d = 0; d < documents; d++) alike[d] = (1 - topicWeight) * alike[d] + topicWeight * overlap(own, 0, roots, d);
  return alike;
}

function tagScores(model, alike) {
  const { tags } = model;
  const T = tags.columns.length;
  const scores = new Float64Array(T);
  const kernel = (value) => Math.exp(tags.bandwidth * (value - 1));
  let rest = 1;
  if (tags.steps) {
    const near = alike.map(kernel);
    for (let t = 0; t < T; t++) {
      let sum = 0;
      const start = t * tags.documents;
      for (let d = 0; d < tags.documents; d++) sum += near[d] * tags.steps[start + d];
      scores[t] = sum * tags.step;
    }
  } else {
    const weights = tags.solver.weights(alike.map(kernel));
    weights.forEach((weight, d) => {
      rest -= weight;
      for (let p = tags.tags.starts[d]; p < tags.tags.starts[d + 1]; p++) scores[tags.tags.values[p]] += weight;
    });
  }
  return scores.map((score, t) => score + (rest * tags.carriers[t]) / tags.all);
}

// Probabilities of all tags: the calibration of `recommend/calibration.py`.
function tagProbabilities(model, scores) {
  const { tags } = model;
  const T = scores.length;
  const FLOOR = 3e-3;
  const company = new Float64Array(T);
  tags.together ||= companyOf(tags);
  tags.together.forEach((row, t) => {
    if (scores[t] > 0) row.forEach((share, u) => (company[u] += scores[t] * share));
  });
  const w = tags.weights;
  return scores.map((score, t) => {
    const rarity = Math.log((tags.carriers[t] + 0.5) / (tags.all + 1));
    const sum =
      w[0] +
      w[1] * score +
      w[2] * Math.log(Math.max(score, 0) + FLOOR) +
      w[3] * rarity +
      w[4] * Math.log(company[t] + FLOOR) +
      w[5] * score * rarity;
    return 1 / (1 + Math.exp(-sum));
  });
}

// For each tag: the share of its documents with each other tag.
function companyOf(tags) {
  const rows = tags.columns.map(() => new Map());
  for (let d = 0; d < tags.documents; d++) {
    const own = tags.tags.values.subarray(tags.tags.starts[d], tags.tags.starts[d + 1]);
    if (own.length > tags.company) continue;
    for (const t of own) for (const u of own) if (t !== u) rows[t].set(u, (rows[t].get(u) || 0) + 1 / tags.carriers[t]);
  }
  return rows;
}

// The words behind tags: how much more of each the nearest documents with the tag share than all of them.
function reasonsFor(model, counts, alike, chosen, n = 6) {
  const { tags } = model;
  const rows = topOf(alike, model.settings.neighbours);
  let tokens = 0;
  for (const count of counts.values()) tokens += count;
  const shared = rows.map((d) => {
    const own = new Map();
    for (let i = tags.words.starts[d]; i < tags.words.starts[d + 1]; i++) {
      const count = counts.get(tags.words.values[i]);
      if (count) own.set(tags.words.values[i], (2 * (count / tokens) * tags.shares[i]) / (count / tokens + tags.shares[i]));
    }
    return own;
  });
  const carries = (d, t) => tags.tags.values.subarray(tags.tags.starts[d], tags.tags.starts[d + 1]).includes(t);
  const mean = (maps, w) => maps.reduce((sum, own) => sum + (own.get(w) || 0), 0) / Math.max(maps.length, 1);
  const words = [...counts.keys()];
  const all = new Map(words.map((w) => [w, mean(shared, w)]));
  return chosen.map((t) => {
    const of = shared.filter((_, i) => carries(rows[i], t));
    if (!of.length) return [];
    const pull = words.map((w) => mean(of, w) - all.get(w));
    return topOf(pull, n).filter((i) => pull[i] > 0).map((i) => store.words.names[words[i]]);
  });
}

// What the server answers, from the file.
async function offlineAnswers(text) {
  const model = await loadBench();
  const found = wordsOfText(model, text);
  const refused = refusal(found.known, found.unknown);
  if (refused) throw new Error(refused);
  const topics = foldIn(model, found.counts);
  /** @type {any} */
  let [recommended, alike, likely] = [{ failed: "This file has no recommender." }, null, null];
  if (model.tags) {
    alike = similarities(model, found.counts, topics);
    likely = tagProbabilities(model, tagScores(model, alike));
    const best = topOf(likely, 30);
    const words = reasonsFor(model, found.counts, alike, best);
    recommended = best.map((t, i) => ({ tag: store.tags.names[model.tags.columns[t]], score: likely[t], words: words[i] }));
  }
  const spans = found.spans.map(([start, stop, w]) => {
    const posterior = topics.map((p, k) => p * model.phi[w * store.K + k]);
    return [start, stop, w, topOf(posterior, 1)[0]];
  });
  return {
    topics: { topics: [...topics], known_words: found.known, unknown_words: found.unknown },
    related: relatedTo(model, topics, alike, likely), explained: null, recommended, read: { text: found.text, spans },
  };
}

// Documents that probably share a tag, or whose words and topics are similar: as `TagRecommender.relate`.
const SURE = 0.9; // largest probability of a tag here
function relatedTo(model, topics, alike, likely) {
  const own = topics.map(Math.sqrt);
  const scores = Float32Array.from(store.documents.ids, (_, d) => overlap(own, 0, store.docRoots, d) * (alike ? model.settings.topicWeight : 1));
  const place = placeOf("row", store.documents.rows);
  (alike || []).forEach((similarity, d) => {
    const { starts, values } = model.tags.tags;
    let missed = 1;
    for (let p = starts[d]; p < starts[d + 1]; p++) missed *= 1 - Math.min(likely[values[p]], SURE);
    if (place.has(model.tags.rows[d])) scores[place.get(model.tags.rows[d])] = 1 - missed * (1 - Math.max(similarity, 0));
  });
  return topOf(scores, LANDING).map((d) => ({ row: store.documents.rows[d], score: scores[d] }));
}

const LEAST_KNOWN = 0.2; // share of a text's words that the model must know

const LANDING = 15; // nearest documents, whose mean is the place of a text on the map

export const hasBench = () =>
  settings.live ? ["transform", "photograph"].some((kind) => settings.offers.includes(kind)) : settings.bench;

// Why a text is refused, given its numbers of known and unknown words; null if it is not.
function refusal(known, unknown) {
  if (!known) return "The model knows none of the words of this text, so it cannot analyse it.";
  if (known < LEAST_KNOWN * (known + unknown))
    return `The model knows only ${whole(known)} of ${plural(known + unknown, "word")} of this text, too few to analyse it. Is it in the language of the collection?`;
  return null;
}

export async function answersFor(text, tags) {
  if (!settings.live) return offlineAnswers(text);
  const names = tags.map((t) => store.tags.names[t]);
  const documents = [{ text, tags: names }];
  const optional = (kind, body) =>
    settings.offers.includes(kind)
      ? asked(`api/v1/${kind}`, body).catch((error) => ({ failed: error.message }))
      : { failed: kind === "recommend" ? `${store.model} does not recommend.` : `${store.model} does not explain.` };
  const [topics, related, explained, recommended] = await Promise.all([
    asked("api/v1/transform", { documents }),
    asked("api/v1/related", { documents, top: LANDING }),
    tags.length ? optional("explain", { documents }) : null,
    optional("recommend", { documents: [{ text }], top: 30 }),
  ]);
  const refused = refusal(topics.documents[0].known_words, topics.documents[0].unknown_words);
  if (refused) throw new Error(refused);
  return {
    topics: topics.documents[0], related: related.documents[0],
    explained: explained && !explained.failed ? explained.documents[0] : null,
    recommended: recommended.failed ? recommended : recommended.documents[0],
  };
}

export const documentsIn = (related) => related.map(({ row, score }) => ({ d: placeOf("row", store.documents.rows).get(row), score })).filter(({ d }) => d !== undefined);

// Where a text lands: the weighted mean of the places of its nearest documents, and how far from it they are.
export function landing(near) {
  const all = near.reduce((sum, { score }) => sum + score, 0);
  const mean = (value) => near.reduce((sum, { d, score }) => sum + score * value(d), 0) / all;
  const [x, y] = [mean((d) => store.map.x[d]), mean((d) => store.map.y[d])];
  return [x, y, Math.sqrt(mean((d) => (store.map.x[d] - x) ** 2 + (store.map.y[d] - y) ** 2))];
}
