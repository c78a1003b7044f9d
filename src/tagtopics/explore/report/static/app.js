// Routing, search, theme, keyboard.
const PAGES = [
  ["", "Overview"],
  ["topics", "Topics"],
  ["tags", "Tags"],
  ["groups", "Tag groups"],
  ["network", "Network"],
  ["documents", "Documents"],
  ["time", "Time"],
  ["about", "How to read"],
];
if (hasBench()) PAGES.push(["workbench", "Workbench"]);
const OWNERS = { topic: "topics", word: "topics", tag: "tags", document: "documents", search: "" };
const ownerOf = ([name, rest]) => (name === "tags" && rest ? "groups" : (OWNERS[name] ?? name));

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

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// Pages that answer to the filter: links between them keep it.
const FILTERED = ["", "documents", "time"];
function navigation() {
  const parts = location.hash.replace(/^#\/?/, "").split("?")[0].split("/");
  const current = ownerOf(parts);
  const query = isFiltered() ? `?${filterQuery()}` : "";
  byId("pages").replaceChildren(
    ...PAGES.filter(([name]) => isOffered(name)).map(([name, text]) =>
      link(
        `#/${name}${FILTERED.includes(name) ? query : ""}`,
        { "aria-current": name === current && parts[0] !== "search" ? "page" : null },
        text,
      ),
    ),
  );
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
  document.title = `${title ? title.innerText.trim() : store.title} · ${store.title} · tagtopics`;
  if (!first) {
    main.focus({ preventScroll: true });
    backToPlace(now);
    say(title ? title.innerText : "");
  }
  first = false;
}

// Pages without content are not in the bar.
function isOffered(name) {
  if (name === "time") return Boolean(store.time);
  return name !== "network" || store.tags.names.length > 1;
}

function searching() {
  const options = (text) => {
    if (!text) return [];
    const go = (path) => () => {
      location.hash = path;
    };
    const row = (group, name, note, path) => ({
      group,
      draw: () => [h("bdi", {}, name), h("small", {}, note)],
      choose: go(path),
    });
    const topics = findTopics(text).slice(0, 4);
    const tags = findTags(text, 5);
    const words = store.pictures ? [] : findWords(text, 5);
    const titles = findDocuments(text, 6);
    const none = !topics.length && !tags.length && !words.length && !titles.length;
    const near = (kind, names) => similarNames(kind, names, foldedText(text), 4);
    return [
      ...topics.map((k) => row("Topics", topicName(k), percent(store.topics.share[k]), topicHref(k))),
      ...(none ? near("tagNames", tagsAsRead()) : tags).map((t) =>
        row("Tags", tagFull(t), plural(store.tags.documents[t], "document"), tagHref(t)),
      ),
      ...(none && !store.pictures ? near("words", store.words.names) : words).map((w) =>
        row("Words", store.words.names[w], plural(store.words.weight[w], "time"), wordHref(w)),
      ),
      ...titles.map((d) =>
        row(
          "Documents",
          titleOf(d),
          (store.documents.snippets || [])[d] || (titleOf(d) === store.documents.ids[d] ? "" : store.documents.ids[d]),
          documentHref(d),
        ),
      ),
      row("Search", `All results for “${text}”`, "", `#/search/${encodeURIComponent(text)}`),
    ];
  };
  attachOptions(byId("find"), byId("found"), options, (text) => {
    location.hash = `#/search/${encodeURIComponent(text)}`;
  });
}

// Theme: that of the system, or the chosen one; stored if the browser allows it.
const THEMES = ["auto", "light", "dark"];
function remembered(value) {
  try {
    if (value === undefined) return localStorage.getItem("tagtopics-theme");
    localStorage.setItem("tagtopics-theme", value);
  } catch {
    /* a browser may forbid it */
  }
  return null;
}
function setTheme(theme) {
  const button = byId("theme");
  document.documentElement.dataset.theme = theme;
  button.dataset.value = theme;
  button.textContent = { auto: "◐", light: "☀", dark: "☾" }[theme];
  const name = { auto: "auto", light: "light", dark: "dark" }[theme];
  button.setAttribute("aria-label", `Theme: ${name}. Change`);
  button.title = `Theme: ${name}`;
}

function start() {
  const saved = remembered();
  setTheme(THEMES.includes(saved) ? saved : "auto");
  byId("theme").addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf(byId("theme").dataset.value) + 1) % THEMES.length];
    setTheme(next);
    remembered(next);
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
      window.addEventListener("hashchange", () => {
        if (!isDrawn()) route();
      });
      route();
      document.documentElement.dataset.ready = "yes";
    })
    .catch((error) => {
      byId("main").replaceChildren(
        h(
          "p",
          { class: "wrong" },
          typeof DecompressionStream === "undefined"
            ? "This browser is too old to decompress the data; use a current Chrome, Firefox or Safari."
            : `The collection cannot be shown: ${error.message}`,
        ),
      );
      document.documentElement.dataset.ready = "failed";
    });
}
