// Topics and tags over time: what rises, what falls.
function timePage() {
  const { periods, documents, late, topics, tags } = store.time;
  const spans = [T`${periods[0]} to ${periods[late - 1]}`, T`${periods[late]} to ${periods.at(-1)}`];
  const shown = topics.filter(([k]) => !store.topics.background[k]);
  const rising = shown.filter(([, early, after]) => after > early).slice(0, 9);
  const falling = shown.filter(([, early, after]) => after < early).slice(-9).reverse();
  const [[nEarly, nLate]] = tags.of;
  const tagRow = ([t, early, after]) =>
    h(
      "li",
      {},
      h("span", { class: "label" }, tagChip(t)),
      h("span", { class: "figure" }, `${whole(early)} → ${whole(after)}`),
    );
  const tagCard = (title, rows) => {
    if (!rows.length) return null;
    const section = card(
      title,
      T`Documents with the tag: of ${whole(nEarly)} from ${spans[0]}, and of ${whole(nLate)} from ${spans[1]}.`,
      h("ul", { class: "trends" }, rows.map(tagRow)),
    );
    section.table = () => [["tag", ...spans], ...rows.map(([t, early, after]) => [store.tags.names[t], early, after])];
    return section;
  };
  const multiples = (title, note, rows) => {
    const section = card(title, note, h("ul", { class: "multiples" }, rows.map(topicMultiple)));
    section.table = () => [["topic", ...periods], ...rows.map(([k]) => [topicName(k), ...store.time.shares.map((row) => row[k])])];
    return section;
  };
  return [
    h(
      "div",
      { class: "hero" },
      h("h1", {}, T`Over time`),
      h(
        "p",
        { class: "lead" },
        T`Which topics and tags became more or less frequent between ${periods[0]} and ${periods.at(-1)}: ${spans[0]} compared with ${spans[1]}.`,
      ),
    ),
    card(T`Documents`, T`Documents in each period.`, timeLine(
      periods.map((name, i) => ({ name, value: documents[i], title: `${name}: ${plural(documents[i], "document")}` })),
      { label: T`Documents`, hue: 255, text: whole },
    )),
    rising.length ? multiples(T`Rising topics`, T`Mean share in documents; the largest gain first.`, rising) : null,
    falling.length ? multiples(T`Falling topics`, T`Mean share in documents; the largest loss first.`, falling) : null,
    h("div", { class: "split" }, tagCard(T`Rising tags`, tags.rising), tagCard(T`Falling tags`, tags.falling)),
  ];
}

function topicMultiple([k, early, after]) {
  const values = store.time.shares.map((row) => row[k]);
  const most = Math.max(...values) || 1;
  const [width, height] = [220, 56];
  const px = (i) => 4 + ((width - 8) * i) / Math.max(values.length - 1, 1);
  const points = values.map((v, i) => `${px(i).toFixed(1)} ${(height - 4 - (height - 10) * (v / most)).toFixed(1)}`);
  const chart = s(
    "svg",
    { class: "line", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${topicName(k)}: ${store.time.periods.map((name, i) => `${name} ${percent(values[i])}`).join(", ")}` },
    s("path", { class: "area", d: `M${px(0)} ${height - 4}L${points.join("L")}L${px(values.length - 1)} ${height - 4}Z` }),
    s("path", { class: "stroke", d: `M${points.join("L")}` }),
  );
  chart.style.setProperty("--hue", topicHue(k));
  return h(
    "li",
    {},
    link(topicHref(k), {}, badge(k), h("span", {}, topicName(k))),
    chart,
    h("span", { class: "figure" }, `${percent(early)} → ${percent(after)}`),
  );
}

// A tag over time: its share of the documents of each period; known only if all documents are listed.
function tagLine(t) {
  const { periods, documents } = store.time || {};
  const all = store.sizes.listed === store.sizes.documents;
  if (!periods || !all || store.tags.documents[t] < 3) return null;
  const counts = periods.map(() => 0);
  store.docsOfTag[t].forEach((d) => {
    if (store.documents.period[d] >= 0) counts[store.documents.period[d]]++;
  });
  if (counts.filter(Boolean).length < 2) return null;
  return card(
    T`Over time`,
    T`Share of the documents of each period that have this tag.`,
    timeLine(
      periods.map((name, i) => ({
        name,
        value: counts[i] / documents[i],
        title: T`${name}: ${whole(counts[i])} of ${plural(documents[i], "of document")}`,
      })),
      { label: T`Documents with ${store.tags.names[t]}`, hue: 255 },
    ),
  );
}
