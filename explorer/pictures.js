// What a figure is saved as: CSV, SVG, PNG, a card, a citation.
import { nice, ticks } from "d3-array";
import { fill, h, linear, percent, plural, s, settings, whole, wrapped } from "./dom.js";
import { store } from "./data.js";
import { addressOf, headline, plainHash } from "./address.js";
import { plainColour } from "./points.js";
import { filterChips, isFiltered } from "./filter.js";

// A scale from 0 to a round number at or above the largest value, and even ticks on it.
/** @type {(most: number, range: number[], n?: number) => { scale: (value: number) => number, ticks: number[] }} */
export function axisOf(most, range, n = 4) {
  const [, end] = nice(0, most, n);
  return { scale: linear([0, end], range), ticks: ticks(0, end, n) };
}

export const ITEM = { id: (row) => row.id, name: (row) => row.name, value: (row) => row.value, shown: (row) => row.text };

export const fileName = (title) =>
  `${headline()} ${title}`.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 80) || "card";

const fitted = () => (store.fitted || "").slice(0, 10);

const sourceText = () =>
  `${store.title} · ${store.model} with ${plural(store.K, "topic")}, ${fitted() ? `fitted ${fitted()}` : "date unknown"} · tagtopics ${settings.version}`;

export function bibtexOf(title) {
  const plain = (text) => text.replace(/[\\{}]/g, " ").replace(/[&%$#_]/g, "\\$&");
  const fields = {
    title: plain([...new Set([title, headline(), store.title])].join(". ")),
    year: fitted().slice(0, 4),
    note: plain(`${store.model} with ${plural(store.K, "topic")}, seed ${store.parameters.random_state ?? "not set"}${fitted() ? `, fitted ${fitted()}` : ""}`),
    howpublished: `tagtopics ${settings.version}`,
    url: location.protocol === "file:" ? "" : addressOf(plainHash()),
  };
  const lines = Object.entries(fields).filter(([, value]) => value).map(([name, value]) => `  ${name} = {${value}}`);
  return `@misc{${fileName(title)},\n${lines.join(",\n")}\n}`;
}

export function download(name, type, content) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

// Spreadsheets run cells that begin like formulas; an apostrophe makes them text.
const noFormula = (text) => (/^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text);

export const cell = (value) => (typeof value === "number" ? String(value) : `"${noFormula(String(value ?? "")).replaceAll('"', '""')}"`);

/** @param {{ rows: any[], columns?: any }} own */
export function csvOf({ rows, columns = ITEM }) {
  const lines = [Object.keys(columns), ...rows.map((row) => Object.values(columns).map((read) => read(row)))];
  return lines.map((line) => line.map(cell).join(",")).join("\r\n") + "\r\n";
}

const MOST_DRAWN = 60; // rows of a picture

export const asText = (picture) => new XMLSerializer().serializeToString(picture);

const PLAIN_TEXT = { "font-family": "sans-serif", "font-size": 13 };

const textLines = (lines, x, y, step, props) => lines.map((line, i) => s("text", { ...PLAIN_TEXT, ...props, x, y: y + step * i }, line));

function coloursOf(section) {
  const style = getComputedStyle(section.closest(".card, .terrain"));
  return [style.backgroundColor, style.color].map(plainColour);
}

// The drawing with its title above, and below it how to read it and where it comes from.
export function pictureOf(section, own) {
  const [ground, ink] = coloursOf(section);
  const drawing = own.picture ? own.picture() : drawnOf(section, own, ink);
  const [wide, high] = ["width", "height"].map((side) => Number(drawing.getAttribute(side)));
  const width = wide + 32;
  const title = wrapped(own.title === headline() ? own.title : `${headline()}: ${own.title}`, Math.floor(width / 9.5));
  const left = own.rows.length > MOST_DRAWN && drawing.dataset.rows ? `The first ${MOST_DRAWN} of ${whole(own.rows.length)}.` : "";
  const only = isFiltered() ? `Filter: ${filterChips().map((chip) => chip.firstChild.textContent).join(", ")}.` : "";
  const caption = wrapped([own.question, left, only].filter(Boolean).join(" "), Math.floor(width / 6.6)).filter(Boolean);
  const top = 16 + 21 * title.length;
  const foot = top + high + 24 + 16 * caption.length;
  const height = foot + 14 + 14 * wrapped(sourceText(), Math.floor(width / 6)).length;
  const told = own.rows.slice(0, 20).map(({ name, text }) => `${name} ${text ?? ""}`.trim()).join("; ");
  return s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", fill: ink },
    s("title", {}, `${headline()}: ${own.title}`),
    s("desc", {}, `${own.question || ""} ${told}`.trim()),
    s("rect", { width, height, fill: ground }),
    textLines(title, 16, 30, 21, { "font-size": 16, "font-weight": 600 }),
    fill(drawing, { x: 16, y: top, class: "drawing" }, []),
    textLines(caption, 16, top + high + 24, 16, { "font-size": 12 }),
    textLines(wrapped(sourceText(), Math.floor(width / 6)), 16, foot + 6, 14, { "font-size": 11, "fill-opacity": 0.75 }),
  );
}

// The drawing on a card of 1200 x 630, as other sites show links: with its title, source and date.
const CARD = { width: 1200, height: 630 };

export function cardOf(section, own) {
  const [ground, ink] = coloursOf(section);
  const drawing = own.picture ? own.picture() : drawnOf(section, { ...own, shown: Math.min(own.shown ?? 8, 8) }, ink);
  const title = wrapped([store.title, own.title].includes(headline()) ? own.title : `${headline()}: ${own.title}`, 62).slice(0, 3);
  const top = 50 + 42 * title.length;
  return s("svg", { viewBox: `0 0 ${CARD.width} ${CARD.height}`, ...CARD, fill: ink },
    s("rect", { ...CARD, fill: ground }),
    textLines(title, 60, 72, 42, { "font-size": 34, "font-weight": 600 }),
    fill(drawing, { x: 60, y: top, width: 1080, height: 560 - top, preserveAspectRatio: "xMidYMid meet" }, []),
    textLines([sourceText()], 60, 600, 0, { "font-size": 20, "fill-opacity": 0.75 }),
  );
}

// The charts of the screen, if there are any, or a row for each row.
function drawnOf(section, own, ink) {
  const charts = [...section.querySelectorAll("svg:not([aria-hidden])")];
  if (charts.length > 1) return multiplesPicture(charts, own.rows);
  return charts.length ? styledCopy(charts[0]) : rowsPicture(own, ink);
}

// What style sheets may say about a shape or a text; all of them are also attributes of SVG.
const STYLES =
  "fill fill-opacity stroke stroke-width stroke-opacity stroke-linecap stroke-linejoin stroke-dasharray paint-order opacity visibility font-family font-size font-style font-weight letter-spacing text-anchor dominant-baseline".split(" ");

function styledCopy(drawn) {
  const copy = drawn.cloneNode(true);
  const [from, to] = [drawn, copy].map((root) => [root, ...root.querySelectorAll("*")]);
  from.forEach((node, i) => {
    const style = getComputedStyle(node);
    STYLES.forEach((name) => to[i].setAttribute(name, plainColour(style.getPropertyValue(name))));
    to[i].removeAttribute("style");
    to[i].removeAttribute("class");
  });
  const { width, height } = drawn.viewBox.baseVal;
  return fill(copy, { width, height }, []);
}

// Names, bars on an axis and their numbers; without an axis, names and texts.
function rowsPicture({ rows, shown = MOST_DRAWN, axis, form = percent, most }, ink) {
  const drawn = rows.slice(0, Math.min(shown, MOST_DRAWN));
  const { scale: px, ticks } = axis ? axisOf(most || Math.max(...drawn.flatMap((row) => [row.value, row.mean || 0]), 1e-12), [300, 610]) : { ticks: [] };
  const bar = (value, y, height, fill) => s("rect", { class: "bar", x: px(0), y, width: (px(value) - px(0)).toFixed(2), height, fill });
  const line = (row, at) => s("path", { class: "mean", d: `M${px(row.mean).toFixed(2)} ${at}v17`, stroke: ink, "stroke-width": 1.5 });
  const hue = (one) => plainColour(`oklch(0.62 ${one.grey ? 0.01 : 0.14} ${one.hue ?? 255})`);
  let y = 4;
  const parts = drawn.map((row) => {
    const [names, texts] = [wrapped(row.name, 40), wrapped(row.text, axis ? 30 : 58)];
    const at = y;
    y += 10 + 16 * Math.max(names.length, texts.length);
    const thick = axis ? bar(row.value, at + 2, 13, hue(row)) : null;
    return [textLines(names, 0, at + 13, 16), thick, row.mean && axis ? line(row, at) : null, textLines(texts, axis ? px(row.value) + 6 : 300, at + 13, 16)];
  });
  const scale = ticks.map((tick) => [
    s("path", { d: `M${px(tick)} 0V${y + 2}`, stroke: ink, "stroke-opacity": 0.2 }),
    s("text", { ...PLAIN_TEXT, x: px(tick), y: y + 16, "font-size": 11, "text-anchor": "middle" }, form(tick)),
  ]);
  const name = axis ? s("text", { ...PLAIN_TEXT, class: "axis", x: px(ticks.at(-1) / 2), y: y + 33, "font-size": 12, "text-anchor": "middle" }, axis) : null;
  const [width, height] = [720, y + (axis ? 40 : 4)];
  return s("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "data-rows": drawn.length }, scale, parts, name);
}

// Several small charts, each below its name.
function multiplesPicture(charts, rows) {
  const { width, height } = charts[0].viewBox.baseVal;
  const [across, down] = [width + 20, height + 62];
  const parts = charts.map((chart, i) => {
    const [x, y] = [across * (i % 3), down * Math.floor(i / 3)];
    return [
      textLines(wrapped(rows[i].name, 34), x, y + 13, 15, { "font-size": 12, "font-weight": 600 }),
      fill(styledCopy(chart), { x, y: y + 32 }, []),
      s("text", { ...PLAIN_TEXT, x, y: y + height + 48, "font-size": 11 }, rows[i].text),
    ];
  });
  const size = { width: across * Math.min(charts.length, 3), height: down * Math.ceil(charts.length / 3) };
  return s("svg", { ...size, viewBox: `0 0 ${size.width} ${size.height}` }, parts);
}

export function downloadImage(name, picture, scale = 2) {
  const [width, height] = ["width", "height"].map((side) => Number(picture.getAttribute(side)));
  const image = new Image();
  image.onload = () => {
    const canvas = h("canvas", { width: scale * width, height: scale * height });
    canvas.getContext("2d").drawImage(image, 0, 0, scale * width, scale * height);
    canvas.toBlob((blob) => blob && download(name, "image/png", blob));
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(asText(picture))}`;
}
