// Full-text search over all text in the file: accents folded, typing errors allowed, hits marked.

// Text without case and accents; `places[i]` is where character i of the result is in the text.
function foldedText(text, places) {
  if (/^[\x20-\x7e\n\r\t]*$/.test(text) && !places) return text.toLowerCase();
  let out = "";
  let at = 0;
  for (const character of text) {
    const plain = character.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
    for (let i = 0; i < plain.length; i++) if (places) places.push(at);
    out += plain;
    at += character.length;
  }
  if (places) places.push(at);
  return out;
}

// All texts, folded: read once, while the browser has nothing else to do, or at once when they are needed.
const texts = { folded: null, reading: null, read: 0, needed: false };
const idle = () => new Promise((done) => (window.requestIdleCallback ? requestIdleCallback(done, { timeout: 500 }) : setTimeout(done, 60)));
function readTexts(needed = true) {
  texts.needed ||= needed;
  texts.reading ||= (async () => {
    const folded = new Array(store.documents.ids.length);
    const total = Math.min(settings.bodies, folded.length);
    for (let d = 0; d < folded.length; d++) {
      if (!texts.needed && d % settings.chunk === 0) await idle();
      const found = d < total ? await packedBody(d) : null; // its words need not be found
      const words = found && found.t === undefined && found.w ? found.w.map((w) => store.words.names[w]).join(" ") : "";
      const start = (store.documents.snippets && store.documents.snippets[d]) || "";
      folded[d] = foldedText(`${titleOf(d)}\n${(found && found.t) || words || start}`);
      texts.read = d + 1;
    }
    texts.folded = folded;
  })();
  return texts.reading;
}

// Terms of a query: words, and phrases in quotation marks.
function termsOf(query) {
  return [...foldedText(query).matchAll(/"([^"]+)"|(\S+)/g)]
    .map((match) => (match[1] || match[2]).trim())
    .filter(Boolean)
    .slice(0, 8);
}

const isWordCharacter = (text, i) => i >= 0 && i < text.length && /[\p{L}\p{N}]/u.test(text[i]);
// Where a term is at the beginning of a word, from a place on; -1 if nowhere.
function foundAt(text, term, from = 0) {
  for (let at = text.indexOf(term, from); at >= 0; at = text.indexOf(term, at + 1))
    if (!isWordCharacter(text, at - 1) || !isWordCharacter(term, 0)) return at;
  return -1;
}

// The documents that have all terms, as a set, and the terms. One that no text has is replaced by similar words.
async function searchedTexts(query) {
  await readTexts();
  const terms = termsOf(query).map((term) => {
    if (texts.folded.some((text) => foundAt(text, term) >= 0)) return { term, words: [term] };
    return { term, words: similarWords(term, 6), corrected: true };
  });
  const documents = new Set();
  if (terms.length)
    texts.folded.forEach((text, d) => {
      if (terms.every(({ words }) => words.some((word) => foundAt(text, word) >= 0))) documents.add(d);
    });
  return { documents, terms };
}

// The documents whose title or text has a word, not only one that begins so.
async function documentsWith(word) {
  await readTexts();
  const term = foldedText(word);
  const has = (text) => {
    let at = foundAt(text, term);
    while (at >= 0 && isWordCharacter(text, at + term.length)) at = foundAt(text, term, at + 1);
    return at >= 0;
  };
  return [...texts.folded.keys()].filter((d) => has(texts.folded[d]));
}

// Edit distance with transpositions, up to a limit; larger ones count as limit + 1.
function editDistance(a, b, limit) {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let [before, last] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j], before[j - 2] + 1);
      least = Math.min(least, row[j]);
    }
    if (least > limit) return limit + 1;
    [before, last] = [last, row];
  }
  return Math.min(last[b.length], limit + 1);
}
const typosOf = (term) => (term.length >= 8 ? 2 : term.length >= 4 ? 1 : 0);

const similarWords = (term, n) =>
  similarNames("words", store.words.names, term, n).map((w) => foldedNames("words", store.words.names)[w]);
// Names at a small distance from a term, nearest first.
function similarNames(kind, names, term, n) {
  const limit = typosOf(term);
  if (!limit) return [];
  const rows = [];
  foldedNames(kind, names).forEach((name, i) => {
    const best = Math.min(...(kind === "words" ? [name] : [name, ...name.split(/[\s:._/-]+/)]).map((part) => editDistance(term, part, limit)));
    if (best <= limit) rows.push([best, i]);
  });
  rows.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return rows.slice(0, n).map((row) => row[1]);
}
const foldedStore = {};
const foldedNames = (kind, names) => (foldedStore[kind] ||= names.map((name) => foldedText(name)));

// Where the word at a place begins; far back in a text without spaces, the place itself.
function wordStart(text, place) {
  if (place <= 0) return 0;
  const space = Math.max(text.lastIndexOf(" ", place - 1), text.lastIndexOf("\n", place - 1)) + 1;
  return place - space < 24 ? space : place;
}
// Part of a text around its first hit, with all hits marked.
function markedText(text, words, length = 260) {
  const places = [];
  const folded = foldedText(text, places);
  const hits = [];
  for (const word of words)
    for (let at = foundAt(folded, word); at >= 0; at = foundAt(folded, word, at + word.length))
      hits.push([places[at], places[at + word.length]]);
  hits.sort((a, b) => a[0] - b[0]);
  const start = hits.length ? wordStart(text, hits[0][0] - 80) : 0;
  const end = start + length < text.length ? wordStart(text, start + length) : text.length;
  const parts = [start ? "… " : ""];
  let at = start;
  for (const [a, b] of hits) {
    if (a < at || b > end) continue;
    parts.push(text.slice(at, a), h("mark", {}, text.slice(a, b)));
    at = b;
  }
  parts.push(text.slice(at, Math.max(end, at)).trimEnd(), end < text.length ? " …" : "");
  return h("p", { class: "snippet", dir: "auto" }, parts);
}

// Documents with hits in the title first, then those with many hits for their length.
function byHits(documents, terms) {
  const words = terms.flatMap((one) => one.words);
  const score = new Map(
    documents.map((d) => {
      const text = texts.folded[d];
      const title = text.slice(0, text.indexOf("\n"));
      let hits = 0;
      for (const word of words) for (let at = foundAt(text, word); at >= 0 && hits < 60; at = foundAt(text, word, at + word.length)) hits++;
      const inTitle = words.filter((word) => foundAt(title, word) >= 0).length;
      return [d, inTitle + hits / (20 + text.length / 40)];
    }),
  );
  return documents.sort((a, b) => score.get(b) - score.get(a) || a - b);
}

// The page of a query: totals of topics, tags, words and documents, hits marked.
function searchPage(query) {
  const found = h("div", { "aria-live": "polite" });
  const chips = (title, rows, draw, axis, form) =>
    rows.length
      ? figure({ title: `${title}: ${whole(rows.length)}`, rows, shown: 60, axis, form, mark: (some) => h("p", { class: "chips" }, some.map(draw)) })
      : null;
  const term = foldedText(query);
  const near = (kind, names, exact) => (exact.length ? exact : similarNames(kind, names, term, 12));
  const topics = findTopics(query);
  const tags = near("tagNames", tagsAsRead(), findTags(query, 5000));
  const words = store.pictures ? [] : near("words", store.words.names, findWords(query, 5000));
  const draw = ({ documents, terms }) => {
    const tagged = store.pictures ? [...new Set(tags.flatMap((t) => store.docsOfTag[t]))].sort((a, b) => a - b) : null;
    const rows = tagged || byHits([...documents], terms);
    const replaced = tagged ? [] : terms.filter((one) => one.corrected);
    const nothing = !topics.length && !tags.length && !words.length && !rows.length;
    const marks = terms.flatMap((one) => one.words);
    found.replaceChildren(
      ...[
        nothing ? h("p", {}, store.pictures ? "Nothing found. Search covers titles, tags and topics." : "Nothing found. Search covers titles, texts, tags, topics and words.") : null,
        ...replaced.map(({ term: typed, words: used }) =>
          remark(used.length ? `No text has “${typed}”; similar words: ${used.join(", ")}.` : `No text has “${typed}” or a similar word.`),
        ),
        rows.length
          ? documentFigure(
              {
                title: store.pictures ? `Photos with these tags: ${whole(rows.length)}` : `Documents: ${whole(rows.length)}`,
                question: settings.bodies < store.sizes.documents ? `Texts of ${whole(settings.bodies)} of ${plural(store.sizes.documents, "document")} are in this file.` : null,
                rows: rows.map((d) => documentItem(d)),
              },
              ({ d }) => hitRow(d, marks), 20,
              tagged ? null : h("p", {}, link(`#/?words=${encodeURIComponent(query)}`, {}, "Show them on the map →")),
            )
          : null,
      ].filter(Boolean),
    );
  };
  found.replaceChildren(h("p", { class: "wait" }, "Searching all texts …"));
  searchedTexts(query).then(draw);
  return [
    h("h1", {}, `“${query}”`),
    chips("Topics", topics.map((k) => topicItem(k, store.topics.share[k])), ({ id }) => link(topicHref(id), { class: "chip" }, topicLabel(id)), "Share of all words"),
    chips("Tags", tags.map((t) => tagItem(t, store.tags.documents[t], whole(store.tags.documents[t]))), ({ t, text }) => tagChip(t, text), "Documents", whole),
    chips("Words", words.map((w) => wordItem(w, store.words.weight[w], whole(store.words.weight[w]))), ({ id }) => wordLink(wordAt(id)), "Occurrences", whole),
    found,
  ];
}

function hitRow(d, marks) {
  const row = documentRow(d);
  const place = row.querySelector(".snippet");
  body(d).then((found) => {
    const text = found && found.t;
    if (!text) return;
    const marked = markedText(text, marks);
    if (place) place.replaceWith(marked);
    else row.append(marked);
  });
  return row;
}
