/*! With parts of d3 (array, contour, dispatch, dsv, force, path, polygon, quadtree, shape, timer): ISC License, copyright 2010-2023 Mike Bostock. Permission to use, copy, modify, and/or distribute this software for any purpose
with or without fee is hereby granted, provided that the above copyright notice and this permission notice appear in all copies. THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE
INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR
PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE. */
// Routing, search, theme, keyboard.
import { bdi, byId, fill, h, keep, kept, link, percent, plural, remark, say, settings } from "./dom.js";
import { load, loadMap, store, tagFull, tagsAsRead, titleOf, topicName } from "./data.js";
import { backToPlace, beginVisit, decoded, documentAt, documentHref, embedCode, groupHref, headline, isDrawn, plainHash, rename, stateOf, tagAt, tagHref, topicAt, topicHref, wordAt, wordHref } from "./address.js";
import { findDocuments, findTags, findTopics, findWords, foldedText, readTexts, similarNames } from "./texts.js";
import { attachOptions } from "./widgets.js";
import { filterQuery, followers, isFiltered, readFilter } from "./filter.js";
import { aboutPage } from "./about.js";
import { hasBench } from "./offline.js";
import { auditPage } from "./audit.js";
import { documentsPage, overviewPage, tagsPage, topicsPage } from "./overview.js";
import { missingPage, tagPage, topicPage, wordPage } from "./entity.js";
import { groupsPage } from "./compare.js";
import { timePage } from "./time.js";
import { networkPage } from "./network.js";
import { documentPage } from "./document.js";
import { searchPage } from "./search.js";
import { workbenchPage } from "./workbench.js";

// Four places, each with its pages; the first that there is opens the place. A page without content is not offered.
/** @type {[string, string[][]][]} */
const PLACES = [
  ["Atlas", [["", "Map"], ["topics", "Topics"], ["tags", "Tags"], ["time", "Time"]]],
  ["Compare", [["groups", "Tag groups"], ["network", "Network"]]],
  ["Read", [["documents", "Documents"]]],
  ["Trust", [["about", "How to read"]]],
];
const BUTTONS = [...(hasBench() ? [["workbench", "Try a text"]] : []), ...(settings.audit ? [["audit", "Audit"]] : [])];
const OWNERS = { topic: "topics", word: "topics", tag: "tags", document: "documents", search: "documents" };
/** @type {(parts: string[]) => string} */
const ownerOf = ([name, rest]) => (name === "tags" && rest ? "groups" : (OWNERS[name] ?? name));
const LEAST_TAGS = { tags: 1, groups: 2, network: 2 };
/** @type {(page: string[]) => boolean} */
const isOffered = ([name]) => (name === "time" ? Boolean(store.time) : store.tags.names.length >= (LEAST_TAGS[name] ?? 0));

// Pages by name. `rest` is not decoded: a plus in a name is encoded, one between names is not.
const ROUTES = {
  "": () => overviewPage(),
  topics: () => topicsPage(),
  topic: (rest) => at(topicAt(decoded(rest)), topicHref, topicPage),
  word: (rest) => at(wordAt(decoded(rest)), wordHref, wordPage),
  tag: (rest) => at(tagAt(decoded(rest)), tagHref, tagPage),
  tags: (rest) => (rest ? tagsTogether(rest) : tagsPage(stateOf().get("kind") ?? undefined)),
  groups: (rest) => (rest ? tagsTogether(rest) : groupsPage([])),
  documents: () => documentsPage(),
  time: () => (store.time ? timePage() : missingPage("No such page")),
  about: () => aboutPage(),
  network: () => networkPage(),
  document: (rest) => at(documentAt(decoded(rest), stateOf().get("row") ?? undefined), documentHref, documentPage),
  search: (rest) => searchPage(decoded(rest)),
};
if (hasBench()) ROUTES.workbench = () => workbenchPage();
if (settings.audit) ROUTES.audit = () => auditPage();

function at(number, href, page) {
  if (number >= 0) rename(href(number));
  return page(number);
}

function tagsTogether(rest) {
  const names = rest.split("+").map(decoded);
  const unknown = names.filter((name) => tagAt(name) < 0);
  const tags = [...new Set(names.map(tagAt))].filter((t) => t >= 0);
  if (tags.length && !unknown.length) rename(groupHref(tags));
  return groupsPage(tags, unknown);
}

function pageOf(parts) {
  const [name, rest] = parts;
  return Object.hasOwn(ROUTES, name) ? ROUTES[name](rest || "") : missingPage("No such page");
}

// Pages that answer to the filter: links between them keep it.
const FILTERED = ["", "documents", "time"];
function navigation() {
  const current = ownerOf(location.hash.replace(/^#\/?/, "").split("?")[0].split("/"));
  const query = isFiltered() ? `?${filterQuery()}` : "";
  /** @type {(page: string[], isHere: boolean, props?: object) => Node} */
  const one = ([name, text], isHere, props = {}) =>
    link(`#/${name}${FILTERED.includes(name) ? query : ""}`, { "aria-current": isHere ? "page" : null, ...props }, text);
  /** @type {(page: string[]) => boolean} */
  const isCurrent = ([name]) => name === current;
  const places = PLACES.map(([text, pages]) => ({ text, pages: pages.filter(isOffered) })).filter(({ pages }) => pages.length);
  byId("pages").replaceChildren(
    ...places.map(({ text, pages }) => one([pages[0][0], text], pages.some(isCurrent))),
    ...BUTTONS.map((page) => one(page, isCurrent(page), { class: "tool" })),
  );
  const here = places.find(({ pages }) => pages.length > 1 && pages.some(isCurrent));
  byId("within").replaceChildren(...(here ? here.pages.map((page) => one(page, isCurrent(page))) : []));
  byId("within").hidden = !here;
}

let first = true;
function route() {
  const now = beginVisit();
  document.documentElement.dataset.place = location.hash;
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/");
  if (FILTERED.includes(parts[0]) && (query !== undefined || isFiltered())) readFilter(query || "");
  byId("tip").hidden = true;
  const main = byId("main");
  main.replaceChildren(...pageOf(parts).flat(2).filter(Boolean));
  embedded(main);
  main.setAttribute("aria-busy", "false");
  navigation();
  const title = main.querySelector("h1");
  const names = new Set([title ? title.innerText.trim() : "", store.title, "tagtopics"]);
  document.title = [...names].filter(Boolean).join(" · ");
  if (!first) {
    main.focus({ preventScroll: true });
    backToPlace(now);
    say(title ? title.innerText : "");
  }
  first = false;
}

function searching() {
  const row = (group, name, note, path) => ({ group, draw: () => [bdi(name), h("small", {}, note)], choose: () => (location.hash = path) });
  const searchHref = (text) => `#/search/${encodeURIComponent(text)}`;
  const options = (text) => {
    if (!text) return [];
    const topics = findTopics(text).slice(0, 4);
    const titles = findDocuments(text, 6);
    let [tags, words] = [findTags(text, 5), store.pictures ? [] : findWords(text, 5)];
    if (!topics.length && !tags.length && !words.length && !titles.length) {
      const near = (kind, names) => similarNames(kind, names, foldedText(text), 4);
      [tags, words] = [near("tagNames", tagsAsRead()), store.pictures ? [] : near("words", store.words.names)];
    }
    const { snippets, ids } = store.documents;
    const noteOf = (d) => (snippets || [])[d] || (titleOf(d) === ids[d] ? "" : ids[d]);
    return [
      ...topics.map((k) => row("Topics", topicName(k), percent(store.topics.share[k]), topicHref(k))),
      ...tags.map((t) => row("Tags", tagFull(t), plural(store.tags.documents[t], "document"), tagHref(t))),
      ...words.map((w) => row("Words", store.words.names[w], plural(store.words.weight[w], "time"), wordHref(w))),
      ...titles.map((d) => row("Documents", titleOf(d), noteOf(d), documentHref(d))),
      row("Search", `All results for “${text}”`, "", searchHref(text)),
    ];
  };
  attachOptions(byId("find"), byId("found"), options, (text) => (location.hash = searchHref(text)));
}

// Theme: that of the system, or the chosen one; stored if the browser allows it.
const THEMES = ["auto", "light", "dark"];
function setTheme(theme) {
  const button = byId("theme");
  document.documentElement.dataset.theme = theme;
  button.dataset.value = theme;
  button.textContent = { auto: "◐", light: "☀", dark: "☾" }[theme];
  button.setAttribute("aria-label", `Theme: ${theme}. Change`);
  button.title = `Theme: ${theme}`;
}

function start() {
  const saved = kept("tagtopics-theme").theme;
  setTheme(THEMES.includes(saved) ? saved : "auto");
  byId("theme").addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf(byId("theme").dataset.value) + 1) % THEMES.length];
    setTheme(next);
    keep("tagtopics-theme", { theme: next });
  });
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("main").focus();
  });
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      byId("find").focus();
    }
  });
  Promise.all([load(), loadMap()]) // decompressed side by side
    .then(() => {
      byId("about").textContent =
        `${store.model}, ${plural(store.K, "topic")}, ${plural(store.facts.iterations || 0, "sweep")}. Topics are numbered as in the model.`;
      searching();
      viewMenu();
      document.addEventListener("click", outOfFrame, true);
      history.scrollRestoration = "manual"; // a page is drawn before it is scrolled
      // Maps are printed as pictures, which fit any paper.
      const maps = () => /** @type {NodeListOf<any>} */ (document.querySelectorAll(".terrain"));
      window.addEventListener("beforeprint", () => maps().forEach((node) => node.append(fill(node.picture(), { class: "printed" }, []))));
      window.addEventListener("afterprint", () => maps().forEach((node) => node.querySelector(".printed")?.remove()));
      window.addEventListener("hashchange", () => {
        if (!isDrawn()) route();
      });
      window.addEventListener("renamed", route);
      followers.add(navigation);
      route();
      document.documentElement.dataset.ready = "yes";
      if (!settings.live && !store.pictures) setTimeout(() => readTexts(false), 3000); // a server would send all texts
    })
    .catch((error) => {
      byId("main").replaceChildren(
        h("p", { class: "wrong" },
          typeof DecompressionStream === "undefined"
            ? "This browser is too old to decompress the data; use a current Chrome, Firefox or Safari."
            : `The collection cannot be shown: ${error.message}`,
        ),
      );
      document.documentElement.dataset.ready = "failed";
    });
}

start();

// Share the view as it stands: its address, and code to embed it.
async function copyText(text, field) {
  field.focus();
  field.select();
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    document.execCommand("copy"); // where a page may not use the clipboard itself
  }
  say("Copied");
}

function copyField(id, name, text) {
  const field = h("input", { id, type: "text", readonly: true, value: text });
  const button = h("button", { type: "button", on: { click: () => copyText(field.value, field).then(() => done()) } }, "Copy");
  const done = () => {
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  };
  return h("div", { class: "copied" }, h("label", { for: id }, name), field, button);
}

// The menu in the bar. It is drawn each time that it opens, for the view of that moment.
function viewMenu() {
  const menu = byId("view");
  const box = byId("view-box");
  menu.addEventListener("toggle", () => {
    if (!menu.open) return;
    box.replaceChildren(
      copyField("view-address", "Address of this view", location.href.split("#")[0] + plainHash()),
      settings.live ? "" : remark("It opens this view of the same file: send the file along, or put it on a web server."),
      copyField("view-embed", "Code to embed it", embedCode()),
    );
  });
  document.addEventListener("click", (event) => {
    if (menu.open && !menu.contains(event.target)) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    menu.open = false;
    byId("view-button").focus();
  });
}

// Embedded views have no bar and no footer; `card` leaves one card. Links open the explorer in a tab of its own.
function embedded(main) {
  const state = stateOf();
  const on = state.has("embed");
  document.documentElement.classList.toggle("embedded", on);
  if (!on) return;
  const wanted = state.get("card");
  const cards = wanted ? [...main.querySelectorAll(".card, .terrain")].filter((one) => titleOfCard(one) === wanted) : [];
  if (cards.length) main.replaceChildren(h("h1", { class: "hidden" }, headline()), cards[0]);
  main.append(h("p", { class: "origin" }, link(plainHash(), { target: "_blank", rel: "noopener" }, `${store.title}: open in the explorer`), ));
}
const titleOfCard = (section) => {
  const title = section.querySelector("h2");
  return title ? title.textContent : section.getAttribute("aria-label") || "";
};
function outOfFrame(event) {
  const target = event.target.closest && event.target.closest("a[href^='#']");
  if (!target || !document.documentElement.classList.contains("embedded")) return;
  target.setAttribute("target", "_blank");
  target.setAttribute("rel", "noopener");
}
