// Charts: rows of bars, a line over the years. Every value is also given as text.
import { h, isNarrow, percent, plural, s, topOf, whole } from "./dom.js";
import { isBackground, store, topicHue, topicName } from "./data.js";
import { ITEM, roundTicks } from "./pictures.js";
import { figure } from "./figure.js";

// One bar divided into topics.
export function ribbon(profile) {
  const parts = topOf(profile, 10).filter((k) => profile[k] >= 0.02);
  const text = (k, gap) => `${topicName(k)}${gap}${percent(profile[k])}`;
  const part = (k) => {
    const vars = { "--hue": topicHue(k), "--part": profile[k] };
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
  const ticks = roundTicks(Math.max(most, ...known.map((row) => row.high ?? row.value)) || 1, small ? 2 : 4);
  const px = (i) => left + ((width - left - right) * i) / Math.max(rows.length - 1, 1);
  const py = (v) => 12 + (height - foot - 12) * (1 - Math.max(v, 0) / ticks.at(-1));
  const path = (some, value) => some.map((row) => `${px(row.i).toFixed(1)} ${py(value(row)).toFixed(1)}`).join("L");
  const line = path(known, (row) => row.value);
  const sure = known.filter((row) => row.high > row.low);
  const edges = [path(sure, (row) => row.high), path([...sure].reverse(), (row) => row.low)];
  const every = Math.ceil(rows.length / (small ? 3 : isNarrow() ? 5 : 9));
  const isNamed = (i) => (small ? i === 0 || i === rows.length - 1 : (rows.length - 1 - i) % every === 0);
  const name = `${label}: ${known.map((row) => `${row.name} ${form(row.value)}`).join(", ")}`;
  const chart = s("svg", { class: "line", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": name },
    ticks.map((tick) => [
      s("path", { class: "rule", d: `M${left} ${py(tick)}H${width - right}` }),
      s("text", { class: "tick", x: left - 8, y: py(tick), dy: ".35em", "text-anchor": "end" }, form(tick)),
    ]),
    sure.length > 1
      ? s("path", { class: "band", d: `M${edges.join("L")}Z` })
      : s("path", { class: "area", d: `M${px(known[0].i)} ${py(0)}L${line}L${px(known.at(-1).i)} ${py(0)}Z` }),
    s("path", { class: "stroke", d: `M${line}` }),
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
