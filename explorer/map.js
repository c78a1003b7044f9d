// The map of the front page: documents as points, names of topics and tags, zoom, lasso, brush.
import { button, fill, h, plural, s } from "./dom.js";
import { badge, numbersOfTags, store, tagShort, titleOf, topicLabel } from "./data.js";
import { documentHref, keepState, stateOf } from "./address.js";
import { GLOW, Points, extentOf, glowOf, packedColour, plainColour, rgbOf } from "./points.js";
import { thumbnail } from "./widgets.js";
import { filter, filtered, passed, setFilter } from "./filter.js";
import { DOCUMENT, documentItem } from "./figure.js";
import { colourModes, mapLegend } from "./colours.js";
import { MapNames } from "./labels.js";

const LEAST_ZOOM = 0.5;
const MOST_ZOOM = 60;
const MOST_RINGS = 2000; // documents that are ringed

export class DocumentMap {
  constructor() {
    const { x, y } = store.map;
    this.points = new Points(x, y);
    this.extent = extentOf(x, y);
    this.unit = 1; // pixels by width of the map, the same across and down
    this.lookAt(filter.area ? null : filtered);
    this.chosen = numbersOfTags((stateOf().get("by") || "").split("\n")).filter((t) => t >= 0).slice(0, 3);
    this.colourBy = colourModes([]).find(({ key }) => key === stateOf().get("colour"))?.key || "topic";
    this.readView();
    this.hovered = -1;
    this.pointers = new Map();
    this.build();
    this.listen();
  }

  build() {
    this.canvas = h("canvas", {
      class: "points", tabindex: "0", role: "application", "aria-roledescription": "map",
      "aria-label": `Map of ${plural(this.points.n, "document")}. Arrow keys move, plus and minus zoom, 0 shows all, Enter lists the documents in view.`,
    });
    this.names = new MapNames(this);
    this.glow = s("image", { preserveAspectRatio: "none" });
    this.outline = s("path", {});
    this.hits = s("g", { class: "hits" });
    this.shade = s("svg", { class: "outline", "aria-hidden": "true" }, this.hits, this.outline);
    this.cardBox = h("div", { class: "hovercard", hidden: true, "aria-hidden": "true" });
    this.hint = h("p", { class: "hint", hidden: true }, "Hold Ctrl to zoom with the wheel, or click the map first.");
    this.lassoButton = this.tool("Lasso", "Draw around documents to select them (or hold Shift and drag)", () =>
      this.setLasso(!this.lassoing),
    );
    this.lassoButton.setAttribute("aria-pressed", "false");
    this.node = h("section", { class: "terrain", "aria-label": "Map of documents" },
      this.canvas,
      s("svg", { class: "glow", "aria-hidden": "true" }, this.glow),
      this.names.node,
      this.shade,
      this.cardBox,
      this.hint,
      h("div", { class: "tools" },
        this.tool("+", "Zoom in", () => this.zoomBy(1.5)),
        this.tool("−", "Zoom out", () => this.zoomBy(1 / 1.5)),
        this.tool("Fit", "Show all documents", () => this.fit()),
        this.lassoButton,
      ),
    );
    this.context = this.canvas.getContext("2d", { alpha: false });
    this.node.picture = () => this.picture();
    this.watcher = new ResizeObserver(() => this.resize());
    this.watcher.observe(this.node);
  }

  tool(text, name, click) {
    return button(text, click, { "aria-label": /^\p{L}{2}/u.test(text) ? null : name, title: name });
  }

  resize() {
    const box = this.node.getBoundingClientRect();
    if (!box.width) return;
    this.ratio = Math.min(window.devicePixelRatio || 1, 2);
    this.width = Math.round(box.width);
    this.height = Math.round(box.height);
    this.canvas.width = Math.round(this.width * this.ratio);
    this.canvas.height = Math.round(this.height * this.ratio);
    this.image = this.context.createImageData(this.canvas.width, this.canvas.height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.measure();
    this.redraw();
  }
  // The largest scale at which the map fits into its box; distances are the same in every window.
  measure() {
    const { left, right, top, bottom } = this.extent;
    this.unit = Math.min((this.width * 0.94) / Math.max(right - left, 0.05), (this.height * 0.92) / Math.max(bottom - top, 0.05));
  }
  middle() {
    return { x: (this.extent.left + this.extent.right) / 2, y: (this.extent.top + this.extent.bottom) / 2 };
  }
  get scale() {
    return this.unit * this.zoom;
  }
  redraw() {
    this.node.dataset.rest = "no";
    clearTimeout(this.naming);
    if (!this.queued) this.queued = requestAnimationFrame(() => this.draw());
  }
  // After a movement; names are chosen again when it has ended.
  shifted() {
    this.moving = true;
    clearTimeout(this.settling);
    this.settling = setTimeout(() => {
      this.moving = false;
      this.keepView();
      this.redraw();
    }, 140);
    this.redraw();
  }
  draw() {
    this.queued = 0;
    if (!this.pixels || !this.node.isConnected) return;
    const { canvas, points, ratio } = this;
    const spread = Math.sqrt((0.1 * this.width * this.height) / (Math.PI * Math.max(points.n, 1)));
    this.radius = Math.min(Math.min(Math.max(spread, 1), 4) * Math.min(this.zoom ** 0.45, 4), 9);
    const view = { x: this.centre.x, y: this.centre.y, scale: this.scale * ratio };
    points.draw(this.pixels, canvas.width, canvas.height, view, this.ground, this.faint, this.radius * ratio);
    this.context.putImageData(this.image, 0, 0);
    const [x, y] = this.toScreen(-GLOW.pad, -GLOW.pad);
    const side = this.scale * (1 + 2 * GLOW.pad);
    fill(this.glow, { x, y, width: side, height: side, visibility: filtered ? "hidden" : "visible" }, []);
    this.hits.replaceChildren(...this.rings());
    if (this.moving) return this.names.follow();
    this.naming = setTimeout(() => { // when the points are seen
      this.names.choose();
      this.node.dataset.rest = "yes";
    });
  }
  toScreen(x, y) {
    return [(x - this.centre.x) * this.scale + this.width / 2, (y - this.centre.y) * this.scale + this.height / 2];
  }
  toPlace(px, py) {
    return [(px - this.width / 2) / this.scale + this.centre.x, (py - this.height / 2) / this.scale + this.centre.y];
  }

  // The nearest point on the screen, within some pixels, or -1.
  /** @param {number[]} place */
  nearest([px, py], pixels) {
    const [x, y] = this.toPlace(px, py);
    return this.points.nearest(x, y, pixels / this.scale);
  }

  recolour() {
    const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
    this.ground = dark ? packedColour(0.2, 0.017, 268) : packedColour(0.995, 0.002, 85);
    this.faint = dark ? packedColour(0.34, 0.012, 268) : packedColour(0.88, 0.006, 265);
    const mode = colourModes(this.chosen).find(({ key }) => key === this.colourBy);
    const paint = mode.paint(dark);
    const grey = mode.key === "year" ? this.faint : packedColour(dark ? 0.42 : 0.8, 0.006, 265);
    this.node.dataset.colour = this.colourBy;
    this.note = mode.note();
    this.legend?.remove();
    this.legend = mapLegend(paint, dark, rgbOf(this.ground));
    if (this.legend) this.node.append(this.legend);
    for (let i = 0; i < this.points.n; i++) this.points.colours[i] = paint.of(i) || grey;
    this.glow.setAttribute("href", glowOf(this.points, mode.key === "topic" ? 0 : this.faint));
    this.redraw();
  }
  // Show only some documents in colour: `mask` has one entry per listed document, or is null for all.
  brush(mask) {
    const { rank } = this.points;
    if (!mask) rank.fill(1);
    else for (let i = 0; i < rank.length; i++) rank[i] = mask[i] ? 1 : 0;
    this.redraw();
  }
  // What passes the filter, ringed and above the names, unless it is too much to be overlooked.
  rings() {
    if (!filtered) return [];
    const shown = passed();
    if (shown.length > MOST_RINGS) return [];
    const paths = new Map();
    for (const i of shown) {
      const [px, py] = this.toScreen(this.points.x[i], this.points.y[i]);
      const colour = rgbOf(this.points.colours[i]);
      paths.set(colour, `${paths.get(colour) || ""}M${px.toFixed(1)} ${py.toFixed(1)}h0`);
    }
    const width = Math.max(2.6 * this.radius, 6);
    const line = (d, stroke, wide) => s("path", { d, stroke, "stroke-width": wide, "stroke-linecap": "round", fill: "none" });
    const ink = plainColour(getComputedStyle(document.body).color);
    return [line([...paths.values()].join(""), ink, width + 2.5), ...[...paths].map(([colour, d]) => line(d, colour, width))];
  }

  // The documents that pass the filter: where they are, and what they are about.
  figure(question) {
    const { x, y } = store.map;
    const { value, shown, ...columns } = DOCUMENT;
    return {
      title: this.node.getAttribute("aria-label"), question, rows: passed().map((d) => documentItem(d)),
      columns: { ...columns, x: (row) => x[row.d], y: (row) => y[row.d] }, picture: () => this.picture(),
    };
  }
  // The view as it stands.
  picture() {
    const { width, height, points } = this;
    const paths = new Map();
    for (let i = 0; i < points.n; i++) {
      const [px, py] = this.toScreen(points.x[i], points.y[i]);
      if (px < 0 || py < 0 || px > width || py > height) continue;
      const colour = points.rank[i] ? points.colours[i] : this.faint;
      if (!paths.has(colour)) paths.set(colour, []);
      paths.get(colour).push(`M${px.toFixed(1)} ${py.toFixed(1)}h0`);
    }
    const faintFirst = [...paths].sort((a, b) => Number(b[0] === this.faint) - Number(a[0] === this.faint));
    const stroke = { "stroke-width": (2 * this.radius).toFixed(2), "stroke-linecap": "round", "stroke-opacity": 0.8, fill: "none" };
    return s("svg", { viewBox: `0 0 ${width} ${height}`, width, height },
      s("rect", { width, height, fill: rgbOf(this.ground) }),
      this.glow.cloneNode(),
      faintFirst.map(([colour, parts]) => s("path", { d: parts.join(""), stroke: rgbOf(colour), ...stroke })),
      this.names.drawn(rgbOf(this.ground)),
      this.rings(),
      this.legend && fill(this.legend.cloneNode(true), { x: width - Number(this.legend.getAttribute("width")) - 8, y: 8 }, []),
    );
  }

  moveBy(dx, dy) {
    this.centre.x = Math.min(Math.max(this.centre.x - dx / this.scale, 0), 1);
    this.centre.y = Math.min(Math.max(this.centre.y - dy / this.scale, 0), 1);
    this.shifted();
  }
  zoomBy(factor, px = this.width / 2, py = this.height / 2) {
    const [x, y] = this.toPlace(px, py);
    this.zoom = Math.min(Math.max(this.zoom * factor, LEAST_ZOOM), MOST_ZOOM);
    const [nx, ny] = this.toPlace(px, py);
    this.centre.x += x - nx;
    this.centre.y += y - ny;
    this.moveBy(0, 0);
  }
  // The view that fits some documents, or all; the address only has another one.
  lookAt(mask) {
    const { x, y } = this.points;
    const some = mask ? [...x.keys()].filter((i) => mask[i]) : [];
    const { left, right, top, bottom } = some.length ? extentOf(some.map((i) => x[i]), some.map((i) => y[i])) : this.extent;
    const part = (whole, own) => whole / Math.max(own * 1.15, 1e-6);
    const zoom = Math.min(part(this.extent.right - this.extent.left, right - left), part(this.extent.bottom - this.extent.top, bottom - top));
    this.home = { x: (left + right) / 2, y: (top + bottom) / 2, zoom: some.length ? Math.min(Math.max(zoom, 1), 8) : 1 };
    if (this.home.zoom === 1) Object.assign(this.home, this.middle());
    this.centre = { x: this.home.x, y: this.home.y };
    this.zoom = this.home.zoom;
  }
  fit() {
    this.zoom = 1;
    this.centre = this.middle();
    this.moving = false;
    this.keepView();
    this.redraw();
  }
  // The part of the map in view, as the address has it: centre and zoom.
  keepView() {
    if (!this.node.isConnected) return;
    const text = ({ x, y }, zoom) => [x.toFixed(4), y.toFixed(4), zoom.toFixed(2)].join(" ");
    keepState("view", text(this.centre, this.zoom), text(this.home, this.home.zoom));
  }
  readView() {
    const view = (stateOf().get("view") || "").split(" ").map(Number);
    if (view.length !== 3 || !view.every(Number.isFinite)) return;
    const [x, y, zoom] = view;
    this.centre = { x: Math.min(Math.max(x, 0), 1), y: Math.min(Math.max(y, 0), 1) };
    this.zoom = Math.min(Math.max(zoom, LEAST_ZOOM), MOST_ZOOM);
  }
  inView() {
    const [x0, y0] = this.toPlace(0, 0);
    const [x1, y1] = this.toPlace(this.width, this.height);
    return [[x0, y0], [x1, y0], [x1, y1], [x0, y1]];
  }
  setLasso(on) {
    this.lassoing = on;
    this.lassoButton.setAttribute("aria-pressed", String(on));
    this.node.classList.toggle("lassoing", on);
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.moved(event));
    for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, (event) => this.up(event));
    canvas.addEventListener("pointerleave", () => this.hover(-1));
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("blur", () => this.hover(-1));
  }
  at(event) {
    const box = this.canvas.getBoundingClientRect();
    const whole = (pixels) => Math.round(pixels * this.ratio) / this.ratio;
    return [whole(event.clientX - box.left), whole(event.clientY - box.top)];
  }
  down(event) {
    this.canvas.setPointerCapture(event.pointerId);
    const place = this.at(event);
    this.pointers.set(event.pointerId, place);
    this.start = place;
    this.travelled = 0;
    this.across = false;
    this.path = this.lassoing || event.shiftKey ? [place] : null;
    this.hover(-1);
  }
  moved(event) {
    const place = this.at(event);
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      this.hover(this.nearest(place, 9), place);
      return;
    }
    this.travelled += Math.hypot(place[0] - before[0], place[1] - before[1]);
    if (this.pointers.size === 2) this.pinch(event.pointerId, place);
    else if (this.path) {
      this.path.push(place);
      this.outline.setAttribute("d", `M${this.path.map((p) => p.map((v) => v.toFixed(1)).join(" ")).join("L")}Z`);
    } else if (event.pointerType !== "touch" || this.isAcross(place)) this.moveBy(place[0] - before[0], place[1] - before[1]);
    this.pointers.set(event.pointerId, place);
  }
  pinch(id, place) {
    const [other] = [...this.pointers].filter(([key]) => key !== id).map(([, p]) => p);
    const before = this.pointers.get(id);
    const apart = (a, b) => Math.max(Math.hypot(a[0] - b[0], a[1] - b[1]), 1);
    this.moveBy((place[0] - before[0]) / 2, (place[1] - before[1]) / 2);
    this.zoomBy(apart(place, other) / apart(before, other), (place[0] + other[0]) / 2, (place[1] + other[1]) / 2);
  }
  // One finger moves the map across; up and down, it scrolls the page.
  /** @param {number[]} place */
  isAcross([x, y]) {
    return (this.across ||= Math.abs(x - this.start[0]) > Math.max(6, 1.5 * Math.abs(y - this.start[1])));
  }
  up(event) {
    const place = this.at(event);
    const known = this.pointers.delete(event.pointerId);
    if (!known || this.pointers.size) return;
    if (this.path && this.path.length > 3) this.select(this.path.map((p) => this.toPlace(...p)));
    else if (this.travelled < 5 && event.type === "pointerup") {
      const hit = this.nearest(place, event.pointerType === "touch" ? 22 : 9);
      if (hit >= 0 && hit < store.documents.ids.length) location.hash = documentHref(hit);
      else if (filter.area) setFilter({ area: null });
    }
    this.path = null;
    this.outline.removeAttribute("d");
  }
  select(corners) {
    this.setLasso(false);
    setFilter({ area: corners.map(([x, y]) => [Number(x.toFixed(4)), Number(y.toFixed(4))]) });
  }
  wheel(event) {
    if (!event.ctrlKey && document.activeElement !== this.canvas) {
      this.hint.hidden = false;
      clearTimeout(this.hinting);
      this.hinting = setTimeout(() => (this.hint.hidden = true), 1400);
      return;
    }
    event.preventDefault();
    this.zoomBy(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), ...this.at(event));
  }
  key(event) {
    const step = 60;
    const moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (moves[event.key]) this.moveBy(...moves[event.key]);
    else if (event.key === "+" || event.key === "=") this.zoomBy(1.4);
    else if (event.key === "-") this.zoomBy(1 / 1.4);
    else if (event.key === "0") this.fit();
    else if (event.key === "Enter") this.select(this.inView());
    else if (event.key === "Escape" && filter.area) setFilter({ area: null });
    else return;
    event.preventDefault();
  }
  hover(i, place) {
    this.canvas.style.cursor = i >= 0 ? "pointer" : "";
    if (i === this.hovered) return;
    this.hovered = i;
    this.cardBox.hidden = i < 0;
    if (i < 0) return;
    this.cardBox.replaceChildren(...hoverCard(i));
    const { style, offsetWidth, offsetHeight } = this.cardBox;
    // Beside the point, on the side that has more room, and inside the map.
    const put = (start, end, at, size, room) => {
      const [near, far, from] = at > room / 2 ? [end, start, room - at] : [start, end, at];
      style[near] = `${Math.max(Math.min(from + 14, room - size - 8), 8)}px`;
      style[far] = "auto";
    };
    put("left", "right", place[0], offsetWidth, this.width);
    put("top", "bottom", place[1], offsetHeight, this.height);
  }
}

function hoverCard(i) {
  const k = store.map.region[i];
  const topic = h("p", { class: "badges" }, badge(k), h("span", {}, topicLabel(k)));
  if (i >= store.documents.ids.length) return [h("p", {}, "A document that is not in this file"), topic];
  const tags = store.documents.tags[i].slice(0, 6).map(tagShort);
  const small = thumbnail(i);
  if (small) small.fill();
  return [small ? small.image : null, h("p", { class: "title", dir: "auto" }, titleOf(i)), topic, tags.length ? h("p", { class: "tags" }, tags.join(" · ")) : null].filter(Boolean);
}
