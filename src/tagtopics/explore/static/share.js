// Take a card away: its numbers as CSV, its picture as SVG or PNG, and how to cite it.
function shareMenu(section, title) {
  const box = h("div", { class: "sharing" });
  const menu = h("details", { class: "share" }, h("summary", { "aria-label": T`Share: ${title}` }, T`Share`), box);
  menu.addEventListener("toggle", () => {
    if (!menu.open || box.childElementCount) return;
    const name = fileName(title);
    const button = (text, act) => h("button", { type: "button", on: { click: act } }, text);
    const rows = rowsIn(section);
    const picture = () => pictureOf(section, title, rows);
    const drawn = rows.length || section.querySelector("svg:not([aria-hidden])");
    box.append(
      ...[
        rows.length ? button("CSV", () => download(`${name}.csv`, "text/csv", csvOf(rows))) : null,
        drawn ? button("SVG", () => download(`${name}.svg`, "image/svg+xml", asText(picture()))) : null,
        drawn ? button("PNG", () => downloadImage(`${name}.png`, picture())) : null,
      ].filter(Boolean),
      h("label", {}, T`Embed this`, h("textarea", { readonly: true, rows: 2 }, embedCode({ card: title }))),
      h("label", {}, T`Cite this`, h("textarea", { readonly: true, rows: 3 }, citation(title))),
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
  T`“${title}”, ${headline()}. In: ${store.title}, ${store.model} with ${plural(store.K, "with topic")}, seed ${store.parameters.random_state ?? T`not set`}, made with tagtopics ${settings.version}. ${location.href}`;

function download(name, type, content) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

// The rows of a card: what stands at the left, and its number.
const ROWS = ".bars > li, .neighbours > li, .near > li, .compare > li, .topics > li, .documents > li, .trends > li";
function rowsIn(section) {
  const line = section.querySelector("svg.line");
  if (line)
    return [...line.querySelectorAll("circle title")].map((node) => {
      const at = node.textContent.indexOf(":");
      return [node.textContent.slice(0, at), node.textContent.slice(at + 1).trim()];
    });
  return [...section.querySelectorAll(ROWS)].map((row) => {
    const label = row.querySelector(".label, .said, .headline a, a");
    const figure = row.querySelector(".figure");
    return [label ? label.textContent.trim() : row.textContent.trim(), figure ? figure.textContent.trim() : ""];
  });
}
// Spreadsheets run cells that begin like formulas; an apostrophe makes them text.
const cell = (text) => `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
const csvOf = (rows) => ["name,value", ...rows.map((row) => row.map(cell).join(","))].join("\r\n") + "\r\n";

const asText = (picture) => new XMLSerializer().serializeToString(picture);
function pictureOf(section, title, rows) {
  const drawn = section.querySelector("svg:not([aria-hidden])");
  return drawn ? styledCopy(drawn) : barPicture(section, title, rows);
}
const STYLES = ["fill", "stroke", "stroke-width", "opacity", "font-size", "font-family", "font-weight", "text-anchor"];
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
  copy.prepend(s("rect", { width, height, fill: plainColour(getComputedStyle(document.body).backgroundColor) }));
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
function barPicture(section, title, rows) {
  const fills = [...section.querySelectorAll(".fill")];
  const [width, step, top] = [720, 26, 46];
  const height = top + step * rows.length + 14;
  const text = { "font-family": "sans-serif", "font-size": 13, fill: "#222" };
  return s(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, width, height },
    s("rect", { width, height, fill: "#fff" }),
    s("text", { ...text, x: 16, y: 28, "font-size": 16, "font-weight": 600 }, `${headline()}: ${title}`.slice(0, 90)),
    rows.map(([name, value], i) => {
      const part = fills[i] ? parseFloat(fills[i].style.getPropertyValue("--part")) || 0 : 0;
      const fill = fills[i] ? plainColour(getComputedStyle(fills[i]).backgroundColor) : "#888";
      return [
        s("text", { ...text, x: 16, y: top + step * i + 17 }, name.slice(0, 44)),
        s("rect", { x: 330, y: top + step * i + 6, width: 2.8 * part, height: 14, rx: 3, fill }),
        s("text", { ...text, x: 704, y: top + step * i + 17, "text-anchor": "end" }, value.slice(0, 24)),
      ];
    }),
  );
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
