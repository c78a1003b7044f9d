// Addresses: pages by name, with the state of their controls, so that they survive a new fit.
// `#/topic/NAME-OR-NUMBER`, `#/tag/NAME`, `#/tags/A+B`, `#/document/ID`, `#/word/WORD`, each with `?name=value`.
import { byId, topOf } from "./dom.js";
import { isNumber, placeOf, store } from "./data.js";

const inAddress = (text) => encodeURIComponent(text.toWellFormed ? text.toWellFormed() : text);

export const topicHref = (k) => `#/topic/${inAddress(store.topics.names[k])}`;
export const tagHref = (t) => `#/tag/${inAddress(store.tags.names[t])}`;
export const groupHref = (tags) => `#/tags/${tags.map((t) => inAddress(store.tags.names[t])).join("+")}`;
export const wordHref = (w) => `#/word/${inAddress(store.words.names[w])}`;
export function documentHref(d) {
  const id = store.documents.ids[d];
  const unique = placeOf("document", store.documents.ids).get(id) === d;
  return `#/document/${inAddress(id)}${unique ? "" : `?row=${store.documents.rows[d]}`}`;
}
// By name; otherwise, old addresses are numbers.
function byName(kind, names, text) {
  const found = placeOf(kind, names).get(text);
  if (found !== undefined) return found;
  return isNumber(text) && Number(text) < names.length ? Number(text) : -1;
}
// A tag by its own name, else by that in the thesaurus, which no other tag has.
export function tagAt(text) {
  const named = byName("tag", store.tags.names, text);
  return named < 0 && store.tags.labels ? (placeOf("label", store.tags.labels).get(text) ?? -1) : named;
}
export const wordAt = (text) => byName("word", store.words.names, text);
export function documentAt(text, row) {
  const rows = placeOf("row", store.documents.rows);
  if (row !== undefined && isNumber(row)) return rows.get(Number(row)) ?? -1;
  const found = placeOf("document", store.documents.ids).get(text);
  if (found !== undefined) return found;
  return isNumber(text) ? (rows.get(Number(text)) ?? -1) : -1;
}
// A topic by name or number; a name of another fit leads to the topic that has most of its words.
export function topicAt(text) {
  const exact = store.topics.names.indexOf(text);
  if (exact >= 0) return exact;
  if (isNumber(text)) return Number(text) < store.K ? Number(text) : -1;
  const wanted = text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const scores = store.topics.words.map((words, k) => {
    const own = new Map(words.map((w, i) => [store.words.names[w], store.topics.phi[k][i]]));
    return wanted.reduce((sum, word) => sum + (own.get(word) || 0), 0);
  });
  const best = topOf(scores, 1)[0];
  return best !== undefined && scores[best] > 0 ? best : -1;
}

// The state of controls, after the question mark.
export const stateOf = () => new URLSearchParams(location.hash.split("?")[1] || "");
// An address inside the explorer, with and without parameters.
export function hashWith(hash, change) {
  const [path, query] = hash.split("?");
  const state = new URLSearchParams(query || "");
  for (const [name, value] of Object.entries(change)) if (value === null) state.delete(name);
    else state.set(name, value);
  const text = state.toString();
  return text ? `${path || "#/"}?${text}` : path || "#/";
}
const replaceHash = (hash) => history.replaceState(history.state, "", hash);
export const keepState = (name, value, usual, keep = replaceHash) =>
  keep(hashWith(location.hash, { [name]: String(value) === String(usual) ? null : value }));
// The address by name replaces an older one of the same page.
export function rename(href) {
  const [path, query] = location.hash.split("?");
  if (path !== href.split("?")[0]) replaceHash(query ? `${href.split("?")[0]}?${query}` : href);
}

// Where the reader was on the pages of this visit, by the number that each entry of the history has: going back
// leads to the same place, with lists as long as they were.
const visits = [];
let visit = { scroll: 0, lists: [] };
let listsDrawn = 0;
// The visit that a list is drawn in, and its number there.
/** @type {() => [any, number]} */
export const nextList = () => [visit, listsDrawn++];
function knownVisit() {
  const { opened, number } = history.state || {};
  return opened === performance.timeOrigin ? visits[number] : undefined;
}
// Two quick changes of the address are two events, but only one page: the first event has drawn it.
export const isDrawn = () => knownVisit() === visit;
export function beginVisit() {
  visit.scroll = window.scrollY; // the page before is still there
  listsDrawn = 0;
  const known = knownVisit();
  if (known) return (visit = known);
  visit = { scroll: 0, lists: [] };
  history.replaceState(numbered(visit), "");
  return visit;
}
const numbered = (one) => ({ opened: performance.timeOrigin, number: visits.push(one) - 1 });
// A choice on the page that is drawn already: going back takes it back.
export function pushHash(hash) {
  if (hash === location.hash) return;
  visit.scroll = window.scrollY;
  listsDrawn = 0;
  visit = { scroll: 0, lists: [] };
  history.pushState(numbered(visit), "", hash);
  document.documentElement.dataset.place = hash;
}
// Scroll to where the reader was; some pages get their content a moment later.
export function backToPlace({ scroll }) {
  window.scrollTo(0, scroll);
  if (!scroll || Math.abs(window.scrollY - scroll) < 2) return;
  const watcher = new ResizeObserver(() => {
    window.scrollTo(0, scroll);
    if (Math.abs(window.scrollY - scroll) < 2) watcher.disconnect();
  });
  watcher.observe(byId("main"));
  setTimeout(() => watcher.disconnect(), 3000);
}

export function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const headline = () => {
  const node = /** @type {HTMLElement} */ (document.querySelector("main h1 bdi") || document.querySelector("main h1")); // without the number of a topic
  return node ? node.innerText.replace(/\s+/g, " ").trim() : store.title;
};

const FLAGS = ["embed", "card"];

export const plainHash = (hash = location.hash) => hashWith(hash, Object.fromEntries(FLAGS.map((name) => [name, null])));

// The address of a place; of a file on disk its name only, not the folders of its owner.
export const addressOf = (hash) => (location.protocol === "file:" ? location.pathname.split("/").pop() : location.href.split("#")[0]) + hash;

export const embedCode = (change = {}) => {
  const source = addressOf(hashWith(plainHash(), { embed: 1, ...change }));
  const quoted = (text) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  return `<iframe src="${quoted(source)}" title="${quoted(headline())}" width="100%" height="520" loading="lazy"></iframe>`;
};
