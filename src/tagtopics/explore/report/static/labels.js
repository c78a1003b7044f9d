// Names on the map: chosen when it is at rest, so that none overlap; while it moves, the chosen ones move along.
const NAME_WIDTH = 280; // at most, as in the style sheet
const [TITLES_FROM, MOST_TITLES] = [6, 120]; // zoom from which documents have their titles, and how many

let measure;
function mapLabel(make, lines, x, y, from, size, weight, around) {
  const sized = () => {
    measure ||= document.createElement("canvas").getContext("2d");
    measure.font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
    const width = Math.max(...lines.map((text) => measure.measureText(text).width));
    return [Math.min(width + 14, NAME_WIDTH), Math.max(lines.length * size * 1.18 + 5, 24)];
  };
  return { make, sized, lines, x, y, from, around, node: null, shown: false, faded: false, dx: 0, dy: 0 };
}

// Topics first, larger ones before smaller ones, then tags. `from` is the zoom from which a name may be shown.
function mapLabels() {
  const { topics, tags, region } = store.map;
  const counts = new Array(store.K).fill(0);
  for (const k of region) counts[k]++;
  const most = Math.max(...counts, 1);
  const small = window.innerWidth < 720 ? 0.85 : 1;
  const first = topOf(counts, store.K)
    .filter((k) => counts[k] > 0)
    .map((k) => {
      const size = small * (12.5 + 4 * Math.sqrt(counts[k] / most));
      const lines = inLines(topicName(k));
      const vars = { "--hue": topicHue(k), "--size": `${size.toFixed(1)}px` };
      const make = () =>
        link(topicHref(k), { class: isBackground(k) ? "name topic plain" : "name topic", vars },
          lines.flatMap((text, i) => (i ? [" ", h("br", {}), text] : [text])),
        );
      return { ...mapLabel(make, lines, topics.x[k], topics.y[k], 0, size, 650, AROUND), has: (d) => region[d] === k };
    });
  const second = tags.tags.map((t, i) => {
    const make = () => link(tagHref(t), { class: "name tag", title: tagFull(t) }, tagShort(t));
    const has = (d) => store.documents.tags[d].includes(t);
    return { ...mapLabel(make, [tagShort(t)], tags.x[i], tags.y[i], 1.25 + 0.012 * i, 12 * small, 400, [AROUND[0]]), has };
  });
  return [...first, ...second];
}

function titleLabel(d) {
  const lines = inLines(clamped(titleOf(d), 60));
  const make = () => link(documentHref(d), { class: "name title", dir: "auto" }, lines.flatMap((text, i) => (i ? [" ", h("br", {}), text] : [text])));
  return { ...mapLabel(make, lines, store.map.x[d], store.map.y[d], TITLES_FROM, 12, 400, [[0, 1.3, 1]]), has: (other) => other === d };
}

// Long names take two lines, very long ones three, of about the same length.
function inLines(text, n = text.length < 18 ? 1 : text.length < 40 ? 2 : 3) {
  const spaces = [...text.matchAll(/\s/g)].map((match) => match.index);
  if (n === 1 || !spaces.length) return [text];
  const uneven = (at) => Math.abs(text.length - n * at);
  const at = spaces.reduce((a, b) => (uneven(b) < uneven(a) ? b : a));
  return [text.slice(0, at), ...inLines(text.slice(at + 1), n - 1)];
}

// Where a name may be if its place is taken: around it, nearest first, as steps of half its size; smaller ones go further.
const OFFSETS = Array.from({ length: 49 * 41 }, (_, i) => [((i % 49) - 24) / 4, Math.floor(i / 49) - 20]).sort(
  ([a, b], [c, d]) => Math.hypot(4 * a, b) - Math.hypot(4 * c, d),
);
const AROUND = [
  ...OFFSETS.filter(([x, y]) => Math.hypot(4 * x, y) <= 3).map((step) => [...step, 1]),
  ...OFFSETS.map((step) => [...step, 0.8]),
];

// Whether a line from a place to another passes through a box.
/** @param {number[]} box @param {number[]} line */
function meets([left, top, right, bottom], [ax, ay, bx, by]) {
  const steps = Math.ceil(Math.hypot(bx - ax, by - ay) / 6);
  for (let i = 0; i <= steps; i++) {
    const [x, y] = [ax + ((bx - ax) * i) / steps, ay + ((by - ay) * i) / steps];
    if (x > left && x < right && y > top && y < bottom) return true;
  }
  return false;
}

class MapNames {
  constructor(map) {
    this.map = map;
    this.named = mapLabels();
    this.labels = this.named;
    this.titles = new Map();
    this.lines = s("path", {});
    this.node = h("div", { class: "names" }, s("svg", { class: "leaders", "aria-hidden": "true" }, this.lines));
    this.at = null; // the view that the names are placed for
  }

  // Labels of the documents in view, those nearest to its middle first.
  titlesInView() {
    const { map } = this;
    if (map.zoom < TITLES_FROM || store.pictures) return [];
    const apart = store.documents.ids.map((_, d) => {
      const [px, py] = map.toScreen(map.points.x[d], map.points.y[d]);
      return px > 0 && py > 0 && px < map.width && py < map.height ? -Math.hypot(px - map.width / 2, py - map.height / 2) : -Infinity;
    });
    return topOf(apart, MOST_TITLES).filter((d) => apart[d] > -Infinity).map((d) => this.titles.get(d) || this.titles.set(d, titleLabel(d)).get(d));
  }
  // The most important names that fit without overlapping.
  choose() {
    const { map } = this;
    const taken = [[0, map.height - 56, 230, map.height]]; // the buttons
    if (map.legend) taken.push([map.width - SCALE.width - 16, 0, map.width, SCALE.height + 12]);
    const most = Math.round((map.width * map.height) / 9000);
    this.leaders = []; // lines from places to names beside them
    let shown = 0;
    for (const label of this.labels.slice(this.named.length)) label.node?.remove();
    this.labels = [...this.named, ...this.titlesInView()];
    for (const label of this.labels) {
      const [px, py] = map.toScreen(label.x, label.y);
      const near = px > -20 && py > -20 && px < map.width + 20 && py < map.height + 20;
      label.shown = near && shown < most && label.from <= map.zoom && this.fits(label, px, py, taken);
      if (label.shown) shown++;
      if (label.shown && !label.node) label.node = label.make();
      if (label.shown && !label.node.isConnected) this.node.append(label.node);
      if (label.node && label.node.hidden === label.shown) label.node.hidden = !label.shown;
    }
    this.place();
  }
  // Whether there is room for a name at its place, or close to it: it is then taken. No line passes through a name,
  // unless there is no other way.
  fits(label, px, py, taken) {
    return this.put(label, px, py, taken, true) || (label.around === AROUND && this.put(label, px, py, taken, false));
  }
  put(label, px, py, taken, apart) {
    label.full ||= label.sized();
    for (const [i, j, scale] of label.around) {
      const [w, t] = [label.full[0] * scale, Math.max(label.full[1] * scale, 24)].map((side) => side / 2);
      const [x, y] = [px + i * w, py + j * t];
      const box = [x - w - 4, y - t - 2, x + w + 4, y + t + 2];
      if (box[0] < 0 || box[1] < 0 || box[2] > this.map.width || box[3] > this.map.height) continue;
      if (!taken.every((one) => box[2] < one[0] || box[0] > one[2] || box[3] < one[1] || box[1] > one[3])) continue;
      const line = Math.abs(x - px) > w || Math.abs(y - py) > t ? [px, py, x, y] : null;
      if (apart && (this.leaders.some((other) => meets(box, other)) || (line && taken.some((one) => !meets(one, [px, py, px, py + 1]) && meets(one, line))))) continue;
      taken.push(box);
      if (line) this.leaders.push(line);
      [label.dx, label.dy, label.scale, label.width, label.height] = [x - px, y - py, scale, 2 * w, 2 * t];
      return true;
    }
    return false;
  }

  // Names of what no document of the filter has are faint.
  fade(mask) {
    const shown = mask ? passed() : null;
    for (const label of this.labels) label.faded = Boolean(shown) && !shown.some(label.has);
  }
  // Every chosen name where the view has it, with a line to its place if it is beside it.
  place() {
    const { map } = this;
    const lines = [];
    for (const label of this.labels) {
      if (!label.shown) continue;
      const [px, py] = map.toScreen(label.x, label.y);
      const [x, y] = [px + label.dx, py + label.dy];
      label.node.classList.toggle("faded", label.faded);
      label.node.classList.toggle("small", label.scale < 1);
      label.node.style.transform = `translate(${(x - label.width / 2).toFixed(1)}px, ${(y - label.height / 2).toFixed(1)}px)`;
      if (Math.abs(label.dx) > label.width / 2 || Math.abs(label.dy) > label.height / 2) {
        const edge = Math.min(label.width / 2 / Math.max(Math.abs(label.dx), 1e-9), label.height / 2 / Math.max(Math.abs(label.dy), 1e-9), 1);
        lines.push(`M${px.toFixed(1)} ${py.toFixed(1)}L${(x - edge * label.dx).toFixed(1)} ${(y - edge * label.dy).toFixed(1)}`);
      }
    }
    this.lines.setAttribute("d", lines.join(""));
    this.node.style.transform = "";
    this.at = { x: map.centre.x, y: map.centre.y, zoom: map.zoom };
  }
  // The same in a picture.
  drawn(halo) {
    const text = { "text-anchor": "middle", stroke: halo, "stroke-width": 3, "paint-order": "stroke", "stroke-linejoin": "round" };
    const lines = s("path", { d: this.lines.getAttribute("d") || "", stroke: "#888", fill: "none" });
    const names = this.labels.filter((label) => label.shown).map((label) => {
      const [px, py] = this.map.toScreen(label.x, label.y);
      const style = getComputedStyle(label.node);
      const size = parseFloat(style.fontSize);
      const own = { ...text, "font-family": style.fontFamily, "font-size": size, "font-weight": style.fontWeight, "font-style": style.fontStyle, fill: plainColour(style.color) };
      const top = py + label.dy - ((label.lines.length - 1) * size * 1.18) / 2;
      return label.lines.map((line, i) => s("text", { ...own, x: (px + label.dx).toFixed(1), y: (top + i * size * 1.18).toFixed(1), dy: ".35em" }, line));
    });
    return [lines, ...names];
  }
  // While the map moves: all at once if it is only shifted.
  follow() {
    const { map, at } = this;
    if (!at) return this.choose();
    if (at.zoom !== map.zoom) return this.place();
    const [dx, dy] = [(at.x - map.centre.x) * map.scale, (at.y - map.centre.y) * map.scale];
    this.node.style.transform = `translate(${dx.toFixed(1)}px, ${dy.toFixed(1)}px)`;
  }
}
