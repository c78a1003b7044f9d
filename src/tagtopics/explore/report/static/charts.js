// Charts: rows of bars, a line over the years. Every value is also given as text.

// Rows: { label, value, text, hue, href, title }. The widest bar is `most`, or the largest value.
function bars(rows, { most, name } = {}) {
  const top = most || Math.max(...rows.map((row) => row.value), 1e-12);
  return h(
    "ul",
    { class: "bars", "aria-label": name || null },
    rows.map((row) =>
      h(
        "li",
        {},
        row.href
          ? link(row.href, { class: "label", title: row.title }, row.label)
          : h("span", { class: "label", title: row.title }, row.label),
        h(
          "span",
          { class: "track", "aria-hidden": "true" },
          h("span", {
            class: row.grey ? "fill grey" : "fill",
            vars: {
              "--hue": row.hue ?? 255,
              "--part": `${Math.min(100, (100 * row.value) / top).toFixed(2)}%`,
            },
          }),
        ),
        h("span", { class: "figure", "data-value": row.value }, row.text),
      ),
    ),
  );
}

function topicBars(profile, n, least = 0.01) {
  const best = topOf(profile, n).filter((k) => profile[k] >= least);
  return bars(
    best.map((k) => ({
      label: [badge(k), h("span", {}, topicLabel(k))],
      value: profile[k],
      text: percent(profile[k]),
      hue: topicHue(k),
      grey: isBackground(k),
      href: topicHref(k),
      title: isBackground(k) ? `${topicName(k)}: ${topicLabel(k, 4)} (background topic)` : `${topicName(k)}: ${topicLabel(k, 4)}`,
    })),
    { name: "Topics" },
  );
}

// One bar divided into topics.
function ribbon(profile) {
  const parts = topOf(profile, 10).filter((k) => profile[k] >= 0.02);
  return h(
    "div",
    {
      class: "ribbon",
      role: "img",
      "aria-label": parts.map((k) => `${topicName(k)} ${percent(profile[k])}`).join(", "),
    },
    parts.map((k) =>
      h(
        "span",
        {
          class: isBackground(k) ? "grey" : null,
          title: `${topicName(k)}: ${percent(profile[k])}`,
          vars: { "--hue": topicHue(k), "--part": profile[k] },
        },
        profile[k] > 0.07 ? String(k) : "",
      ),
    ),
  );
}

// A line over time. Rows: { name, value, title }; `text` writes a value.
function timeLine(rows, { label, hue, text = percent }) {
  const [width, height, left, right, foot] = [isNarrow() ? 400 : 640, 200, 62, 30, 28];
  const most = Math.max(...rows.map((row) => row.value)) || 1;
  const px = (i) => left + ((width - left - right) * i) / Math.max(rows.length - 1, 1);
  const py = (v) => 12 + (height - foot - 12) * (1 - v / most);
  const points = rows.map((row, i) => `${px(i).toFixed(1)} ${py(row.value).toFixed(1)}`);
  const every = Math.ceil(rows.length / (isNarrow() ? 5 : 9));
  const chart = s(
    "svg",
    {
      class: "line",
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": `${label}: ${rows.map((row) => `${row.name} ${text(row.value)}`).join(", ")}`,
    },
    [0, 0.5, 1].map((f) => [
      s("path", { class: "rule", d: `M${left} ${py(f * most)}H${width - right}` }),
      s("text", { class: "tick", x: left - 8, y: py(f * most), dy: ".35em", "text-anchor": "end" }, text(f * most)),
    ]),
    s("path", { class: "area", d: `M${px(0)} ${py(0)}L${points.join("L")}L${px(rows.length - 1)} ${py(0)}Z` }),
    s("path", { class: "stroke", d: `M${points.join("L")}` }),
    rows.map((row, i) => s("circle", { cx: px(i), cy: py(row.value), r: 3.5, "data-value": row.value }, s("title", {}, row.title))),
    rows.map((row, i) =>
      (rows.length - 1 - i) % every
        ? null
        : s("text", { class: "tick", x: px(i), y: height - 6, "text-anchor": "middle" }, row.name),
    ),
  );
  chart.style.setProperty("--hue", hue);
  return chart;
}

// The colours of years, with the first, the middle and the last. Attributes say it all, so pictures can have it, too.
const SCALE = { width: 196, height: 42 };
function yearScale({ first, last, part }, dark, ground) {
  const n = Math.min(last - first + 1, 49);
  const width = (SCALE.width - 20) / n;
  const { color, fontFamily } = getComputedStyle(document.body);
  const text = { y: 34, "font-family": fontFamily, "font-size": 12, fill: plainColour(color) };
  const year = (at, x, anchor) => s("text", { ...text, x, "text-anchor": anchor }, String(at));
  const middle = Math.round((first + last) / 2);
  return s(
    "svg",
    { class: "year-scale", ...SCALE, role: "img", "aria-label": `Colours by year, from ${first} to ${last}` },
    s("rect", { ...SCALE, rx: 8, fill: ground, "fill-opacity": 0.85 }),
    Array.from({ length: n }, (_, i) =>
      s("rect", { x: 10 + width * i, y: 8, width, height: 12, "shape-rendering": "crispEdges", fill: rgbOf(orderedColour(i / Math.max(n - 1, 1), dark)) }),
    ),
    year(first, 10, "start"),
    last - first > 1 ? year(middle, 10 + width * (part(middle) * (n - 1) + 0.5), "middle") : null,
    year(last, SCALE.width - 10, "end"),
  );
}

const topicLine = (k) =>
  timeLine(
    store.time.periods.map((name, i) => ({
      name,
      value: store.time.shares[i][k],
      title: `${name}: ${percent(store.time.shares[i][k])} of ${plural(store.time.documents[i], "document")}`,
    })),
    { label: `Share of ${topicName(k)}`, hue: topicHue(k) },
  );
