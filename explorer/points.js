// Points of the map, drawn into the pixels of a canvas: as fast without a graphics card as with one.
import { blur2, extent } from "d3-array";
import { h } from "./dom.js";

// From OKLCH to packed ABGR, the order of canvas pixels in memory.
export function packedColour(lightness, chroma, hue) {
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

export const rgbOf = (packed) => `rgb(${packed & 255},${(packed >> 8) & 255},${(packed >> 16) & 255})`;

// The colour of an ordered value from 0 to 1: even steps of lightness away from the ground, between violet and yellow.
export function orderedColour(value, dark) {
  const light = dark ? value : 1 - value;
  const [least, range, chroma, more] = dark ? [0.52, 0.41, 0.12, 0.1] : [0.29, 0.43, 0.08, 0.28];
  return packedColour(least + range * light, chroma + more * (light - 0.5) ** 2, 300 - 200 * light);
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

export class Points {
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
      this.inOrder[0][place] = this.x[i];
      this.inOrder[1][place] = this.y[i];
    }
  }
  cellAt(v) {
    return Math.min(Math.max(Math.floor(v * this.cells), 0), this.cells - 1);
  }
  // The point in colour that is nearest within a distance, or -1.
  nearest(x, y, reach) {
    let best = -1;
    let least = 1;
    for (let row = this.cellAt(y - reach); row <= this.cellAt(y + reach); row++)
      for (let column = this.cellAt(x - reach); column <= this.cellAt(x + reach); column++) {
        const c = row * this.cells + column;
        for (let p = this.starts[c]; p < this.starts[c + 1]; p++) {
          const i = this.members[p];
          if (!this.rank[i]) continue;
          const d = ((this.x[i] - x) / reach) ** 2 + ((this.y[i] - y) / reach) ** 2;
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
    const frame = { pixels, width, height, view, left: width / 2 - view.x * view.scale, top: height / 2 - view.y * view.scale };
    if (hidden) this.drawRank(frame, 0, stampOf(Math.max(radius * 0.8, 0.7), 0.55, width), faint);
    this.drawRank(frame, 1, coloured, 0);
  }
  // One loop without calls, which browsers compile while the first map is drawn.
  drawRank({ pixels, width, height, view, left, top }, rank, stamp, faint) {
    const [x, y] = this.inOrder;
    const { members, colours, starts, cells, rank: ranks } = this;
    const { scale } = view;
    const { steps, cover } = stamp;
    const margin = stamp.reach + 1;
    const [east, south] = [width + margin, height + margin];
    const first = this.cellAt((-margin - left) / scale);
    const last = this.cellAt((east - left) / scale);
    const lowest = this.cellAt((south - top) / scale);
    for (let row = this.cellAt((-margin - top) / scale); row <= lowest; row++)
      for (let p = starts[row * cells + first]; p < starts[row * cells + last + 1]; p++) {
        const i = members[p];
        if (ranks[i] !== rank) continue;
        const px = Math.round(x[p] * scale + left);
        const py = Math.round(y[p] * scale + top);
        if (px < -margin || py < -margin || px >= east || py >= south) continue;
        const colour = rank ? colours[i] : faint;
        const inside = px >= margin && py >= margin && px < width - margin && py < height - margin;
        const centre = py * width + px;
        const redBlue = colour & 0xff00ff;
        const green = colour & 0x00ff00;
        for (let s = 0; s < steps.length; s++) {
          if (!inside && !(px + stamp.x[s] >= 0 && px + stamp.x[s] < width && py + stamp.y[s] >= 0 && py + stamp.y[s] < height)) continue;
          const under = pixels[centre + steps[s]];
          const part = cover[s];
          const rest = 256 - part; // red and blue are mixed together, and the result stays opaque
          pixels[centre + steps[s]] =
            0xff000000 |
            (((Math.imul(redBlue, part) + Math.imul(under & 0xff00ff, rest)) >>> 8) & 0xff00ff) |
            (((Math.imul(green, part) + Math.imul(under & 0x00ff00, rest)) >>> 8) & 0x00ff00);
        }
      }
  }
}

// How dense points are, as the address of a small picture: in the mean of their colours, or in one colour.
export const GLOW = { cells: 128, blur: 2, most: 0.35, pad: 0.06 }; // it ends beyond the unit square, by `pad`
export function glowOf(points, colour) {
  const { cells, blur, most, pad } = GLOW;
  const sums = [0, 1, 2, 3].map(() => new Float32Array(cells * cells)); // red, green, blue, number
  const cell = (v) => Math.floor(((v + pad) / (1 + 2 * pad)) * cells);
  for (let i = 0; i < points.n; i++) {
    const at = cell(points.y[i]) * cells + cell(points.x[i]);
    const own = colour || points.colours[i];
    for (let j = 0; j < 3; j++) sums[j][at] += (own >> (8 * j)) & 255;
    sums[3][at]++;
  }
  for (const data of sums) blur2({ data, width: cells, height: cells }, blur);
  const filled = sums[3].filter((n) => n > 0.01).sort();
  const usual = 2 * (filled[Math.floor(filled.length / 2)] || 1);
  const canvas = h("canvas", { width: cells, height: cells });
  const context = canvas.getContext("2d");
  const image = context.createImageData(cells, cells);
  for (let at = 0; at < cells * cells; at++) {
    const n = sums[3][at];
    if (n > 1e-3) for (let j = 0; j < 3; j++) image.data[4 * at + j] = sums[j][at] / n;
    image.data[4 * at + 3] = 255 * most * (1 - Math.exp(-n / usual));
  }
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

export function extentOf(x, y) {
  const [[left = 1, right = 0], [top = 1, bottom = 0]] = [extent(x), extent(y)];
  return { left, right, top, bottom };
}

// Colours as other programs read them.
let dot;

export function plainColour(value) {
  if (!value.startsWith("ok") && !value.startsWith("color")) return value;
  dot ||= h("canvas", { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  dot.clearRect(0, 0, 1, 1);
  dot.fillStyle = value;
  dot.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = dot.getImageData(0, 0, 1, 1).data;
  return `rgba(${r},${g},${b},${(a / 255).toFixed(3)})`;
}
