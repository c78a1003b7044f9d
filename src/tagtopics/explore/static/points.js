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

// A disc as offsets and coverages from 0 to 256.
function stampOf(radius, alpha) {
  const stamp = [];
  const reach = Math.ceil(radius);
  for (let y = -reach; y <= reach; y++)
    for (let x = -reach; x <= reach; x++) {
      const cover = Math.min(Math.max(radius + 0.5 - Math.hypot(x, y), 0), 1) * alpha;
      if (cover > 0.02) stamp.push(x, y, Math.round(256 * cover));
    }
  return Int32Array.from(stamp);
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
  // Points by cell of a grid, to find those near a place.
  index() {
    const { n, cells } = this;
    const cell = new Uint32Array(n);
    this.starts = new Uint32Array(cells * cells + 1);
    for (let i = 0; i < n; i++) {
      cell[i] = this.cellOf(this.x[i], this.y[i]);
      this.starts[cell[i] + 1]++;
    }
    for (let c = 0; c < cells * cells; c++) this.starts[c + 1] += this.starts[c];
    const at = this.starts.slice();
    this.members = new Uint32Array(n);
    for (let i = 0; i < n; i++) this.members[at[cell[i]]++] = i;
  }
  cellOf(x, y) {
    const clamp = (v) => Math.min(Math.max(Math.floor(v * this.cells), 0), this.cells - 1);
    return clamp(y) * this.cells + clamp(x);
  }
  // The nearest point in colour within a distance, or -1.
  nearest(x, y, reach) {
    const clamp = (v) => Math.min(Math.max(Math.floor(v * this.cells), 0), this.cells - 1);
    let best = -1;
    let least = reach * reach;
    for (let row = clamp(y - reach); row <= clamp(y + reach); row++)
      for (let column = clamp(x - reach); column <= clamp(x + reach); column++) {
        const c = row * this.cells + column;
        for (let p = this.starts[c]; p < this.starts[c + 1]; p++) {
          const i = this.members[p];
          if (!this.rank[i]) continue;
          const d = (this.x[i] - x) ** 2 + (this.y[i] - y) ** 2;
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
    const stamps = [stampOf(Math.max(radius * 0.8, 0.7), 0.55), hidden ? stampOf(radius * 1.5, 0.95) : stampOf(radius, alpha)];
    const left = width / 2 - view.x * view.scale;
    const top = height / 2 - view.y * view.scale;
    for (let rank = hidden ? 0 : 1; rank <= 1; rank++) {
      const stamp = stamps[rank];
      const margin = Math.ceil(radius * 1.5) + 1;
      for (let i = 0; i < this.n; i++) {
        if (this.rank[i] !== rank) continue;
        const px = Math.round(this.x[i] * view.scale + left);
        const py = Math.round(this.y[i] * view.scale + top);
        if (px < -margin || py < -margin || px >= width + margin || py >= height + margin) continue;
        const colour = rank ? this.colours[i] : faint;
        blend(pixels, width, height, px, py, stamp, colour);
      }
    }
  }
}

// Paint a stamp over pixels. Red and blue are computed together, and the result stays opaque.
function blend(pixels, width, height, px, py, stamp, colour) {
  const redBlue = colour & 0xff00ff;
  const green = colour & 0x00ff00;
  const inside = px > 16 && py > 16 && px < width - 16 && py < height - 16;
  for (let s = 0; s < stamp.length; s += 3) {
    const x = px + stamp[s];
    const y = py + stamp[s + 1];
    if (!inside && (x < 0 || y < 0 || x >= width || y >= height)) continue;
    const a = stamp[s + 2];
    const at = y * width + x;
    const under = pixels[at];
    const rest = 256 - a;
    const rb = ((redBlue * a + (under & 0xff00ff) * rest) >>> 8) & 0xff00ff;
    const g = ((green * a + (under & 0x00ff00) * rest) >>> 8) & 0x00ff00;
    pixels[at] = 0xff000000 | rb | g;
  }
}
