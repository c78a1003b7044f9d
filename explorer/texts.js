// Names and texts that are searched: accents folded, typing errors allowed.
import { settings } from "./dom.js";
import { packedBody, store, tagsAsRead, tagsToFind, titleOf, topicName } from "./data.js";

// Text without case and accents; `places[i]` is where character i of the result is in the text.
export function foldedText(text, places) {
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
export const texts = { folded: null, reading: null, read: 0, needed: false };

const idle = () => new Promise((done) => (window.requestIdleCallback ? requestIdleCallback(done, { timeout: 500 }) : setTimeout(done, 60)));

export function readTexts(needed = true) {
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
export function termsOf(query) {
  return [...foldedText(query).matchAll(/"([^"]+)"|(\S+)/g)]
    .map((match) => (match[1] || match[2]).trim())
    .filter(Boolean)
    .slice(0, 8);
}

const isWordCharacter = (text, i) => i >= 0 && i < text.length && /[\p{L}\p{N}]/u.test(text[i]);

// Where a term is at the beginning of a word, from a place on; -1 if nowhere.
export function foundAt(text, term, from = 0) {
  for (let at = text.indexOf(term, from); at >= 0; at = text.indexOf(term, at + 1))
    if (!isWordCharacter(text, at - 1) || !isWordCharacter(term, 0)) return at;
  return -1;
}

// The documents that have all terms, as a set, and the terms. One that no text has is replaced by similar words.
export async function searchedTexts(query) {
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
export async function documentsWith(word) {
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
export function editDistance(a, b, limit) {
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
export function similarNames(kind, names, term, n) {
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

// Search: prefixes first, then other matches; frequent before rare.
function matches(kind, names, weight, text, n) {
  const wanted = foldedText(text);
  const rows = [];
  foldedNames(kind, names).forEach((name, i) => {
    const at = name.indexOf(wanted);
    if (at >= 0) rows.push([name === wanted ? 0 : at === 0 || /[\s:._/-]/.test(name[at - 1]) ? 1 : 2, -weight(i), i]);
  });
  rows.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
  return rows.slice(0, n).map((row) => row[2]);
}

export const findTopics = (text) =>
  [...Array(store.K).keys()].filter((k) => termsOf(text).every((term) => foundAt(foldedText(`${topicName(k)} ${store.labels[k].join(" ")}`), term) >= 0));

// Tags with a similar name, or with one of its words.
export function nearTags(name, n) {
  const found = findTags(name, n);
  const parts = foldedText(name).split(/[\s:._/,-]+/).filter((part) => part.length > 2);
  for (const part of [foldedText(name), ...parts.reverse()])
    if (found.length < n) found.push(...similarNames("tagNames", tagsAsRead(), part, n));
  return [...new Set(found)].slice(0, n);
}

export const findTags = (text, n) => matches("tags", tagsToFind(), (t) => store.tags.documents[t], text, n);

export const findWords = (text, n) => matches("words", store.words.names, (w) => store.words.weight[w], text, n);

// Documents by title, id and the beginning of the text; `searchedTexts` covers all of it.
export function findDocuments(text, n) {
  const titles = (foldedStore.ids ||= store.documents.ids.map((id, d) => foldedText(titleOf(d) === id ? id : `${titleOf(d)} ${id}`)));
  const named = matches("ids", titles, (d) => store.documents.tokens[d], text, n);
  const seen = new Set(named);
  const terms = termsOf(text);
  const told = [];
  const starts = texts.folded || (store.documents.snippets && foldedNames("snippets", store.documents.snippets));
  for (let d = 0; starts && d < starts.length && named.length + told.length < n; d++)
    if (!seen.has(d) && terms.every((term) => foundAt(starts[d], term) >= 0)) told.push(d);
  return [...named, ...told];
}
