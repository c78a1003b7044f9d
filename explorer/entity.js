// One page for a topic, a tag or a word: a sentence, its place on the map, what it has more of than the collection,
import { bdi, button, h, keep, lead, link, percent, plural, remark, say, share, tokens, topOf, whole } from "./dom.js";
import { badge, countWith, isBackground, namesKey, ofListed, overlap, ownNames, sharesOf, store, tagBare, tagFull, tagInThesaurus, tagKind, tagProfile, tagShort, tagsWith, together, topicHue, topicLabel, topicName, wordsOf } from "./data.js";
import { decoded, groupHref, topicHref } from "./address.js";
import { documentsWith, nearTags } from "./texts.js";
import { documentRow, tagChip, tagChips } from "./widgets.js";
import { TOPIC_FROM } from "./filter.js";
import { download } from "./pictures.js";
import { HAIRLINE, against, barFigure, card, documentFigure, documentItem, documentsLine, listFigure, moreFigure, placesFigure, tagItem, topicItem, topicLine, topicsMore, wordItem } from "./figure.js";

// when, with whom, its documents.
function entityPage({ eyebrow, title, sentence, above = null, below = [], hue = 255, more, map, time, others = [], documents }) {
  return [
    h("div", { class: "hero", vars: { "--hue": hue } }, above, h("p", { class: "eyebrow" }, eyebrow), h("h1", {}, title), lead(sentence), below),
    h("div", { class: "two" }, map, more, time, others),
    documents,
  ];
}

export function topicPage(k) {
  if (!(k >= 0 && k < store.K)) return missingPage("No such topic");
  const order = topOf(store.topics.share, store.K);
  const at = order.indexOf(k);
  const { coherence, tags } = store.topics;
  const coherent = coherence.length && !store.pictures ? `; coherence ${coherence[k].toFixed(2)}` : "";
  const telling = store.pictures ? "parts of the photos; its most typical tags" : "words; its most telling words";
  const typical = store.pictures || !tags[k].length ? "" : ` ${tagShort(tags[k][0])} has ${timesAsMuch(store.topics.lifts[k][0])} of it as the collection.`;
  const docs = [...store.documents.ids.keys()].filter((d) => store.docRoots[d * store.K + k] ** 2 >= TOPIC_FROM);
  const documents = topicDocuments(k);
  return entityPage({
    hue: topicHue(k),
    eyebrow: isBackground(k) ? `Topic ${k}: background, spread over the whole collection` : `Topic ${k}`,
    title: [badge(k), bdi(topicName(k))],
    sentence: `This topic accounts for ${percent(store.topics.share[k])} of all ${telling} are ${store.labels[k].join(", ")}.${typical}`,
    above: h("p", { class: "steps" },
      at > 0 ? link(topicHref(order[at - 1]), { rel: "prev" }, "← larger") : h("span", {}),
      at < store.K - 1 ? link(topicHref(order[at + 1]), { rel: "next" }, "smaller →") : null,
    ),
    below: [remark(`By share, ${at + 1} of ${store.K}${coherent}.`), nameEditor(k)],
    map: placesFigure(`The documents that have at least ${percent(TOPIC_FROM)} of this topic.`, [{ name: topicName(k), docs, hue: topicHue(k) }], { topic: k }),
    more: [store.pictures ? documents : topicWords(k), topicTags(k)],
    time: store.time ? topicLine(k) : null,
    others: nearTopics(k),
    documents: store.pictures ? null : documents,
  });
}

function topicWords(k) {
  const row = ([w, value]) => against({ ...wordItem(w, value), hue: topicHue(k) }, store.words.weight[w] / store.tokens);
  return barFigure({
    title: "Words", question: `Words that tell the topic apart and occur together, with their share of the topic. ${HAIRLINE}`,
    rows: wordsOf(k, Infinity).map(row), shown: 30, axis: "Share of the topic",
  });
}

function topicTags(k) {
  if (!store.tags.names.length) return null;
  const row = (t) => ({ ...against({ ...tagItem(t, store.tagRoots[t * store.K + k] ** 2), hue: topicHue(k) }, store.topics.share[k], share), title: plural(store.tags.documents[t], "document") });
  return barFigure({
    title: "Tags", question: `Tags with much more of this topic than the collection and many documents: the share of the topic in what is credited to the tag. ${HAIRLINE}`,
    rows: store.topics.tags[k].map(row), axis: "Share of the topic in the tag",
  });
}

function nearTopics(k) {
  if (store.K < 3) return null;
  const row = ({ id, text }) => h("li", {}, link(topicHref(id), {}, badge(id), h("span", {}, topicLabel(id, 4))), h("span", { class: "figure" }, text));
  const what = store.pictures ? "colours and textures" : "words";
  const rows = store.topics.near[k].map((j, i) => topicItem(j, store.topics.alike[k][i]));
  return listFigure({ title: "Similar topics", question: `Topics with similar ${what}: 100 % means equal, 0 % as any two topics.`, rows, axis: "Overlap of words" }, "near", row);
}

function topicDocuments(k) {
  const share = store.documents.ids.map((_, d) => store.docRoots[d * store.K + k] ** 2);
  const rows = topOf(share, share.length).filter((d) => share[d] >= 0.05).map((d) => documentItem(d, share[d], percent(share[d])));
  const title = store.pictures ? "Photos" : "Documents";
  return documentFigure({ title, question: `${title} with the largest share of this topic.`, rows, axis: "Share of the topic" });
}

export function tagPage(t) {
  if (!(t >= 0 && t < store.tags.names.length)) return missingPage("No such tag");
  const n = store.tags.documents[t];
  const docs = store.docsOfTag[t];
  const parts = store.pictures ? "parts of photos" : "words";
  const inDocuments = sharesOf(docs);
  const topics = topicsMore(tagProfile(t)).map((row) => ({ ...row, title: `${row.title}; ${percent(inDocuments[row.id])} of all ${parts} of its documents` }));
  return entityPage({
    eyebrow: tagKind(t) ? `Tag · ${tagKind(t)}` : "Tag",
    title: bdi(tagBare(t)),
    sentence: [`${plural(n, "document")} ${n === 1 ? "has" : "have"} this tag`, moreAbout(tagProfile(t)), " · ", link(groupHref([t]), {}, "compare with other tags")],
    below: tagInThesaurus(t) ? h("p", { class: "source" }, bdi(store.tags.names[t])) : [],
    map: placesFigure(`The documents that have this tag${ofListed()}.`, [{ name: tagFull(t), docs, hue: 255 }], { tag: store.tags.names[t] }),
    more: [moreFigure(`Share of the ${parts} credited to this tag. ${HAIRLINE}`, topics), creditedWords(t)],
    time: documentsLine(docs, tagFull(t), "have this tag"),
    others: [usedWith(t), similarTags(t)],
    documents: tagDocuments([t]),
  });
}

// Words credited to a tag, with the number expected if it used words as the whole collection does.
function creditedWords(t) {
  if (store.pictures || !store.tags.words[t].length) return null;
  const rows = store.tags.words[t].map((w, i) => creditItem(wordItem(w, store.tags.credits[t][i]), w, t));
  return barFigure({
    title: "Credited words", question: `The most characteristic ones, with the occurrences credited to this tag. ${HAIRLINE}`,
    rows: [rows.slice(0, 24).sort((a, b) => b.value - a.value), rows.slice(24)].flat(), shown: 24, axis: "Occurrences credited to the tag", form: tokens,
  });
}
const creditItem = (item, w, t) => against(item, (store.tagTokens[t] * store.words.weight[w]) / store.tokens, tokens);

const timesAsMuch = (lift) => `${lift.toFixed(lift >= 10 ? 0 : 1)} times as much`;
// "; 5.0 times as much A as the collection (40 %) and 2.1 times as much B (20 %)": background topics do not count.
export function moreAbout(profile) {
  const rows = topicsMore(profile).filter((row) => !row.grey && row.value >= 0.03 && row.lift >= 1.2).slice(0, 2);
  const about = rows.map((row, i) => `${timesAsMuch(row.lift)} ${row.name}${i ? "" : " as the collection"} (${percent(row.value)})`);
  return about.length ? `; ${about.join(" and ")}.` : ".";
}

export const jointLink = (t, u) =>
  link(groupHref([t, u]), { class: "joint", "aria-label": `See ${tagFull(t)} and ${tagFull(u)} together` }, "together");
// A list of tags beside a tag.
const besideFigure = (t, own) =>
  listFigure({ ...own, shown: 8 }, "neighbours", ({ t: u, text }) => h("li", {}, tagChip(u), h("span", { class: "figure" }, text), jointLink(t, u)));

// Tags of the same kind with similar topics: 1 for equal topics, 0 for as much overlap as two tags have in the mean.
function similarTags(t) {
  const { chance: chances, names } = store.tags;
  const chance = chances[tagKind(t)] ?? chances[""];
  const alike = Float64Array.from(names, (_, u) =>
    u === t || tagKind(u) !== tagKind(t) ? -1 : (overlap(store.tagRoots, t, store.tagRoots, u) - chance) / Math.max(1 - chance, 1e-9),
  );
  const rows = topOf(alike, 200).filter((u) => alike[u] > 0).map((u) => tagItem(u, alike[u], percent(alike[u])));
  const question = `Tags${tagKind(t) ? " of the same kind" : ""} with similar topics: 100 % means equal, 0 % as any two tags.`;
  return rows.length ? besideFigure(t, { title: "Alike", question, rows, axis: "Overlap of topics" }) : null;
}

// Tags of the same documents: first those of the same kind, then others.
function usedWith(t) {
  const often = tagsWith(t).map(([u, n]) => tagItem(u, n, plural(n, "document")));
  const [own, others] = [true, false].map((same) => often.filter((row) => (tagKind(row.t) === tagKind(t)) === same));
  const question = `Tags of the same documents${ofListed()}, with the number of documents that have both.`;
  const used = (title, rows) => (rows.length ? besideFigure(t, { title, question, rows, axis: "Documents with both tags", form: whole }) : null);
  const both = own.length && others.length;
  return [
    used(both ? `Often used with: ${tagKind(t) || "other"}` : "Often used with", own),
    used(both ? "Often used with: other kinds" : "Often used with", others),
  ];
}

export function tagDocuments(tags, step = 8) {
  const joint = together(tags).map(Math.sqrt);
  const docs = store.docsOfTag[tags[0]].filter((d) => tags.every((t) => store.documents.tags[d].includes(t)));
  if (!docs.length)
    return store.documents.tags.some((row) => row.length) ? card("Documents", "No document has all of them.") : null;
  const fit = new Map(docs.map((d) => [d, overlap(store.docRoots, d, joint, 0)]));
  docs.sort((a, b) => fit.get(b) - fit.get(a) || a - b);
  const others = (d) => store.documents.tags[d].filter((u) => !tags.includes(u)).slice(0, 8);
  const title = tags.length > 1 ? `${plural(countWith(tags), "document")} with all of them${ofListed()}` : "Documents";
  return documentFigure({ title, question: "Most typical first.", rows: docs.map((d) => documentItem(d)) }, ({ d }) => documentRow(d, { reasons: tagChips(others(d)) }), step);
}

export function wordPage(w) {
  const { names, perTopic, weight, inDocuments, documents } = store.words;
  if (!(w >= 0 && w < names.length)) return missingPage("No such word");
  const profile = new Float64Array(store.K);
  for (let i = w * perTopic; i < (w + 1) * perTopic; i++) profile[store.words.topics[i]] = store.wordShares[i] ** 2;
  const rows = topicsMore(profile).filter((row) => row.value >= 0.01);
  const rest = Math.max(0, 1 - rows.reduce((sum, row) => sum + row.value, 0));
  if (rest >= 1e-4) rows.push({ name: "all other topics", label: "all other topics", value: rest, text: share(rest), hue: 0, grey: true });
  const tags = store.tags.names.map((_, t) => t).filter((t) => store.tags.words[t].includes(w));
  const credit = (t) => store.tags.credits[t][store.tags.words[t].indexOf(w)];
  tags.sort((a, b) => credit(b) - credit(a));
  const [map, time, list] = [h("div"), h("div"), h("div")];
  const draw = (docs) => {
    map.replaceChildren(docs.length ? placesFigure(`The ${plural(docs.length, "document")} whose text in this file has the word.`, [{ name: names[w], docs, hue: 255 }], { words: names[w] }) : "");
    time.replaceChildren(docs.length ? (documentsLine(docs, names[w], "have the word") ?? "") : "");
    const all = [...new Set([...documents[w], ...docs])].map((d) => documentItem(d));
    if (all.length) list.replaceChildren(documentFigure({ title: "Documents", question: "Those in which its share is largest come first.", rows: all }));
  };
  draw([]);
  if (store.corpus && !store.pictures) {
    map.append(h("p", { class: "wait" }, "Searching all texts …"));
    documentsWith(names[w]).then(draw);
  }
  const often = plural(weight[w], "time");
  const where = store.corpus ? `A word that occurs ${often}, in ${plural(inDocuments[w], "document")}` : `A word that occurs about ${often}, by the model; the corpus itself is not known`;
  return entityPage({
    eyebrow: "Word",
    title: bdi(names[w]),
    sentence: [where, moreAbout(profile)],
    map,
    more: [
      barFigure({ title: "Topics", question: `The topics of its occurrences; all add up to 100 %. ${HAIRLINE}`, rows, axis: "Share of its occurrences" }),
      tags.length
        ? barFigure({
            title: "Tags", question: `Tags for which it is characteristic, with the occurrences credited to each. ${HAIRLINE}`,
            rows: tags.map((t) => creditItem(tagItem(t, credit(t)), w, t)), shown: 12, axis: "Occurrences credited to the tag", form: tokens,
          })
        : null,
    ],
    time,
    documents: list,
  });
}

// A page that does not exist: what its address may have meant.
export function missingPage(title) {
  const [, kind, rest] = /^#\/(\w+)\/([^?]*)/.exec(location.hash) || [];
  const name = decoded(rest || "").slice(0, 200);
  const near = kind === "tag" ? nearTags(name, 8) : [];
  return [
    h("h1", {}, title),
    name ? h("p", {}, `Nothing here is called “${name}”.`) : null,
    near.length ? h("p", { class: "chips" }, "Similar names:", " ", near.map((t) => tagChip(t))) : null,
    name ? h("p", {}, link(`#/search/${encodeURIComponent(name)}`, {}, `Search for “${name}”`)) : null,
    h("p", {}, link("#/", {}, "Back to the atlas")),
  ];
}

function setName(k, name) {
  const text = name.trim().slice(0, 80);
  if (text && text !== store.topics.names[k]) ownNames.set(k, text);
  else ownNames.delete(k);
  keep(namesKey(), Object.fromEntries(ownNames));
}

const namesFile = () =>
  JSON.stringify({ format: "tagtopics topic names", topics: Object.fromEntries(store.topics.names.map((_, k) => [k, topicName(k)])) }, null, 1);

function nameEditor(k) {
  const input = h("input", { id: "own-name", type: "text", maxlength: 80, value: topicName(k), dir: "auto" });
  const submit = (event) => {
    event.preventDefault();
    setName(k, input.value);
    window.dispatchEvent(new Event("renamed"));
    say(`Renamed to ${topicName(k)}`);
  };
  return h("details", { class: "share rename" },
    h("summary", {}, "Rename"),
    h("form", { class: "sharing", on: { submit } },
      h("label", { for: "own-name" }, "Name of this topic"),
      input,
      h("button", { type: "submit" }, "Save"),
      button("Export all names", () => download("topic-names.json", "application/json", namesFile())),
      remark("Kept in this browser. For a report with these names: tagtopics report --names topic-names.json"),
    ),
  );
}
