// Topics and tags over time: what rises, what falls. All of it answers to the filter.
import { h, hero, isNarrow, lead, link, percent, plural, whole } from "./dom.js";
import { badge, store, tagFull, tagShort, topicHue, topicName } from "./data.js";
import { keepState, pushHash, stateOf, topicHref } from "./address.js";
import { choice, tagChip } from "./widgets.js";
import { filter, filterBar, filtered, followFilter, passed, yearOfTag, yearStrip } from "./filter.js";
import { ITEM } from "./pictures.js";
import { BAND, halvesOf, lineFigure, listFigure, periodRows, tagItem, timeLine, topicItem } from "./figure.js";

const LEAST_TREND = 10; // documents of a tag
const MOST_TRENDS = 12;

// Documents, mean shares of topics and half their 95 % intervals in each period.
function meansOf(docs) {
  const { periods } = store.time;
  const documents = periods.map(() => 0);
  const [sums, squares] = [0, 1].map(() => periods.map(() => new Float64Array(store.K)));
  for (const d of docs) {
    const period = store.documents.period[d];
    if (period < 0) continue;
    documents[period]++;
    for (let k = 0; k < store.K; k++) {
      const part = store.docRoots[d * store.K + k] ** 2;
      sums[period][k] += part;
      squares[period][k] += part * part;
    }
  }
  const shares = sums.map((row, i) => Array.from(row, (x) => x / Math.max(documents[i], 1)));
  const margin = (i, k) => 1.96 * Math.sqrt(Math.max(squares[i][k] / documents[i] - shares[i][k] ** 2, 0) / (documents[i] - 1));
  const margins = shares.map((row, i) => (documents[i] > 1 ? row.map((_, k) => margin(i, k)) : null));
  return { documents, shares, margins };
}
// The figures of `timeline.py`, or the same of the documents that pass the filter; periods and halves stay the same.
function timeOfPassed(held) {
  if (!filtered) return withTrends(held ? { ...store.time, ...held, tags: [] } : store.time);
  const { periods, late } = store.time;
  const counts = new Map();
  for (const d of passed()) {
    const period = store.documents.period[d];
    for (const t of period < 0 ? [] : store.documents.tags[d]) {
      if (!counts.has(t)) counts.set(t, [t, 0, 0]);
      counts.get(t)[period < late ? 1 : 2]++;
    }
  }
  const isKnown = ([t, early, after]) => early + after >= LEAST_TREND && !filter.tags.includes(t) && !yearOfTag(t);
  return withTrends({ periods, late, ...meansOf(passed()), tags: [...counts.values()].filter(isKnown) });
}
// Frequent tags that are missing in some periods: there, the mix of documents changes, unless it is held fixed.
function mixNote(held) {
  const { periods, missing } = store.time;
  const told = missing.map(([t, gaps]) => `${tagFull(t)} (${percent(store.tags.documents[t] / store.sizes.documents)} of the documents) has none in ${gaps.map((i) => periods[i]).join(", ")}`);
  const gaps = told.length && !filtered ? `${held ? "Estimated where there are no documents" : "The mix of documents changes"}: ${told.slice(0, 3).join("; ")}.` : "";
  return held ? `Every period as if it had the same mix of ${held.tags.map(tagShort).join(", ")}; their differences are taken to be the same in all periods. ${gaps}` : gaps;
}
// Add `halves`, the documents of both, the mean share of topics in both, and the tags that rise and fall.
function withTrends(time) {
  const { documents, shares, late } = time;
  const parts = [[0, late], [late, documents.length]];
  const halves = parts.map(([from, to]) => documents.slice(from, to).reduce((sum, n) => sum + n, 0));
  const mean = (k, half) => shares.reduce((sum, row, i) => sum + (i < late === !half ? row[k] * documents[i] : 0), 0) / halves[half];
  const topics = halves.every(Boolean) ? [...Array(store.K).keys()].map((k) => [k, mean(k, 0), mean(k, 1)]) : [];
  topics.sort((a, b) => b[2] - b[1] - (a[2] - a[1]) || a[0] - b[0]);
  return { ...time, halves, topics, ...tagTrends(time.tags, halves) };
}
// Tags by the z statistic of the difference of two shares.
/** @param {any[]} tags @param {number[]} halves */
function tagTrends(tags, [before, since]) {
  const rows = before && since ? tags.map(([t, early, after]) => {
    const pooled = (early + after) / (before + since);
    const spread = Math.sqrt(Math.max(pooled * (1 - pooled) * (1 / before + 1 / since), 1e-300));
    return [(after / since - early / before) / spread, t, early, after];
  }) : [];
  const some = (sign) =>
    rows
      .filter((row) => sign * row[0] > 2)
      .sort((a, b) => sign * (b[0] - a[0]) || a[1] - b[1])
      .slice(0, MOST_TRENDS)
      .map(([, ...row]) => row);
  return { rising: some(1), falling: some(-1) };
}

export function timePage() {
  const [sentence, mix, box] = [lead(), h("p", { class: "note mix" }), h("div")];
  const kinds = store.time.held.map(({ kind }) => [kind || "tags", `${kind || "tags"} held fixed`]);
  const options = { scale: [["own", "own"], ["common", "common"]], mix: [["any", "as it is"], ...kinds] };
  const chosen = { scale: stateOf().get("scale") === "common" ? "common" : "own", mix: stateOf().get("mix") ?? "any" };
  const draw = () => {
    const held = filtered ? undefined : store.time.held.find(({ kind }) => (kind || "tags") === chosen.mix);
    const time = timeOfPassed(held);
    sentence.textContent = timeSentence(time);
    mix.textContent = filtered && chosen.mix !== "any" ? "With a filter, the mix of documents is as it is." : mixNote(held);
    box.replaceChildren(...timeCards(time, chosen.scale).filter(Boolean));
  };
  const choose = (legend, name) =>
    choice(legend, name, options[name], chosen[name], (value) => {
      chosen[name] = value;
      keepState(name, value, options[name][0][0], pushHash);
      draw();
    });
  followFilter(box, draw);
  return [
    hero(null, "Over time", sentence, mix), filterBar(), yearStrip(),
    kinds.length ? choose("Mix of documents", "mix") : null, choose("Scale of small charts", "scale"), box,
  ];
}
function timeSentence(time) {
  const shown = time.topics.filter(([k]) => !store.topics.background[k]);
  const [first, last] = [time.periods[0], time.periods.at(-1)];
  if (!shown.length) return `The documents that pass the filter, from ${first} to ${last}: too few to compare.`;
  const told = ([k, early, after]) => `${topicName(k)} (${percent(early)} → ${percent(after)})`;
  const [before, since] = halvesOf(time);
  return `Between ${before} and ${since}, the topic that grew most is ${told(shown[0])}; the one that shrank most is ${told(shown.at(-1))}.`;
}

function timeCards(time, scale) {
  const { periods, documents, topics } = time;
  const names = halvesOf(time);
  const shown = topics.filter(([k]) => !store.topics.background[k]);
  const rising = shown.filter(([, early, after]) => after > early);
  const falling = shown.filter(([, early, after]) => after < early).reverse();
  const tagCard = (title, trends) => {
    const rows = trends.map(([t, early, after]) => ({ ...tagItem(t, after, `${whole(early)} → ${whole(after)}`), early }));
    const question = `Documents with the tag: of ${whole(time.halves[0])} in ${names[0]} → of ${whole(time.halves[1])} in ${names[1]}.`;
    const columns = { id: ITEM.id, name: ITEM.name, [`documents ${names[0]}`]: (row) => row.early, [`documents ${names[1]}`]: ITEM.value };
    const row = ({ t, text }) => h("li", {}, h("span", { class: "label" }, tagChip(t)), h("span", { class: "figure" }, text));
    return rows.length ? listFigure({ title, question, rows, columns }, "trends", row) : null;
  };
  const columns = { id: ITEM.id, name: ITEM.name, ...Object.fromEntries(periods.map((name, i) => [`share ${name}`, (row) => time.shares[i][row.id]])) };
  const multiples = (title, note, trends) => {
    const rows = trends.map(([k, early, after]) => topicItem(k, after, `${percent(early)} → ${percent(after)}`));
    const most = scale === "common" ? Math.max(...[...rising, ...falling].flatMap(([k]) => time.shares.map((row) => row[k]))) : 0;
    const question = `${note} Numbers: ${names[0]} → ${names[1]}. Each chart begins at 0 and has ${most ? "the same" : "its own"} scale. ${BAND}`;
    return rows.length ? listFigure({ title, question, rows, columns, shown: 8 }, "multiples", (row) => topicMultiple(time, row, most)) : null;
  };
  return [
    lineFigure({
      title: "Documents", question: "Documents in each period.",
      rows: periods.map((name, i) => ({ name, value: documents[i], text: plural(documents[i], "document") })),
    }, "Documents", 255, whole, isNarrow() ? undefined : 1080),
    multiples("Rising topics", "Mean share in documents; the largest gain first.", rising),
    multiples("Falling topics", "Mean share in documents; the largest loss first.", falling),
    time.rising.length || time.falling.length
      ? h("div", { class: "split" }, tagCard("Rising tags", time.rising), tagCard("Falling tags", time.falling))
      : null,
  ];
}

function topicMultiple(time, { id: k, name, text }, most) {
  const chart = timeLine(periodRows(time, k), { label: name, hue: topicHue(k), form: percent, width: 230, height: 100, most });
  return h("li", {}, link(topicHref(k), {}, badge(k), h("span", { title: name }, name)), chart, h("span", { class: "figure" }, text));
}
