// Figures: rows of data, from which screen, CSV, SVG, PNG, caption and alternative text are made.
//   title, question   what it shows, and how to read it
//   rows              all of them, each with `name` and `text`, mostly with `id` and `value`
//   columns           of the CSV: { name: (row) => value }
//   mark              draws the first `shown` rows on the screen
//   axis, form, most  what bars of `value` measure, how its numbers are written, where it ends; no bars without an axis
//   picture           the drawing itself, if it is not the one on the screen
import { ITEM, asText, bibtexOf, cardOf, csvOf, download, downloadImage, fileName, pictureOf } from "./pictures.js";
import { bdi, button, h, link, percent, remark, times, topOf } from "./dom.js";
import { badge, dateOf, isBackground, mainTopic, sourceOf, store, tagFull, tagLabel, telling, titleOf, topicHue, topicLabel, topicName } from "./data.js";
import { embedCode, tagHref, topicHref, wordHref } from "./address.js";
import { documentRow, growing, tagChip, wordLink } from "./widgets.js";

const COMPARED = { ...ITEM, collection: (row) => row.mean ?? "", lift: (row) => row.lift ?? "" };
export const DOCUMENT = {
  id: (row) => row.id, title: (row) => row.name, date: (row) => dateOf(row.d), address: (row) => sourceOf(row.d) || "",
  topic: (row) => mainTopic(row.d) ?? "", topic_name: (row) => (mainTopic(row.d) === undefined ? "" : topicName(mainTopic(row.d))),
  value: (row) => row.value, shown: (row) => row.text,
};

export function figure(own) {
  const section = h("section", { class: "card" },
    h("h2", {}, own.title),
    own.question ? remark(own.question) : null,
    own.mark(own.rows && own.rows.slice(0, own.shown)),
  );
  section.append(shareMenu(section, () => own));
  return section;
}
// A panel with a heading, without data; `note` explains the content in one line.
export const card = (title, note, ...children) => figure({ title, question: note, mark: () => children });

// Rows of figures.
export const topicItem = (k, value, text = percent(value)) => ({
  id: k, name: topicName(k), value, text, label: [badge(k), h("span", {}, topicLabel(k))], hue: topicHue(k), href: topicHref(k), grey: isBackground(k),
  title: `${topicName(k)}: ${topicLabel(k, 4)}${isBackground(k) ? " (background topic)" : ""}`,
});
export const tagItem = (t, value, text) => ({ t, id: store.tags.names[t], name: tagFull(t), value, text, label: tagLabel(t), href: tagHref(t) });
export const wordItem = (w, value, text) => ({ id: store.words.names[w], name: store.words.names[w], value, text, label: bdi(store.words.names[w]), href: wordHref(w) });
export const documentItem = (d, value, text) => ({ d, id: store.documents.ids[d], name: titleOf(d), value, text });

// Frequent figures.
export const barFigure = (own) =>
  figure({ columns: own.rows.some((row) => row.lift) ? COMPARED : ITEM, ...own, mark: (rows) => bars(rows, { most: own.most, name: own.title }) });
export const listFigure = (own, kind, draw) => figure({ ...own, mark: (rows) => h("ul", { class: kind }, rows.map(draw)) });
export const chipFigure = (own) => figure({ ...own, mark: (rows) => h("p", { class: "chips" }, rows.map(({ t, text }) => tagChip(t, text))) });
/** @type {(own: any, draw?: (row: any) => Node, step?: number, ...above: any[]) => HTMLElement} */
export const documentFigure = (own, draw = ({ d, text }) => documentRow(d, { figure: text }), step = 8, ...above) =>
  figure({ columns: DOCUMENT, ...own, mark: (rows) => [above, growing(rows, draw, step)] });
// A row beside the same number of the whole collection.
export const against = (item, mean, form = percent) => {
  const lift = item.value / Math.max(mean, 1e-12);
  return { ...item, mean, lift, text: `${form(item.value)}  ${times(lift)}` };
};
// Topics that a profile has more of than the collection, by their part in the divergence; background topics last.
export function topicsMore(profile) {
  const all = store.topics.share;
  const weight = all.map((mean, k) => profile[k] * Math.log(Math.max(profile[k] / Math.max(mean, 1e-12), 1e-12)));
  return telling(topOf(weight, store.K)).map((k) => against(topicItem(k, profile[k]), all[k]));
}
export function moreFigure(question, rows) {
  const n = rows.slice(0, 10).filter((row) => row.value >= 0.01 && row.lift > 1 && !row.grey).length;
  return barFigure({ title: "Topics", question, rows, shown: n || 5, axis: "Share" });
}
export function topicFigure(question, profile, n, least = 0.01) {
  const rows = topOf(profile, store.K).map((k) => topicItem(k, profile[k]));
  return barFigure({ title: "Topics", question, rows, shown: rows.slice(0, n).filter((row) => row.value >= least).length, axis: "Share" });
}
export function factsFigure(title, question, facts, kind = "facts", folded = []) {
  const rows = [...facts, ...folded].filter(([, value]) => value !== null && value !== undefined).map(([name, value]) => ({ name, text: String(value) }));
  const fact = ({ name, text }) => h("div", {}, h("dt", {}, name), h("dd", { dir: "auto" }, text));
  const columns = { name: ITEM.name, value: ITEM.shown };
  const list = (some) => h("dl", { class: kind }, some.map(fact));
  const n = rows.length - folded.length;
  const rest = folded.length ? h("details", { class: "more-facts" }, h("summary", {}, "All parameters"), list(rows.slice(n))) : null;
  return figure({ title, question, rows, columns, mark: () => [list(rows.slice(0, n)), rest] });
}
// Lists of words side by side: [{ title, name, hue, words, isNew }].
export function wordsFigure(title, question, lists) {
  const rows = lists.flatMap(({ name, words }) => words.map((w, i) => ({ id: store.words.names[w], name: store.words.names[w], text: name, place: i + 1 })));
  const columns = { list: ITEM.shown, place: (row) => row.place, word: ITEM.name };
  const word = (w, isNew) => h("li", { class: isNew ? "fresh" : null }, wordLink(w), isNew ? h("small", {}, "new") : null);
  const list = ({ title: head, hue, words, isNew }) =>
    h("div", { class: isNew ? "joint-column" : null, vars: { "--hue": hue } },
      h("h3", {}, head),
      h("ol", {}, words.map((w) => word(w, isNew && isNew(w)))),
    );
  return figure({ title, question, rows, columns, mark: () => h("div", { class: "columns" }, lists.map(list)) });
}

export function shareMenu(section, current) {
  const box = h("div", { class: "sharing" });
  const menu = h("details", { class: "share" }, h("summary", { "aria-label": `Share: ${current().title}` }, "Share"), box);
  menu.addEventListener("toggle", () => {
    if (!menu.open) return;
    const own = current();
    const name = fileName(own.title);
    const kinds = own.rows && own.rows.length
      ? [
          button("CSV", () => download(`${name}.csv`, "text/csv", csvOf(own))),
          button("SVG", () => download(`${name}.svg`, "image/svg+xml", asText(pictureOf(section, own)))),
          button("PNG", () => downloadImage(`${name}.png`, pictureOf(section, own))),
          button("Card", () => downloadImage(`${name}-card.png`, cardOf(section, own), 1), { title: "PNG of 1200 x 630" }),
        ]
      : [];
    box.replaceChildren(
      ...kinds,
      section.matches("li") ? "" : h("label", {}, "Embed this", h("textarea", { readonly: true, rows: 2 }, embedCode({ card: own.title }))),
      h("label", {}, "Cite this (BibTeX)", h("textarea", { readonly: true, rows: 3 }, bibtexOf(own.title))),
    );
  });
  return menu;
}

// The bar of a row on its track, with a line for the mean of the collection.
const partOf = (value, top) => ({ "--part": `${Math.min(100, (100 * value) / top).toFixed(2)}%` });

/** @type {(row: any, top: number) => HTMLElement} */
export const track = ({ value, mean, hue, grey }, top) =>
  h("span", { class: "track", "aria-hidden": "true" },
    h("span", { class: grey ? "fill grey" : "fill", vars: { "--hue": hue ?? 255, ...partOf(value, top) } }),
    mean ? h("span", { class: "mean", vars: partOf(mean, top) }) : null,
  );

// Rows: { label, value, mean, text, hue, href, title }. The widest bar is `most`, or the largest value.
/** @param {any[]} rows @param {{ most?: number, name?: string }} options */
function bars(rows, { most, name } = {}) {
  const top = most || Math.max(...rows.map((row) => Math.max(row.value, row.mean || 0)), 1e-12);
  const label = ({ href, title, label: text }) =>
    href ? link(href, { class: "label", title }, text) : h("span", { class: "label", title }, text);
  return h("ul", { class: "bars", "aria-label": name || null },
    rows.map((row) =>
      h("li", {},
        label(row),
        track(row, top),
        h("span", { class: "figure" }, row.text),
      ),
    ),
  );
}

export const HAIRLINE = "The thin line on each bar is the whole collection; × is how many times that.";
