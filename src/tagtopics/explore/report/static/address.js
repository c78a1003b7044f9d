// Addresses: pages by name, with the state of their controls, so that they survive a new fit.
// `#/topic/NAME-OR-NUMBER`, `#/tag/NAME`, `#/tags/A+B`, `#/document/ID`, `#/word/WORD`, each with `?name=value`.
const named = {};
function placeOf(kind, names) {
  if (!named[kind]) {
    named[kind] = new Map();
    names.forEach((name, i) => {
      if (!named[kind].has(name)) named[kind].set(name, i);
    });
  }
  return named[kind];
}
const inAddress = (text) => encodeURIComponent(text.toWellFormed ? text.toWellFormed() : text);

const topicHref = (k) => `#/topic/${inAddress(store.topics.names[k])}`;
const tagHref = (t) => `#/tag/${inAddress(store.tags.names[t])}`;
const groupHref = (tags) => `#/tags/${tags.map((t) => inAddress(store.tags.names[t])).join("+")}`;
const wordHref = (w) => `#/word/${inAddress(store.words.names[w])}`;
function documentHref(d) {
  const id = store.documents.ids[d];
  const unique = placeOf("document", store.documents.ids).get(id) === d;
  return `#/document/${inAddress(id)}${unique ? "" : `?row=${store.documents.rows[d]}`}`;
}

const isNumber = (text) => /^\d{1,9}$/.test(text);
// By name; otherwise, old addresses are numbers.
function byName(kind, names, text) {
  const found = placeOf(kind, names).get(text);
  if (found !== undefined) return found;
  return isNumber(text) && Number(text) < names.length ? Number(text) : -1;
}
const tagAt = (text) => byName("tag", store.tags.names, text);
const wordAt = (text) => byName("word", store.words.names, text);
function documentAt(text, row) {
  const rows = placeOf("row", store.documents.rows);
  if (row !== undefined && isNumber(row)) return rows.get(Number(row)) ?? -1;
  const found = placeOf("document", store.documents.ids).get(text);
  if (found !== undefined) return found;
  return isNumber(text) ? (rows.get(Number(text)) ?? -1) : -1;
}
// A topic by name or number; a name of another fit leads to the topic that has most of its words.
function topicAt(text) {
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
const stateOf = () => new URLSearchParams(location.hash.split("?")[1] || "");
// An address inside the explorer, with and without parameters.
function hashWith(hash, change) {
  const [path, query] = hash.split("?");
  const state = new URLSearchParams(query || "");
  for (const [name, value] of Object.entries(change)) if (value === null) state.delete(name);
    else state.set(name, value);
  const text = state.toString();
  return text ? `${path || "#/"}?${text}` : path || "#/";
}
const replaceHash = (hash) => history.replaceState(history.state, "", hash);
const keepState = (name, value, usual, keep = replaceHash) =>
  keep(hashWith(location.hash, { [name]: String(value) === String(usual) ? null : value }));
// The address by name replaces an older one of the same page.
function rename(href) {
  const [path, query] = location.hash.split("?");
  if (path !== href.split("?")[0]) replaceHash(query ? `${href.split("?")[0]}?${query}` : href);
}

// Where the reader was on the pages of this visit, by the number that each entry of the history has: going back
// leads to the same place, with lists as long as they were.
const visits = [];
let visit = { scroll: 0, lists: [] };
let listsDrawn = 0;
function knownVisit() {
  const { opened, number } = history.state || {};
  return opened === performance.timeOrigin ? visits[number] : undefined;
}
// Two quick changes of the address are two events, but only one page: the first event has drawn it.
const isDrawn = () => knownVisit() === visit;
function beginVisit() {
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
function pushHash(hash) {
  if (hash === location.hash) return;
  visit.scroll = window.scrollY;
  listsDrawn = 0;
  visit = { scroll: 0, lists: [] };
  history.pushState(numbered(visit), "", hash);
  document.documentElement.dataset.place = hash;
}
// Scroll to where the reader was; some pages get their content a moment later.
function backToPlace({ scroll }) {
  window.scrollTo(0, scroll);
  if (!scroll || Math.abs(window.scrollY - scroll) < 2) return;
  const watcher = new ResizeObserver(() => {
    window.scrollTo(0, scroll);
    if (Math.abs(window.scrollY - scroll) < 2) watcher.disconnect();
  });
  watcher.observe(byId("main"));
  setTimeout(() => watcher.disconnect(), 3000);
}
