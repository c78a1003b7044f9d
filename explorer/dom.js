// DOM elements from values. Data only becomes text nodes, never HTML.

export const settings = JSON.parse(document.getElementById("settings").textContent);
const SVG = "http://www.w3.org/2000/svg";

export function fill(node, props, children) {
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    else if (name === "vars")
      for (const [key, part] of Object.entries(value)) node.style.setProperty(key, part);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}
export const h = (tag, props, ...children) => fill(document.createElement(tag), props, children);
export const s = (tag, props, ...children) => fill(document.createElementNS(SVG, tag), props, children);
/** @type {(id: string) => any} */
export const byId = (id) => document.getElementById(id);
export const button = (text, click, props) => h("button", { type: "button", ...props, on: { click } }, text);
export const action = (text, click, props) => button(text, click, { class: "action", ...props });
export const field = (id, name, node) => h("div", {}, h("label", { for: id }, name), node);
// The head of a page: a small line above its title, and what follows.
export const hero = (eyebrow, title, ...more) =>
  h("div", { class: "hero" }, eyebrow ? h("p", { class: "eyebrow" }, eyebrow) : null, h("h1", {}, title), more);
export const lead = (...parts) => h("p", { class: "lead" }, parts);
export const remark = (...parts) => h("p", { class: "note" }, parts);
export const bdi = (text) => h("bdi", {}, text); // a name in any direction of writing

// What this browser keeps, as JSON; {} if it has nothing, or forbids it.
export function kept(key) {
  try {
    return JSON.parse(localStorage.getItem(key) || "{}");
  } catch {
    return {};
  }
}
export function keep(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch { /* a browser may forbid it, or have no room */ }
}

// A template whose values may be elements: its pieces, as children of an element.
export const rich = (parts, ...values) => parts.flatMap((part, i) => [part, values[i] ?? ""]);

// From an interval of values to one of places.
/** @type {(values: number[], places: number[]) => (value: number) => number} */
export const linear = ([a, b], [c, d]) => (value) => c + ((d - c) * (value - a)) / (b - a || 1);

// Number formats.
export const whole = (n) => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ",");
export const percent = (p) => {
  const value = 100 * p;
  return `${value.toFixed(value >= 9.95 || value === 0 ? 0 : value >= 0.95 ? 1 : 2)}\u00a0%`;
};
// Credited occurrences are sums of probabilities: with a decimal where they are few.
export const tokens = (n) => (n >= 9.95 ? whole(n) : n >= 0.05 ? n.toFixed(1) : n > 0 ? "<0.1" : "0");
// Shares of tags and documents; smaller ones are not known exactly.
export const share = (p) => (p < 0.01 && p > 0 ? "<1\u00a0%" : percent(p));
export const credited = (p) => (p < 0.005 ? "<1\u00a0%" : `${Math.round(100 * p)}\u00a0%`);
export const plural = (n, noun) => `${whole(n)} ${noun}${n === 1 ? "" : "s"}`;
export const times = (x) => `×${x.toFixed(x >= 10 ? 0 : 1)}`;

// Colours: topics of the same documents have different hues; the tags of a document take a fixed sequence of hues.
const HUES = [255, 25, 150, 305, 75, 195, 350, 110, 230, 45, 275, 170];
export const slotHue = (i) => HUES[i % HUES.length];

export const say = (text) => {
  byId("say").textContent = text;
};

// The places of the n largest values, largest first, the first of equals first.
export function topOf(values, n, among) {
  const order = among ? Array.from(among) : Array.from(values.keys());
  order.sort((a, b) => values[b] - values[a] || a - b);
  return order.slice(0, n);
}
// Draw parts of a page anew; the focus stays at the same place of a part, or moves to its last button or field.
export function keepingFocus(parts, draw) {
  const fields = (part) => [...part.querySelectorAll("a, button, input, select")];
  const held = parts.find((part) => part.contains(document.activeElement));
  const place = held ? fields(held).indexOf(document.activeElement) : -1;
  draw();
  if (!held || held.contains(document.activeElement)) return;
  const now = [held, ...parts].map(fields).find((some) => some.length) || [];
  const target = now[Math.min(Math.max(place, 0), now.length - 1)];
  if (target) target.focus();
}
export function link(href, props, ...children) {
  return h("a", { href, ...props }, ...children);
}

// A text in lines of about n letters.
export function wrapped(text, n) {
  const lines = [""];
  for (const word of String(text ?? "").split(/\s+/)) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (longer.length <= n || !lines.at(-1)) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

// Long names take two lines, very long ones three, of about the same length.
export function inLines(text, n = text.length < 18 ? 1 : text.length < 40 ? 2 : 3) {
  const spaces = [...text.matchAll(/\s/g)].map((match) => match.index);
  if (n === 1 || !spaces.length) return [text];
  const uneven = (at) => Math.abs(text.length - n * at);
  const at = spaces.reduce((a, b) => (uneven(b) < uneven(a) ? b : a));
  return [text.slice(0, at), ...inLines(text.slice(at + 1), n - 1)];
}

export const isNarrow = () => window.innerWidth < 700;

export const clamped = (text, n) => (text.length > n ? `${text.slice(0, n - 1)}…` : text);
