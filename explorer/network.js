// The tag network: the most frequent tags, joined if they are often on the same documents.
import { extent } from "d3-array";
import { forceLink, forceManyBody, forceSimulation, forceX, forceY } from "d3-force";
import { clamped, h, hero, isNarrow, lead, linear, plural, s, topOf, whole } from "./dom.js";
import { ofListed, store, tagFull, tagProfile, tagShort, tellingTopics, topicHue } from "./data.js";
import { stateOf, tagHref } from "./address.js";
import { growing, kindLinks, tagChip } from "./widgets.js";
import { card, figure } from "./figure.js";
import { jointLink } from "./entity.js";

const NETWORK_TAGS = 60;
const NETWORK_TAGS_NARROW = 26; // on a phone
const NETWORK_EDGES = 3; // strongest ones of each tag

// Documents that pairs of these tags share: Map of a * T + b, a < b.
function sharedDocuments(tags) {
  const T_ = store.tags.names.length;
  const wanted = new Set(tags);
  const counts = new Map();
  const add = (row) => {
    const own = row.filter((t) => wanted.has(t)).sort((a, b) => a - b);
    own.forEach((a, i) => {
      for (const b of own.slice(i + 1)) counts.set(a * T_ + b, (counts.get(a * T_ + b) || 0) + 1);
    });
  };
  store.documents.tags.forEach(add);
  store.counted.forEach(add);
  return counts;
}

// Edges by cosine, documents with both / sqrt(documents with one * documents with the other).
function tagNetwork(kind) {
  const all = kind === null ? store.tags.names.map((_, t) => t) : store.kinds.get(kind);
  const most = isNarrow() ? NETWORK_TAGS_NARROW : NETWORK_TAGS;
  const tags = topOf(store.tags.documents, most, all.filter((t) => store.tags.documents[t] > 1));
  const T_ = store.tags.names.length;
  const edges = [...sharedDocuments(tags)]
    .filter(([, n]) => n > 1)
    .map(([key, n]) => {
      const [a, b] = [Math.floor(key / T_), key % T_];
      return { a, b, n, weight: n / Math.sqrt(store.tags.documents[a] * store.tags.documents[b]) };
    })
    .sort((p, q) => q.weight - p.weight || p.a - q.a || p.b - q.b);
  const degree = new Map();
  const kept = edges.filter(({ a, b }) => {
    const few = [a, b].some((t) => (degree.get(t) || 0) < NETWORK_EDGES);
    if (few) for (const t of [a, b]) degree.set(t, (degree.get(t) || 0) + 1);
    return few;
  });
  return { tags: tags.filter((t) => degree.has(t)), edges: kept };
}

// Springs along edges, repulsion between all: the same picture every time.
function springs({ tags, edges }, ratio) {
  const nodes = /** @type {any[]} */ (tags.map((t) => ({ t })));
  const links = edges.map(({ a, b, weight }) => ({ source: a, target: b, weight }));
  forceSimulation(nodes).stop()
    .force("links", forceLink(links).id(({ t }) => t).distance(50).strength(({ weight }) => 0.1 + weight / 2))
    .force("charge", forceManyBody().strength(-150))
    .force("x", forceX().strength(0.1))
    .force("y", forceY().strength(0.1 * ratio))
    .tick(300);
  return nodes;
}

function networkFigure(network) {
  const [width, height] = isNarrow() ? [440, 560] : [1000, 640];
  const { tags, edges } = network;
  const nodes = springs(network, width / height);
  const side = isNarrow() ? 50 : 90;
  const [across, down] = [linear(extent(nodes, ({ x }) => x), [side, width - side]), linear(extent(nodes, ({ y }) => y), [34, height - 46])];
  const [px, py] = [(i) => across(nodes[i].x), (i) => down(nodes[i].y)];
  const place = new Map(tags.map((t, i) => [t, i]));
  const most = Math.max(...tags.map((t) => store.tags.documents[t]), 1);
  const radius = (t) => 4 + 13 * Math.sqrt(store.tags.documents[t] / most);
  const chart = s("svg",
    { class: "network", viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `Network of ${whole(tags.length)} tags` },
    s("g", { "aria-hidden": "true" },
      edges.map(({ a, b, n, weight }) => {
        const [i, j] = [place.get(a), place.get(b)];
        return s("line", { x1: px(i), y1: py(i), x2: px(j), y2: py(j), "stroke-width": (0.8 + 7 * weight).toFixed(2) },
          s("title", {}, `${tagFull(a)} + ${tagFull(b)}: ${plural(n, "document")}`),
        );
      }),
    ),
    tags.map((t, i) => {
      const node = s("a",
        { href: tagHref(t), "aria-label": `${tagFull(t)}: ${plural(store.tags.documents[t], "document")}` },
        s("circle", { cx: px(i), cy: py(i), r: radius(t).toFixed(1) }),
        s("text", { x: px(i), y: py(i) + radius(t) + 13, "text-anchor": "middle" }, clamped(tagShort(t), 24)),
        s("title", {}, `${tagFull(t)}: ${plural(store.tags.documents[t], "document")}`),
      );
      const main = tellingTopics(tagProfile(t), 1)[0];
      node.style.setProperty("--hue", main === undefined ? 265 : topicHue(main));
      return node;
    }),
  );
  return withoutCollisions(chart, tags.map((t) => store.tags.documents[t]));
}

// Names stand below, above or beside their tag, where they cover no other; those that do not fit anywhere are
// shown on hover and focus only. More frequent tags come first.
function withoutCollisions(chart, weight) {
  const [, , width, height] = chart.getAttribute("viewBox").split(" ").map(Number);
  const nodes = [...chart.querySelectorAll("a")];
  const discs = nodes.map((node) => ["cx", "cy", "r"].map((name) => Number(node.querySelector("circle").getAttribute(name))));
  const taken = [];
  for (const i of topOf(weight, nodes.length)) {
    const text = nodes[i].querySelector("text");
    const long = 7.2 * text.textContent.length + 6;
    const [cx, cy, r] = discs[i];
    const spots = [
      ["middle", cx, cy + r + 13, cx - long / 2],
      ["middle", cx, cy - r - 6, cx - long / 2],
      ["start", cx + r + 4, cy + 4, cx + r + 2],
      ["end", cx - r - 4, cy + 4, cx - r - 2 - long],
      ...[cy - r - 2, cy + r + 9].flatMap((y) => [["start", cx + 0.7 * r + 2, y, cx + 0.7 * r], ["end", cx - 0.7 * r - 2, y, cx - 0.7 * r - long]]),
    ];
    const others = discs.filter((_, j) => j !== i).map(([x, y, s]) => [x - 0.7 * s, y - 0.7 * s, x + 0.7 * s, y + 0.7 * s]);
    /** @type {(spot: any[]) => number[]} */
    const box = ([, , y, left]) => [left, y - 11, left + long, y + 4];
    /** @type {(box: number[]) => boolean} */
    const isFree = ([x0, y0, x1, y1]) =>
      x0 >= 0 && y0 >= 0 && x1 <= width && y1 <= height && [...taken, ...others].every((one) => x1 < one[0] || x0 > one[2] || y1 < one[1] || y0 > one[3]);
    const spot = spots.find((one) => isFree(box(one)));
    nodes[i].classList.toggle("quiet", !spot);
    const [anchor, x, y] = spot || spots[0];
    for (const [name, value] of Object.entries({ x, y, "text-anchor": anchor })) text.setAttribute(name, value);
    if (spot) taken.push(box(spot));
  }
  return chart;
}

export function networkPage() {
  const asked = stateOf().get("kind");
  const kind = asked !== null && store.kinds.has(asked) ? asked : null;
  const network = tagNetwork(kind);
  const { tags, edges } = network;
  const area = "Area: documents. Colour: main topic. Lines: common documents, as cosine.";
  const rows = edges.map((edge) => ({ ...edge, name: `${tagFull(edge.a)} + ${tagFull(edge.b)}`, value: edge.weight, text: `${plural(edge.n, "document")}  ${edge.weight.toFixed(2)}` }));
  const columns = { tag: ({ a }) => store.tags.names[a], other_tag: ({ b }) => store.tags.names[b], documents: ({ n }) => n, weight: ({ weight }) => weight };
  const drawing = edges.length
    ? figure({ title: "Network", question: area, rows, columns, mark: () => networkFigure(network) })
    : card("Network", "No two of these tags share two documents.");
  const row = ({ a, b, text }) =>
    h("li", {},
      h("span", { class: "label" }, tagChip(a), " + ", tagChip(b)),
      h("span", { class: "figure" }, text),
      jointLink(a, b),
    );
  const note = `Documents that have both tags${ofListed()}, and their cosine, by which the pairs are sorted: documents with both, divided by the geometric mean of the documents with each.`;
  return [
    hero(null, "Tag network",
      lead(`Which tags are on the same documents: ${whole(tags.length)} of the most frequent tags, each joined with those it shares most documents with. Tags that share none are left out.`),
    ),
    kindLinks("#/network", kind),
    drawing,
    edges.length
      ? figure({ title: "Strongest pairs", question: note, rows, columns, axis: "Cosine", form: (x) => x.toFixed(1), mark: () => growing(rows, row, 12, "ul", "neighbours") })
      : null,
  ];
}
