// Take a card away: its numbers as CSV, its picture as SVG or PNG, and how to cite it.
function shareMenu(section, title) {
  const box = h("div", { class: "sharing" });
  const menu = h("details", { class: "share" }, h("summary", { "aria-label": `Share: ${title}` }, "Share"), box);
  menu.addEventListener("toggle", () => {
    if (!menu.open) return;
    const name = fileName(title);
    const table = tableOf(section);
    const picture = () => pictureOf(section, title);
    const drawn = table.length > 1 || section.querySelector("svg:not([aria-hidden])");
    box.replaceChildren(
      ...[
        table.length > 1 ? button("CSV", () => download(`${name}.csv`, "text/csv", csvOf(tableOf(section)))) : null,
        drawn ? button("SVG", () => download(`${name}.svg`, "image/svg+xml", asText(picture()))) : null,
        drawn ? button("PNG", () => downloadImage(`${name}.png`, picture())) : null,
      ].filter(Boolean),
      h("label", {}, "Embed this", h("textarea", { readonly: true, rows: 2 }, embedCode({ card: title }))),
      h("label", {}, "Cite this", h("textarea", { readonly: true, rows: 3 }, citation(title))),
    );
  });
  return menu;
}

const headline = () => {
  const node = document.querySelector("main h1");
  return node ? node.innerText.replace(/\s+/g, " ").trim() : store.title;
};
const fileName = (title) =>
  `${headline()} ${title}`.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 80) || "card";
const citation = (title) =>
  `“${title}”, ${headline()}. In: ${store.title}, ${store.model} with ${plural(store.K, "topic")}, seed ${store.parameters.random_state ?? "not set"}, fitted ${(store.fitted || "").slice(0, 10) || "at an unknown date"}, made with tagtopics ${settings.version}. ${addressOf(location.hash)}`;

function download(name, type, content) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

// The numbers of a card, below the names of their columns. A card that is more than a list brings its own (`table`).
// `value` is the number, `shown` what the page makes of it.
function tableOf(section) {
  if (section.table) return section.table();
  const rows = rowsIn(section);
  if (rows.length) return [["name", "value", "shown"], ...rows.map(({ name, value, shown }) => [name, value, shown])];
  const facts = [...section.querySelectorAll(".facts > div, .glossary > div")].map((row) => [textOf(row, "dt"), textOf(row, "dd")]);
  if (facts.length) return [["name", "value"], ...facts];
  const columns = [...section.querySelectorAll(".columns > div")];
  if (columns.length)
    return [["list", "place", "word"], ...columns.flatMap((one) => [...one.querySelectorAll("li a")].map((word, i) => [textOf(one, "h3"), i + 1, word.textContent]))];
  const chips = [...section.querySelectorAll(".chips > a, .kinds a.chip")];
  return chips.length ? [["name", "value", "shown"], ...chips.map(chipRow)] : [];
}
const textOf = (node, selector) => node.querySelector(selector).textContent.trim();
const spaced = (node) => [...node.childNodes].map((part) => part.textContent.trim()).filter(Boolean).join(" ");
function chipRow(chip) {
  const small = chip.querySelector("small");
  const name = [...chip.childNodes].filter((part) => part !== small).map((part) => part.textContent.trim()).filter(Boolean);
  return [name.join(":"), small ? numberIn(small.textContent) : "", small ? small.textContent : ""];
}

// The rows of a list: what stands at the left, its number, and its bar.
const ROWS = ".bars > li, .neighbours > li, .near > li, .compare > li, .topics > li, .documents > li, .trends > li, .groups > li";
function rowsIn(section) {
  const line = section.querySelector("svg.line");
  if (line)
    return [...line.querySelectorAll("circle")].map((dot) => {
      const title = dot.querySelector("title").textContent;
      const at = title.indexOf(":");
      return { name: title.slice(0, at), value: Number(dot.dataset.value), shown: title.slice(at + 1).trim() };
    });
  return [...section.querySelectorAll(ROWS)].map((row) => {
    const label = row.querySelector(".pair, .label, .said, .headline a, a");
    const figure = row.querySelector(".figure, small");
    const shown = figure ? figure.textContent.trim() : "";
    const value = figure && figure.dataset.value !== undefined ? Number(figure.dataset.value) : numberIn(shown);
    return { name: label ? spaced(label) : spaced(row), value, shown, fill: row.querySelector(".fill") };
  });
}
// The number that a text begins with; a share of 5 % is 0.05.
function numberIn(text) {
  const found = /^-?\d[\d.,]*/.exec(text);
  if (!found) return "";
  const value = Number(found[0].replaceAll(",", ""));
  return /^\s*%/.test(text.slice(found[0].length)) ? Number((value / 100).toPrecision(10)) : value;
}
// Spreadsheets run cells that begin like formulas; an apostrophe makes them text.
const noFormula = (text) => (/^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text);
const cell = (text) => `"${noFormula(text).replaceAll('"', '""')}"`;
const csvOf = (table) => table.map((row) => row.map((one) => (typeof one === "number" ? String(one) : cell(one))).join(",")).join("\r\n") + "\r\n";

const asText = (picture) => new XMLSerializer().serializeToString(picture);
function pictureOf(section, title) {
  if (section.picture) return section.picture();
  const drawn = [...section.querySelectorAll("svg:not([aria-hidden])")];
  if (drawn.length > 1) return multiplesPicture(section, title);
  if (!drawn.length) return barPicture(section, title);
  const copy = styledCopy(drawn[0]);
  copy.prepend(s("rect", { width: "100%", height: "100%", fill: plainColour(getComputedStyle(section).backgroundColor) }));
  return copy;
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
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  return copy;
}
// Colours as other programs read them.
let dot;
function plainColour(value) {
  if (!value.startsWith("ok") && !value.startsWith("color")) return value;
  dot ||= h("canvas", { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  dot.clearRect(0, 0, 1, 1);
  dot.fillStyle = value;
  dot.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = dot.getImageData(0, 0, 1, 1).data;
  return `rgba(${r},${g},${b},${(a / 255).toFixed(3)})`;
}
// The frame of a picture: a title above, below it where it comes from.
const PLAIN_TEXT = { "font-family": "sans-serif", "font-size": 13, fill: "#222" };
function framed(width, height, title, parts) {
  return s("svg", { viewBox: `0 0 ${width} ${height + 24}`, width, height: height + 24 },
    s("rect", { width, height: height + 24, fill: "#fff" }),
    s("text", { ...PLAIN_TEXT, x: 16, y: 28, "font-size": 16, "font-weight": 600 }, clamped(title, Math.floor(width / 8.4))),
    parts,
    s("text", { ...PLAIN_TEXT, x: 16, y: height + 14, "font-size": 11, fill: "#666" }, clamped(`${store.title} · ${store.model} · tagtopics ${settings.version}`, Math.floor(width / 6))),
  );
}
function barPicture(section, title) {
  const rows = rowsIn(section).length
    ? rowsIn(section)
    : tableOf(section).slice(1).map((row) => ({ name: String(row[0]), shown: row.slice(1).join("  "), fill: null }));
  const [step, top] = [26, 46];
  const wide = !rows.some((row) => row.fill);
  const parts = rows.map(({ name, shown, fill }, i) => {
    const part = fill ? parseFloat(fill.style.getPropertyValue("--part")) || 0 : 0;
    const colour = fill ? plainColour(getComputedStyle(fill).backgroundColor) : "none";
    return [
      s("text", { ...PLAIN_TEXT, x: 16, y: top + step * i + 17 }, clamped(name, wide ? 60 : 44)),
      s("rect", { x: 330, y: top + step * i + 6, width: 2.8 * part, height: 14, rx: 3, fill: colour }),
      s("text", { ...PLAIN_TEXT, x: 704, y: top + step * i + 17, "text-anchor": "end" }, clamped(shown, wide ? 40 : 24)),
    ];
  });
  return framed(720, top + step * rows.length + 14, `${headline()}: ${title}`, parts);
}
// Several small charts, each below its name.
function multiplesPicture(section, title) {
  const items = [...section.querySelectorAll(".multiples > li")];
  const [width, height, columns] = [236, 120, 3];
  const parts = items.map((item, i) => {
    const [x, y] = [16 + width * (i % columns), 46 + height * Math.floor(i / columns)];
    const chart = styledCopy(item.querySelector("svg"));
    Object.entries({ x, y: y + 24, width: width - 16, height: 56 }).forEach(([name, value]) => chart.setAttribute(name, value));
    return [
      s("text", { ...PLAIN_TEXT, x, y: y + 16 }, clamped(spaced(item.querySelector("a")), 32)),
      chart,
      s("text", { ...PLAIN_TEXT, x, y: y + 98, "font-size": 11 }, textOf(item, ".figure")),
    ];
  });
  return framed(16 + width * columns, 46 + height * Math.ceil(items.length / columns), `${headline()}: ${title}`, parts);
}
function downloadImage(name, picture) {
  const [width, height] = ["width", "height"].map((side) => Number(picture.getAttribute(side)));
  const image = new Image();
  image.onload = () => {
    const canvas = h("canvas", { width: 2 * width, height: 2 * height });
    canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
    canvas.toBlob((blob) => blob && download(name, "image/png", blob));
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(asText(picture))}`;
}
