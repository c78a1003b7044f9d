// Points of the map, drawn into the pixels of a canvas: as fast without a graphics card as with one.

// From OKLCH to packed ABGR, the order of canvas pixels in memory.
function packedColour(lightness, chroma, hue) {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const n = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const channels = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * n,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * n,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * n,
  ].map((x) => {
    const y = x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055;
    return Math.round(255 * Math.min(Math.max(y, 0), 1));
  });
  return (0xff000000 | (channels[2] << 16) | (channels[1] << 8) | channels[0]) >>> 0;
}

// A disc as offsets and coverages from 0 to 256; in an image of this width, `steps` leads from its centre to each pixel.
function stampOf(radius, alpha, width) {
  const stamp = [];
  const reach = Math.ceil(radius);
  for (let y = -reach; y <= reach; y++)
    for (let x = -reach; x <= reach; x++) {
      const cover = Math.min(Math.max(radius + 0.5 - Math.hypot(x, y), 0), 1) * alpha;
      if (cover > 0.02) stamp.push([x, y, Math.round(256 * cover)]);
    }
  return {
    reach,
    x: Int32Array.from(stamp, (part) => part[0]),
    y: Int32Array.from(stamp, (part) => part[1]),
    cover: Int32Array.from(stamp, (part) => part[2]),
    steps: Int32Array.from(stamp, (part) => part[1] * width + part[0]),
  };
}

class Points {
  // Places are in the unit square. `rank` of a point: 0 faint and behind the others, 1 in colour.
  constructor(x, y) {
    this.x = x;
    this.y = y;
    this.n = x.length;
    this.colours = new Uint32Array(this.n);
    this.rank = new Uint8Array(this.n).fill(1);
    this.cells = 96;
    this.index();
  }
  // Points by cell of a grid: those near a place are found, and those in view drawn, without looking at all.
  index() {
    const { n, cells } = this;
    const cell = new Uint32Array(n);
    this.starts = new Uint32Array(cells * cells + 1);
    for (let i = 0; i < n; i++) {
      cell[i] = this.cellAt(this.y[i]) * cells + this.cellAt(this.x[i]);
      this.starts[cell[i] + 1]++;
    }
    for (let c = 0; c < cells * cells; c++) this.starts[c + 1] += this.starts[c];
    const at = this.starts.slice();
    this.members = new Uint32Array(n);
    this.inOrder = [new Float32Array(n), new Float32Array(n)];
    for (let i = 0; i < n; i++) {
      const place = at[cell[i]]++;
      this.members[place] = i;
      [this.inOrder[0][place], this.inOrder[1][place]] = [this.x[i], this.y[i]];
    }
  }
  cellAt(v) {
    return Math.min(Math.max(Math.floor(v * this.cells), 0), this.cells - 1);
  }
  // The point in colour that is nearest within a distance, or -1. On the screen, x and y have their own scales.
  nearest(x, y, reachX, reachY) {
    let best = -1;
    let least = 1;
    for (let row = this.cellAt(y - reachY); row <= this.cellAt(y + reachY); row++)
      for (let column = this.cellAt(x - reachX); column <= this.cellAt(x + reachX); column++) {
        const c = row * this.cells + column;
        for (let p = this.starts[c]; p < this.starts[c + 1]; p++) {
          const i = this.members[p];
          if (!this.rank[i]) continue;
          const d = ((this.x[i] - x) / reachX) ** 2 + ((this.y[i] - y) / reachY) ** 2;
          if (d <= least) [best, least] = [i, d];
        }
      }
    return best;
  }
  // Draw into pixels (Uint32Array, width x height). View: screen = (place - centre) * scale + size / 2.
  draw(pixels, width, height, view, ground, faint, radius) {
    pixels.fill(ground);
    const alpha = this.n > 20000 ? 0.7 : 0.82;
    const hidden = this.rank.includes(0);
    const coloured = hidden ? stampOf(radius * 1.5, 0.95, width) : stampOf(radius, alpha, width);
    const frame = { pixels, width, height, view, left: width / 2 - view.x * view.scaleX, top: height / 2 - view.y * view.scaleY };
    if (hidden) this.drawRank(frame, 0, stampOf(Math.max(radius * 0.8, 0.7), 0.55, width), faint);
    this.drawRank(frame, 1, coloured, 0);
  }
  drawRank({ pixels, width, height, view, left, top }, rank, stamp, faint) {
    const [x, y] = this.inOrder;
    const { members, colours, starts, cells, rank: ranks } = this;
    const { scaleX, scaleY } = view;
    const margin = stamp.reach + 1;
    const first = this.cellAt((-margin - left) / scaleX);
    const last = this.cellAt((width + margin - left) / scaleX);
    const lowest = this.cellAt((height + margin - top) / scaleY);
    for (let row = this.cellAt((-margin - top) / scaleY); row <= lowest; row++)
      for (let p = starts[row * cells + first]; p < starts[row * cells + last + 1]; p++) {
        const i = members[p];
        if (ranks[i] !== rank) continue;
        const px = Math.round(x[p] * scaleX + left);
        const py = Math.round(y[p] * scaleY + top);
        if (px < -margin || py < -margin || px >= width + margin || py >= height + margin) continue;
        const colour = rank ? colours[i] : faint;
        if (px >= margin && py >= margin && px < width - margin && py < height - margin) blend(pixels, py * width + px, stamp, colour);
        else blendAtEdge(pixels, width, height, px, py, stamp, colour);
      }
  }
}

// A colour over a pixel. Red and blue are computed together, and the result stays opaque.
function mixed(colour, under, cover) {
  const rest = 256 - cover;
  const redBlue = (((colour & 0xff00ff) * cover + (under & 0xff00ff) * rest) >>> 8) & 0xff00ff;
  const green = (((colour & 0x00ff00) * cover + (under & 0x00ff00) * rest) >>> 8) & 0x00ff00;
  return 0xff000000 | redBlue | green;
}
function blend(pixels, centre, stamp, colour) {
  const { steps, cover } = stamp;
  for (let s = 0; s < steps.length; s++) {
    const at = centre + steps[s];
    pixels[at] = mixed(colour, pixels[at], cover[s]);
  }
}
function blendAtEdge(pixels, width, height, px, py, stamp, colour) {
  for (let s = 0; s < stamp.steps.length; s++) {
    const [x, y] = [px + stamp.x[s], py + stamp.y[s]];
    if (x < 0 || y < 0 || x >= width || y >= height) continue;
    pixels[y * width + x] = mixed(colour, pixels[y * width + x], stamp.cover[s]);
  }
}
