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
            class: "fill",
            vars: {
              "--hue": row.hue ?? 255,
              "--part": `${Math.min(100, (100 * row.value) / top).toFixed(2)}%`,
            },
          }),
        ),
        h("span", { class: "figure" }, row.text),
      ),
    ),
  );
}

function topicBars(profile, n, least = 0.005) {
  const best = topOf(profile, n).filter((k) => profile[k] >= least);
  return bars(
    best.map((k) => ({
      label: [badge(k), h("span", {}, topicLabel(k))],
      value: profile[k],
      text: percent(profile[k]),
      hue: topicHue(k),
      href: `#/topic/${k}`,
      title: `${topicName(k)}: ${topicLabel(k, 4)}`,
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
          title: `${topicName(k)}: ${topicLabel(k)} · ${percent(profile[k])}`,
          vars: { "--hue": topicHue(k), "--part": profile[k] },
        },
        profile[k] > 0.07 ? String(k) : "",
      ),
    ),
  );
}

function yearLine(k) {
  const { years, shares, documents } = store.years;
  const values = shares.map((row) => row[k]);
  const [width, height, left, foot] = [640, 200, 44, 26];
  const most = Math.max(...values) * 1.1 || 1;
  const px = (i) => left + ((width - left - 12) * i) / (years.length - 1);
  const py = (v) => 8 + (height - foot - 8) * (1 - v / most);
  const points = values.map((v, i) => `${px(i).toFixed(1)} ${py(v).toFixed(1)}`);
  const every = Math.ceil(years.length / 8);
  const chart = s(
    "svg",
    {
      class: "line",
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": `Share of ${topicName(k)} by year: ${years.map((year, i) => `${year} ${percent(values[i])}`).join(", ")}`,
    },
    [0, 0.5, 1].map((f) => [
      s("path", { class: "rule", d: `M${left} ${py((f * most) / 1.1)}H${width - 12}` }),
      s(
        "text",
        { class: "tick", x: left - 6, y: py((f * most) / 1.1), dy: ".35em", "text-anchor": "end" },
        percent((f * most) / 1.1),
      ),
    ]),
    s("path", {
      class: "area",
      d: `M${px(0)} ${py(0)}L${points.join("L")}L${px(years.length - 1)} ${py(0)}Z`,
    }),
    s("path", { class: "stroke", d: `M${points.join("L")}` }),
    values.map((v, i) =>
      s(
        "circle",
        { cx: px(i), cy: py(v), r: 3.5 },
        s("title", {}, `${years[i]}: ${percent(v)} of ${plural(documents[i], "document")}`),
      ),
    ),
    years.map((year, i) =>
      i % every
        ? null
        : s("text", { class: "tick", x: px(i), y: height - 6, "text-anchor": "middle" }, String(year)),
    ),
  );
  chart.style.setProperty("--hue", topicHue(k));
  return chart;
}
