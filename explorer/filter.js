// One filter for the map, the charts and the lists: tags x topics x years x words x an area of the map.
import { polygonContains } from "d3-polygon";
import { bdi, button, field, fill, h, isNarrow, keepingFocus, percent, plural, s, topOf, whole } from "./dom.js";
import { store, tagFull, tagLabel, topicHue, topicLabel, topicName } from "./data.js";
import { hashWith, pushHash } from "./address.js";
import { searchedTexts } from "./texts.js";
import { tagBox } from "./widgets.js";

const NO_FILTER = { tags: [], topics: [], years: null, words: "", area: null };
export const filter = { ...NO_FILTER };
export const TOPIC_FROM = 0.2; // a document belongs to a topic that has at least this share of it
export let filtered = null; // Uint8Array of the listed documents, or null for all
export let filtering = false; // whether all texts are being searched, so that `filtered` is not yet known
export const followers = new Set(); // functions of pages that show what passes

export const isFiltered = () => Boolean(filter.tags.length || filter.topics.length || filter.years || filter.words || filter.area);

export function setFilter(change) {
  Object.assign(filter, change);
  keepAddress();
  return applyFilter();
}

async function applyFilter() {
  const words = filter.words;
  filtering = Boolean(words);
  const hits = words ? (await searchedTexts(words)).documents : null;
  if (words !== filter.words) return; // a later filter has overtaken this one
  filtering = false;
  filtered = isFiltered() ? passing(hits) : null;
  for (const follow of [...followers]) if (follow() === false) followers.delete(follow);
}

function passing(hits) {
  const n = store.documents.ids.length;
  const mask = new Uint8Array(n).fill(1);
  for (let d = 0; d < n; d++) {
    const tags = store.documents.tags[d];
    if (!filter.tags.every((t) => tags.includes(t))) mask[d] = 0;
    else if (!filter.topics.every((k) => store.docRoots[d * store.K + k] ** 2 >= TOPIC_FROM)) mask[d] = 0;
    else if (filter.years && !(yearOf(d) >= filter.years[0] && yearOf(d) <= filter.years[1])) mask[d] = 0;
    else if (filter.area && !polygonContains(filter.area, [store.map.x[d], store.map.y[d]])) mask[d] = 0;
  }
  if (hits) for (let d = 0; d < n; d++) if (!hits.has(d)) mask[d] = 0;
  return mask;
}

// Draw now, and again when the filter changes, while a part of the page is shown; then `left` is called.
export function followFilter(node, draw, left = () => {}) {
  let shown = false;
  draw();
  setTimeout(() => (shown = true), 0);
  followers.add(() => {
    if (shown && !node.isConnected) {
      left();
      return false;
    }
    draw();
    return true;
  });
}

export function passed() {
  const all = [...store.documents.ids.keys()];
  return filtered ? all.filter((d) => filtered[d]) : all;
}

// The year that a tag of the kind `year` names, or 0.
export const yearOfTag = (t) => (/^year:[1-9][0-9]{3}$/.test(store.tags.names[t]) ? Number(store.tags.names[t].slice(5)) : 0);

// Years: of the documents' periods, or of tags such as year:1999; 0 if unknown.
export function yearOf(d) {
  if (!store.docYears) {
    const { period } = store.documents;
    const names = period && store.time ? store.time.periods || store.time.names : null;
    store.docYears = names ? period.map((p) => (p >= 0 ? Number.parseInt(names[p], 10) : 0)) : store.documents.tags.map((row) => Math.max(0, ...row.map(yearOfTag)));
  }
  return store.docYears[d] || 0;
}
export function yearSpan() {
  if (store.yearSpan === undefined) {
    const years = [...new Set([...store.documents.ids.keys()].map(yearOf))].filter(Boolean).sort((a, b) => a - b);
    const [first, last] = [years[0], years[years.length - 1]];
    store.yearSpan =
      years.length < 2 ? null : { years, first, last, part: (year) => (year - first) / Math.max(last - first, 1) };
  }
  return store.yearSpan;
}

// The filter in the address: #/?tag=NAME&topic=3&years=2001-2005&words=...
export function filterQuery() {
  const query = new URLSearchParams();
  filter.tags.forEach((t) => query.append("tag", store.tags.names[t]));
  filter.topics.forEach((k) => query.append("topic", k));
  if (filter.years) query.set("years", filter.years.join("-"));
  if (filter.words) query.set("words", filter.words);
  if (filter.area) query.set("area", filter.area.flat().join(" "));
  return query.toString();
}
function keepAddress() {
  const [path, query = ""] = hashWith(location.hash, { tag: null, topic: null, years: null, words: null, area: null }).split("?");
  const whole = [filterQuery(), query].filter(Boolean).join("&");
  pushHash(whole ? `${path}?${whole}` : path);
}
export function readFilter(text) {
  const query = new URLSearchParams(text);
  const years = /^(\d{1,4})-(\d{1,4})$/.exec(query.get("years") || "");
  const area = (query.get("area") || "").split(" ").map(Number);
  Object.assign(filter, {
    tags: query.getAll("tag").map((name) => store.tags.names.indexOf(name)).filter((t) => t >= 0),
    topics: query.getAll("topic").filter((k) => /^\d+$/.test(k) && Number(k) < store.K).map(Number),
    years: years ? [Number(years[1]), Number(years[2])] : null,
    words: (query.get("words") || "").slice(0, 200),
    area:
      area.length >= 6 && area.length % 2 === 0 && area.every(Number.isFinite)
        ? area.flatMap((x, i) => (i % 2 ? [] : [[x, area[i + 1]]]))
        : null,
  });
  return applyFilter();
}

// The bar: what is filtered by, as chips that can be removed, and boxes to add to it.
export function filterBar() {
  const chips = h("ul", { class: "chosen", "aria-label": "Filter" });
  const count = h("p", { class: "count", role: "status" });
  const box = h("div", { class: "combo" });
  const change = () => setFilter({ words: words.value.trim().slice(0, 200) });
  const words = h("input", { id: "filter-words", type: "search", placeholder: "Beginnings of words …", autocomplete: "off", on: { change } });
  const addTag = (t) => setFilter({ tags: [...filter.tags, t] });
  followFilter(chips, () => {
    keepingFocus([chips, box], () => {
      chips.replaceChildren(...filterChips());
      box.replaceChildren(tagBox("Tag", filter.tags, addTag));
    });
    words.value = filter.words;
    count.setAttribute("aria-busy", String(filtering));
    count.textContent = filtering ? "Searching all texts …" : passedCount();
  });
  return h("div", { class: "filterbar" },
    count,
    chips,
    h("details", { class: "fields", open: !isNarrow() }, h("summary", {}, "Filter"), h("div", {},
      store.tags.names.length ? box : null,
      topicSelect(),
      store.pictures ? null : field("filter-words", "Text contains", words),
    )),
  );
}
function passedCount() {
  if (!filtered) return plural(store.sizes.documents, "document");
  const listed = store.documents.ids.length;
  const left = store.sizes.documents - listed;
  const others = left ? ` (${whole(left)} others are not in this file)` : "";
  return `${whole(passed().length)} of ${plural(listed, "document")}${others}`;
}

export function filterChips() {
  const chip = (text, name, change, hue = 265) =>
    h("li", { vars: { "--hue": hue } },
      h("span", {}, typeof text === "string" ? bdi(text) : text),
      button("×", () => setFilter(change), { "aria-label": `Remove ${name}` }),
    );
  const without = (list, one) => list.filter((other) => other !== one);
  return [
    ...filter.tags.map((t) => chip(tagLabel(t), tagFull(t), { tags: without(filter.tags, t) })),
    ...filter.topics.map((k) => chip(topicLabel(k, 2), topicName(k), { topics: without(filter.topics, k) }, topicHue(k))),
    filter.years ? chip(filter.years.join("–"), "years", { years: null }) : null,
    filter.words ? chip(`contains “${filter.words}…”`, "words", { words: "" }) : null,
    filter.area ? chip("Area of the map", "area", { area: null }) : null,
  ].filter(Boolean);
}

function topicSelect() {
  const change = () => {
    const k = Number(select.value);
    select.value = "";
    if (k >= 0 && !filter.topics.includes(k)) setFilter({ topics: [...filter.topics, k] });
  };
  const select = h("select", { id: "filter-topic", on: { change } },
    h("option", { value: "" }, `Any (from ${percent(TOPIC_FROM)})`),
    topOf(store.topics.share, store.K).map((k) => h("option", { value: k }, topicLabel(k, 3))),
  );
  return field("filter-topic", "Topic", select);
}

// Documents of each year, in colour those that pass. Drag over years, or move an end with the arrow keys, to filter.
export function yearStrip() {
  const span = yearSpan();
  if (!span) return null;
  const { first, last } = span;
  const n = last - first + 1;
  const counts = (docs) => {
    const sums = new Array(n).fill(0);
    for (const d of docs) if (yearOf(d)) sums[yearOf(d) - first]++;
    return sums;
  };
  const columns = (sums, most) => sums.map((x, i) => (x ? `M${i + 0.06} 1V${(1 - x / most).toFixed(4)}h.88V1z` : "")).join("");
  const all = counts([...store.documents.ids.keys()]);
  const most = Math.max(...all);
  const [passing, brush] = [s("path", { class: "passing" }), s("rect", { class: "brush", y: 0, height: 1 })];
  const chart = s("svg", { viewBox: `0 0 ${n} 1`, preserveAspectRatio: "none", "aria-hidden": "true" }, brush, s("path", { d: columns(all, most) }), passing);
  /** @type {(years: number[]) => any} */
  const show = ([from, to]) => fill(brush, { x: from - first, width: to - from + 1 }, []);
  /** @type {(years: number[]) => any} */
  const choose = ([from, to]) => setFilter({ years: from === first && to === last ? null : [from, to] });
  const ends = ["From", "To"].map((name, end) => {
    const years = () => {
      const value = Number(input.value);
      const other = Number(ends[1 - end].value);
      return end ? [Math.min(value, other), value] : [value, Math.max(value, other)];
    };
    const on = { input: () => show(years()), change: () => choose(years()) };
    const input = h("input", { id: `filter-${name.toLowerCase()}`, type: "range", min: first, max: last, "aria-label": `${name} year`, on });
    return input;
  });
  const yearAt = (event) => {
    const { left, width } = chart.getBoundingClientRect();
    return first + Math.min(Math.max(Math.floor((n * (event.clientX - left)) / width), 0), n - 1);
  };
  let start = 0;
  const dragged = (event) => [start, yearAt(event)].sort((a, b) => a - b);
  fill(chart, { on: {
    pointerdown: (event) => {
      chart.setPointerCapture(event.pointerId);
      start = yearAt(event);
      show([start, start]);
    },
    pointermove: (event) => start && show(dragged(event)),
    pointerup: (event) => start && choose(dragged(event)).then(() => (start = 0)),
    pointercancel: () => choose(filter.years || [first, last]).then(() => (start = 0)),
  } }, []);
  const draw = () => {
    const years = filter.years || [first, last];
    passing.setAttribute("d", columns(counts(passed()), most));
    ends.forEach((input, end) => (input.value = String(years[end])));
    show(years);
  };
  followFilter(chart, draw);
  const few = n <= (isNarrow() ? 9 : 20);
  const texts = few ? all.map((_, i) => first + i) : [first, `${whole(most)} documents in the fullest year`, last];
  const named = h("p", { class: few ? "each" : null, "aria-hidden": "true" }, texts.map((text) => h("span", {}, text)));
  return h("div", { class: "years", role: "group", "aria-label": "Years" }, chart, ends, named);
}
