// Where documents are on the map: small maps with layers.
import { clamped, h, link, s, whole } from "./dom.js";
import { store, topicName } from "./data.js";
import { GLOW, extentOf, glowOf, packedColour, smoothed } from "./points.js";
import { DOCUMENT, documentItem, figure } from "./figure.js";

// Where documents are dense, from a quarter of the highest density on: lines of one density, as a path in cells of a grid (marching squares).
const GRID = 96;

function outlineOf(docs) {
  let density = new Float32Array(GRID * GRID);
  const cell = (v) => Math.floor(((v + GLOW.pad) / (1 + 2 * GLOW.pad)) * GRID);
  for (const d of docs) density[cell(store.map.y[d]) * GRID + cell(store.map.x[d])]++;
  for (let round = 0; round < 3; round++) for (const step of [1, GRID]) density = smoothed(density, GRID, step, 2);
  return contour(density, GRID, 0.25 * Math.max(...density));
}

// Closed lines around the values above a level. Around a cell, clockwise, each side where values fall below the level leads to the
// next one where they rise again, which is where they fall for the cell beyond.
export function contour(values, n, level) {
  const next = new Map();
  for (let cell = 0; cell < n * (n - 1) - 1; cell++) {
    if (cell % n === n - 1) continue;
    const corners = [cell, cell + 1, cell + n + 1, cell + n];
    const cuts = corners.flatMap((from, q) => {
      const to = corners[(q + 1) % 4];
      const [a, b] = [values[from] - level, values[to] - level];
      if (a > 0 === b > 0) return [];
      const [x, y] = [(at) => at % n, (at) => Math.floor(at / n)].map((part) => part(from) + (a / (a - b)) * (part(to) - part(from)));
      return [{ falls: a > 0, side: 2 * Math.min(from, to) + Number(Math.abs(to - from) === n), x, y }];
    });
    cuts.forEach((cut, q) => cut.falls && next.set(cut.side, { ...cut, to: cuts[(q + 1) % cuts.length].side }));
  }
  const lines = [];
  for (const [side] of next) {
    const line = [];
    for (let at = side; next.has(at); at = line.at(-1).to) {
      line.push(next.get(at));
      next.delete(at);
    }
    lines.push(`M${line.map(({ x, y }) => `${(x + 0.5).toFixed(2)} ${(y + 0.5).toFixed(2)}`).join("L")}Z`);
  }
  return lines.join("");
}

// Where documents are on the map, above a grey glow of all: layers { name, docs, hue } from back to front, dark without a hue.
// The kind of a layer may be `outline`, instead of its documents, or `filled`, around them. Some topics have their names.
// Layers may have `places` instead of documents, and how far they `spread`. A click shows them on the front page, by the filter `query`.
export function placesFigure(question, layers, query, named = []) {
  const { x, y } = store.map;
  const { left, right, top, bottom } = extentOf(x, y);
  const [wide, high] = [right - left, bottom - top].map((side) => Math.max(side, 0.05));
  const scale = 300 / wide;
  store.greyGlow ||= glowOf({ x, y, n: x.length }, packedColour(0.6, 0.01, 265));
  const [px, py] = [(v) => (6 + scale * (v - left)).toFixed(1), (v) => (6 + scale * (v - top)).toFixed(1)];
  const ofCell = (v) => (v / GRID) * (1 + 2 * GLOW.pad) - GLOW.pad;
  const placesIn = ({ docs, places }) => places || docs.map((d) => [x[d], y[d]]);
  const dots = (layer) => placesIn(layer).map(([a, b]) => `M${px(a)} ${py(b)}h0`).join("");
  const rows = layers.flatMap(({ name, docs }) => docs.map((d) => documentItem(d, undefined, name)));
  const size = (layer) => Math.min(Math.max(40 / Math.sqrt(placesIn(layer).length + 1), 2.5), layer.places ? 12 : 7);
  const foot = Math.ceil(12 + scale * high);
  const keys = layers.length > 1 ? layers : [];
  const own = ({ hue }) => ({ class: hue === undefined ? "ink" : null, vars: { "--hue": hue ?? 0 } });
  const key = (layer, i) => [
    s("path", { ...own(layer), "stroke-width": 9, d: `M12 ${foot + 8 + 20 * i}h0` }),
    s("text", { x: 24, y: foot + 12 + 20 * i }, `${clamped(layer.name, 30)}: ${whole(placesIn(layer).length)}`),
  ];
  const draw = () =>
    s("svg", { class: "places", viewBox: `0 0 312 ${foot + 20 * keys.length}`, role: "img", "aria-label": "Where they are on the map of documents" },
      s("image", { href: store.greyGlow, x: 6 - scale * (left + GLOW.pad), y: 6 - scale * (top + GLOW.pad), width: scale * (1 + 2 * GLOW.pad), height: scale * (1 + 2 * GLOW.pad) }),
      layers.map((layer) => [
        layer.kind && layer.docs.length > 2 ? s("path", { ...own(layer), class: `${own(layer).class || ""} ${layer.kind}`, d: outlineOf(layer.docs).replace(/([\d.]+) ([\d.]+)/g, (_, a, b) => `${px(ofCell(a))} ${py(ofCell(b))}`) }) : null,
        layer.kind === "outline" ? null : s("path", { ...own(layer), "stroke-width": size(layer), d: dots(layer) }),
        layer.spread ? s("circle", { class: "halo", cx: px(layer.places[0][0]), cy: py(layer.places[0][1]), r: scale * layer.spread }) : null,
      ]),
      named.map((k) => {
        const [text, half] = [clamped(topicName(k), 26), 4 * Math.min(topicName(k).length, 26)];
        return s("text", { class: "named", x: Math.min(Math.max(Number(px(store.map.topics.x[k])), half), 312 - half), y: Math.max(Number(py(store.map.topics.y[k])), 14), "text-anchor": "middle" }, text);
      }),
      keys.map(key),
    );
  const { value, shown, ...columns } = DOCUMENT;
  return figure({
    title: "On the map", question, rows, columns: { ...columns, x: (row) => x[row.d], y: (row) => y[row.d], layer: shown },
    mark: () => [draw(), h("p", {}, query ? link(`#/?${new URLSearchParams(query)}`, {}, "Show them on the map →") : null)],
  });
}
