// Figures: rows of data, from which screen, CSV, SVG, PNG, caption and alternative text are made.
//   title, question   what it shows, and how to read it
//   rows              all of them, each with `name` and `text`, mostly with `id` and `value`
//   columns           of the CSV: { name: (row) => value }
//   mark              draws the first `shown` rows on the screen
//   axis, form, most  what bars of `value` measure, how its numbers are written, where it ends; no bars without an axis
//   picture           the drawing itself, if it is not the one on the screen
import { area, line } from "d3-shape";
import { contourDensity } from "d3-contour";
import { bdi, button, clamped, h, isNarrow, linear, link, percent, plural, remark, s, times, topOf, whole } from "./dom.js";
import { badge, dateOf, huesIn, isBackground, mainTopic, sourceOf, store, tagFull, tagLabel, telling, titleOf, topicHue, topicLabel, topicName } from "./data.js";
import { embedCode, tagHref, topicHref, wordHref } from "./address.js";
import { GLOW, extentOf, glowOf, packedColour } from "./points.js";
import { documentRow, growing, tagChip, wordLink } from "./widgets.js";
import { ITEM, asText, axisOf, bibtexOf, cardOf, csvOf, download, downloadImage, fileName, pictureOf } from "./pictures.js";

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
export const topicItem = (k, value, text = percent(value), hue = topicHue(k)) => ({
  id: k, name: topicName(k), value, text, label: [badge(k, hue), h("span", {}, topicLabel(k))], hue, href: topicHref(k), grey: isBackground(k),
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
// The topics of one document.
export function topicFigure(question, profile, n, least = 0.01) {
  const hueOf = huesIn(profile);
  const rows = topOf(profile, store.K).map((k) => topicItem(k, profile[k], percent(profile[k]), hueOf(k)));
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

// Charts: rows of bars, a line over the years. Every value is also given as text.
// One bar divided into topics.
export function ribbon(profile, hueOf = topicHue) {
  const parts = topOf(profile, 10).filter((k) => profile[k] >= 0.02);
  const text = (k, gap) => `${topicName(k)}${gap}${percent(profile[k])}`;
  const part = (k) => {
    const vars = { "--hue": hueOf(k), "--part": profile[k] };
    const shown = profile[k] > 0.07 ? String(k) : "";
    return h("span", { class: isBackground(k) ? "grey" : null, title: text(k, ": "), vars }, shown);
  };
  const name = parts.map((k) => text(k, " ")).join(", ");
  return h("div", { class: "ribbon", role: "img", "aria-label": name }, parts.map(part));
}

// A line over time, with the band from `low` to `high` around it; rows without a value are left out. `form` writes a value.
export function timeLine(rows, { label, hue, form, width = isNarrow() ? 400 : 640, height = 200, most = 0 }) {
  const small = height < 150;
  const [left, right, foot] = small ? [48, 14, 20] : [62, 30, 28];
  const known = rows.map((row, i) => ({ ...row, i })).filter((row) => row.value !== null);
  const { scale: py, ticks } = axisOf(Math.max(most, ...known.map((row) => row.high ?? row.value)) || 1, [height - foot, 12], small ? 2 : 4);
  const px = linear([0, Math.max(rows.length - 1, 1)], [left, width - right]);
  const sure = known.filter((row) => row.high > row.low);
  const band = sure.length > 1;
  const under = area((row) => px(row.i), (row) => py(band ? row.low : 0), (row) => py(band ? row.high : row.value)).digits(1);
  const every = Math.ceil(rows.length / (small ? 3 : isNarrow() ? 5 : 9));
  const isNamed = (i) => (small ? i === 0 || i === rows.length - 1 : (rows.length - 1 - i) % every === 0);
  const name = `${label}: ${known.map((row) => `${row.name} ${form(row.value)}`).join(", ")}`;
  const chart = s("svg", { class: "line", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": name },
    ticks.map((tick) => [
      s("path", { class: "rule", d: `M${left} ${py(tick)}H${width - right}` }),
      s("text", { class: "tick", x: left - 8, y: py(tick), dy: ".35em", "text-anchor": "end" }, form(tick)),
    ]),
    s("path", { class: band ? "band" : "area", d: under(band ? sure : known) }),
    s("path", { class: "stroke", d: line((row) => px(row.i), (row) => py(row.value)).digits(1)(known) }),
    small ? null : known.map((row) => s("circle", { cx: px(row.i), cy: py(row.value), r: 3.5, "data-value": row.value }, s("title", {}, `${row.name}: ${row.text}`))),
    rows.map((row, i) => (isNamed(i) ? s("text", { class: "tick", x: px(i), y: height - 6, "text-anchor": small && i ? "end" : small ? "start" : "middle" }, row.name) : null)),
  );
  chart.style.setProperty("--hue", hue);
  return chart;
}

// A figure with a line over time. Rows: { name, value, text, low, high }.
export const lineFigure = (own, label, hue, form = percent, width = undefined) => {
  const band = own.rows.some((row) => row.high) ? { low: (row) => row.low ?? "", high: (row) => row.high ?? "" } : {};
  const columns = { period: ITEM.name, value: ITEM.value, ...band, shown: ITEM.shown };
  return figure({ columns, ...own, mark: (rows) => timeLine(rows, { label, hue, form, width }) });
};
export const topicLine = (k) =>
  lineFigure(
    { title: "Over time", question: `Mean share of the topic in the documents of each period. ${BAND}`, rows: periodRows(store.time, k) },
    `Share of ${topicName(k)}`, topicHue(k),
  );

// Documents with something, such as a tag: their share of each period, with Wilson's interval; known only if all are listed.
export function documentsLine(docs, name, what) {
  const { periods, documents } = store.time || {};
  if (!periods || store.sizes.listed < store.sizes.documents || docs.length < 3) return null;
  const counts = periods.map(() => 0);
  for (const d of docs) if (store.documents.period[d] >= 0) counts[store.documents.period[d]]++;
  if (counts.filter(Boolean).length < 2) return null;
  const rows = periods.map((period, i) => {
    const [low, high] = wilson(counts[i], documents[i]);
    return { name: period, value: counts[i] / documents[i], low, high, text: `${whole(counts[i])} of ${plural(documents[i], "document")}` };
  });
  return lineFigure({ title: "Over time", question: `Share of the documents of each period that ${what}. Band: 95 % interval.`, rows }, `Documents with ${name}`, 255);
}
function wilson(found, n) {
  const z = 1.96;
  const middle = (found + (z * z) / 2) / (n + z * z);
  const half = (z / (n + z * z)) * Math.sqrt((found * (n - found)) / n + (z * z) / 4);
  return [Math.max(middle - half, 0), Math.min(middle + half, 1)];
}

export const BAND = "Band: 95 % interval of the mean.";

// The rows of a topic's line.
export const periodRows = ({ periods, documents, shares, margins }, k) =>
  periods.map((name, i) => {
    const [value, margin] = [documents[i] ? shares[i][k] : null, margins[i] ? margins[i][k] : 0];
    const text = `${percent(shares[i][k])}${margin ? ` ± ${percent(margin)}` : ""} of ${plural(documents[i], "document")}`;
    return { name, value, low: Math.max(value - margin, 0), high: value + margin, text };
  });

export const halvesOf = ({ periods, late }) =>
  [periods.slice(0, late), periods.slice(late)].map((part) => (part.length > 1 ? `${part[0]}–${part.at(-1)}` : part[0]));

// Where documents are on the map: small maps with layers.
const [WIDTH, MARGIN, EDGE] = [312, 16, 30]; // of a drawing; outlines and glow stay in the margin, densities may leave it
// Lines around places that are dense, from a quarter of the highest density on.
/** @type {(places: number[][], height: number) => string} */
export function outlineOf(places, height) {
  const density = contourDensity().x(([x]) => x + EDGE).y(([, y]) => y + EDGE).size([WIDTH + 2 * EDGE, height + 2 * EDGE]).bandwidth(8).contours(places);
  const outline = line((place) => place[0] - EDGE, (place) => place[1] - EDGE).digits(1);
  return density(density.max / 4).coordinates.flatMap((polygon) => polygon.map((ring) => `${outline(ring)}Z`)).join("");
}

// Where documents are on the map, above a grey glow of all: layers { name, docs, hue } from back to front, dark without a hue.
// The kind of a layer may be `outline`, instead of its documents, or `filled`, around them. Some topics have their names.
// Layers may have `places` instead of documents, and how far they `spread`. A click shows them on the front page, by the filter `query`.
export function placesFigure(question, layers, query, named = []) {
  const { x, y } = store.map;
  const { left, right, top, bottom } = extentOf(x, y);
  const [wide, high] = [right - left, bottom - top].map((side) => Math.max(side, 0.05));
  const scale = (WIDTH - 2 * MARGIN) / wide;
  const foot = Math.ceil(2 * MARGIN + scale * high);
  store.greyGlow ||= glowOf({ x, y, n: x.length }, packedColour(0.6, 0.01, 265));
  const [px, py] = [linear([left, left + wide], [MARGIN, WIDTH - MARGIN]), linear([top, top + high], [MARGIN, foot - MARGIN])];
  const placesIn = ({ docs, places }) => (places || docs.map((d) => [x[d], y[d]])).map(([a, b]) => [px(a), py(b)]);
  const dots = (layer) => placesIn(layer).map(([a, b]) => `M${a.toFixed(1)} ${b.toFixed(1)}h0`).join("");
  const rows = layers.flatMap(({ name, docs }) => docs.map((d) => documentItem(d, undefined, name)));
  const size = (layer) => Math.min(Math.max(40 / Math.sqrt(placesIn(layer).length + 1), 2.5), layer.places ? 12 : 7);
  const keys = layers.length > 1 ? layers : [];
  const own = ({ hue }) => ({ class: hue === undefined ? "ink" : null, vars: { "--hue": hue ?? 0 } });
  const key = (layer, i) => [
    s("path", { ...own(layer), "stroke-width": 9, d: `M12 ${foot + 8 + 20 * i}h0` }),
    s("text", { x: 24, y: foot + 12 + 20 * i }, `${clamped(layer.name, 30)}: ${whole(placesIn(layer).length)}`),
  ];
  const draw = () =>
    s("svg", { class: "places", viewBox: `0 0 ${WIDTH} ${foot + 20 * keys.length}`, role: "img", "aria-label": "Where they are on the map of documents" },
      s("image", { href: store.greyGlow, x: px(-GLOW.pad), y: py(-GLOW.pad), width: scale * (1 + 2 * GLOW.pad), height: scale * (1 + 2 * GLOW.pad) }),
      layers.map((layer) => [
        layer.kind && layer.docs.length > 2 ? s("path", { ...own(layer), class: `${own(layer).class || ""} ${layer.kind}`, d: outlineOf(placesIn(layer), foot) }) : null,
        layer.kind === "outline" ? null : s("path", { ...own(layer), "stroke-width": size(layer), d: dots(layer) }),
        layer.spread ? s("circle", { class: "halo", cx: px(layer.places[0][0]), cy: py(layer.places[0][1]), r: scale * layer.spread }) : null,
      ]),
      named.map((k) => {
        const [text, half] = [clamped(topicName(k), 26), 4 * Math.min(topicName(k).length, 26)];
        return s("text", { class: "named", x: Math.min(Math.max(px(store.map.topics.x[k]), half), WIDTH - half), y: Math.max(py(store.map.topics.y[k]), 14), "text-anchor": "middle" }, text);
      }),
      keys.map(key),
    );
  const { value, shown, ...columns } = DOCUMENT;
  return figure({
    title: "On the map", question, rows, columns: { ...columns, x: (row) => x[row.d], y: (row) => y[row.d], layer: shown },
    mark: () => [draw(), h("p", {}, query ? link(`#/?${new URLSearchParams(query)}`, {}, "Show them on the map →") : null)],
  });
}
