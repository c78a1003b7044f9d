// The front page: the map with its filter, years, and findings or what passes the filter.
import { h, lead, link, percent, plural, remark, settings, topOf, whole } from "./dom.js";
import { badge, dateOf, docTopics, mainTopic, sharesOf, store, tagCounts, tagFull, tagLabel, tagProfile, telling, tellingTopics, titleOf, topicHue, topicLabel, topicName, wordsOf } from "./data.js";
import { groupHref, keepState, pushHash, stateOf, tagHref, topicHref } from "./address.js";
import { foldedText } from "./texts.js";
import { choice, documentRow, growing, kindLinks, tagChips, wordLink } from "./widgets.js";
import { filter, filterBar, filtered, filtering, followFilter, passed, yearStrip } from "./filter.js";
import { ITEM } from "./pictures.js";
import { HAIRLINE, barFigure, card, chipFigure, documentFigure, documentItem, figure, moreFigure, ribbon, shareMenu, tagItem, topicItem, topicsMore } from "./figure.js";
import { colourChoice } from "./colours.js";
import { DocumentMap } from "./map.js";
import { findingLine, findingsCard } from "./findings.js";

export function overviewPage() {
  const map = new DocumentMap();
  const side = h("div", { class: "side" });
  let seen = filtered;
  let given = filtering && stateOf().has("view"); // the view of a filter whose texts are still searched
  const draw = () => {
    map.brush(filtered);
    if (seen !== filtered) {
      if (!filter.area && !given) map.lookAt(filtered);
      [seen, given] = [filtered, false];
      map.keepView();
    }
    side.replaceChildren(...passingCards());
  };
  followFilter(map.node, draw, () => map.watcher.disconnect());
  const themes = new MutationObserver(() => map.recolour());
  themes.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  return [
    h("div", { class: "summary" },
      h("h1", {}, store.title),
      h("p", { class: "lead" },
        store.pictures
          ? `${whole(store.sizes.documents)} photos by topic. Each point is a photo; points close to each other have similar colours and textures.`
          : `${plural(store.sizes.documents, "document")} by topic. Each point is a document; points close to each other have similar topics.`,
      ),
    ),
    store.findings.length ? h("p", { class: "first" }, findingLine(store.findings[0]).firstChild) : null,
    filterBar(),
    h("div", { class: "front" }, h("div", {}, map.node, yearStrip()), side),
    mapNote(map),
  ];
}

// How to read the map, how far to trust it, and what the colours show.
function mapNote(map) {
  const { neighbours, kept, chance, trustworthiness } = store.map.agreement;
  const n = whole(neighbours);
  const measured = trustworthiness === undefined ? "" : `; trustworthiness ${trustworthiness.toFixed(3)} of 1`;
  const trust =
    kept === undefined
      ? ""
      : ` Of the ${n} documents with the most similar topics, ${percent(kept)} are also among the ${n} nearest on the map (by chance ${percent(chance)})${measured}.`;
  const colours = h("span");
  return h("div", { class: "mapnote" },
    colourChoice(map, () => (colours.textContent = map.note)),
    remark(colours, " Distances between far groups mean little.", trust),
    shareMenu(map.node, () => map.figure(colours.textContent)),
  );
}

// Topics, tags and documents that pass the filter.
function passingCards() {
  const docs = passed();
  const grey = store.topics.background.some(Boolean) ? " Grey topics, at the end, are spread over the whole collection." : "";
  if (!filtered) {
    const rows = telling(topOf(store.topics.share, store.K)).map((k) => topicItem(k, store.topics.share[k]));
    const question = store.pictures ? "Share of all parts of the photos." : `Share of all words.${grey}`;
    return [...findingsCard(), barFigure({ title: "Topics by share", question, rows, axis: "Share" })];
  }
  if (!docs.length) return [card("No documents", null, h("p", {}, "No document passes the filter. Remove a part of it."))];
  const best = tagCounts(docs.map((d) => store.documents.tags[d])).map(([t, n]) => tagItem(t, n, whole(n)));
  const whose = store.pictures ? "all parts of these photos" : "all words of these documents";
  return [
    moreFigure(`Share of ${whose}. ${HAIRLINE}`, topicsMore(sharesOf(docs))),
    best.length ? chipFigure({ title: "Tags", question: "Numbers of these documents.", rows: best, shown: 24, axis: "Documents", form: whole }) : null,
    documentFigure({ title: plural(docs.length, "document"), rows: docs.map((d) => documentItem(d)) }, undefined, 10),
  ].filter(Boolean);
}

export function groupCards(title, n) {
  const rows = store.groups.map(({ tags, topic, documents }) => ({
    tags, topic, id: tags.map((t) => store.tags.names[t]).join(" + "), name: tags.map(tagFull).join(" + "), value: documents, text: plural(documents, "document"),
  }));
  const columns = { ...ITEM, topic: (row) => row.topic, topic_name: (row) => topicName(row.topic) };
  const group = ({ tags, topic, text }) =>
    link(groupHref(tags), {},
      h("span", { class: "pair" },
        h("span", {}, tagLabel(tags[0])),
        h("span", { class: "plus", "aria-label": "and" }, "+"),
        h("span", {}, tagLabel(tags[1])),
      ),
      h("span", { class: "badges" }, badge(topic), h("span", {}, topicLabel(topic))),
      h("small", {}, text),
    );
  return figure({
    title, question: "Pairs of tags whose joint profile differs most from that of either tag alone; generic topics do not count.", rows, columns, shown: n, axis: "Documents with both tags", form: whole,
    mark: (some) => h("ul", { class: "groups" }, some.map((one) => h("li", {}, group(one)))),
  });
}

// Lists of topics, tags and documents.
export function topicsPage() {
  const { share, coherence } = store.topics;
  const orders = ["share", "number", ...(coherence.length ? ["coherence"] : [])];
  const asked = stateOf().get("order");
  const first = orders.includes(asked) ? asked : "share";
  const box = h("div", { class: "decks" });
  const draw = (order) => {
    const topics = order === "number" ? [...share.keys()] : telling(topOf(order === "share" ? share : coherence, store.K));
    box.replaceChildren(...topics.map(topicDeck));
  };
  draw(first);
  return [
    h("h1", {}, plural(store.K, "topic")),
    lead(store.pictures ? "Every topic with its most typical tags; choose one to see its photos." : "Every topic with its most telling words; choose one to see its tags and documents."),
    choice("Order by", "order", orders.map((one) => [one, one]), first, (order) => {
      keepState("order", order, "share", pushHash);
      draw(order);
    }),
    box,
  ];
}

function topicDeck(k) {
  const { share, coherence, tags } = store.topics;
  const words = () => wordsOf(k, 10).flatMap(([w], i) => [i ? " " : null, wordLink(w)]);
  return h("article", { class: "deck", vars: { "--hue": topicHue(k) } },
    h("h2", {}, link(topicHref(k), {}, badge(k), topicName(k))),
    store.pictures ? tagChips(tags[k].slice(0, 8)) : h("p", {}, words()),
    h("small", {},
      `${percent(share[k])} of all ${store.pictures ? "parts" : "words"}`,
      coherence.length && !store.pictures ? ` · coherence ${coherence[k].toFixed(2)}` : null,
    ),
  );
}

export function tagsPage(kind) {
  const shown = kind !== undefined && store.kinds.has(kind) ? kind : null;
  const tags = shown === null ? store.tags.names.map((_, t) => t) : store.kinds.get(shown);
  return [
    h("h1", {}, plural(tags.length, "tag")),
    lead(store.pictures ? "Every tag with its number of photos and its main topics." : "Every tag with its number of documents, its main topics and its most telling words."),
    kindLinks("#/tags", shown),
    ...growing(topOf(store.tags.documents, tags.length, tags), tagRow, 60, "ul", "rows"),
  ];
}
function tagRow(t) {
  const profile = tagProfile(t);
  const best = tellingTopics(profile, 3).filter((k) => profile[k] > 0.08);
  const said = store.pictures ? best.map((k) => topicName(k)) : store.tags.words[t].slice(0, 5).map((w) => store.words.names[w]);
  const topic = (k) => link(topicHref(k), { title: topicLabel(k, 4), "aria-label": `${k}: ${topicName(k)}` }, badge(k));
  return h("li", {},
    link(tagHref(t), { class: "name" }, tagLabel(t)),
    h("small", {}, plural(store.tags.documents[t], "document")),
    h("span", { class: "badges" }, best.map(topic), h("span", { class: "said" }, [...(best.length && !store.pictures ? [topicName(best[0])] : []), ...said].join(" · "))),
  );
}

export function documentsPage() {
  const list = h("div");
  const by = (value) => (a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : store.documents.rows[a] - store.documents.rows[b]);
  const orders = {
    collection: by(() => 0), title: by((d) => foldedText(titleOf(d))),
    ...(store.documents.dates ? { date: by((d) => dateOf(d)) } : {}), topic: by((d) => foldedText(topicName(mainTopic(d)))),
  };
  const asked = stateOf().get("order");
  let order = Object.hasOwn(orders, asked) ? asked : "collection";
  const told = (d) => [h("p", { class: "badges" }, badge(mainTopic(d)), link(topicHref(mainTopic(d)), {}, topicName(mainTopic(d)))), ribbon(docTopics(d))];
  const draw = () => {
    const share = (d) => store.docRoots[d * store.K + mainTopic(d)] ** 2;
    const rows = passed().sort(orders[order]).map((d) => documentItem(d, share(d), percent(share(d))));
    const question = "With the topic that distinguishes each most; the bar has all topics.";
    list.replaceChildren(documentFigure({ title: "Documents", question, rows, axis: "Share of this topic" }, ({ d }) => documentRow(d, { reasons: told(d) }), 30));
  };
  followFilter(list, draw);
  const { documents, listed } = store.sizes;
  const known = listed < documents || !store.corpus ? listed : store.pictures ? settings.photos : settings.bodies;
  const what = listed < documents ? "documents" : store.pictures ? "photos" : "texts";
  return [
    h("h1", {}, plural(documents, "document")),
    lead(store.pictures ? "Every photo with its topics; choose one to see where each of its tags is." : "Every document with its topics; choose one to read it, with its words coloured by tag."),
    known < documents ? remark(`${whole(documents - known)} ${what} are not on these pages, which have a size limit (--max-mb).`) : null,
    filterBar(),
    yearStrip(),
    choice("Order by", "order", Object.keys(orders).map((one) => [one, one]), order, (chosen) => {
      order = chosen;
      keepState("order", order, "collection", pushHash);
      draw();
    }),
    list,
  ];
}
