// DOM elements from values. Data only becomes text nodes, never HTML.
const settings = JSON.parse(document.getElementById("settings").textContent);
const SVG = "http://www.w3.org/2000/svg";

function fill(node, props, children) {
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
const h = (tag, props, ...children) => fill(document.createElement(tag), props, children);
const s = (tag, props, ...children) => fill(document.createElementNS(SVG, tag), props, children);
/** @type {(id: string) => any} */
const byId = (id) => document.getElementById(id);
const button = (text, click, props) => h("button", { type: "button", ...props, on: { click } }, text);
const action = (text, click, props) => button(text, click, { class: "action", ...props });
const field = (id, name, node) => h("div", {}, h("label", { for: id }, name), node);
// The head of a page: a small line above its title, and what follows.
const hero = (eyebrow, title, ...more) =>
  h("div", { class: "hero" }, eyebrow ? h("p", { class: "eyebrow" }, eyebrow) : null, h("h1", {}, title), more);
const lead = (...parts) => h("p", { class: "lead" }, parts);
const remark = (...parts) => h("p", { class: "note" }, parts);
const bdi = (text) => h("bdi", {}, text); // a name in any direction of writing

// What this browser keeps, as JSON; {} if it has nothing, or forbids it.
function kept(key) {
  try {
    return JSON.parse(localStorage.getItem(key) || "{}");
  } catch {
    return {};
  }
}
function keep(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    /* a browser may forbid it, or have no room */
  }
}

// A template whose values may be elements: its pieces, as children of an element.
const rich = (parts, ...values) => parts.flatMap((part, i) => [part, values[i] ?? ""]);

// Number formats.
const whole = (n) => Math.round(n).toLocaleString("en");
const percent = (p) => {
  const value = 100 * p;
  return `${value.toFixed(value >= 9.95 || value === 0 ? 0 : value >= 0.95 ? 1 : 2)}\u00a0%`;
};
// Credited occurrences are sums of probabilities: with a decimal where they are few.
const tokens = (n) => (n >= 9.95 ? whole(n) : n >= 0.05 ? n.toFixed(1) : n > 0 ? "<0.1" : "0");
// Shares of tags and documents; smaller ones are not known exactly.
const share = (p) => (p < 0.01 && p > 0 ? "<1\u00a0%" : percent(p));
const credited = (p) => (p < 0.005 ? "<1\u00a0%" : `${Math.round(100 * p)}\u00a0%`);
const plural = (n, noun) => `${whole(n)} ${noun}${n === 1 ? "" : "s"}`;
const times = (x) => `×${x.toFixed(x >= 10 ? 0 : 1)}`;

// Colours: topics of the same documents have different hues; the tags of a document take a fixed sequence of hues.
const HUES = [255, 25, 150, 305, 75, 195, 350, 110, 230, 45, 275, 170];
const topicHue = (k) => regionHue(k) ?? (215 + k * 137.508) % 360;
const slotHue = (i) => HUES[i % HUES.length];

const say = (text) => {
  byId("say").textContent = text;
};

// The places of the n largest values, largest first, the first of equals first.
function topOf(values, n, among) {
  const order = among ? Array.from(among) : Array.from(values.keys());
  order.sort((a, b) => values[b] - values[a] || a - b);
  return order.slice(0, n);
}
// Draw parts of a page anew; the focus stays at the same place of a part, or moves to its last button or field.
function keepingFocus(parts, draw) {
  const fields = (part) => [...part.querySelectorAll("a, button, input, select")];
  const held = parts.find((part) => part.contains(document.activeElement));
  const place = held ? fields(held).indexOf(document.activeElement) : -1;
  draw();
  if (!held || held.contains(document.activeElement)) return;
  const now = [held, ...parts].map(fields).find((some) => some.length) || [];
  const target = now[Math.min(Math.max(place, 0), now.length - 1)];
  if (target) target.focus();
}
function link(href, props, ...children) {
  return h("a", { href, ...props }, ...children);
}
const badge = (k) =>
  h("span", { class: isBackground(k) ? "badge plain" : "badge", vars: { "--hue": topicHue(k) }, "aria-hidden": "true" }, String(k));
