// Names on the map: chosen when it is at rest, so that none overlap; while it moves, the chosen ones move along.
import { clamped, h, inLines, isNarrow, link, s, topOf } from "./dom.js";
import { isBackground, store, tagFull, tagShort, telling, titleOf, topicHue, topicName } from "./data.js";
import { documentHref, tagHref, topicHref } from "./address.js";
import { plainColour } from "./points.js";
import { filtered, passed } from "./filter.js";

const NAME_WIDTH = 280; // at most, as in the style sheet
const [TITLES_FROM, MOST_TITLES] = [6, 120]; // zoom from which documents have their titles, and how many

let measure;
function mapLabel(make, lines, x, y, from, size, weight, around) {
  const sized = () => {
    measure ||= document.createElement("canvas").getContext("2d");
    measure.font = `${weight} 16px ${getComputedStyle(document.body).fontFamily}`; // one size: fonts are slow to make
    const width = (Math.max(...lines.map((text) => measure.measureText(text).width)) * size) / 16;
    return [Math.min(width + 14, NAME_WIDTH), Math.max(lines.length * size * 1.18 + 5, 24)];
  };
  return { make, sized, lines, x, y, from, around, node: null, shown: false, dx: 0, dy: 0 };
}

// Areas, then topics, larger ones before smaller ones. `from` is the zoom from which a name may be shown.
const broken = (lines) => lines.flatMap((text, i) => (i ? [" ", h("br", {}), text] : [text]));
const shrunk = () => Math.min(Math.max(Math.sqrt((window.innerWidth * window.innerHeight) / 40_000 / store.K), 0.8), 1);
function mapLabels() {
  const { areas, topics, region } = store.map;
  const members = Array.from({ length: store.K }, () => []);
  region.forEach((k, d) => members[k].push(d));
  const counts = members.map((docs) => docs.length);
  const most = Math.max(...counts, 1);
  const small = shrunk();
  const first = telling(topOf(counts, store.K))
    .filter((k) => counts[k] > 0)
    .map((k) => {
      const size = Math.max(small * (12.5 + 4 * Math.sqrt(counts[k] / most)), 12);
      const lines = inLines(topicName(k));
      const vars = { "--hue": topicHue(k), "--size": `${size.toFixed(1)}px` };
      const make = () =>
        link(topicHref(k), { class: isBackground(k) ? "name topic plain" : "name topic", vars }, broken(lines));
      return { ...mapLabel(make, lines, topics.x[k], topics.y[k], 0, size, 650, HERE), grey: isBackground(k), has: (d) => region[d] === k, ends: endsOf(members[k], topics.x[k], topics.y[k]) };
    });
  const wide = areas.names.map((name, a) => {
    const lines = inLines(name.toUpperCase());
    const make = () => h("span", { class: "name area", title: name }, broken(lines));
    return { ...mapLabel(make, lines, areas.x[a], areas.y[a], 0, 13, 650, AREA), has: (d) => areas.of[region[d]] === a };
  });
  return [...wide, ...first];
}

const TAGS_FROM = 1.25; // zoom from which the first tags have names
function tagLabels() {
  const { tags, x, y } = store.map.tags;
  const size = 12 * shrunk();
  return tags.map((t, i) => {
    const make = () => link(tagHref(t), { class: "name tag", title: tagFull(t) }, tagShort(t));
    const has = (d) => store.documents.tags[d].includes(t);
    return { ...mapLabel(make, [tagShort(t)], x[i], y[i], TAGS_FROM + 0.012 * i, size, 400, [HERE[0]]), has };
  });
}

// Where a name of a topic, or a line to it, may be: at its place, or at one of its documents nearby.
const NEARBY = 0.1; // of the width of the map
const FARTHEST = 0.24; // the same, of the middle of a name without a line
export function endsOf(docs, x, y) {
  const { x: xs, y: ys } = store.map;
  const apart = new Map(docs.map((d) => [d, (xs[d] - x) ** 2 + (ys[d] - y) ** 2]));
  const near = docs.filter((d) => apart.get(d) < NEARBY ** 2).sort((a, b) => apart.get(a) - apart.get(b));
  return [[x, y], ...Array.from({ length: Math.min(near.length, 14) }, (_, i) => near[Math.floor((near.length * i) / 14)]).map((d) => [xs[d], ys[d]])];
}

function titleLabel(d) {
  const lines = inLines(clamped(titleOf(d), 60));
  const make = () => link(documentHref(d), { class: "name title", dir: "auto" }, broken(lines));
  return { ...mapLabel(make, lines, store.map.x[d], store.map.y[d], TITLES_FROM, 12, 400, [[0, 1.3, 1]]), has: (other) => other === d };
}

// Where a name may be, as steps of half its size from its place, nearest first: above its place, or further away with a line
// to it. Names that are not at their place may be smaller.
const OFFSETS = Array.from({ length: 49 * 33 }, (_, i) => [((i % 49) - 24) / 4, Math.floor(i / 49) - 16]).sort(([a, b], [c, d]) => Math.hypot(4 * a, b) - Math.hypot(4 * c, d));
/** @param {number[]} step */
const isNear = ([x, y]) => Math.abs(x) <= 1 && Math.abs(y) <= 1;
const [HERE, BESIDE] = [true, false].map((near) => [1, 0.8].flatMap((scale) => OFFSETS.filter((step) => isNear(step) === near && (near || scale < 1)).map((step) => [...step, scale])));
const BELOW = [...BESIDE]; // the line may begin below another name
const AREA = [...HERE];
const SMALL = HERE.filter(([, , scale]) => scale < 1); // if there is no room for all otherwise

// The line from a place to the nearest edge of a box, which has its middle and half its sides, and its length.
const lineTo = (place, x, y, w, t) => ({ ax: place[0], ay: place[1], bx: Math.min(Math.max(place[0], x - w), x + w), by: Math.min(Math.max(place[1], y - t), y + t) });
const reach = (line) => Math.hypot(line.bx - line.ax, line.by - line.ay);
// On which side of a line a place is.
const side = (ax, ay, bx, by, x, y) => (bx - ax) * (y - ay) - (by - ay) * (x - ax);
// Whether two lines cross.
function crosses({ ax, ay, bx, by }, { ax: cx, ay: cy, bx: dx, by: dy }) {
  return side(ax, ay, cx, cy, dx, dy) > 0 !== side(bx, by, cx, cy, dx, dy) > 0 && side(ax, ay, bx, by, cx, cy) > 0 !== side(ax, ay, bx, by, dx, dy) > 0;
}

// Whether a line from a place to another passes through a box: not all corners are on one side of it.
export function meets({ left, top, right, bottom }, { ax, ay, bx, by }) {
  if ((ax < left && bx < left) || (ax > right && bx > right) || (ay < top && by < top) || (ay > bottom && by > bottom)) return false;
  const first = side(ax, ay, bx, by, left, top) > 0;
  return first !== side(ax, ay, bx, by, right, top) > 0 || first !== side(ax, ay, bx, by, right, bottom) > 0 || first !== side(ax, ay, bx, by, left, bottom) > 0;
}

export class MapNames {
  constructor(map) {
    this.map = map;
    this.named = mapLabels();
    this.labels = this.named;
    this.titles = new Map();
    this.lines = s("path", {});
    this.node = h("div", { class: "names" }, s("svg", { class: "leaders", "aria-hidden": "true" }, this.lines));
    this.tags = null; // labels of tags, from some zoom on
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
  // The most important names that fit without overlapping: topics at their places, other topics beside theirs, then the rest.
  choose() {
    const { map } = this;
    for (const label of this.labels.slice(this.named.length)) label.node?.remove();
    if (map.zoom >= TAGS_FROM) this.tags ||= tagLabels();
    this.labels = [...this.named, ...(this.tags || []), ...this.titlesInView()];
    const inView = this.labels.filter((label) => {
      const [px, py] = map.toScreen(label.x, label.y);
      return label.from <= map.zoom && (label.around !== AREA || map.zoom < (isNarrow() ? 1.01 : 0.99)) && px > -20 && py > -20 && px < map.width + 20 && py < map.height + 20;
    });
    for (const label of inView) {
      label.full ||= label.sized();
      label.at = map.toScreen(label.x, label.y);
      label.spots = label.ends ? label.ends.map(([x, y]) => map.toScreen(x, y)) : [label.at];
    }
    // Topics that most often found no room come first the next time, and fewer places bring others into conflict; the first order
    // with the fewest of them is kept. Areas leave no room for all topics.
    let topics = inView.filter((label) => label.around === HERE);
    let best = { missed: Infinity };
    const misses = new Map(topics.map((label) => [label, 0]));
    for (let tried = 0; tried < 18 && best.missed > 0; tried++) {
      const [here, step] = [tried < 3 ? HERE : SMALL, tried % 2 ? 0.5 : 0.25];
      this.lay(topics, inView, here, step);
      const left = topics.filter((label) => !label.shown);
      const missed = left.reduce((sum, label) => sum + (label.grey ? 1 : store.K), 0);
      if (missed < best.missed) best = { missed, topics, here, step };
      for (const label of left) misses.set(label, misses.get(label) + 1);
      topics = topics.toSorted((a, b) => misses.get(b) - misses.get(a));
      if (inView.some((label) => label.around === AREA)) break;
    }
    if (best.topics !== this.laid) this.lay(best.topics, inView, best.here, best.step);
    for (const label of this.labels) {
      if (label.shown && !label.node) label.node = label.make();
      if (label.shown && !label.node.isConnected) this.node.append(label.node);
      if (label.node && label.node.hidden === label.shown) label.node.hidden = !label.shown;
    }
    this.place();
  }
  lay(topics, all, here, step) {
    const { map } = this;
    this.laid = topics;
    this.step = step;
    this.taken = [{ left: 0, top: map.height - 56, right: 230, bottom: map.height }]; // the buttons
    const [wide, high] = map.legend ? ["width", "height"].map((side) => Number(map.legend.getAttribute(side))) : [];
    if (map.legend) this.taken.push({ left: map.width - wide - 16, top: 0, right: map.width, bottom: high + 12 });
    this.leaders = []; // lines from places to names beside them
    let left = Math.round((map.width * map.height) / 9000);
    const areas = all.filter((label) => label.around === AREA);
    const rest = all.filter((label) => label.around !== HERE && label.around !== AREA);
    for (const label of this.labels) label.shown = false;
    for (const [some, around] of [[areas, AREA], [topics, here], ...(areas.length ? [] : [[topics, BESIDE], [topics, BELOW]]), [rest, null]])
      for (const label of some) if (!label.shown && left > 0) left -= Number((label.shown = this.fits(label, around || label.around)));
  }
  // Whether there is room for a name at one of some places around its own, or, without a line, around its other ends: it is then
  // taken. No line passes through a name.
  fits(label, around) {
    const { width, height } = this.map;
    const [px, py] = label.at;
    const beside = around === BESIDE || around === BELOW;
    const middles = beside ? [label.at] : label.spots;
    for (const step of around) {
      if (step[0] % this.step) continue;
      const scale = step[2];
      const [w, t] = [(label.full[0] * scale) / 2, Math.max(label.full[1] * scale, 24) / 2];
      for (const middle of middles) {
        const x = middle[0] + step[0] * w;
        const y = middle[1] + step[1] * t;
        if (x < w + 4 || y < t + 2 || x > width - w - 4 || y > height - t - 2 || this.isTaken(x - w - 4, y - t - 2, x + w + 4, y + t + 2)) continue;
        const box = { left: x - w - 4, top: y - t - 2, right: x + w + 4, bottom: y + t + 2 };
        if (this.leaders.some((line) => meets(box, line))) continue;
        const at = beside ? label.spots.findIndex((spot) => this.isFree(lineTo(spot, x, y, w, t), around === BELOW)) : -1;
        const isClose = () => !beside || (around === BELOW && label.spots.some((spot) => reach(lineTo(spot, x, y, w, t)) < Math.min(120, width / 9)));
        const needsNoLine = () => Math.hypot(x - px, y - py) < Math.max(FARTHEST * this.map.scale, w + 4) && isClose();
        if (at < 0 && !needsNoLine()) continue;
        this.taken.push(box);
        if (at >= 0) this.leaders.push(lineTo(label.spots[at], x, y, w, t));
        Object.assign(label, { dx: x - px, dy: y - py, scale, width: 2 * w, height: 2 * t, end: at < 0 ? null : label.ends[at] });
        return true;
      }
    }
    return false;
  }
  isTaken(left, top, right, bottom) {
    for (const one of this.taken) if (right >= one.left && left <= one.right && bottom >= one.top && top <= one.bottom) return true;
    return false;
  }
  // A line may begin below a name, but not at its end, from where it might pass through all of it.
  isFree(line, below) {
    const isOver = ({ left, top, right, bottom }) => below && line.ax > left + 8 && line.ax < right - 8 && line.ay > top + 6 && line.ay < bottom - 6;
    for (const one of this.taken) if (meets(one, line) && !isOver(one)) return false;
    for (const other of this.leaders) if (!below && crosses(other, line)) return false;
    return true;
  }

  // Names of what no document of the filter has are faint.
  isFaded(label) {
    if (label.judged !== filtered) [label.judged, label.faded] = [filtered, Boolean(filtered) && !passed().some(label.has)];
    return label.faded;
  }
  // Every chosen name where the view has it, with a line to its place if it is beside it.
  place() {
    const { map } = this;
    const lines = [];
    for (const label of this.labels) {
      if (!label.shown) continue;
      const [px, py] = map.toScreen(label.x, label.y);
      const [x, y] = [px + label.dx, py + label.dy];
      label.node.classList.toggle("faded", this.isFaded(label));
      label.node.classList.toggle("small", label.scale < 1);
      label.node.style.transform = `translate(${(x - label.width / 2).toFixed(1)}px, ${(y - label.height / 2).toFixed(1)}px)`;
      if (!label.end) continue;
      const { ax, ay, bx, by } = lineTo(map.toScreen(...label.end), x, y, label.width / 2, label.height / 2);
      lines.push(`M${ax.toFixed(1)} ${ay.toFixed(1)}L${bx.toFixed(1)} ${by.toFixed(1)}`);
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
