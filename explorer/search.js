// Full-text search over all text in the file: accents folded, typing errors allowed, hits marked.
import { h, link, plural, remark, settings, whole } from "./dom.js";
import { body, store, tagsAsRead, topicLabel } from "./data.js";
import { topicHref, wordAt } from "./address.js";
import { findTags, findTopics, findWords, foldedText, foundAt, searchedTexts, similarNames, texts } from "./texts.js";
import { documentRow, tagChip, wordLink } from "./widgets.js";
import { documentFigure, documentItem, figure, tagItem, topicItem, wordItem } from "./figure.js";

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
export function searchPage(query) {
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
