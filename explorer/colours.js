// What the colours of the map show: a table of modes, and their legends.
import { clamped, h, keepingFocus, plural, s, settings, topOf } from "./dom.js";
import { isBackground, store, tagBare, tagShort } from "./data.js";
import { keepState, pushHash } from "./address.js";
import { orderedColour, packedColour, plainColour, rgbOf } from "./points.js";
import { choice, chosenTags, tagBox } from "./widgets.js";
import { yearOf, yearSpan } from "./filter.js";
import { audit, loadAudit } from "./audit.js";

// Ten colours, lightness, chroma and hue, that also people who confuse red and green tell apart.
export const TEN = [
  [0.694, 0.126, 71], [0.424, 0.2, 267], [0.569, 0.171, 144], [0.658, 0.178, 350], [0.72, 0.154, 240],
  [0.84, 0.194, 127], [0.591, 0.199, 282], [0.425, 0.085, 82], [0.4, 0.141, 330], [0.541, 0.071, 233],
];
/** @param {number[]} colour @param {boolean} dark */
export const tenth = ([lightness, chroma, hue], dark) => packedColour(lightness + (dark ? 0.08 : 0), chroma, hue);

// { key, name, note, paint }: `paint(dark)` returns `of`, the colour of a point or 0 for grey, and, for a legend, `rows` of names
// and colours or a `scale` of ordered values.
export function colourModes(chosen) {
  const span = yearSpan();
  const kinds = [...store.kinds].filter(([kind, tags]) => kind !== "year" && tags.length > 1);
  const unknown = () => (store.map.x.some((_, i) => !yearOf(i)) ? " Documents without a known year are grey." : "");
  return [
    { key: "topic", name: "topic", note: () => "Colours show the topic that distinguishes a document most.", paint: paintTopics },
    span && { key: "year", name: "year", note: () => `Colours show the year.${unknown()}`, paint: (dark) => paintOrdered(dark, `Colours by year, from ${span.first} to ${span.last}`, yearTexts(span), span.last - span.first + 1, (i) => (yearOf(i) ? span.part(yearOf(i)) : -1)) },
    ...kinds.map(([kind, tags]) => ({
      key: `kind:${kind}`, name: kind || "tag", paint: (dark) => paintTags(dark, topOf(store.tags.documents, TEN.length, tags), tagBare),
      note: () => `Colours show the ${plural(Math.min(TEN.length, tags.length), "most frequent tag")}${kind ? ` of the kind ${kind}` : ""}; documents without one of them are grey.`,
    })),
    store.tags.names.length && { key: "tags", name: "chosen tags", note: () => "Colours show one to three tags of your choice; other documents are grey.", paint: (dark) => paintTags(dark, chosen) },
    settings.audit && { key: "audit", name: "audit", note: () => "Colours show the highest score that the audit gives a tag of the document, or one that it lacks; documents without a finding are grey.", paint: paintAudit },
  ].filter(Boolean);
}

function paintTopics(dark) {
  const topic = store.map.colours.map(([hue, lightness, chroma], k) => packedColour(lightness + (dark ? 0.13 : 0), isBackground(k) ? 0.01 : chroma * (dark ? 0.85 : 1), hue));
  return { of: (i) => topic[store.map.region[i]] };
}
// Of documents that have several of the tags, no one of them is shown.
function paintTags(dark, tags, name = tagShort) {
  const colour = new Map(tags.map((t, j) => [t, tenth(TEN[j], dark)]));
  const several = packedColour(dark ? 0.92 : 0.3, 0.01, 265);
  const own = (i) => (store.documents.tags[i] || []).filter((t) => colour.has(t));
  const isMixed = store.documents.ids.some((_, i) => own(i).length > 1);
  return {
    of: (i) => (own(i).length > 1 ? several : colour.get(own(i)[0]) || 0),
    rows: [...tags.map((t) => [name(t), colour.get(t)]), ...(isMixed ? [["several of them", several]] : [])],
  };
}
const paintOrdered = (dark, label, texts, n, part) => ({ of: (i) => (part(i) < 0 ? 0 : orderedColour(part(i), dark)), scale: { label, texts, n: Math.min(n, 49) } });
function paintAudit(dark) {
  const score = new Map();
  for (const { row, score: own } of audit.findings || []) if (row !== undefined) score.set(row, Math.max(own, score.get(row) || 0));
  const rows = store.documents.rows;
  return paintOrdered(dark, "Colours by score of the audit, from 0 to 1", [["0", 0], ["1", 1]], 49, (i) => score.get(rows[i]) ?? -1);
}
// The first, the middle and the last year, each with its place from 0 to 1.
function yearTexts({ first, last, part }) {
  const middle = Math.round((first + last) / 2);
  return [[first, 0], ...(last - first > 1 ? [[middle, part(middle)]] : []), [last, 1]];
}

// A legend on the map. Attributes say it all, so pictures can have it, too.
/** @param {any} paint */
export function mapLegend({ rows = [], scale }, dark, ground) {
  if (!scale && !rows.length) return null;
  const size = { width: 196, height: scale ? 42 : 12 + 20 * rows.length };
  const { color, fontFamily } = getComputedStyle(document.body);
  const text = (x, y, anchor, words) => s("text", { x, y, "font-family": fontFamily, "font-size": 12, fill: plainColour(color), "text-anchor": anchor }, String(words));
  const step = scale ? (size.width - 20) / scale.n : 0;
  const cell = (x, width, fill, y) => s("rect", { x, y, width, height: 12, "shape-rendering": "crispEdges", fill: rgbOf(fill) });
  return s("svg",
    { class: scale ? "map-legend year-scale" : "map-legend", ...size, role: "img", "aria-label": scale ? scale.label : `Colours: ${rows.map(([name]) => name).join(", ")}` },
    s("rect", { ...size, rx: 8, fill: ground, "fill-opacity": 0.85 }),
    scale && Array.from({ length: scale.n }, (_, i) => cell(10 + step * i, step, orderedColour(i / Math.max(scale.n - 1, 1), dark), 8)),
    scale && scale.texts.map(([words, at]) => (at === 0 ? text(10, 34, "start", words) : at === 1 ? text(size.width - 10, 34, "end", words) : text(10 + step * (at * (scale.n - 1) + 0.5), 34, "middle", words))),
    rows.map(([name, colour], j) => [cell(10, 12, colour, 10 + 20 * j), text(28, 20 + 20 * j, "start", clamped(name, 24))]),
  );
}

// The choice of a mode, below the map; chosen tags are part of the address.
export function colourChoice(map, tell) {
  const picker = h("div", { class: "picker" });
  const show = () => {
    map.recolour();
    tell();
    picker.hidden = map.colourBy !== "tags";
    if (picker.hidden) return;
    const set = (tags) => {
      map.chosen = tags;
      keepState("by", tags.map((t) => store.tags.names[t]).join("\n"), "", pushHash);
      keepingFocus([picker], show);
    };
    picker.replaceChildren(
      chosenTags("Tags in colour", map.chosen, 0, (t) => set(map.chosen.filter((u) => u !== t))) || "",
      map.chosen.length < 3 ? tagBox("Tag in colour", map.chosen, (t) => set([...map.chosen, t])) : "",
    );
  };
  const modes = colourModes(map.chosen).map(({ key, name }) => [key, name]);
  show();
  if (map.colourBy === "audit") loadAudit().then(show);
  const pick = async (value) => {
    map.colourBy = value;
    keepState("colour", value, "topic", pushHash);
    if (value === "audit") await loadAudit();
    show();
  };
  return modes.length > 1 ? [choice("Colour by", "colour", modes, map.colourBy, pick), picker] : null;
}
