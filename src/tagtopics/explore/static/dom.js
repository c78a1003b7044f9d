// DOM elements from values. Data only becomes text nodes, never HTML.
const SVG = "http://www.w3.org/2000/svg";

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on")
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    else if (name === "vars")
      for (const [key, part] of Object.entries(value)) node.style.setProperty(key, part);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(
    ...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return node;
}
const h = (tag, props, ...children) => fill(document.createElement(tag), props, children);
const s = (tag, props, ...children) => fill(document.createElementNS(SVG, tag), props, children);
const byId = (id) => document.getElementById(id);

// Number formats.
const whole = (n) => Math.round(n).toLocaleString("en");
const percent = (p) => {
  const value = 100 * p;
  return `${value >= 9.95 || value === 0 ? value.toFixed(0) : value >= 0.95 ? value.toFixed(1) : value.toFixed(2)} %`;
};
// Credited occurrences are sums of probabilities: with a decimal where they are few.
const tokens = (n) => (n >= 9.95 ? whole(n) : n >= 0.05 ? n.toFixed(1) : n > 0 ? "<0.1" : "0");
// Shares of tags and documents; smaller ones are not known exactly.
const share = (p) => (p < 0.01 && p > 0 ? "<1 %" : percent(p));
const credited = (p) => (p > 0 && p < 0.005 ? "<1 %" : `${Math.round(100 * p)} %`);
const plural = (n, one, many) => `${whole(n)} ${n === 1 ? one : many || one + "s"}`;
const times = (x) => (x >= 10 ? `×${x.toFixed(0)}` : `×${x.toFixed(1)}`);

// Colours: topic hues are a golden angle apart; the tags of a document take a fixed sequence of hues.
const HUES = [255, 25, 150, 305, 75, 195, 350, 110, 230, 45, 275, 170];
const topicHue = (k) => (215 + k * 137.508) % 360;
const slotHue = (i) => HUES[i % HUES.length];

const say = (text) => {
  byId("say").textContent = text;
};

function topOf(values, n, among) {
  const order = among ? Array.from(among) : Array.from(values.keys());
  order.sort((a, b) => values[b] - values[a] || a - b);
  return order.slice(0, n);
}

function link(href, props, ...children) {
  return h("a", { href, ...props }, ...children);
}
const badge = (k) =>
  h("span", { class: isBackground(k) ? "badge plain" : "badge", vars: { "--hue": topicHue(k) }, "aria-hidden": "true" }, String(k));

// A panel with a heading; `note` explains the content in one line.
function card(title, note, ...children) {
  const section = h(
    "section",
    { class: "card" },
    h("h2", {}, title),
    note ? h("p", { class: "note" }, note) : null,
    ...children,
  );
  section.append(shareMenu(section, title));
  return section;
}
